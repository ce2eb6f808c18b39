"""Inverse dynamics: the generalized forces a motion needs, at every coordinate, prescribed ones included.

    tau = d/dt L_v - L_q - F(q, v, u) - Dh' lambda

At a dynamic coordinate of a motion that obeys physics tau is zero; at a kinematic one it is the torque [N·m] or force [N] of
whatever prescribes it: the servo, the carriage, the winch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics import inverse_kernels as kernels
from bunraku.mechanics.dynamics.continuous import continuous
from bunraku.mechanics.dynamics.system import System


@dataclass(frozen=True)
class PrescribedForces:
    """What the kinematic coordinates need, (nk,), the dynamic accelerations (nd,) and the multipliers (nc,) of that motion."""

    forces: Array
    acceleration: Array
    multipliers: Array


def generalized_forces(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    acceleration: ArrayLike,
    u: ArrayLike | None = None,
    multipliers: ArrayLike | None = None,
) -> Array:
    """Tau (nq,) for all coordinates at q, v, acceleration (nq,) beyond inputs u (nu,) and constraint multipliers (nc,)."""
    q, v = system.vector("q", q, system.nq), system.vector("v", v, system.nq)
    a = system.vector("acceleration", acceleration, system.nq)
    u = system.vector("u", np.zeros(system.nu) if u is None else u, system.nu)
    tau: Array = kernels.inverse(system.model, q, v, a) - system.force(q, v, u)
    if multipliers is not None and system.nc:
        tau -= system.vector("multipliers", multipliers, system.nc) @ system.constraint_jacobian(q)
    return tau


def prescribed_forces(
    system: System, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None, kinematic_acceleration: ArrayLike | None = None
) -> PrescribedForces:
    """Let the dynamic coordinates fall as they must and say what the prescribed ones need to follow their accelerations (nk,)."""
    u = np.zeros(system.nu) if u is None else u
    ak = np.zeros(system.nk) if kinematic_acceleration is None else np.asarray(kinematic_acceleration, dtype=np.float64)
    ad, lam = continuous(system, q, v, u, ak)
    a = np.zeros(system.nq)
    a[system.dynamic], a[system.kinematic] = ad, ak
    return PrescribedForces(generalized_forces(system, q, v, a, u, lam)[system.kinematic], ad, lam)
