"""The optimality system of a motion: the curvature of its Lagrangian on its active rows, factored once, to be solved many times.

    [ H  A^T ] [ x ]   [ gradient  ]
    [ A   0  ] [ y ] = [ violation ]

H is the Hessian of the Lagrangian in the unknowns of the motion, A the Jacobian of the active rows. The system is solved by the
method of multipliers on itself: H + 2 w A^T c^2 A + delta is factored in blocks; each round adds the violation that is left to y
and delta x to the right. So dependent rows (two wheels on one foot) do no harm. The phase of a cycle that only rolls is free:
shifted in time it is as good, so along that one direction there is no curvature; it is found by inverse iteration and left as it
is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.design.curvature import (
    ActiveRows,
    active_rows,
    lagrangian_gradient,
    row_jacobian,
    row_scales,
    row_values,
    second_order,
)
from bunraku.optimization.augmented_lagrangian import AugmentedSolution
from bunraku.optimization.blocks.blocks import BlockFactor, factor
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.locomotion.problem import MotionProblem

LEAST_DAMPING = 1e-5
"""delta"""
FLAT = 1e-5
"""Curvature below this counts as none: the least weight of the objective, on forces, makes ten times as much, a phase 1e-7."""


@dataclass(frozen=True)
class OptimalitySystem:
    """The system at one motion. ``definite``: whether the curvature on the active rows is positive, but for the phase of a cycle.

    Where it is not, the motion is no minimum, and what is solved says little about what a solver finds nearby. ``soft``: rows are
    only wished with the weight w, and are part of H.
    """

    rows: ActiveRows
    A: Any
    weight: float
    factored: BlockFactor
    damping: float
    soft: bool

    @property
    def definite(self) -> bool:
        """Whether the motion is a minimum."""
        return self.damping <= LEAST_DAMPING

    @cached_property
    def phase(self) -> Array | None:
        """The direction (n,) of unit length along which there is no curvature, None if there is curvature in all."""
        T, nv, nd = self.factored.shape
        x = np.random.default_rng(0).normal(size=T * nv + nd)
        x /= np.linalg.norm(x)
        least = np.inf
        for _ in range(40):
            y = self.factored.solve_packed(x)
            before, least = least, 1.0 / float(np.linalg.norm(y)) - self.damping
            x = y * (least + self.damping)
            if abs(before - least) <= 1e-3 * (least + self.damping):
                break
        return x if least < FLAT else None

    def unphased(self, x: Array) -> Array:
        """``x`` (n,) or (n, k) without what it has of the phase."""
        return x if self.phase is None else x - np.multiply.outer(self.phase, self.phase @ x)

    def solve(self, gradient: Array, violation: Array, *, rounds: int = 30, tolerance: float = 1e-8) -> tuple[Array, Array]:
        """(x, y) for ``gradient`` (n, k) and ``violation`` (m, k), k right-hand sides at once."""
        A = self.A
        stiff = 2.0 * self.weight * self.rows.scale[:, None] ** 2
        x, y = np.zeros_like(gradient), np.zeros_like(violation)
        for _ in range(rounds):
            last = x
            right = self.unphased(gradient - A.T @ (y - stiff * violation)) + self.damping * x
            x = self.unphased(self.factored.solve_packed(np.ascontiguousarray(right)))
            if not self.soft:
                y = y + stiff * (A @ x - violation)
            if np.abs(x - last).max() <= tolerance * np.abs(x).max():
                break
        return x, y

    def polished(
        self, problem: MotionProblem, solution: AugmentedSolution, *, rounds: int = 12, tolerance: float = 1e-9
    ) -> AugmentedSolution:
        """A solution nearly of this motion brought to the very optimum of ``problem`` by Newton's steps with this factor."""
        z, scale = solution.z, row_scales(problem)
        rows = replace(self.rows, multipliers=np.where(self.rows.active, 2.0 * solution.weight * scale**2 * solution.shifts, 0.0))
        for _ in range(rounds):
            g, r = lagrangian_gradient(problem, z, rows), np.where(rows.active, row_values(problem, z), 0.0)
            x, y = self.solve(-g[:, None], -r[:, None])
            z = z + x[:, 0]
            rows = replace(rows, multipliers=rows.multipliers + y[:, 0])
            if not np.abs(x).max() > tolerance:
                break
        shifts = rows.multipliers / (2.0 * solution.weight * scale**2)
        _, residual = problem.update(z, shifts)
        return replace(solution, z=z, shifts=shifts, objective=problem.objective(z), residual=residual)


def optimality_system(
    problem: MotionProblem, solution: AugmentedSolution, *, soft: bool = False, monitor: Monitor = SILENT
) -> OptimalitySystem:
    """The optimality system at a solution; raises Cancelled when the monitor asks to stop."""
    z, rows = solution.z, active_rows(problem, solution)
    H2, B2, C2 = second_order(problem, z, rows, monitor)
    flags = np.where(rows.active, 1.0, -1e9)
    weights = (solution.weight,) if soft else (10.0, 1e2, 1e3)
    for damping, weight in ((d, w) for d in (LEAST_DAMPING, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e2) for w in weights):
        _, H, B, C, _, _ = problem.assemble(z, weight, flags)
        factored = factor(H + H2, B + B2, np.tril(C) + np.tril(C, -1).T + C2, damping, cyclic=problem.cyclic)
        if factored.definite:
            break
    return OptimalitySystem(rows, row_jacobian(problem, z, rows, monitor), weight, factored, damping, soft)


def settled(problem: MotionProblem, solution: AugmentedSolution, *, rounds: int = 4, tolerance: float = 1e-6) -> AugmentedSolution:
    """A solution whose rows hold, but which the solver did not call an optimum, brought there by Newton's method.

    Where a target stays out of reach, Gauss-Newton steps hardly move any more long before the end. Accepted, as CONVERGED, is
    only what has no gradient, no violation, no pull the wrong way and not more energy; anything else is returned as it came.
    """
    now = solution
    for _ in range(rounds):
        system = optimality_system(problem, now)
        if not system.definite:
            return solution
        now = system.polished(problem, now)
        if not np.isfinite(now.z).all() or now.residual > 1e-2:
            return solution
        rows = active_rows(problem, now)
        gradient = float(np.abs(lagrangian_gradient(problem, now.z, rows)).max())
        if gradient <= tolerance and now.residual <= tolerance and now.shifts[rows.unequal].min(initial=0.0) >= -1e-12:
            lower = now.objective <= solution.objective * (1.0 + 1e-4)
            return replace(now, status=Status.CONVERGED) if lower else solution
    return solution
