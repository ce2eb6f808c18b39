"""Monotone cubic interpolation: Fritsch-Carlson slopes, to the bit as scipy's PchipInterpolator, without loading its package."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array


def monotone(times: Array, values: Array, at: Array) -> Array:
    """The piecewise cubic through ``values`` (k,) at rising ``times`` (k,), k >= 2, at ``at`` (n,): never beyond neighbours.

    On a piece of length h with slopes d_0, d_1 at its ends and the chord m, with s the time from its start and
    t = (d_0 + d_1 - 2 m) / h:  y_0 + d_0 s + ((m - d_0) / h - t) s^2 + (t / h) s^3.
    """
    h = np.diff(times)
    m = np.diff(values) / h
    d = _slopes(h, m)
    t = (d[:-1] + d[1:] - 2.0 * m) / h
    i = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(h) - 1)
    s = at - times[i]
    curve: Array = values[i] + d[i] * s + ((m - d[:-1]) / h - t)[i] * (s * s) + (t / h)[i] * (s * s * s)
    return curve


def _slopes(h: Array, m: Array) -> Array:
    """Zero at extrema, else the weighted harmonic mean of the chords ``m`` beside; of three points at the ends."""
    if len(m) == 1:
        return np.array([m[0], m[0]])
    before, after = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    rising = (np.sign(m[:-1]) == np.sign(m[1:])) & (m[1:] != 0.0)
    with np.errstate(all="ignore"):
        inner = np.where(rising, 1.0 / ((before / m[:-1] + after / m[1:]) / (before + after)), 0.0)
    return np.concatenate([[_end(h[0], h[1], m[0], m[1])], inner, [_end(h[-1], h[-2], m[-1], m[-2])]])


def _end(h: float, beyond: float, m: float, next_m: float) -> float:
    """The slope of the parabola through three points, within what keeps the shape."""
    d = ((2.0 * h + beyond) * m - h * next_m) / (h + beyond)
    if np.sign(d) != np.sign(m):
        return 0.0
    return 3.0 * m if np.sign(m) != np.sign(next_m) and abs(d) > 3.0 * abs(m) else d
