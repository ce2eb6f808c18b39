"""Exact second derivatives of a motion problem at its solution, by differences of exact first ones.

The Lagrangian is L(z) = f(z) + sum lambda r(z), lambda = 2 w c^2 s the multipliers that the shifts s stand for (weight w, row
scale c). Its gradient is that of the augmented energy with a weight v so small that the rows themselves do not count and shifts
s w / v so large that the multipliers stay. Samples five apart do not meet, so their unknowns are moved together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bunraku.arrays import Array
from bunraku.errors import Cancelled
from bunraku.optimization.augmented_lagrangian import AugmentedSolution
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.locomotion.problem import BOUNDARY_SCALE, MotionProblem

Blocks: TypeAlias = tuple[Array, Array, Array]

SOFT = 1e-10
"""The weight at which only multipliers count."""


@dataclass(frozen=True)
class ActiveRows:
    """The rows that hold as equations at a solution, and go on doing so nearby (strict complementarity).

    ``active`` (m,) flags over all rows, packed as shifts are, ``unequal`` (m,) those of inequalities; ``multipliers`` lambda (m,),
    zero where not active; ``scale`` c (m,).
    ``margin``: the least, over inequalities, of shift or distance from the limit (own units): near zero, a row is about to
    change sides and the derivatives are one-sided.
    """

    active: NDArray[np.bool_]
    unequal: NDArray[np.bool_]
    multipliers: Array
    scale: Array
    margin: float

    def shifts(self, scale: Array, weight: float) -> Array:
        """The shifts that stand for the same multipliers at another weight and scale; large and negative where not active."""
        s = self.multipliers / (2.0 * weight * scale**2)
        return np.where(self.active, s, -1e9)


def row_scales(problem: MotionProblem) -> Array:
    """Scale of every row (m,), packed as shifts are."""
    ends = np.full(2 * problem.model.nq + 6, BOUNDARY_SCALE)
    return np.concatenate([np.tile(problem.rows[0], problem.samples), ends])


def row_values(problem: MotionProblem, z: Array) -> Array:
    """Values of all rows (m,) at z, packed as shifts are, unscaled."""
    samples, ends = problem.values(z)
    return np.concatenate([samples.ravel(), ends])


def active_rows(problem: MotionProblem, solution: AugmentedSolution) -> ActiveRows:
    """Which rows hold as equations at a solution: all equations, and inequalities whose shift exceeds their distance."""
    scale = row_scales(problem)
    unequal = np.concatenate(
        [np.tile(problem.rows[1].astype(bool), problem.samples), np.zeros(2 * problem.model.nq + 6, dtype=bool)]
    )
    distance = -row_values(problem, solution.z)
    active = ~unequal | (solution.shifts > distance)
    multipliers = np.where(active, 2.0 * solution.weight * scale**2 * solution.shifts, 0.0)
    size = np.maximum(solution.shifts, distance)[unequal]
    return ActiveRows(active, unequal, multipliers, scale, float(size.min(initial=np.inf)))


def lagrangian_gradient(problem: MotionProblem, z: Array, rows: ActiveRows) -> Array:
    """The gradient of f + sum lambda r in z (n,), multipliers fixed."""
    s = rows.shifts(row_scales(problem), SOFT)
    _, _, _, _, g, gD = problem.assemble(z, SOFT, s)
    return np.concatenate([g.ravel(), gD])


def lagrangian_value(problem: MotionProblem, z: Array, rows: ActiveRows) -> float:
    """The value f + sum lambda r at z."""
    return problem.objective(z) + float(rows.multipliers @ row_values(problem, z))


def _steps(problem: MotionProblem) -> Array:
    """Steps of the differences (n,): 1e-5 m or rad, 1e-4 of the weight for forces."""
    T, nv, nd = problem.shape
    step = np.full(nv, 1e-5)
    step[problem.model.nq :] = 1e-4 * problem.model.mass * 9.8
    return np.concatenate([np.tile(step, T), np.full(nd, 1e-5)])


def _groups(T: int, apart: int) -> list[NDArray[np.int64]]:
    """The samples of a cycle in few groups (fewer than twice ``apart``) whose members are ``apart`` or more from each other.

    Either every n-th sample for the least n that also fits over the end of the cycle, or every ``apart``-th and the rest alone.
    """
    many = max(T // apart, 1)
    rest = T - many * apart
    while many > 1 and T - (many - 1) * -(-T // many) < apart:
        many -= 1
    count = -(-T // many)
    if count <= apart + max(rest, 0):
        return [np.arange(first, T, count) for first in range(count)]
    even = [np.arange(first, T - rest, apart) for first in range(apart)]
    return even + [np.array([k]) for k in range(T - rest, T)]


def _go_on(monitor: Monitor) -> None:
    if monitor.cancelled:
        raise Cancelled("cancelled while the curvature of a motion was computed")


def second_order(problem: MotionProblem, z: Array, rows: ActiveRows, monitor: Monitor = SILENT) -> Blocks:
    """What the Hessian of the Lagrangian has beyond its Gauss-Newton part: blocks H (T, 3, nv, nv), B (T, 3, nv), C (3, 3)."""
    T, nv, nd = problem.shape
    s, step = rows.shifts(row_scales(problem), SOFT), _steps(problem)

    def change(move: Array) -> tuple[Array, Array]:
        _, _, _, _, g, gD = problem.assemble(z + move, SOFT, s)
        up, up_D = g.copy(), gD.copy()
        _, _, _, _, g, gD = problem.assemble(z - move, SOFT, s)
        return up - g, up_D - gD

    H, B, C = np.zeros((T, 3, nv, nv)), np.zeros((T, nd, nv)), np.zeros((nd, nd))
    for group in _groups(T, 5):
        for c in range(nv):
            _go_on(monitor)
            move = np.zeros(len(z))
            move[group * nv + c] = step[c]
            g, _ = change(move)
            for d in range(3):
                H[group, d, :, c] += g[(group + d) % T] / (2.0 * step[c])
    for a in range(nd):
        move = np.zeros(len(z))
        move[T * nv + a] = step[T * nv + a]
        g, gD = change(move)
        B[:, a] = g / (2.0 * step[T * nv + a])
        C[:, a] = gD / (2.0 * step[T * nv + a])
    _, H0, B0, C0, _, _ = problem.assemble(z, SOFT, s)
    H[:, 0] = 0.5 * (H[:, 0] + np.swapaxes(H[:, 0], 1, 2))
    lower = np.tril(H0[:, 0], -1)
    full = lower + np.swapaxes(lower, 1, 2) + np.einsum("ijj->ij", H0[:, 0])[:, :, None] * np.eye(nv)
    H[:, 0] -= full
    H[:, 1:] -= H0[:, 1:]
    if not problem.cyclic:
        H[T - 1, 1:] = 0.0
        H[T - 2, 2] = 0.0
    return H, B - B0, 0.5 * (C + C.T) - (np.tril(C0) + np.tril(C0, -1).T)


def row_jacobian(problem: MotionProblem, z: Array, rows: ActiveRows, monitor: Monitor = SILENT) -> Any:
    """Derivatives A (m, n), sparse, of the active rows; zero in the others. Rows look one sample to either side."""
    T, nv, nd = problem.shape
    m = len(problem.rows[0])
    step = _steps(problem)

    def change(move: Array) -> tuple[Array, Array]:
        up, up_ends = problem.values(z + move)
        down, down_ends = problem.values(z - move)
        return up - down, up_ends - down_ends

    entries: list[tuple[Any, Any, Array]] = []

    def keep(row: Any, column: Any, value: Array) -> None:
        used = value != 0.0
        entries.append((row[used], column[used], value[used]))

    inner, last = np.arange(m), T * m + np.arange(2 * problem.model.nq + 6)
    for group in _groups(T, 3):
        for c in range(nv):
            _go_on(monitor)
            move = np.zeros(len(z))
            move[group * nv + c] = step[c]
            r, ends = change(move)
            for i in group:
                column = i * nv + c
                for k in {(i - 1) % T, i, (i + 1) % T}:
                    keep(k * m + inner, np.full(m, column), r[k] / (2.0 * step[c]))
                if i in (0, T - 1):
                    keep(last, np.full(len(last), column), ends / (2.0 * step[c]))
    for a in range(nd):
        move = np.zeros(len(z))
        move[T * nv + a] = step[T * nv + a]
        r, ends = change(move)
        both = np.concatenate([r.ravel(), ends]) / (2.0 * step[T * nv + a])
        keep(np.arange(T * m + len(last)), np.full(len(both), T * nv + a), both)
    row, column, value = (np.concatenate([entry[k] for entry in entries]) for k in range(3))
    value = value * rows.active[row]
    return sparse.csr_array((value, (row, column)), shape=(T * m + len(last), len(z)))
