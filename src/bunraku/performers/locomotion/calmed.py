"""Solving a motion problem from any start: it is calmed first, so that what comes out does not depend on where one began.

The constraints are far from convex: wheels that point elsewhere, feet that pull instead of push, legs the other way round are
valleys of their own, and starts that are far from home end in many of them. The objective is convex. With its parts that draw
poses home and second differences to zero made FACTOR times heavier, and those of forces a hundredth of that, the energy has one
minimum, close to standing still with little force; from there the usual solve begins. That place is often a saddle (left and
right, in and out are the same to it), which rounding would leave to either side: a fixed pattern of a milliradian in the joints
decides. So a start is used as a start of that first minimisation and then mostly forgotten: this is for starts of no value. Plans
to be refined or edited are resumed (:func:`~bunraku.performers.locomotion.plan.resampled`,
:meth:`~bunraku.optimization.augmented_lagrangian.AugmentedLagrangian.resolve`), never calmed. Better minima may exist than the one
that is found so: benchmarks/is_locomotion_robust prints them (--plain).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from bunraku.arrays import Array
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, AugmentedSolution
from bunraku.optimization.blocks.descent import Descent
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.locomotion.problem import MotionProblem, Weights

FACTOR = 1e6
"""By how much posture and smoothness count more while a start is calmed; forces by a hundredth of it."""

ENOUGH = 1e-13
"""Share of the energy that a step promises when a start is calm."""

MOST = 40
NUDGE = 1e-3
"""Size [rad] of a fixed pattern that is added to the joints of a calm start."""


def calmed(problem: MotionProblem, start: Array, *, weight: float = 10.0) -> Array:
    """The unknowns near ``start`` (n,) that minimise the energy at ``weight`` with posture and smoothness FACTOR times heavier.

    At most MOST damped Gauss-Newton steps, rarely more than ten; then the joints are nudged by the fixed pattern.
    """
    old, light = problem.weights, 0.01 * FACTOR
    weights = Weights(FACTOR * old.smooth, FACTOR * old.posture, light * old.force, light * old.force_rate)
    heavy = dataclasses.replace(problem, weights=weights)
    descent = Descent(heavy, np.array(start, dtype=np.float64), weight, heavy.zero_shifts())
    for _ in range(MOST):
        if not descent.step() or descent.promise < ENOUGH:
            break
    z = descent.z.copy()
    joints = z[: problem.samples * problem.model.nv].reshape(problem.samples, -1)[:, 6 : problem.model.nq]
    joints += NUDGE * np.random.default_rng(0).standard_normal(joints.shape)
    return z


def solve_from(
    problem: MotionProblem, start: Array, solver: AugmentedLagrangian | None = None, *, monitor: Monitor = SILENT
) -> AugmentedSolution:
    """The solution from any finite ``start`` (n,), calmed first."""
    solver = solver or AugmentedLagrangian()
    return solver.solve(problem, calmed(problem, start, weight=solver.first_weight), monitor=monitor)
