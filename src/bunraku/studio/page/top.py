"""The head of the panel: what is open, undo and redo, saving, messages; and the commands of the palette."""

from __future__ import annotations

from html import escape
from typing import Any

from bunraku.errors import BadInput
from bunraku.studio.page.ui import Ui, alone

SHOWN_MESSAGES = 3


class Top:
    """Name of the project, undo, redo, save, and the newest messages."""

    def __init__(self, ui: Ui) -> None:
        self._ui = ui
        session = ui.session
        self._status = ui.html("")
        acts = {"Undo": session.undo, "Redo": session.redo, "Save": session.save}
        self._row = ui.button_group({label: ui.settled(act) for label, act in acts.items()})
        self._messages = ui.html("")
        self._seen = 0
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show what is open and what was said."""
        session = self._ui.session
        document = session.document
        who = document.base.name if document.base is not None else "no character"
        clip = document.clip.name if document.clip is not None else "no clip"
        dirty = "not saved" if session.dirty else "saved"
        self._status.content = (
            f'<div style="padding:.3em 1.2em .3em .6em;font-size:13px"><b>{escape(who)}</b> · {escape(clip)}'
            f'<span style="float:right;opacity:.6" data-state="{dirty}">{dirty}</span></div>'
        )
        self._row.disabled = False
        if what == "message":
            self._tell()
        newest = session.messages.all[-SHOWN_MESSAGES:]
        colors = {"error": "#e03131", "warning": "#e8890c", "note": "#2b8a3e"}
        lines = [
            f'<div style="border-left:3px solid {colors.get(one.kind, "#888")};padding:.1em .5em;margin:.2em .4em">'
            f"{escape(one.text)}</div>"
            for one in newest
        ]
        look = "font-size:12px;overflow-wrap:anywhere;padding:0 .8em .5em 0"
        self._messages.content = f'<div class="bunraku-messages" style="{look}">{"".join(lines)}</div>'

    def _tell(self) -> None:
        """Errors also come as notifications that cannot be overlooked."""
        for one in self._ui.session.messages.since(self._seen):
            self._seen = one.number
            if one.kind == "error":
                for client in self._ui.server.viser.get_clients().values():
                    client.add_notification("That did not work", one.text, color="red", auto_close_seconds=8.0)


def add_commands(ui: Ui, acts: dict[str, tuple[Any, str | None, str | None]]) -> None:
    """Commands of the palette (Ctrl+K) by label: what each does, its key and the key held with it."""
    for label, (act, hotkey, modifier) in acts.items():
        options: dict[str, Any] = {} if hotkey is None else {"hotkey": hotkey, "modifier": modifier}
        try:
            command = ui.gui.add_command(label, **options)
        except ValueError as error:
            raise BadInput(f"the command {label!r} cannot have the key {hotkey!r} ({error})") from error

        async def triggered(event: Any, act: Any = act) -> None:
            ui.act(act)

        command.on_trigger(triggered)
