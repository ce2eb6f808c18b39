"""Manual design: dimensions are edited, the motion follows: predicted by dm/dp, then found anew from there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.design.sensitivity import Sensitivity, sensitivity
from bunraku.design.study import Study, Variant
from bunraku.optimization.monitor import SILENT, Monitor


@dataclass(frozen=True)
class EditedVariant:
    """A variant after an edit, and what the predictor was worth.

    ``plain`` and ``predicted``: energy (objective and weighted violations) with which the solver starts from the motion before,
    and from that motion moved along dm/dp; ``final``: with which it ends. ``iterations`` of the solver.
    """

    variant: Variant
    plain: float
    predicted: float
    final: float
    iterations: int


def edit(
    study: Study, variant: Variant, changes: dict[str, float], *, derivatives: Sensitivity | None = None, monitor: Monitor = SILENT
) -> EditedVariant:
    """The variant with some parameters set to new values."""
    return follow(study, variant, study.edited(variant.parameters, changes), derivatives=derivatives, monitor=monitor)


def follow(
    study: Study, variant: Variant, parameters: Array, *, derivatives: Sensitivity | None = None, monitor: Monitor = SILENT
) -> EditedVariant:
    """The variant with ``parameters`` (k,), its motion sought from m + dm/dp dp, or from m where that is a better start."""
    derivatives = derivatives or sensitivity(study, variant)
    known, problem = variant.solution, study.problem(parameters)
    dp = parameters - variant.parameters
    x, y = derivatives.derivatives
    m = variant.motion + x @ dp
    shifts = known.shifts
    if variant.soft or len(problem.zero_shifts()) != len(shifts):
        plain, predicted = (problem.energy(z, known.weight, problem.zero_shifts()) for z in (variant.motion, m))
    else:
        unequal = derivatives.rows.unequal
        moved = known.shifts + (y @ dp) / (2.0 * known.weight * derivatives.rows.scale**2)
        moved = np.where(unequal, np.maximum(moved, 0.0), moved)
        plain = problem.energy(variant.motion, known.weight, shifts)
        predicted = problem.energy(m, known.weight, moved)
        if predicted < plain:
            shifts = moved
    near = replace(variant, solution=replace(known, shifts=shifts))
    followed = study.solve(parameters, near=near, start=m if predicted < plain else variant.motion, monitor=monitor)
    if not variant.soft and not followed.solution.status.good:
        afresh = study.solve(parameters, monitor=monitor)
        followed = afresh if afresh.solution.residual < followed.solution.residual else followed
    return EditedVariant(followed, plain, predicted, followed.solution.energy, followed.solution.iterations)
