"""A plan again after a pass, and the pressure that a plan needs: what knowing the skin changes (the paper's Fig. 15 and 16)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from bunraku.arrays import Array
from bunraku.character import PATCHES
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.performers.skin.alternate import Alternated
from bunraku.performers.skin.effect import effect_of, seen
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import replan


def learned_effect(alternated: Alternated) -> SkinEffect:
    """What the frames of the first pass taught about the skin."""
    puppet, first = alternated.puppet, alternated.passes[0]
    rest = seen(puppet.model, puppet.share, alternated.settled)
    return effect_of(
        puppet.model, puppet.share, first.plan, puppet.stiffness, rest, list(first.looks), first.tracked.torques, puppet.h
    )


def learned_plan(alternated: Alternated) -> SpacetimePlan:
    """The plan that knows the skin's deformation: that of the second pass, or the first one made again if that agreed."""
    return (
        alternated.passes[1].plan if len(alternated.passes) > 1 else replan(alternated.passes[0].plan, learned_effect(alternated))
    )


def needed_pressure(plan: SpacetimePlan, effect: SkinEffect | None = None) -> Array:
    """Where the centre of pressure (T, 2) must be for a plan's motion to happen, NaN where nothing presses (flight).

    From the motion alone: with the force f = M (a + g) through the centre of mass x and the rate L' of angular momentum about it,
    p = x + ((-L'_y - x_z f_x) / f_z, (L'_x - x_z f_y) / f_z) on the ground. ``effect`` moves the masses as the skin does; none: as
    the plan believed.
    """
    problem = plan.problem if effect is None else plan.problem.changed(effect=effect)
    problem.values(plan.solution.z)
    K = problem.work.K
    x, d = K.x, K.d
    m = problem.model.points.mass
    h, mass = problem.step, problem.model.mass
    a = (x[2:] - 2.0 * x[1:-1] + x[:-2]) / h**2
    L = np.einsum("p,npa->na", m, np.cross(d[:-1], d[1:])) / h
    rate = (L[1:] - L[:-1]) / h
    f = mass * (a + np.array([0.0, 0.0, GRAVITY]))
    p = x[1:-1, :2] + np.column_stack([-rate[:, 1] - x[1:-1, 2] * f[:, 0], rate[:, 0] - x[1:-1, 2] * f[:, 1]]) / f[:, 2:]
    pressed = problem.contacts.any(axis=1) & (f[:, 2] > 0.05 * mass * GRAVITY)
    return np.where(pressed[:, None], p, np.nan)


def pressure_margin(points: Array, stands: NDArray[np.bool_], places: Array) -> Array:
    """How far (N,) [m] points (N, 2) lie inside the polygon of the patches ``places`` (N, P, 3) of soles that stand (N, s).

    Negative outside; NaN where nothing stands or presses.
    """
    margins = np.full(len(points), np.nan)
    for i, (point, standing, spots) in enumerate(zip(points, stands, places, strict=True)):
        if standing.any() and np.isfinite(point).all():
            hull = ConvexHull(spots[np.repeat(standing, PATCHES), :2])
            margins[i] = -float((hull.equations[:, :2] @ point + hull.equations[:, 2]).max())
    return margins
