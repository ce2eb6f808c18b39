"""Optimize: which performer, its options, run and cancel, progress and convergence."""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.performers.choose import SPOKEN_AND_BENT, choose_performer
from bunraku.performers.fit import REGISTRY, fit_of
from bunraku.performers.performer import options_of, performer_class
from bunraku.studio.document import Document
from bunraku.studio.jobs.state import JobState
from bunraku.studio.page.plot import Plot
from bunraku.studio.page.typed import Typed
from bunraku.studio.page.ui import RefreshedFolder, Ui, alone, put
from bunraku.studio.widgets.plots import convergence

BEST = "the one that suits best"
SMALL = "font-size:12px;padding:0 .6em;overflow-wrap:anywhere"
MAIN = ("speech", "marionette", "vibration", "locomotion", "skin")


class OptimizeTab:
    """Runs any performer on what is open."""

    def __init__(self, ui: Ui, tab: Any) -> None:
        self._ui = ui
        gui, session = ui.gui, ui.session
        with tab:
            names = (BEST, *MAIN, SPOKEN_AND_BENT, *(name for name in REGISTRY if name not in MAIN))
            self._performer = ui.dropdown("Performer", names, self._choose, order=1.0)
            self._why = ui.html("", order=2.0)
            self._run = ui.button("Run", ui.settled(session.make.perform), order=3.0, color="green")
            self._cancel = ui.button("Cancel", session.cancel, order=4.0, disabled=True)
            self._auto = ui.checkbox("Run again after every edit", False, self._set_auto, order=5.0)
            self._bar = gui.add_progress_bar(0.0, visible=False, order=6.0)
            self._progress = ui.html("", order=7.0)
            self._plot = Plot(ui, height=170, order=8.0, title="Convergence, powers of ten")
        self._options = RefreshedFolder(ui, tab, "Options", order=9.0, open=False)
        self._fields: dict[str, Any] = {}
        self._known: dict[str, Any] = {}
        """The options as the document had them when they were last looked at: what is typed meanwhile is not overwritten."""
        self._suits: tuple[str, str] = ("", "")
        self._last: JobState | None = None
        self._again, self._tried = False, ""
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show the performer, its options and how the run stands."""
        session = self._ui.session
        if what in ("document", "result"):
            document = session.document
            if document.performer and document.performer not in self._performer.options:  # a chain that somebody wrote
                self._performer.options = (*self._performer.options, document.performer)
            self._performer.value = document.performer or BEST
            self._why.content = f'<div style="font-size:12px;opacity:.8;padding:0 .6em .5em">{escape(self._reason(document))}</div>'
            self._options.show(document.performer, lambda: self._fill(document), visible=bool(document.performer))
            self._set_options(document)
        if what in ("document", "job"):
            self._run_again()
        self._show_job()

    def _run_again(self) -> None:
        """Perform what was edited, if the user wants that, once nothing else runs; not again what did not work."""
        session = self._ui.session
        document = session.document
        ready = document.base is not None and document.clip is not None and not session.busy
        if self._again and ready and session.result is None and self._tried != document.key:
            self._tried = document.key
            self._ui.act(session.make.perform, key="auto")

    def _choose(self, name: str) -> None:
        self._ui.session.do("performer.set", performer="" if name == BEST else name)

    def _set_auto(self, on: bool) -> None:
        self._again = bool(on)
        if on and self._ui.session.result is None:
            self._ui.session.make.perform()

    def _reason(self, document: Document) -> str:
        """Why the performer suits, or what is missing; kept, since it only changes with the document."""
        if document.base is None or document.clip is None:
            return "Open a character and a clip to perform."
        if self._suits[0] != document.key:
            try:
                character, clip = document.need_character(), document.need_clip()
                choice = choose_performer(character, clip, document.performer)
                words = f"{choice.name}: {fit_of(choice.name).suits(character, clip).reason}"
            except BunrakuError as error:
                words = str(error) if document.clip.skeleton is None else "a captured motion: it is retargeted first"
            self._suits = (document.key, words)
        return self._suits[1]

    def _fill(self, document: Document) -> None:
        hints = typing.get_type_hints(performer_class(document.performer))
        self._fields, self._known = {}, _options(document)
        for field in options_of(document.performer):
            self._option(field, hints[field.name], self._known[field.name])

    def _set_options(self, document: Document) -> None:
        """After undo, or another browser's edit: the fields go along; those whose option stayed are left to who types."""
        known = _options(document) if document.performer else {}
        for name, value in known.items():
            if value != self._known.get(name) and name in self._fields:
                self._put(name, value)
        self._known = known

    def _put(self, name: str, value: Any) -> None:
        """Show a value in its field."""
        handle = self._fields[name]
        put(handle, type(handle.value)(value))

    def _option(self, field: Any, hint: Any, value: Any) -> None:
        ui = self._ui
        label = field.name.replace("_", " ") + (f" [{field.metadata['unit']}]" if field.metadata.get("unit") else "")
        hint_of = {"hint": field.metadata.get("meaning", "")}
        chosen = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
        handle: Any
        if isinstance(value, bool):
            handle = ui.gui.add_checkbox(label, value, **hint_of)
        elif chosen:
            handle = ui.gui.add_dropdown(label, tuple(map(str, chosen)), initial_value=str(value), **hint_of)
        elif isinstance(value, (int, float)):
            low, high = field.metadata.get("low"), field.metadata.get("high")
            handle = ui.gui.add_number(label, value, min=low, max=high, step=1 if isinstance(value, int) else None, **hint_of)
        elif isinstance(value, str):
            handle = ui.gui.add_text(label, value, **hint_of)
        else:
            shown = "default" if value is None else str(value)
            ui.gui.add_text(label, shown, disabled=True, **hint_of)
            return
        self._fields[field.name] = handle
        set_option: Callable[[Any], object] = partial(self._set_option, ui.session.document.performer, field.name)
        if isinstance(value, bool) or chosen:
            ui.changed(handle, set_option, key=f"option {field.name}")
        else:
            Typed(ui, handle, f"option {field.name}", set_option)

    @alone
    def _set_option(self, performer: str, name: str, value: Any) -> None:
        """What was chosen or typed; the field shows the old value again when it is refused."""
        session = self._ui.session
        if session.document.performer != performer:  # another one was chosen meanwhile
            return
        try:
            session.do("option.set", name=name, value=value)
        except BunrakuError:
            self._put(name, self._known[name])
            raise
        self._known[name] = _options(session.document)[name]

    def _show_job(self) -> None:
        session = self._ui.session
        job = session.run
        running = job is not None and job.running
        self._run.disabled = running or session.document.base is None or session.document.clip is None
        self._cancel.disabled = not running
        self._bar.visible = running
        if job is not None and job.verb != "verify":
            self._last = job
        elif not running:
            job = self._last  # how a performer ran is told here, how a replay went with the checks
        if job is None:
            self._progress.content = ""
            return
        self._bar.value = 100.0 * (job.fraction or 0.0)
        words = {"done": "done", "cancelled": "cancelled", "failed": "failed", "lost": "the solver died"}.get(job.status, "")
        tail = job.error or job.message
        line = f"{job.verb}: {job.stage if running else words}" + (f" · {tail}" if tail else "")
        self._progress.content = f'<div class="bunraku-job" data-job="{job.status}" style="{SMALL}">{escape(line)}</div>'
        if job.verb != "verify":
            figures = [one for _, one in job.history]
            self._plot.show(convergence(figures) if len(figures) > 1 else None, key=len(figures))


def _options(document: Document) -> dict[str, Any]:
    """Every option of the document's performer with its value."""
    return {field.name: document.options.get(field.name, field.default) for field in options_of(document.performer)}
