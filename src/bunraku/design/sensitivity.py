"""How an optimal motion follows the dimensions of its character: dm/dp by the implicit function theorem (Eq. 21).

A motion m that is optimal for the parameters p is a stationary point of the Lagrangian L = f + lambda.r on the rows r = 0 that are
active. Differentiated along the path of solutions,

    [ H  A^T ] [ dm/dp      ]     [ L_mp ]
    [ A   0  ] [ dlambda/dp ] = - [ r_p  ]

H the Hessian of L in m, A the Jacobian of the active rows, L_mp and r_p how gradient and rows change with p at fixed m and lambda
(differences over p of the exact gradient and rows, the character built anew). The system is solved by the method of multipliers on
itself: (H + 2 w A^T c^2 A) is factored once in blocks, and each round adds the violation that is left to the shifts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
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
from bunraku.design.study import Plan, Study
from bunraku.optimization.blocks.blocks import Factor, factor
from bunraku.performers.locomotion.problem import MotionProblem

__all__ = ["Sensitivity", "sensitivity"]

Array: TypeAlias = NDArray[np.float64]

PARAMETER_STEP = 1e-5
"""Step of differences over parameters [m or rad]."""


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of one plan. ``neighbours``: for every parameter the problems at p_k + delta and p_k - delta.

    ``definite``: whether the curvature on the active rows is positive, so that the motion is a strict minimum and dm/dp is unique;
    where it is not, ``damping`` was added to its diagonal and the derivatives are those of the damped motion.
    """

    plan: Plan
    rows: ActiveRows
    jacobian_rows: Any
    weight: float
    factored: Factor
    damping: float
    neighbours: tuple[tuple[MotionProblem, MotionProblem], ...]
    delta: float = field(default=PARAMETER_STEP)

    @property
    def definite(self) -> bool:
        """Whether the motion is a strict minimum."""
        return self.damping == 0.0

    @cached_property
    def mixed(self) -> tuple[Array, Array]:
        """L_mp (n, k) and r_p (m, k, zero where not active): change of gradient and rows with each parameter."""
        z, rows = self.plan.motion, self.rows
        gradients, values = [], []
        for plus, minus in self.neighbours:
            g = lagrangian_gradient(plus, z, rows) - lagrangian_gradient(minus, z, rows)
            r = row_values(plus, z) - row_values(minus, z)
            gradients.append(g / (2.0 * self.delta))
            values.append(np.where(rows.active, r, 0.0) / (2.0 * self.delta))
        return np.array(gradients).T, np.array(values).T

    def solve(self, gradient: Array, violation: Array, *, rounds: int = 30, tolerance: float = 1e-10) -> tuple[Array, Array]:
        """(x, y) with H x + A^T y = ``gradient`` (n, k) and A x = ``violation`` (m, k); y in units of multipliers."""
        A = self.jacobian_rows
        stiff = 2.0 * self.weight * self.rows.scale[:, None] ** 2
        y = np.zeros_like(violation)
        x = np.zeros_like(gradient)
        size = max(float(np.abs(violation).max(initial=0.0)), 1e-12)
        left = np.inf
        for _ in range(rounds):
            right = gradient - A.T @ (y - stiff * violation)
            x = self.factored.solve_packed(np.ascontiguousarray(right))
            missing = A @ x - violation
            y = y + stiff * missing
            last, left = left, float(np.abs(missing).max(initial=0.0))
            size = max(size, float(np.abs(x).max(initial=0.0)))
            if left <= tolerance * size or left > 0.9 * last:
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

        With H u + A^T v = dO/dm, A u = 0: dO/dp = (direct) - u.L_mp - v.r_p.
        """
        L_mp, r_p = self.mixed
        u, v = self.solve(by_motion[:, None], np.zeros((len(self.rows.active), 1)))
        return by_design - L_mp.T @ u[:, 0] - r_p.T @ v[:, 0]

    @cached_property
    def energy_gradient(self) -> Array:
        """dE/dp (k,) of the optimal objective: that of the Lagrangian at fixed motion and multipliers (envelope theorem)."""
        z, rows = self.plan.motion, self.rows
        return np.array(
            [(lagrangian_value(plus, z, rows) - lagrangian_value(minus, z, rows)) / (2.0 * self.delta) for plus, minus in self.neighbours]
        )


def sensitivity(study: Study, plan: Plan, *, delta: float = PARAMETER_STEP) -> Sensitivity:
    """Derivatives of a plan with respect to all parameters of the study's design."""
    problem, z = plan.problem, plan.motion
    rows = active_rows(problem, plan.solution)
    H2, B2, C2 = second_order(problem, z, rows)
    found: Factor | None = None
    weight, damping = 10.0, 0.0
    flags = np.where(rows.active, 1.0, -1e9)
    for weight, damping in ((10.0, 0.0), (1e2, 0.0), (1e3, 0.0), (1e3, 1e-5), (1e3, 1e-4), (1e3, 1e-3), (1e3, 1e-2), (1e3, 1e-1)):
        _, H, B, C, _, _ = problem.assemble(z, weight, flags)
        C_low = np.tril(C) + np.tril(C, -1).T
        found = factor(H + H2, B + B2, C_low + C2, damping, cyclic=problem.cyclic)
        if found.definite:
            break
    assert found is not None
    p, k = plan.parameters, len(plan.parameters)
    unit = delta * np.eye(k)
    neighbours = tuple((study.problem(p + unit[i]), study.problem(p - unit[i])) for i in range(k))
    return Sensitivity(plan, rows, row_jacobian(problem, z, rows), weight, found, damping, neighbours, delta)
