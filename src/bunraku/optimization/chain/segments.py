"""Where to cut a motion into segments: at its turning points and at the boundaries of spoken phrases."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BadInput


def turning_points(reference: ArrayLike, hysteresis: float = 0.1) -> NDArray[np.int64]:
    """Samples where a curve turns round: the zero crossings of its velocity that matter.

    A highest (lowest) sample counts once the curve has come back from it by more than ``hysteresis``, so that noise and
    trembling below that size cut nothing. On a plateau its first sample counts.

    Args:
        reference: curve, shape (n,).
        hysteresis: least return travel, in the unit of the curve, >= 0.

    Returns:
        Increasing interior indices, alternately maxima and minima.
    """
    r = np.asarray(reference, dtype=np.float64)
    points: list[int] = []
    high = low = 0  # samples of the extremes since the last turning point
    rising = falling = False
    for i, value in enumerate(r.tolist()):
        if value > r[high]:
            high = i
        if value < r[low]:
            low = i
        if not falling and r[high] - value > hysteresis:
            points.append(high)
            falling, rising, low = True, False, i
        elif not rising and value - r[low] > hysteresis:
            points.append(low)
            rising, falling, high = True, False, i
    return np.array([i for i in points if 0 < i < len(r) - 1], dtype=np.int64)


def cut_segments(
    reference: ArrayLike,
    rate: float,
    marks: Iterable[float] = (),
    *,
    hysteresis: float = 0.1,
    shortest: float = 1.0,
) -> NDArray[np.int64]:
    """Segment boundaries of one joint curve for :func:`~bunraku.optimization.chain.compression.solve_compression`.

    Both ends and every mark inside the curve are boundaries. Turning points (:func:`turning_points`) are added in order of time
    when they are at least ``shortest`` away from every boundary already chosen.

    Args:
        reference: joint curve, shape (n,).
        rate: samples a second [Hz].
        marks: times of speech phrase boundaries from the first sample [s]; those outside the curve are ignored.
        hysteresis: least travel back from a turning point, unit of the curve (rad).
        shortest: least duration between a turning point and its neighbouring boundaries [s].

    Returns:
        Increasing indices from 0 to n - 1, shape (Q + 1,) for Q segments.
    """
    r = np.asarray(reference, dtype=np.float64)
    if r.ndim != 1 or r.size < 2 or not np.isfinite(r).all():
        raise BadInput(f"reference has shape {r.shape} or is not finite; give a finite curve (n,) of at least two samples")
    if not (rate > 0 and np.isfinite(rate)) or not hysteresis >= 0 or not shortest >= 0:
        raise BadInput(f"rate {rate} Hz, hysteresis {hysteresis}, shortest {shortest} s; give rate > 0 and the others >= 0")
    n = r.size
    kept = {0, n - 1}
    for mark in marks:
        if not np.isfinite(mark):
            raise BadInput(f"a mark is {mark}; give times in seconds")
        index = round(mark * rate)
        if 0 < index < n - 1:
            kept.add(index)
    least = max(1, round(shortest * rate))
    fixed = np.array(sorted(kept))
    last = 0
    for point in turning_points(r, hysteresis).tolist():
        right = int(np.searchsorted(fixed, point))
        near = max(last, int(fixed[right - 1]))
        if point - near >= least and int(fixed[right]) - point >= least:
            kept.add(point)
            last = point
    return np.array(sorted(kept), dtype=np.int64)
