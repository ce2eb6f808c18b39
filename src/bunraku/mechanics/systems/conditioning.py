"""How near to singular a system comes along a motion: the equations of a step, and the way from joints to a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System


def step_condition(system: System, q: ArrayLike) -> Array:
    """Condition number (m,) of [M Dh'; Dh 0] at configurations q (m, nq): what a step of the dynamics divides by.

    M is the mass matrix and Dh the Jacobian of the constraints, both of the dynamic coordinates.
    """
    d, conditions = system.dynamic, []
    for one in np.asarray(q, dtype=np.float64):
        M, D = system.lagrangian_derivatives(one, np.zeros(system.nq)).vv[np.ix_(d, d)], system.constraint_jacobian(one)[:, d]
        conditions.append(np.linalg.cond(np.block([[M, D.T], [D, np.zeros((system.nc, system.nc))]])))
    return np.array(conditions)


def point_condition(system: System, frame: str, q: ArrayLike) -> Array:
    """Condition number (m,) of the Jacobian of a frame's position by the dynamic coordinates, at q (m, nq).

    It is what inverse kinematics of that point divides by: infinite where the point cannot move in some direction.
    """
    J = Points(system, (frame,)).jacobians(q)[:, 0][:, :, system.dynamic]
    sizes = np.linalg.svd(J, compute_uv=False)
    with np.errstate(divide="ignore"):
        ratio: Array = sizes[:, 0] / sizes[:, -1]
    return ratio
