"""Fewer points for drawing: of each stretch of a curve the lowest and the highest sample stay, so that no peak is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput


def decimated(values: ArrayLike, most: int) -> NDArray[np.int64]:
    """Rising indices, at most ``most`` >= 4, of the samples of a curve (n,) to draw: ends, lowest and highest of each stretch.

    All of them when there are no more than ``most``. Samples that are not finite count as neither low nor high.
    """
    y = np.asarray(values, dtype=np.float64).ravel()
    _enough(most)
    if len(y) <= most:
        return np.arange(len(y), dtype=np.int64)
    inner = y[1:-1]
    edges = _edges(len(inner), (most - 2) // 2)
    picked = [0, len(y) - 1]
    for a, b in pairwise(edges.tolist()):
        part = inner[a:b]
        low, high = np.where(np.isfinite(part), part, np.inf), np.where(np.isfinite(part), part, -np.inf)
        picked += [1 + a + int(low.argmin()), 1 + a + int(high.argmax())]
    return np.unique(np.array(picked, dtype=np.int64))


def decimated_together(times: ArrayLike, columns: ArrayLike, most: int) -> tuple[Array, Array]:
    """Curves (n, k) that share their ``times`` (n,), with at most ``most`` >= 4 rows, still sharing their times.

    Each stretch becomes two rows, at its first and its last time: the lowest and the highest value of each curve, in the order in
    which that curve has them. Every extreme is kept exactly, its time to within the stretch; the first and last rows are kept.
    """
    t, y = np.asarray(times, dtype=np.float64), np.asarray(columns, dtype=np.float64)
    _enough(most)
    if len(t) <= most:
        return t.copy(), y.copy()
    edges = _edges(len(t) - 2, (most - 2) // 2) + 1
    rows, at = [y[:1]], [t[:1]]
    for a, b in pairwise(edges.tolist()):
        part = y[a:b]
        seen = np.isfinite(part)
        low, high = np.where(seen, part, np.inf), np.where(seen, part, -np.inf)
        first_low = low.argmin(axis=0) <= high.argmax(axis=0)
        least, largest = low.min(axis=0), high.max(axis=0)
        none = ~seen.any(axis=0)
        least[none] = largest[none] = np.nan
        pair = np.vstack([np.where(first_low, least, largest), np.where(first_low, largest, least)])
        rows.append(pair if b - a > 1 else pair[:1])
        at.append(t[[a, b - 1]] if b - a > 1 else t[[a]])
    return np.concatenate([*at, t[-1:]]), np.concatenate([*rows, y[-1:]])


def outline(values: ArrayLike, columns: int) -> Array:
    """Lowest and highest value (columns, 2) of each of ``columns`` equal stretches of a curve (n,): a waveform. Empty: zeros."""
    y = np.asarray(values, dtype=np.float64).ravel()
    if columns < 1:
        raise BadInput(f"a waveform of {columns} columns cannot be drawn; give at least one")
    if not len(y):
        return np.zeros((columns, 2))
    first = np.minimum((np.arange(columns) * len(y)) // columns, len(y) - 1)
    last = np.maximum((np.arange(1, columns + 1) * len(y)) // columns, first + 1)
    return np.array([(y[a:b].min(), y[a:b].max()) for a, b in zip(first, last, strict=True)])


def _edges(count: int, stretches: int) -> NDArray[np.int64]:
    return np.unique((np.arange(stretches + 1) * count) // stretches)


def _enough(most: int) -> None:
    if most < 4:
        raise BadInput(f"a curve of {most} points cannot be drawn; give at least 4")
