"""How the live solver is led from the document it knows to the one that a hand has made of it."""

from __future__ import annotations

from typing import Any

from bunraku.building.components.dimensions import dimensions
from bunraku.motion import Gait
from bunraku.studio.document import Document


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
