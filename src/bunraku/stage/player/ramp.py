"""Ways between performances, and from where the machine stands to where the first one begins.

A way is x(s) = the quintic with given ends and end velocities and no acceleration at the ends, the same duration for all values.
From rest to rest its peaks are 15/8 d/T and 10/sqrt(3) d/T^2 for a distance d in the time T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.stage.player.limits import OutputLimits

__all__ = ["GENTLE", "SHORTEST", "way"]

Array = NDArray[np.float64]

GENTLE = 0.5
"""The share of the velocity and acceleration limits that a way takes."""
SHORTEST = 0.3
"""No way that leads anywhere is shorter [s]."""
UNSTATED_PULL = 4.0
"""The acceleration of a way where none is stated, in velocity limits a second."""


def way(start: Array, end: Array, limits: OutputLimits, rate: float, start_speed: Array | None = None) -> Array:
    """Samples (n, k) at ``rate`` [Hz] after ``start`` and before ``end`` (k,): from a start speed (k,) [1/s] or rest, to rest.

    The way ends within the range, whatever ``end`` is. The speed at the start is that of a motion broken off; where no way from
    it keeps range and limits, it begins at rest, which the clamp makes of it at the limits' velocity.
    """
    v0 = np.zeros(len(start)) if start_speed is None else np.clip(np.nan_to_num(start_speed), -limits.velocity, limits.velocity)
    end = np.where(np.isfinite(end), np.clip(end, limits.lower, limits.upper), start)
    distance = np.abs(end - start)
    top = GENTLE * limits.velocity
    pull = GENTLE * np.where(np.isfinite(limits.acceleration), limits.acceleration, UNSTATED_PULL * limits.velocity)
    shortest = max(
        float(np.max(1.875 * distance / top, initial=0.0)), float(np.sqrt(np.max(5.7735 * distance / pull, initial=0.0)))
    )
    if shortest * rate < 1.0 and not v0.any():
        return np.zeros((0, len(start)))
    length = max(shortest, SHORTEST)
    if v0.any():
        for stretch in (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0):
            found = _quintic(start, end, v0, length * stretch, rate)
            if _keeps(found, start, limits, rate):
                return found
    return _quintic(start, end, np.zeros(len(start)), length, rate)


def _quintic(start: Array, end: Array, v0: Array, length: float, rate: float) -> Array:
    n = max(int(np.ceil(length * rate)), 2)
    s = (np.arange(1, n) / n)[:, None]
    blend = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    run = s * (1.0 - 6.0 * s**2 + 8.0 * s**3 - 3.0 * s**4)
    found: Array = start + (end - start) * blend + v0 * (n / rate) * run
    return found


def _keeps(x: Array, start: Array, limits: OutputLimits, rate: float) -> bool:
    """Whether samples after ``start`` keep range, velocity and stated acceleration."""
    if (x < limits.lower - 1e-9).any() or (x > limits.upper + 1e-9).any():
        return False
    v = np.diff(np.vstack([start, x]), axis=0) * rate
    if (np.abs(v) > limits.velocity * (1.0 + 1e-9)).any():
        return False
    return not (np.abs(np.diff(v, axis=0)) * rate > limits.acceleration * (1.0 + 1e-9)).any()
