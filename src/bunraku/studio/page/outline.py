"""The left dock: the outline of the character, the history, the gallery."""

from __future__ import annotations

from typing import Any

from bunraku.studio.page.gallery import GalleryTab
from bunraku.studio.page.ui import Ui, alone
from bunraku.studio.widgets.outline import history, outline


class LeftDock:
    """Three tabs: Gallery, Outline, History."""

    def __init__(self, ui: Ui) -> None:
        self._ui = ui
        self.panel = ui.gui.add_panel()
        GalleryTab(ui, self.panel.add_tab("Gallery"))
        with self.panel.add_tab("Outline"):
            self._outline = ui.html("")
        with self.panel.add_tab("History"):
            self._history = ui.html("")
        self.panel.dock_left()
        self.panel.set_width(240.0)
        ui.on("select", lambda fields: self._select(fields["kind"], fields["name"]))
        ui.on("history.jump", lambda fields: ui.settled(lambda: ui.session.jump(int(fields["index"])))())
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show the tree and what was done."""
        if what not in ("document", "selection"):
            return
        session = self._ui.session
        selected = session.selection
        chosen = ("joint", selected.joint) if selected.joint else ("body", selected.body) if selected.body else None
        self._outline.content = outline(session.document.character, chosen)
        self._history.content = history(session.history.words, session.history.at)

    def _select(self, kind: str, name: str) -> None:
        session = self._ui.session
        who = session.document.need_character()
        fields: dict[str, Any] = {"body": name if kind == "body" else "", "joint": ""}
        if kind != "body":
            motor = next((one for one in who.motors if one.name == name), None)
            moved = name if kind == "joint" else "" if motor is None else motor.coordinate
            joint = next((one for one in who.joints if one.name == moved or moved in {axis.name for axis in one.axes}), None)
            fields = {"joint": moved, "body": "" if joint is None else joint.child}
        session.select(**fields)
