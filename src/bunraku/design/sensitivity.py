"""How an optimal motion follows the dimensions of its character: dm/dp by the implicit function theorem (Eq. 21).

A motion m that is optimal for the parameters p is a stationary point of the Lagrangian L = f + lambda.r on the rows r = 0 that are
active. Differentiated along the path of solutions,

    [ H  A^T ] [ dm/dp      ]     [ L_mp ]
    [ A   0  ] [ dlambda/dp ] = - [ r_p  ]

H the Hessian of L in m, A the Jacobian of the active rows, L_mp and r_p how gradient and rows change with p at fixed m and lambda
(differences over p of the exact gradient and rows, the character built anew). The system is solved by the method of multipliers on
itself: H + 2 w A^T c^2 A + delta is factored once in blocks; each round adds the violation that is left to the multipliers and
delta x to the right. Active inequalities are taken to stay active and the others not to become so: the derivatives hold between
such changes. The phase of a cycle that only rolls is free: shifted in time it is as good, so along that one direction there is no
curvature; it is found by inverse iteration, and the derivatives leave the phase as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.design.curvature import (
    ActiveRows,
    active_rows,
    lagrangian_gradient,
    lagrangian_value,
    row_jacobian,
    row_values,
    second_order,
)
from bunraku.design.study import SOFT_WEIGHT, Study, Variant
from bunraku.optimization.blocks.blocks import Factor, factor
from bunraku.performers.locomotion.problem import MotionProblem

__all__ = ["Sensitivity", "sensitivity"]

Array: TypeAlias = NDArray[np.float64]

PARAMETER_STEP = 1e-5
"""Step of differences over parameters [m]."""
LEAST_DAMPING = 1e-5
"""delta"""
FLAT = 1e-5
"""Curvature below this counts as none: the least weight of the objective, on forces, makes ten times as much, a phase 1e-7."""


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of one variant. ``neighbours``: for every parameter the problems at p_k + step and p_k - step.

    ``definite``: whether the curvature on the active rows is positive (but for the phase of a cycle), so that the motion is a
    minimum; where it is not, derivatives are those of the stationary point, and may say little about what a solver finds.
    """

    study: Study
    variant: Variant
    rows: ActiveRows
    A: Any
    weight: float
    factored: Factor
    damping: float
    neighbours: tuple[tuple[MotionProblem, MotionProblem], ...]
    step: float = PARAMETER_STEP

    @cached_property
    def phase(self) -> Array | None:
        """The direction (n,) of unit length along which there is no curvature, None if there is curvature in all."""
        x = np.random.default_rng(0).normal(size=len(self.variant.motion))
        x /= np.linalg.norm(x)
        least = np.inf
        for _ in range(40):
            y = self.factored.solve_packed(x)
            before, least = least, 1.0 / float(np.linalg.norm(y)) - self.damping
            x = y * (least + self.damping)
            if abs(before - least) <= 1e-3 * (least + self.damping):
                break
        return x if least < FLAT else None

    def _free(self, x: Array) -> Array:
        """``x`` (n, k) without what it has of the phase."""
        return x if self.phase is None else x - np.outer(self.phase, self.phase @ x)

    @property
    def definite(self) -> bool:
        """Whether the motion is a minimum."""
        return self.damping <= LEAST_DAMPING

    def value(self, problem: MotionProblem) -> float:
        """What is stationary in m, at the variant's motion: the Lagrangian, or the whole energy where rows are only wished."""
        if self.variant.soft:
            return problem.energy(self.variant.motion, SOFT_WEIGHT, problem.zero_shifts())
        return lagrangian_value(problem, self.variant.motion, self.rows)

    @cached_property
    def mixed(self) -> tuple[Array, Array]:
        """L_mp (n, k) and r_p (m, k; zero where not active). Where rows are only wished they are part of L, and r_p is zero."""
        z, rows, soft = self.variant.motion, self.rows, self.variant.soft
        gradients, values = [], []
        for pair in self.neighbours:
            if soft:
                one, two = (_energy_gradient(problem, z) for problem in pair)
            else:
                one, two = (lagrangian_gradient(problem, z, rows) for problem in pair)
            r = 0.0 if soft else row_values(pair[0], z) - row_values(pair[1], z)
            gradients.append((one - two) / (2.0 * self.step))
            values.append(np.where(rows.active, r, 0.0) / (2.0 * self.step))
        return np.array(gradients).T, np.array(values).T

    def solve(self, gradient: Array, violation: Array, *, rounds: int = 30, tolerance: float = 1e-8) -> tuple[Array, Array]:
        """(x, y) with H x + A^T y = ``gradient`` (n, k), A x = ``violation`` (m, k); where rows are only wished they are in H."""
        A, soft = self.A, self.variant.soft
        stiff = 2.0 * self.weight * self.rows.scale[:, None] ** 2
        x, y = np.zeros_like(gradient), np.zeros_like(violation)
        for _ in range(rounds):
            last = x
            right = self._free(gradient - A.T @ (y - stiff * violation)) + self.damping * x
            x = self._free(self.factored.solve_packed(np.ascontiguousarray(right)))
            if not soft:
                y = y + stiff * (A @ x - violation)
            if np.abs(x - last).max() <= tolerance * np.abs(x).max():
                break
        return x, y

    @cached_property
    def derivatives(self) -> tuple[Array, Array]:
        """dm/dp (n, k) and dlambda/dp (m, k)."""
        L_mp, r_p = self.mixed
        return self.solve(-L_mp, -r_p)

    @property
    def jacobian(self) -> Array:
        """dm/dp (n, k)."""
        return self.derivatives[0]

    def gradient(self, by_motion: Array, by_design: Array) -> Array:
        """dO/dp (k,) of O(m(p), p) with one right-hand side (adjoint): ``by_motion`` dO/dm (n,), ``by_design`` dO/dp (k,) direct.

        With H u + A^T v = dO/dm and A u = 0 it is (direct) - u.L_mp - v.r_p.
        """
        L_mp, r_p = self.mixed
        u, v = self.solve(by_motion[:, None], np.zeros((len(self.rows.active), 1)))
        return np.asarray(by_design - L_mp.T @ u[:, 0] - r_p.T @ v[:, 0])

    @cached_property
    def energy_gradient(self) -> Array:
        """dE/dp (k,) of the least energy: that of the Lagrangian at fixed motion and multipliers (envelope theorem)."""
        return np.array([(self.value(plus) - self.value(minus)) / (2.0 * self.step) for plus, minus in self.neighbours])

    @cached_property
    def energy_curvature(self) -> Array:
        """d²E/dp² (k, k) of the least energy: L_pp + L_pm dm/dp + r_p . dlambda/dp, L_pp by second differences."""
        (L_mp, r_p), (x, y) = self.mixed, self.derivatives
        k, p, d = len(self.neighbours), self.variant.parameters, 10.0 * self.step
        here = self.value(self.variant.problem)
        one = np.array([[self.value(self.study.problem(p + s * d * e)) for s in (1.0, -1.0)] for e in np.eye(k)])
        L_pp = np.diag((one.sum(axis=1) - 2.0 * here) / d**2)
        for i, j in combinations(range(k), 2):
            e = np.zeros(k)
            e[[i, j]] = d
            both = self.value(self.study.problem(p + e)) + self.value(self.study.problem(p - e))
            L_pp[i, j] = L_pp[j, i] = (both - one[i].sum() - one[j].sum() + 2.0 * here) / (2.0 * d**2)
        rest = L_mp.T @ x + r_p.T @ y
        return np.asarray(L_pp + 0.5 * (rest + rest.T))

    def polished(self, near: Variant, *, rounds: int = 12, tolerance: float = 1e-9) -> Variant:
        """``near``, a variant with nearly this motion, brought to the very optimum by steps of Newton's kind with this factor."""
        problem, z = near.problem, near.motion
        scale = active_rows(problem, near.solution).scale
        multipliers = np.where(self.rows.active, 2.0 * near.solution.weight * scale**2 * near.solution.shifts, 0.0)
        rows = replace(self.rows, multipliers=multipliers)
        for _ in range(rounds):
            g, r = lagrangian_gradient(problem, z, rows), np.where(rows.active, row_values(problem, z), 0.0)
            x, y = self.solve(-g[:, None], -r[:, None])
            z = z + x[:, 0]
            rows = replace(rows, multipliers=rows.multipliers + y[:, 0])
            if np.abs(x).max() <= tolerance:
                break
        shifts = rows.multipliers / (2.0 * near.solution.weight * scale**2)
        _, residual = problem.update(z, shifts)
        solution = replace(near.solution, z=z, shifts=shifts, objective=problem.objective(z), residual=residual)
        return replace(near, solution=solution)


def sensitivity(study: Study, variant: Variant, *, step: float = PARAMETER_STEP) -> Sensitivity:
    """Derivatives of a variant with respect to all parameters of the study's design."""
    problem, z = variant.problem, variant.motion
    rows = active_rows(problem, variant.solution)
    H2, B2, C2 = second_order(problem, z, rows)
    flags = np.where(rows.active, 1.0, -1e9)
    weights = (SOFT_WEIGHT,) if variant.soft else (10.0, 1e2, 1e3)
    for damping, weight in ((d, w) for d in (LEAST_DAMPING, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e2) for w in weights):
        _, H, B, C, _, _ = problem.assemble(z, weight, flags)
        found = factor(H + H2, B + B2, np.tril(C) + np.tril(C, -1).T + C2, damping, cyclic=problem.cyclic)
        if found.definite:
            break
    p = variant.parameters
    unit = step * np.eye(len(p))
    neighbours = tuple((study.problem(p + e), study.problem(p - e)) for e in unit)
    return Sensitivity(study, variant, rows, row_jacobian(problem, z, rows), weight, found, damping, neighbours, step)


def _energy_gradient(problem: MotionProblem, z: Array) -> Array:
    _, _, _, _, g, gD = problem.assemble(z, SOFT_WEIGHT, problem.zero_shifts())
    return np.concatenate([g.ravel(), gD])
