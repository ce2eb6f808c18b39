"""What is shown follows the hand: the live solver is led from the document it knows to the one that a hand has made of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bunraku.building.components.dimensions import dimensions
from bunraku.errors import BunrakuError
from bunraku.motion import Gait
from bunraku.stage.figure.motion import drawn_curves
from bunraku.studio.arguments import character_argument, clip_argument
from bunraku.studio.document import Document
from bunraku.studio.jobs.state import LiveAnswer
from bunraku.studio.results import ShownMotion

if TYPE_CHECKING:
    from bunraku.studio.session import Session


class LiveFollowing:
    """Keeps what a session shows in step with what a hand makes of its document: solved live where that can be, else drawn."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._base: Document | None = None
        """The document that the live solver knows."""

    def follow(self, phase: str) -> None:
        """Solve live what can be: a gait whose goal, targets, footfall or dimensions are being edited."""
        session = self._session
        document = session.previewed
        if not live_possible(document):
            with session.lock:
                if session.shown.live:
                    session.shown = ShownMotion()
            self._draw_wish(document, phase)
        else:
            try:
                with session.lock:
                    self._ask(document, phase)
            except BunrakuError as error:
                session.say("warning", str(error))
        session.tell("shown")

    def answered(self, answer: LiveAnswer) -> None:
        """Show what the live solver has answered, unless it is out of date."""
        session = self._session
        if answer.curves is None:
            with session.lock:
                session.shown = replace(session.shown, live=False)
                self._base = None  # the solver does not have what it refused: the next request opens afresh
            if answer.error:
                session.say("warning", answer.error)
            session.tell("shown")
            return
        document = session.previewed
        character = document.character
        if character is None or not live_possible(document) or (answer.latest and answer.mark != document.key):
            return
        if not session.dragging and document.key in session.results:
            return  # it was performed meanwhile, and that is shown
        if self._base is None:  # it waited behind a request that was refused, and was counted from that
            if answer.latest:
                self.follow("drag" if session.dragging else "release")
            return
        try:
            motion = drawn_curves(character, answer.curves)
        except BunrakuError as error:
            session.say("warning", str(error))
            return
        with session.lock:
            key = answer.mark if answer.latest else ""
            session.shown = ShownMotion(key=key, motion=motion, before=session.shown.before, live=True)
        session.transport.load(float(motion.times[-1]))
        if not answer.ok and answer.phase == "release":
            session.say("warning", f"it cannot move as asked: {answer.violated} stays violated by {answer.amount:.2g}")
        session.tell("shown")

    def _ask(self, document: Document, phase: str) -> None:
        """Lead the live solver to a document; its answers carry the document's key."""
        session = self._session
        old, self._base = self._base, None  # after a refusal it starts afresh
        again = phase == "release" and session.shown.key != document.key
        for request in live_requests(old, document, phase, again=again):
            request["mark"] = document.key
            if request["kind"] == "open":
                request["character"] = character_argument(session.project, document.changed(dimensions={}))
            if request["kind"] in ("open", "gait"):
                request["clip"] = clip_argument(session.project, document)
            session.queue.jobs.live(request)
        self._base = document

    def _draw_wish(self, document: Document, phase: str) -> None:
        """Draw the wish of joint curves at once; of a character with parts that bend or a skin, which takes longer, by a job."""
        session = self._session
        character, clip = document.character, document.wish
        if character is None or clip is None or clip.joints is None:
            with session.lock:
                session.shown = replace(session.shown, wish=None)
            if clip is not None and clip.gait is None:
                session.transport.load(clip.duration)
            return
        if character.flexibles or character.skin is not None:
            if phase == "release":
                session.make.show_wish()
            return
        old = session.shown.wish
        figure = old.figure if old is not None and old.figure.character is character else None
        try:
            wish = drawn_curves(character, clip.joints, figure=figure)
        except BunrakuError as error:
            session.say("warning", str(error))
            return
        with session.lock:
            session.shown = replace(session.shown, wish=wish) if session.shown.key else ShownMotion(wish=wish)
        session.transport.load(float(wish.times[-1]))


def live_possible(document: Document) -> bool:
    """Whether a document is solved while a hand drags: a gait of a character on wheels and feet, without skin or flexible part."""
    character, gait = document.base, document.gait
    if character is None or gait is None or character.skin is not None or character.flexibles:
        return False
    return bool(character.end_effectors) and document.performer in ("", "locomotion") and gait.pattern != "best"


def live_requests(old: Document | None, new: Document, phase: str, *, again: bool = False) -> list[dict[str, Any]]:
    """What to ask, in order, so that the solver of ``old`` knows ``new``; ``phase``: "drag" or "release".

    Requests of kind open and gait still lack the nouns they name (character, clip), which the asker adds. ``again``: ask for the
    motion once more although nothing changed.
    """
    if old is None or _other(old, new):
        asked: list[dict[str, Any]] = [{"kind": "open"}]
        if new.dimensions:
            asked.append({"kind": "dimensions", "parameters": _parameters(new), "phase": phase})
        return asked
    asked = []
    if dict(old.dimensions) != dict(new.dimensions):
        asked.append({"kind": "dimensions", "parameters": _parameters(new), "phase": phase})
    before, gait = old.need_gait(), new.need_gait()
    if _restated(before, gait):
        asked.append({"kind": "gait", "phase": phase})
    else:
        if (before.distance, before.turn) != (gait.distance, gait.turn):
            asked.append({"kind": "goal", "distance": list(gait.distance or (None, None)), "turn": gait.turn, "phase": phase})
        moved = [k for k, (a, b) in enumerate(zip(before.targets, gait.targets, strict=True)) if a.place != b.place]
        asked += [{"kind": "target", "number": k, "place": list(gait.targets[k].place), "phase": phase} for k in moved]
    return asked or ([{"kind": "gait", "phase": phase}] if again else [])


def _other(old: Document, new: Document) -> bool:
    """Whether the solver must start afresh: another character, or nothing to start from."""
    return old.base != new.base or old.muted != new.muted or old.gait is None


def _restated(before: Gait, after: Gait) -> bool:
    """Whether more has changed than the numbers of the goal and the places of targets: the problem has another shape."""
    if before.changed(distance=None, turn=None, targets=()) != after.changed(distance=None, turn=None, targets=()):
        return True
    kinds = [
        [(one.what, one.time, one.weight, *(part is None for part in one.place)) for one in gait.targets]
        for gait in (before, after)
    ]
    free = [[part is None for part in (*(gait.distance or (None, None)), gait.turn)] for gait in (before, after)]
    return kinds[0] != kinds[1] or free[0] != free[1]


def _parameters(document: Document) -> dict[str, float]:
    """All dimensions: those changed, and the others as they were."""
    assert document.base is not None  # noqa: S101 - a character is open
    design = dimensions(document.base)
    return {name: float(value) for name, value in zip(design.names, design.initial, strict=True)} | dict(document.dimensions)
