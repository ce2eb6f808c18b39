"""Ways between performances, and from where the machine stands to where the first one begins.

A way is x(s) = the quintic with given ends and end velocities and no acceleration at the ends, the same duration for all values.
From rest to rest its peaks are 15/8 d/T and 10/sqrt(3) d/T^2 for a distance d in the time T; a velocity v at one end that leads
nowhere takes accelerations up to 3.94 v/T.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.motion.limits import differences
from bunraku.stage.player.braking import stopping_places
from bunraku.stage.player.limits import OutputLimits

GENTLE = 0.5
"""The share of the velocity and acceleration limits that a way takes."""
SHORTEST = 0.3
"""No way that leads anywhere is shorter [s]."""
TURNING = 3.94
"""The peak acceleration that takes a velocity v away in the time T and comes back to where it was, in v/T."""
UNSTATED_PULL = 4.0
"""The acceleration of a way where none is stated, in velocity limits a second."""


def way(
    start: Array,
    end: Array,
    limits: OutputLimits,
    rate: float,
    start_speed: Array | None = None,
    end_speed: Array | None = None,
    *,
    always: bool = False,
) -> Array:
    """Samples (n, k) at ``rate`` [Hz] after ``start`` and before ``end`` (k,), with speeds (k,) [1/s] at both; rest by default.

    None are needed from a place to itself at the same speed, unless ``always``. The way ends within the range, whatever ``end``
    is. Where no quintic keeps range and limits, it brakes first, and takes a run-up for the speed at the end; what lies outside
    the range is cut off there.
    """
    v0, v1 = _speed(start_speed, start, limits), _speed(end_speed, start, limits)
    end = np.where(np.isfinite(end), np.clip(end, limits.lower, limits.upper), start)
    distance = np.abs(end - start)
    top = GENTLE * limits.velocity
    full = np.where(np.isfinite(limits.acceleration), limits.acceleration, UNSTATED_PULL * limits.velocity)
    shortest = max(
        float(np.max(1.875 * distance / top, initial=0.0)), float(np.sqrt(np.max(5.7735 * distance / (GENTLE * full), initial=0.0)))
    )
    if not always and shortest * rate < 1.0 and (np.abs(v1 - v0) * rate <= limits.acceleration).all():
        return np.zeros((0, len(start)))
    length = max(shortest, SHORTEST)
    if not (v0.any() or v1.any()):
        return _quintic(start, end, v0, v1, length, rate)
    length = max(length, float(np.max(TURNING * (np.abs(v0) + np.abs(v1)) / full)))
    for stretch in (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0):
        samples = _quintic(start, end, v0, v1, length * stretch, rate)
        if _keeps(np.vstack([start - v0 / rate, start, samples, end, end + v1 / rate]), limits, rate):
            return samples
    slowing, run_up = _braking(start, v0, limits, rate), _braking(end, -v1, limits, rate)[::-1]
    between = way(slowing[-1] if len(slowing) else start, run_up[0] if len(run_up) else end, limits, rate, always=always)
    return np.vstack([slowing, between, run_up])


def _speed(given: Array | None, place: Array, limits: OutputLimits) -> Array:
    return np.zeros(len(place)) if given is None else np.clip(np.nan_to_num(given), -limits.velocity, limits.velocity)


def _quintic(start: Array, end: Array, v0: Array, v1: Array, length: float, rate: float) -> Array:
    n = max(int(np.ceil(length * rate)), 2)
    s = (np.arange(1, n) / n)[:, None]
    blend = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    out = s * (1.0 - 6.0 * s**2 + 8.0 * s**3 - 3.0 * s**4)
    into = s**3 * (-4.0 + 7.0 * s - 3.0 * s**2)
    return start + (end - start) * blend + (n / rate) * (v0 * out + v1 * into)


def _braking(place: Array, speed: Array, limits: OutputLimits, rate: float) -> Array:
    """Samples (n, k) after ``place`` (k,) until all is at rest, as soon as the limits allow; cut off at the range."""
    pull = np.minimum(limits.acceleration / rate**2, 2.0 * limits.velocity / rate)
    rows: list[Array] = []
    step = speed / rate
    while (np.abs(step) > pull).any():
        step, _ = stopping_places(place, step, pull, limits.planar)
        rows.append(rows[-1] + step if rows else place + step)
    return np.clip(np.array(rows).reshape(-1, len(place)), limits.lower, limits.upper)


def _keeps(x: Array, limits: OutputLimits, rate: float) -> bool:
    """Whether samples x (n, k) keep range (the first and last left out), velocity and stated acceleration."""
    if (x[1:-1] < limits.lower - 1e-9).any() or (x[1:-1] > limits.upper + 1e-9).any():
        return False
    for order, most in ((1, limits.velocity), (2, limits.acceleration)):
        size = np.abs(differences(x, rate, order))
        for a, b in limits.planar:
            size[:, a] = np.hypot(size[:, a], size[:, b])
        if (size > most * (1.0 + 1e-9)).any():
            return False
    return True
