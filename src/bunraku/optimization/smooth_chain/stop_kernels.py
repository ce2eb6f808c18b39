"""The hardest legal stop under acceleration and jerk limits, in units of one sample: closed forms, one joint."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def run_out(speed, step):
    """Way still made when a speed >= 0 is lowered by ``step`` a sample until it is 0: sum of max(speed - i step, 0), i >= 1."""
    if not speed > step:
        return 0.0
    m = np.floor(speed / step)
    return m * speed - step * m * (m + 1.0) / 2.0


@njit(cache=True, error_model="numpy")
def fastest(gap, step):
    """Largest speed b with b + run_out(b) <= gap: the inverse of the way to stop."""
    if not 8.0 * gap > 8.0 * step:
        return max(gap, 0.0)
    m = np.floor((np.sqrt(1.0 + 8.0 * gap / step) - 1.0) / 2.0)
    return (gap + step * m * (m + 1.0) / 2.0) / (m + 1.0)


@njit(cache=True, error_model="numpy")
def brake(v, a, most, jerk):
    """Next acceleration of the hardest legal stop from velocity v and acceleration a, all in units of one sample.

    The stop brings v and a to exactly 0 in finitely many samples, keeps |a| <= ``most`` and changes a by at most ``jerk`` a sample
    (either may be infinite). Let e = v + sign(a) run_out(|a|, jerk) be the velocity left if a were released at once. For
    e >= 0 the next acceleration is max(a - jerk, -min(most, fastest(v, jerk))): as negative as allowed while v still suffices
    to let it fade out again. With b = |a|, v >= run_out(b) gives fastest(v) >= b - jerk, since (b - jerk) + run_out(b - jerk)
    = run_out(b); so the change never exceeds jerk and v >= run_out(b) holds again: v falls monotonically to 0 and is not
    reversed. e < 0: mirrored.
    """
    left = v + run_out(a, jerk) if a > 0.0 else v - run_out(-a, jerk)
    if left > 0.0 or (left == 0.0 and v >= 0.0):
        return max(a - jerk, -min(most, fastest(max(v, 0.0), jerk)))
    return min(a + jerk, min(most, fastest(max(-v, 0.0), jerk)))


@njit(cache=True, error_model="numpy")
def stop_needs(v, a, most, jerk, samples):
    """Largest |v| and |a| on the hardest stop from v and a, from the next sample on; NaN counts as 0."""
    v, a = 0.0 if np.isnan(v) else v, 0.0 if np.isnan(a) else a
    fast, hard = 0.0, 0.0
    for _ in range(samples):
        a = brake(v, a, most, jerk)
        v += a
        fast, hard = max(fast, abs(v)), max(hard, abs(a))
        if v == 0.0 and a == 0.0:
            break
    return fast, hard
