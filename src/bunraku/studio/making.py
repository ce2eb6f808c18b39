"""Making: what the session has computed, and what it does with what comes back. Every method asks for a job and returns at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.building.components.dimensions import dimensions
from bunraku.building.tips import PRINTER
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.registry import read_performance
from bunraku.stage.figure.figure import Figure
from bunraku.studio.arguments import character_argument, clip_argument
from bunraku.studio.document import Document
from bunraku.studio.history import History
from bunraku.studio.jobs.drawn_file import read_drawn
from bunraku.studio.jobs.exchange import read_curves
from bunraku.studio.jobs.state import JobState
from bunraku.studio.results import Result, ShownMotion

if TYPE_CHECKING:
    from bunraku.studio.session import Session


class Making:
    """Performing, verifying, designing, timing, retargeting, fabricating and drawing the document of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.printer = PRINTER
        """Bed (x, y) and height [m] of the printer: parts are made, and warned of, for it."""

    def perform(self) -> None:
        """Perform the document as it is; the result is shown when it is there, the best so far if it is cancelled."""
        document = self._session.document
        character, clip = document.need_character(), document.need_clip()
        target = self._session.project.result_path(document.key, character.name, clip.name)
        asked = {"performer": document.performer, "options": dict(document.options), "target": str(target)}
        arguments = self._both(document) | asked
        known = self._session.result
        if known is not None and known.performance.certificate.status.good:
            self._session.say("note", "this was performed before; here it is")  # the same input gives the same performance
            self.draw(known)
            return
        self._session.queue.ask("perform", arguments, lambda state: self._performed(document, target, state))

    def verify(self, *, full_order: bool = False) -> None:
        """Replay the performance in foreign physics and judge it; the replay is shown beside the plan."""
        result = self._session.result
        if result is None:
            raise BadInput("there is no performance of the document as it is; run the performer first")
        arguments = {"performance": str(result.path), "full_order": full_order}
        self._session.queue.ask("verify", arguments, lambda state: self._verified(result, state))

    def improve(self, *, alone: bool = False) -> None:
        """Let the design follow by itself, as its mode says: keep features, or improve an aim; the new dimensions are one edit.

        What was set by hand since it followed last stays. ``alone``: it follows a drag without being asked; when the next drag
        comes first, what was found is left aside without a word.
        """
        document = self._session.document
        if document.mode == "manual":
            raise BadInput("the design is changed by hand; choose semi-automatic or automatic to let it follow")
        document.need_character()
        start, changes = _by_hand(self._session.history)
        if document.mode == "semi-automatic" and not changes:
            raise BadInput("no dimension was set by hand since the design followed last; drag one, and the others follow")
        base = document.changed(dimensions={})
        arguments = self._both(document) | {"character": character_argument(self._session.project, base)}
        arguments |= {"start": start, "changes": changes, "free": list(document.free)}
        arguments |= {"keep": document.kept} if document.mode == "semi-automatic" else {"aim": document.aim}
        self._session.queue.ask("design", arguments, lambda state: self._improved(document, state, alone))

    def time_modes(self) -> None:
        """Optimize the switching times of the choreography; the new times are one edit."""
        document = self._session.document
        self._session.queue.ask("timing", self._both(document), lambda state: self._timed(document, state))

    def retarget(self) -> None:
        """Turn the captured skeleton of the clip into joint curves of the character, which can be edited."""
        document = self._session.document
        self._session.queue.ask("retarget", self._both(document), lambda state: self._retargeted(document, state))

    def fabricate(self) -> None:
        """Make the parts of the character in the project's folder ``parts``."""
        project = self._session.project
        folder, sides = project.place("parts", "parts").parent, [1e3 * side for side in self.printer]
        arguments = {"character": character_argument(project, self._session.document), "folder": str(folder), "printer": sides}
        self._session.queue.ask("fabricate", arguments, lambda state: self._fabricated(state, folder))

    def show_wish(self) -> None:
        """Draw the wish of the document: its clip on its character."""
        document = self._session.previewed
        character, clip = document.character, document.wish
        if character is None or clip is None or clip.joints is None:
            return
        self._session.queue.ask("drawn", self._both(document), lambda state: self._wish_drawn(document, state))

    def _both(self, document: Document) -> dict[str, Any]:
        """Character and clip of a document as arguments."""
        project = self._session.project
        return {"character": character_argument(project, document), "clip": clip_argument(project, document)}

    def _performed(self, document: Document, target: Path, state: JobState) -> None:
        if not state.result or not target.is_file():
            return
        result = Result(document.key, target, read_performance(target), state.result)
        with self._session.lock:
            self._session.results[document.key] = result
            self._session.errors.pop(document.key, None)  # those of a run before, which may have been cancelled
            if self._session.shown.key == document.key:
                self._session.shown = replace(self._session.shown, replay=None)
        if state.status == "cancelled":
            self._session.say("warning", "cancelled; this is the best so far")
        self._session.tell("result")
        if self._session.document.key == document.key:
            self.draw(result)

    def draw(self, result: Result) -> None:
        """Draw a performance: as performed, as wished, as it would be without; it is shown when it is there."""
        arguments = {"performance": str(result.path), "which": ["motion", "wish", "before"]}
        self._session.queue.ask("drawn", arguments, lambda state: self._drawn(result, state))

    def _drawn(self, result: Result, state: JobState) -> None:
        if state.status != "done" or self._session.previewed.key != result.key:
            return
        figure = Figure(result.performance.character)
        motions = {which: read_drawn(Path(path), figure) for which, path in state.result["paths"].items()}
        with self._session.lock:
            replay = self._session.shown.replay if self._session.shown.key == result.key else None
            self._session.shown = ShownMotion(result.key, motions["motion"], motions["wish"], motions["before"], replay)
        self._session.transport.load(result.performance.duration)
        self._session.tell("shown")
        if result.key not in self._session.errors:
            self._session.queue.ask("errors", {"performance": str(result.path)}, lambda state: self._measured(result, state))

    def _measured(self, result: Result, state: JobState) -> None:
        if state.status == "done":
            from bunraku.studio.jobs.verbs.errors import read_errors

            self._session.errors[result.key] = read_errors(Path(state.result["path"]))
            self._session.tell("result")

    def _wish_drawn(self, document: Document, state: JobState) -> None:
        if state.status != "done" or self._session.previewed.key != document.key:
            return
        wish = read_drawn(Path(state.result["path"]), Figure(document.need_character()))
        with self._session.lock:
            shown = self._session.shown
            self._session.shown = replace(shown, wish=wish) if shown.key else ShownMotion(wish=wish, before=shown.before)
        self._session.transport.load(float(wish.times[-1]))
        self._session.tell("shown")

    def _verified(self, result: Result, state: JobState) -> None:
        if state.status != "done":
            return
        with self._session.lock:
            self._session.results[result.key] = self._session.results.get(result.key, result).judged(state.result)
        replay = state.result.get("replay")
        if replay:
            from bunraku.stage.figure.motion import drawn_curves

            motion = drawn_curves(result.performance.character, read_curves(Path(replay)))
            with self._session.lock:
                if self._session.shown.key == result.key:
                    self._session.shown = replace(self._session.shown, replay=motion)
            self._session.tell("shown")
        self._session.tell("result")

    def _improved(self, asked: Document, state: JobState, alone: bool) -> None:
        values = state.result.get("parameters") if state.result else None
        if values and self._same(asked, "base", "dimensions", quiet=alone):
            self._session.do("dimension.several", values={str(name): float(value) for name, value in values.items()})

    def _timed(self, asked: Document, state: JobState) -> None:
        times = state.result["after"]["times"] if state.result else None
        if times and self._same(asked, "base", "clip"):
            source = self._kept_clip(Path(state.result["path"]))
            self._session.do("mode.times", times=[float(one) for one in times], source=source)
            saved = 100.0 * float(state.result.get("saving", 0.0))
            self._session.say("note", f"the new timing costs {saved:.0f} % less than equal spacing")

    def _retargeted(self, asked: Document, state: JobState) -> None:
        if state.status == "done" and state.result.get("path") and self._same(asked, "base", "clip"):
            self._session.do("open.clip", source=self._kept_clip(Path(state.result["path"])))

    def _kept_clip(self, path: Path) -> str:
        """A clip that a job made, with its voice, in the project; its name there."""
        name = self._session.project.keep(f"{self._session.document.need_clip().name}.clip.yaml", path.read_bytes())[0]
        for wav in path.parent.glob("*.wav"):
            write_atomically(self._session.project.path(name).parent / wav.name, wav.read_bytes())
        return name

    def _same(self, asked: Document, *fields: str, quiet: bool = False) -> bool:
        """Whether what a job was asked for is still what is open; if not, that is said, and nothing is changed."""
        now = self._session.document
        if all(getattr(now, name) is getattr(asked, name) for name in fields):
            return True
        if not quiet:
            self._session.say("warning", "the document has changed since this was asked for; what was found is left aside")
        return False

    def _fabricated(self, state: JobState, folder: Path) -> None:
        if state.status != "done":
            return
        self._session.say("note", f"the parts are in {folder}")
        for fault in state.result.get("faults", ())[:5]:
            self._session.say("warning", f"the parts do not hold every check: {fault}")


def _by_hand(history: History) -> tuple[dict[str, float], dict[str, float]]:
    """The dimensions [m] as they were when the design followed last, or was opened; and those that a hand has set since."""
    now, at = history.document, history.at
    while at > 0 and history.edits[at - 1].name != "dimension.several" and history.documents[at - 1].base is now.base:
        at -= 1
    start = dict(history.documents[at].dimensions)
    if now.base is None or now.dimensions == start:
        return start, {}
    design = dimensions(now.base)
    initial = dict(zip(design.names, map(float, design.initial), strict=True))
    names = [name for name in design.names if now.dimensions.get(name) != start.get(name)]
    return start, {name: now.dimensions.get(name, initial[name]) for name in names}
