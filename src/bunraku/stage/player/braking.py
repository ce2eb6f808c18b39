"""How a motion comes to rest, in steps a period, each at most A shorter than the one before.

A step s is followed by s - A, s - 2 A, ... with n = floor(s / A) of them, which lead s n - A n (n + 1) / 2 farther. So the largest
step from which a motion can still stop within a gap g, that step included, is s = (g + A n (n + 1) / 2) / (n + 1), where n is the
largest whole number with A n (n + 1) / 2 <= g.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array

Indices = NDArray[np.int64]

MOST_PLACES = 64
"""So many places of a long way to rest are looked at."""


def largest_step(gap: Array, pull: Array) -> Array:
    """The largest steps (k,) from which one comes to rest within gaps (k,) >= 0, if each is at most ``pull`` (k,) shorter."""
    n = np.floor(0.5 * (np.sqrt(1.0 + 8.0 * gap / pull) - 1.0))
    return (gap + 0.5 * pull * n * (n + 1.0)) / (n + 1.0)


def closing_step(gap: Array, pull: Array, spared: Array, room: Array) -> Array:
    """The largest steps (k,) by which gaps (k,) >= 0 to something that moves may shrink, with no risk to go beyond it.

    It may turn away against us with all but ``spared`` (k,) of our ``pull`` (k,), until it is ``room`` (k,) slower than now. Either
    we brake with what is spared; or the gap shrinks by s a period for those N = room / A + 1 periods, and then we brake:
    s (N + 1) + s^2 / (2 A) <= g. What leads farther is taken.
    """
    periods = room / pull + 2.0
    patient = 2.0 * gap / (periods + np.sqrt(periods**2 + 2.0 * gap / pull))
    return np.maximum(largest_step(gap, spared), patient)


def stopping_places(place: Array, step: Array, pull: Array, planar: Indices, groups: Sequence[Indices] = ()) -> tuple[Array, Array]:
    """The first step (k,) of coming to rest after ``step`` (k,), and where it leads from ``place`` (k,): (m, k), rest the last.

    Pairs in ``planar`` (p, 2) slow down together, in their direction; so do the values of each of ``groups``, as fast as the
    slowest of them.
    """
    size = np.abs(step)
    if len(planar):
        size[planar] = np.hypot(step[planar[:, 0]], step[planar[:, 1]])[:, None]
    part = pull / np.maximum(size, 1e-300)
    for group in groups:
        part[group] = part[group].min()
    last = np.floor(1.0 / part)
    count = int(last.max(initial=0.0))
    at = np.unique(np.linspace(0, count, min(count + 1, MOST_PLACES)).astype(np.int64))
    n = np.minimum(at[:, None], last)
    places: Array = place + step * (n - 0.5 * np.where(n > 0.0, part * n * (n + 1.0), 0.0))
    return step * np.maximum(1.0 - part, 0.0), places
