"""Motor profiles: twice continuously differentiable cubic B-splines, knots on a grid of 2 ms, whatever the time step.

Motor j goes theta_j(t) = sum_i B_i(t) c_ij. Parameters p (n m,) are the control points c (n, m) in rows: control point major, so
that those that matter up to a time are the first ones. Second derivatives are continuous, so that torques stay finite. The first
three control points are equal: the motion begins at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.splines import SplineBasis, interpolate
from bunraku.motion import JointCurves

KNOT_GRID = 2e-3
"""Knots stand at multiples of this [s]: the same parameters are the same curves at every step of the simulation."""

AT_REST = 3
"""So many equal control points at an end make a curve that stands still there, with no acceleration."""


@dataclass(frozen=True, eq=False)
class Profile:
    """The splines of all ``motors``: ``basis`` (n functions), knots ``spacing`` [s] apart; ``steps`` steps of ``dt`` [s].

    The first ``AT_REST`` control points are not free; nor, if the motion is to end at rest (``settle``), are the last ones.
    """

    motors: tuple[str, ...]
    basis: SplineBasis
    dt: float
    steps: int
    spacing: float
    settle: bool = False

    @property
    def points(self) -> int:
        """Control points of each motor, n."""
        return self.basis.size

    @property
    def parameters(self) -> int:
        """Number of parameters, n m, those held at the ends included."""
        return self.points * len(self.motors)

    @property
    def times(self) -> Array:
        """Times [s] of the nodes, (steps + 1,)."""
        return np.arange(self.steps + 1, dtype=np.float64) * self.dt

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Which parameters may change."""
        kept = np.arange(AT_REST, self.points - (AT_REST if self.settle else 0))
        return (kept[:, None] * len(self.motors) + np.arange(len(self.motors))).ravel()

    def rows(self, times: Array, derivative: int = 0) -> Any:
        """The sparse matrix (times, n) that makes values or derivatives of one motor from its control points."""
        return self.basis.matrix(np.asarray(times, dtype=np.float64), derivative)

    @cached_property
    def nodes(self) -> Any:
        """The matrix (steps + 1, n) of values at the nodes, sparse."""
        return self.rows(self.times)

    def angles(self, parameters: Array, times: Array | None = None, derivative: int = 0) -> Array:
        """Angles (times, motors), or their derivatives, at ``times`` [s] (the nodes if not given)."""
        rows = self.nodes if times is None and derivative == 0 else self.rows(self.times if times is None else times, derivative)
        values: Array = rows @ parameters.reshape(self.points, len(self.motors))
        return values


def make_profile(motors: tuple[str, ...], duration: float, dt: float, points: int, *, settle: bool = False) -> Profile:
    """Profiles over ``duration`` [s] with at least ``points`` control points a motor, in steps of ``dt`` [s].

    The last knot is at the end of the motion or, since knots stand on their grid, less than one interval beyond it.
    """
    steps = max(1, round(duration / dt))
    if points < 2 * AT_REST + 1:
        raise BadInput(f"{points} control points a motor were asked for; at least {2 * AT_REST + 1} are needed, 3 stand at an end")
    spacing = KNOT_GRID * max(1, int(round(duration / KNOT_GRID) // (points - AT_REST)))
    intervals = max(1, int(np.ceil(steps * dt / spacing - 1e-9)))
    if intervals + AT_REST < points or spacing < dt - 1e-12:
        raise BadInput(
            f"{points} control points a motor are more than {steps} steps of {dt:g} s can tell apart; at most {steps + AT_REST}"
        )
    return Profile(motors, SplineBasis.uniform(0.0, intervals * spacing, intervals), dt, steps, spacing, settle)


def fit_profile(profile: Profile, wish: JointCurves) -> Array:
    """Parameters (n m,) of the profiles nearest to the wish (least squares over the nodes), beginning at rest at its first value.

    The wish is taken between its samples as the cubic spline through them, and held after its end. A trace of smoothing settles the
    control points that the nodes do not.
    """
    columns = [wish.column(name) for name in profile.motors]
    values = np.column_stack(columns) if columns else np.zeros((len(wish.values), 0))
    t = profile.times
    sampled = (
        interpolate(wish.times, values)(np.minimum(t, wish.times[-1])) if len(values) > 1 else np.repeat(values, len(t), axis=0)
    )
    B = sparse.csr_array(profile.nodes)
    c = np.empty((profile.points, len(profile.motors)))
    c[:AT_REST] = values[0]
    end = profile.points - (AT_REST if profile.settle else 0)
    c[end:] = values[-1]
    inner = slice(AT_REST, end)
    right = sampled - B[:, :AT_REST] @ c[:AT_REST] - B[:, end:] @ c[end:]
    M = B[:, inner]
    flat = np.diff(np.eye(end - AT_REST), 2, axis=0)
    normal = (M.T @ M).toarray() + 1e-6 * flat.T @ flat
    c[inner] = np.linalg.solve(normal, M.T @ right)
    return c.ravel()
