"""Emphasis edited by hand: stretches of time dragged, weighed and removed. All functions return a new tuple."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bunraku.editing.items import at, exchanged, without
from bunraku.errors import BadInput
from bunraku.motion.emphasis import Emphasis

SHORTEST = 0.05
"""No stretch becomes shorter than this [s] by hand."""

HEAVIEST = 0.99
"""The largest share of a bar's height: a weight of 99 times the neutral one."""
_NEUTRAL = {"position": 1.0, "orientation": 0.01}

Emphases = tuple[Emphasis, ...]


def share_of_weight(emphasis: Emphasis) -> float:
    """The height of a bar, w / (w + n) in [0, 1): half at the neutral weight n (1, or 0.01 m^2 for orientation), 0 for none."""
    return emphasis.weight / (emphasis.weight + _NEUTRAL[emphasis.kind])


def weight_of_share(share: float, kind: str = "position") -> float:
    """The weight whose bar has that height; the inverse of :func:`share_of_weight`, up to `HEAVIEST`."""
    h = min(max(share, 0.0), HEAVIEST)
    return _NEUTRAL[kind] * h / (1.0 - h)


def removed(emphases: Sequence[Emphasis], index: int) -> Emphases:
    """One stretch less."""
    return without(emphases, index, "emphasis")


def moved_border(emphases: Sequence[Emphasis], index: int, end: str, time: float, duration: float) -> Emphases:
    """The "start" or "end" of a stretch at ``time`` [s], inside the clip and 0.05 s from its other end; at the clip's end: None."""
    one = at(emphases, index, "emphasis")
    if end not in ("start", "end") or not math.isfinite(time):
        raise BadInput(f"the {end} of an emphasis goes to {time} s; give start or end, and a finite time")
    last = duration if one.end is None else one.end
    if end == "start":
        new = replace(one, start=max(0.0, min(time, max(last, one.start) - SHORTEST)))
    else:
        later = max(time, one.start + SHORTEST)
        new = replace(one, end=None if later >= duration - 1e-9 else later)
    return exchanged(emphases, index, new)


def weighed(emphases: Sequence[Emphasis], index: int, weight: float) -> Emphases:
    """A stretch with another weight."""
    return exchanged(emphases, index, replace(at(emphases, index, "emphasis"), weight=weight))
