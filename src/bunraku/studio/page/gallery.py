"""The gallery of built-in examples, files of one's own, and the short tour: what a newcomer sees first."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

from bunraku.assets.examples import DEMOS
from bunraku.studio.page.ui import Ui

QUIET = (92, 107, 125)
"""Of buttons that are many."""
SMALL = "font-size:11px;line-height:1.3;opacity:.75;margin-top:-.5em;padding:0 .9em .5em"
GROUPS = {
    "Speech and gestures": "speech",
    "Marionettes": "marionette",
    "Flexible characters": "vibration",
    "Legs and wheels": "locomotion",
    "Soft skins": "skin",
}
TOUR = (
    ("Welcome", "Bunraku turns what you want into what a physical character can perform, and proves it. Five short steps."),
    ("1 · Open", "**Gallery**, on the left: pick an example, or bring a character and a clip of your own."),
    (
        "2 · Design and choreograph",
        "**Design** changes the character, **Choreograph** what it should do. Drag; the motion follows. Ctrl+Z undoes anything.",
    ),
    ("3 · Optimize", "**Run** finds motor curves that the character can perform. Green is the wish, solid what will be performed."),
    (
        "4 · Check and export",
        "**Verify** replays it in MuJoCo, whose physics is not ours. Then export it, print the parts, or record it.",
    ),
    ("5 · Play", "The timeline below plays, loops and scrubs. Space plays and pauses; Ctrl+K finds every command."),
)  # fmt: skip


class GalleryTab:
    """Examples by kind, and a button for files of one's own."""

    def __init__(self, ui: Ui, tab: Any) -> None:
        self._ui = ui
        gui, session = ui.gui, ui.session
        with tab:
            gui.add_markdown("Open an example, or a file of your own.")
            hint = "A character, a clip, a performance, a surface, or a ZIP with several"
            upload = gui.add_upload_button("Open a file", hint=hint)

            async def uploaded(event: Any) -> None:
                ui.act(ui.settled(partial(self._bring, event.target.value)))

            upload.on_upload(uploaded)
            ui.button("New character", partial(session.do, "open.blank"), hint="A box to build on, in the Design tab", color="gray")
            for label, performer in GROUPS.items():
                with gui.add_folder(label, expand_by_default=False):
                    for name, demo in DEMOS.items():
                        if demo.performer.split("+")[-1] == performer and demo.character:  # a chain stands with its last
                            ui.button(name, partial(session.do, "open.example", name=name), color=QUIET)
                            ui.html(f'<div style="{SMALL}">{escape(demo.meaning[:1].upper() + demo.meaning[1:])}</div>')

    def _bring(self, file: Any) -> None:
        session, name = self._ui.session, self._ui.server.uploads.label(file.name)
        session.say("note", f"opened {session.bring(name, file.content)}")


def add_tour(ui: Ui, step: int = 0) -> None:
    """The guided tour: a few dialogs, one after the other."""
    title, words = TOUR[step]
    with ui.drawing:
        modal = ui.gui.add_modal(title)

        def leave(following: int | None = None) -> None:
            if modal.closed:  # a second press was under way already
                return
            modal.close()
            if following is not None:
                add_tour(ui, following)

        with modal:
            ui.gui.add_markdown(words)
            if step + 1 < len(TOUR):
                ui.button("Next", partial(leave, step + 1))
                ui.button("Skip the tour", leave, color="gray")
            else:
                ui.button("Start", leave)
