"""Tracking: how well a motion was followed: the delay between two sets of curves, and the error once it is removed."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array


def shifted(times: Array, values: Array, at: Array, delays: Array) -> Array:
    """Curves ``values`` (n, k) at ``times`` (n,), read at ``at`` (m,) plus each column's delay (k,) [s]: shape (m, k)."""
    return np.column_stack([np.interp(at + delay, times, values[:, j]) for j, delay in enumerate(delays)])


def tracking_errors(times: Array, measured: Array, at: Array, wanted: Array, delays: Array) -> tuple[Array, Array]:
    """RMS and largest error (k,) of ``measured`` (n, k) against ``wanted`` (m, k) at ``at`` (m,), pure delays (k,) [s] removed.

    The error is measured(t + delay) - wanted(t).
    """
    error = shifted(times, measured, at, delays) - wanted
    return np.sqrt(np.mean(error**2, axis=0)), np.abs(error).max(axis=0)


def measured_delays(times: Array, measured: Array, at: Array, wanted: Array, *, longest: float = 0.4, still: float = 0.02) -> Array:
    """The delay (k,) [s] that best explains ``measured`` as ``wanted`` played later; NaN for curves that move less than ``still``.

    It minimizes the variance over t of measured(t + d) - wanted(t), so that a constant offset (a sagging arm) does not count:
    first on a grid of 2 ms up to ``longest``, then at the vertex of the parabola through the best three.
    """
    step = 0.002
    grid = np.arange(0.0, longest + step / 2, step)
    room = at <= max(times[-1] - longest, at[0])
    at, wanted = at[room], wanted[room]
    cost = np.array([(shifted(times, measured, at, np.full(wanted.shape[1], d)) - wanted).var(axis=0) for d in grid])
    out = np.full(wanted.shape[1], np.nan)
    for j in np.flatnonzero(np.ptp(wanted, axis=0) > still):
        i = int(np.argmin(cost[:, j]))
        out[j] = grid[i]
        if 0 < i < len(grid) - 1:
            left, middle, right = cost[i - 1 : i + 2, j]
            bend = left - 2 * middle + right
            if bend > 0.0:
                out[j] += 0.5 * step * (left - right) / bend
    return out
