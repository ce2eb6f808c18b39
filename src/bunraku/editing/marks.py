"""Words and phrases edited by hand: borders dragged, marks added, renamed, removed. A new tuple is returned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bunraku.editing.items import at, exchanged, without
from bunraku.errors import BadInput
from bunraku.motion.sound import Mark

SHORTEST = 0.05
"""No mark becomes shorter than this [s] by hand, unless it was."""

LONGEST_TEXT = 500
"""Of a mark, in characters."""

Marks = tuple[Mark, ...]


def added(marks: Sequence[Mark], text: str, start: float, end: float, duration: float) -> Marks:
    """A mark more from ``start`` to ``end`` [s], in its order; it ends where the next begins, at the latest with the clip."""
    if not (math.isfinite(start) and math.isfinite(end) and 0.0 <= start < end):
        raise BadInput(f"a mark from {start} to {end} s arrived; it starts at 0 s or later and ends after its start")
    here = next((mark for mark in marks if mark.start <= start < mark.end), None)
    if here is not None:
        raise BadInput(f"at {start:.2f} s there is {here.text[:60]!r} already; go to a time after {here.end:.2f} s")
    stop = min([end, duration, *(mark.start for mark in marks if mark.start > start)])
    if stop - start < SHORTEST:
        raise BadInput(
            f"from {start:.2f} to {stop:.2f} s there is no room for a mark; {SHORTEST:g} s are needed, go to another time"
        )
    return tuple(sorted((*marks, Mark(_text(text), start, stop)), key=lambda mark: mark.start))


def renamed(marks: Sequence[Mark], index: int, text: str) -> Marks:
    """Another text for a mark."""
    return exchanged(marks, index, replace(at(marks, index, "mark"), text=_text(text)))


def removed(marks: Sequence[Mark], index: int) -> Marks:
    """One mark less."""
    return without(marks, index, "mark")


def moved_border(marks: Sequence[Mark], index: int, end: str, time: float, duration: float) -> Marks:
    """The "start" or "end" of a mark at ``time`` [s]: inside the clip, not over its neighbours, 0.05 s from its other end.

    A stroke of the mark that would lie outside moves along to the border.
    """
    one = at(marks, index, "mark")
    if end not in ("start", "end") or not math.isfinite(time):
        raise BadInput(f"the {end} of a mark goes to {time} s; give start or end, and a finite time")
    least = min(SHORTEST, one.end - one.start)
    low = max((mark.end for mark in marks[:index] if mark.end <= one.start), default=0.0)
    high = min((mark.start for mark in marks[index + 1 :] if mark.start >= one.end), default=max(duration, one.end))
    start, stop = one.start, one.end
    if end == "start":
        start = min(max(time, low), one.end - least)
    else:
        stop = max(min(time, high), one.start + least)
    stroke = None if one.stroke is None else min(max(one.stroke, start), stop)
    return exchanged(marks, index, replace(one, start=start, end=stop, stroke=stroke))


def _text(text: str) -> str:
    words = " ".join(str(text).split())
    if not 0 < len(words) <= LONGEST_TEXT:
        raise BadInput(f"a text of {len(words)} characters arrived for a mark; give 1 to {LONGEST_TEXT}")
    return words
