"""How an optimal motion follows the dimensions of its character: dm/dp by the implicit function theorem (Eq. 21).

A motion m that is optimal for the parameters p is a stationary point of the Lagrangian L = f + lambda.r on the rows r = 0 that are
active. Differentiated along the path of solutions,

    [ H  A^T ] [ dm/dp      ]     [ L_mp ]
    [ A   0  ] [ dlambda/dp ] = - [ r_p  ]

H the Hessian of L in m, A the Jacobian of the active rows, L_mp and r_p how gradient and rows change with p at fixed m and lambda
(differences over p of the exact gradient and rows, the character built anew). Active inequalities are taken to stay active and the
others not to become so: the derivatives hold between such changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from bunraku.arrays import Array
from bunraku.design.curvature import ActiveRows, lagrangian_gradient, lagrangian_value, row_values
from bunraku.design.study import SOFT_WEIGHT, Study, Variant
from bunraku.design.system import OptimalitySystem, optimality_system
from bunraku.performers.locomotion.problem import MotionProblem

PARAMETER_STEP = 1e-5
"""Step of differences over parameters [m]."""


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of one variant. ``neighbours``: for every parameter the problems at p_k + step and p_k - step."""

    study: Study
    variant: Variant
    system: OptimalitySystem
    neighbours: tuple[tuple[MotionProblem, MotionProblem], ...]
    step: float = PARAMETER_STEP

    @property
    def rows(self) -> ActiveRows:
        """The active rows and their multipliers."""
        return self.system.rows

    @property
    def definite(self) -> bool:
        """Whether the motion is a minimum; where it is not, derivatives say little about what a solver finds nearby."""
        return self.system.definite

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

    @cached_property
    def derivatives(self) -> tuple[Array, Array]:
        """dm/dp (n, k) and dlambda/dp (m, k)."""
        L_mp, r_p = self.mixed
        return self.system.solve(-L_mp, -r_p)

    @property
    def jacobian(self) -> Array:
        """dm/dp (n, k)."""
        return self.derivatives[0]

    def gradient(self, by_motion: Array, by_design: Array) -> Array:
        """dO/dp (k,) of O(m(p), p) with one right-hand side (adjoint): ``by_motion`` dO/dm (n,), ``by_design`` dO/dp (k,) direct.

        With H u + A^T v = dO/dm and A u = 0 it is (direct) - u.L_mp - v.r_p.
        """
        L_mp, r_p = self.mixed
        u, v = self.system.solve(by_motion[:, None], np.zeros((len(self.rows.active), 1)))
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

    def polished(self, near: Variant) -> Variant:
        """A variant with nearly this motion, at the very optimum (see :meth:`OptimalitySystem.polished`)."""
        return replace(near, solution=self.system.polished(near.problem, near.solution))


def sensitivity(study: Study, variant: Variant, *, step: float = PARAMETER_STEP) -> Sensitivity:
    """Derivatives of a variant with respect to all parameters of the study's design."""
    p = variant.parameters
    neighbours = tuple((study.problem(p + e), study.problem(p - e)) for e in step * np.eye(len(p)))
    system = optimality_system(variant.problem, variant.solution, soft=variant.soft)
    return Sensitivity(study, variant, system, neighbours, step)


def _energy_gradient(problem: MotionProblem, z: Array) -> Array:
    _, _, _, _, g, gD = problem.assemble(z, SOFT_WEIGHT, problem.zero_shifts())
    return np.concatenate([g.ravel(), gD])
