"""Samples at the rate of the device, from those at the motor rate, within the same limits.

Where the device's rate divides the motor rate, every k-th sample is taken. Else the samples are control points of a uniform cubic
B-spline: its values lie between theirs, its first three derivatives between their differences over h, h^2 and h^3, and so do the
differences of values taken from it at any rate. So range, velocity, acceleration and jerk limits that hold at the motor rate hold
at the device's. The price is a smoothing: the curve passes samples at a distance of h^2/6 times the acceleration there (1 mrad at
100 Hz and 60 rad/s^2); it comes neither early nor late.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.stage.player.outputs import DeviceOutputs
from bunraku.stage.player.ramp import way

MOST = 50_000_000
"""Numbers in a table of samples, 400 MB; a file of few samples at a tiny rate would else fill any memory."""


def samples_at(values: Array, rate: float, asked: float) -> Array:
    """Samples (m, k) at ``asked`` [Hz] of values (n, k) at ``rate`` [Hz], first and last included."""
    n = len(values)
    step = rate / asked
    if n < 2 or abs(step - 1.0) < 1e-9:
        return values.copy()
    whole = round(step)
    if whole >= 1 and abs(step - whole) < 1e-9 and (n - 1) % whole == 0:
        return values[::whole].copy()
    from scipy.interpolate import BSpline

    if (n - 1) / step * values.shape[1] > MOST:
        raise BadInput(
            f"{(n - 1) / rate:.3g} s at {asked:g} Hz are too long to be played at once; play it in parts, or lower rate_hz"
        )
    padded = np.vstack([2.0 * values[0] - values[1], values, 2.0 * values[-1] - values[-2]])
    count = int(np.ceil((n - 1) / step - 1e-9)) + 1
    places = np.minimum(np.arange(count) * step, n - 1.0)
    return BSpline(np.arange(-3.0, n + 3.0), padded, 3)(places)


def held_for(seconds: float, table: Array, outputs: DeviceOutputs, rate: float) -> Array:
    """Samples (n, k) at ``rate`` [Hz], and after them the last one until ``seconds`` are over; wheels come to rest meanwhile.

    Values that are not known (NaN) stay so.
    """
    count = int(np.ceil(seconds * rate - 1e-6)) + 1
    if count <= len(table):
        return table
    last = np.where(np.isnan(table[-1]), outputs.home, table[-1])
    rest = outputs.rest(last)
    speed = (table[-1] - table[-2]) * rate if len(table) > 1 else None
    slowing = way(last, rest, outputs.limits, rate, speed)
    tail = np.vstack([slowing, np.tile(rest, (max(count - len(table) - len(slowing), 1), 1))])
    tail[:, np.isnan(table[-1])] = np.nan
    return np.vstack([table, tail])
