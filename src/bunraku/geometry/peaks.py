"""Peaks of sampled curves: local maxima, how much they stand out, and those that are apart from higher ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices


def maxima(values: ArrayLike) -> Indices:
    """Samples inside the curve that are higher than their neighbours; of equal ones in a row, a plateau, the middle."""
    x = np.asarray(values, dtype=np.float64)
    starts = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]])) if len(x) else np.zeros(0, dtype=np.int64)
    level, ends = x[starts], np.concatenate([starts[1:], [len(x)]]) - 1
    high = np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] > level[2:])) + 1
    return np.asarray((starts[high] + ends[high]) // 2, dtype=np.int64)


def prominences(values: ArrayLike, at: Indices) -> Array:
    """How far each peak ``at`` (k,) stands above the higher of the two valleys that part it from higher samples or the ends."""
    x = np.asarray(values, dtype=np.float64)
    out = np.empty(len(at))
    for i, k in enumerate(at):
        above = np.flatnonzero(x > x[k])
        place = int(np.searchsorted(above, k))
        first = int(above[place - 1]) + 1 if place else 0
        last = int(above[place]) if place < len(above) else len(x)
        out[i] = x[k] - max(x[first : k + 1].min(), x[k:last].min())
    return out


def peaks(values: ArrayLike, *, prominence: float) -> tuple[Indices, Array]:
    """The maxima that stand out by at least ``prominence``, and by how much they do."""
    at = maxima(values)
    out = prominences(values, at)
    return at[out >= prominence], out[out >= prominence]


def apart(values: ArrayLike, at: Indices, distance: int) -> Indices:
    """Of the peaks ``at`` (k,) those that have no higher one, itself kept, nearer than ``distance`` samples."""
    x, kept = np.asarray(values, dtype=np.float64), np.ones(len(at), dtype=bool)
    for i in np.argsort(x[at], kind="stable")[::-1]:
        if kept[i]:
            near = np.abs(at - at[i]) < distance
            near[i] = False
            kept &= ~near
    return at[kept]
