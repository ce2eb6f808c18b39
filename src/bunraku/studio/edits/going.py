"""How a character goes: speed and turning, footfalls, and targets placed at times."""

from __future__ import annotations

import dataclasses

from bunraku.errors import BadInput
from bunraku.gait.edit import moved_swing, toggled
from bunraku.motion import Gait, Target
from bunraku.studio.document import Document
from bunraku.studio.edits.opening import clip_changed
from bunraku.studio.edits.registry import edit

NUMBERS = ("duration", "swing_height", "air", "friction", "turn")
CHOICES = ("pattern", "start", "end", "symmetric", "periodic", "cycles", "samples")


@edit("gait.goal", "Changed how far it goes and turns")
def set_goal(document: Document, forward: float | None = None, aside: float | None = None, turn: float | None = None) -> Document:
    """How far [m] and how much turned [rad] in one cycle, or from start to end; what is left out stays as it is."""
    gait = document.need_gait()
    x, y = gait.distance or (None, None)
    distance = (x if forward is None else float(forward), y if aside is None else float(aside))
    changed = gait.changed(distance=None if distance == (None, None) else distance, turn=gait.turn if turn is None else float(turn))
    return clip_changed(document, gait=changed)


@edit("gait.set", "Set the gait's {field} to {value}")
def set_gait(document: Document, field: str, value: float | str | bool | None) -> Document:
    """One field of the gait."""
    if field not in (*NUMBERS, *CHOICES):
        raise BadInput(f"a gait has no {field!r} to set here; it has {', '.join((*NUMBERS, *CHOICES))}")
    gait = document.need_gait()
    changes: dict[str, object] = {field: int(value) if field in ("cycles", "samples") and value is not None else value}
    if field == "pattern" and value != "custom":
        changes |= {"swings": ()}
        if value == "roll":
            changes |= {"air": None}
    return clip_changed(document, gait=gait.changed(**changes))


@edit("gait.toggle", "Footfall of {foot}, cell {cell}")
def toggle_foot(document: Document, foot: str, cell: int, cells: int = 24) -> Document:
    """Put a foot down, or lift it, in one cell of the cycle."""
    return clip_changed(document, gait=toggled(document.need_character(), document.need_gait(), foot, int(cell), int(cells)))


@edit("gait.swing", "Moved the {end} of a swing of {foot}")
def move_swing(document: Document, foot: str, swing: int, end: str, phase: float) -> Document:
    """Move the start or the end of a swing to another phase of the cycle."""
    gait = moved_swing(document.need_character(), document.need_gait(), foot, int(swing), end, float(phase))
    return clip_changed(document, gait=gait)


@edit("target.add", "Added a target of {what} at {time} s")
def add_target(document: Document, what: str, time: float, place: list[float | None], weight: float = 50.0) -> Document:
    """Where something should be at a time."""
    gait = document.need_gait()
    known = ("com", "base", *(tip.name for tip in document.need_character().end_effectors))
    if what not in known:
        raise BadInput(f"{what!r} cannot have a target; {', '.join(known)} can")
    target = Target(float(time), what, _place(place), float(weight))
    return clip_changed(document, gait=gait.changed(targets=(*gait.targets, target)))


@edit("target.move", "Moved target {index}")
def move_target(
    document: Document, index: int, place: list[float | None] | None = None, time: float | None = None, weight: float | None = None
) -> Document:
    """Another place [m], time [s] or weight for a target."""
    gait = document.need_gait()
    old = _target(gait, index)
    new = dataclasses.replace(
        old,
        place=old.place if place is None else _place(place),
        time=old.time if time is None else float(time),
        weight=old.weight if weight is None else float(weight),
    )
    targets = tuple(new if k == index else one for k, one in enumerate(gait.targets))
    return clip_changed(document, gait=gait.changed(targets=targets))


@edit("target.remove", "Removed target {index}")
def remove_target(document: Document, index: int) -> Document:
    """Take a target away."""
    gait = document.need_gait()
    _target(gait, index)
    return clip_changed(document, gait=gait.changed(targets=tuple(one for k, one in enumerate(gait.targets) if k != index)))


def _target(gait: Gait, index: int) -> Target:
    if not 0 <= int(index) < len(gait.targets):
        raise BadInput(f"target {index} of {len(gait.targets)} arrived; they count from 0")
    return gait.targets[int(index)]


def _place(place: list[float | None]) -> tuple[float | None, float | None, float | None]:
    if len(place) != 3:
        raise BadInput(f"a place of {len(place)} numbers arrived; give x, y, z")
    x, y, z = (None if part is None else float(part) for part in place)
    return (x, y, z)
