"""Words and phrases edited by hand: borders dragged. A new tuple is returned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bunraku.errors import BadInput
from bunraku.motion.sound import Mark

__all__ = ["SHORTEST", "moved_border"]

SHORTEST = 0.05
"""No mark becomes shorter than this [s] by hand, unless it was."""

Marks = tuple[Mark, ...]


def moved_border(marks: Sequence[Mark], index: int, end: str, time: float, duration: float) -> Marks:
    """The "start" or "end" of a mark at ``time`` [s]: inside the clip, not over its neighbours, 0.05 s from its other end.

    A stroke of the mark that would lie outside moves along to the border.
    """
    _known(marks, index)
    if end not in ("start", "end") or not math.isfinite(time):
        raise BadInput(f"the {end} of a mark goes to {time} s; give start or end, and a finite time")
    one = marks[index]
    least = min(SHORTEST, one.end - one.start)
    low = max((mark.end for mark in marks[:index] if mark.end <= one.start), default=0.0)
    high = min((mark.start for mark in marks[index + 1 :] if mark.start >= one.end), default=max(duration, one.end))
    start, stop = one.start, one.end
    if end == "start":
        start = min(max(time, low), one.end - least)
    else:
        stop = max(min(time, high), one.start + least)
    stroke = None if one.stroke is None else min(max(one.stroke, start), stop)
    return _exchanged(marks, index, replace(one, start=start, end=stop, stroke=stroke))


def _exchanged(marks: Sequence[Mark], index: int, new: Mark) -> Marks:
    return tuple(new if k == index else mark for k, mark in enumerate(marks))


def _known(marks: Sequence[Mark], index: int) -> None:
    if not 0 <= index < len(marks):
        raise BadInput(f"mark {index} of {len(marks)} arrived; they count from 0")
