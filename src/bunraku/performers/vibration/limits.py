"""Limits of the motors as rows on the control points of their profiles.

A cubic B-spline with knots every s lies within the hull of its control points c_i; its velocity is a quadratic spline with the
control points (c_i - c_{i-1})/s, its acceleration piecewise linear with (c_i - 2 c_{i-1} + c_{i-2})/s^2 at the knots, its jerk
piecewise constant. So rows on these differences keep the limits at every time, not only at samples; for acceleration and jerk they
are also necessary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.places import known_names
from bunraku.mechanics.flexible.torque_lines import no_load_speeds
from bunraku.motion import JointCurves, MotionLimits
from bunraku.performers.vibration.profile import Profile

INSIDE = 1.0 - 1e-9
"""The share of each limit that is used; the rest is for rounding."""


@dataclass(frozen=True, eq=False)
class ProfileLimits:
    """Rows ``A`` (rows, n m), sparse, with ``lower`` <= A p <= ``upper`` (rows,); rows are scaled to unit limits where finite."""

    A: Any
    lower: Array
    upper: Array

    def violation(self, parameters: Array) -> float:
        """The largest excess over any row, in units of its limit; 0 when all hold."""
        value = self.A @ parameters
        return float(np.maximum(self.lower - value, value - self.upper).max(initial=0.0))


def profile_limits(character: Character, profile: Profile) -> ProfileLimits:
    """The rows of range, velocity, acceleration and jerk of all motors that state them."""
    limits = MotionLimits.of(character).chosen(profile.motors)
    speed = np.minimum(limits.velocity, no_load_speeds(character, profile.motors))
    n, m, s = profile.points, len(profile.motors), profile.spacing
    blocks, lower, upper = [], [], []
    kinds = ((0, None), (1, speed), (2, limits.acceleration), (3, limits.jerk))
    for order, limit in kinds:
        D = _differences(n, order) / s**order
        for j in range(m):
            if limit is None:
                low, high = limits.lower[j], limits.upper[j]
            else:
                low, high = -INSIDE * limit[j], INSIDE * limit[j]
            if not (np.isfinite(low) or np.isfinite(high)):
                continue
            size = max(abs(b) for b in (low, high) if np.isfinite(b)) or 1.0
            blocks.append(sparse.kron(D / size, _unit(m, j), format="csr"))
            lower.append(np.full(D.shape[0], low / size))
            upper.append(np.full(D.shape[0], high / size))
    A = sparse.csr_array(sparse.vstack(blocks)) if blocks else sparse.csr_array((0, n * m))
    return ProfileLimits(A, np.concatenate([np.zeros(0), *lower]), np.concatenate([np.zeros(0), *upper]))


def check_speed(character: Character, wish: JointCurves) -> None:
    """Refuse a wish of no motor, faster than its motors can turn, or beyond their range: no profile near it exists."""
    stray = next((name for name in wish.names if name not in character.driven), None)
    if stray is not None:
        known = known_names(stray, character.driven)
        raise BadInput(f"the clip moves {stray!r}, which no motor of {character.name!r} drives; {known}")
    limits = MotionLimits.of(character).chosen(wish.names)
    speed = np.abs(np.diff(wish.values, axis=0)) * wish.rate
    most = np.minimum(limits.velocity, no_load_speeds(character, wish.names)) * (1.0 + 1e-6)
    if len(speed) and (speed > most).any():
        k, j = np.unravel_index(int(np.argmax(speed / most)), speed.shape)
        raise BadInput(
            f"the clip turns {wish.names[j]!r} at {speed[k, j]:.3g} rad/s at {k / wish.rate:.3g} s, and its motor reaches "
            f"{most[j]:.3g} rad/s; slow the clip down by {speed[k, j] / most[j]:.3g} or more (tempo), or choose a faster motor"
        )
    low, high = limits.bounds(wish.values)
    over = np.maximum(low - wish.values, wish.values - high)
    if (over > 1e-6).any():
        k, j = np.unravel_index(int(np.argmax(over)), over.shape)
        raise BadInput(
            f"the clip turns {wish.names[j]!r} to {wish.values[k, j]:.3g} at {k / wish.rate:.3g} s, beyond its range of "
            f"[{low[k, j]:.3g}, {high[k, j]:.3g}]; change the clip or the range"
        )


def _differences(n: int, order: int) -> Any:
    """The matrix (n - order, n) of differences of that order."""
    D: Any = sparse.eye_array(n, format="csr")
    for _ in range(order):
        D = D[1:] - D[:-1]
    return D


def _unit(m: int, j: int) -> Any:
    return sparse.csr_array(([1.0], ([0], [j])), shape=(1, m))
