"""Semi-automatic design: the designer changes some dimensions, others change along so that a feature of the motion stays (Eq. 22).

Let dp^u be what the designer changes, dp^s what follows. With J^f = dm^f/dp of the feature m^f, dp^s minimises

    1/2 |J^f (dp^u + dp^s) + m^f(p) - m^f(p_0)|^2 + 1/2 eps |dp^s|^2    within the bounds, dp^s = 0 where dp^u is not.

The second term inside the first norm takes back what has drifted since the start p_0 (the paper prints the opposite sign, which
would double the drift). The feature has fewer independent directions than the design, so without eps the answer is not unique; it
is a part of the largest eigenvalue of J^f^T J^f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.design.features import feature, feature_jacobian
from bunraku.design.manual import follow
from bunraku.design.sensitivity import Sensitivity, sensitivity
from bunraku.design.study import Study, Variant
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic

TIKHONOV = 1e-4
"""eps as a part of the largest eigenvalue."""


@dataclass(frozen=True)
class Kept:
    """A variant after a semi-automatic edit: ``followed`` (k,) what changed along, ``drift`` the largest change of the feature."""

    variant: Variant
    followed: Array
    drift: float


def companion_edit(
    derivatives: Sensitivity, name: str, edit: Array, drift: Array | None = None, *, held: NDArray[np.bool_] | None = None
) -> Array:
    """dp^s (k,) for the designer's ``edit`` dp^u (k,) that keeps the feature ``name``; ``drift`` (n_f,) is taken back.

    ``held`` (k,): parameters that do not follow; those that the designer changes if not given.
    """
    study, p = derivatives.study, derivatives.variant.parameters
    J = feature_jacobian(derivatives, name)
    change = J @ edit + (0.0 if drift is None else drift)
    P = J.T @ J
    P = 0.5 * (P + P.T)
    P += TIKHONOV * float(np.linalg.eigvalsh(P)[-1]) * np.eye(len(p))
    free = edit == 0.0 if held is None else ~held
    low, high = np.minimum(study.design.lower - p, 0.0), np.maximum(study.design.upper - p, 0.0)
    program = QuadraticProgram(P, J.T @ change, x_lower=np.where(free, low, 0.0), x_upper=np.where(free, high, 0.0))
    return solve_quadratic(program).x


def keep(
    study: Study,
    variant: Variant,
    changes: dict[str, float],
    name: str,
    *,
    steps: int = 2,
    free: Sequence[str] | None = None,
    monitor: Monitor = SILENT,
) -> Kept:
    """Set some parameters in ``steps`` equal parts, others following after each so that the feature ``name`` stays as it was.

    ``free``: those that may follow, all if not given.
    """
    of = feature(name)
    reference = of(variant.problem, variant.motion)
    target = study.edited(variant.parameters, changes)
    asked = np.zeros(len(target), dtype=bool)
    asked[[study.index(key) for key in changes]] = True
    begun = variant
    held = asked.copy()
    if free is not None:
        held[[k for k, one in enumerate(study.design.names) if one not in free]] = True
    for left in range(steps, 0, -1):
        monitor.report(Event("design", 1.0 - left / steps, f"{name} kept, {left} steps left"))
        derivatives = sensitivity(study, variant)
        part = np.where(asked, (target - variant.parameters) / left, 0.0)
        drift = of(variant.problem, variant.motion) - reference
        follows = companion_edit(derivatives, name, part, drift, held=held)
        variant = follow(study, variant, variant.parameters + part + follows, derivatives=derivatives, monitor=monitor).variant
    drift = of(variant.problem, variant.motion) - reference
    return Kept(variant, np.where(asked, 0.0, variant.parameters - begun.parameters), float(np.abs(drift).max()))
