"""Continuous dynamics: accelerations and multipliers, with first and second derivatives.

    L_vv a + L_vq v - L_q = F + Dh' lambda (dynamic rows),    Dh a + v' D2h v = 0

for the accelerations a of the dynamic coordinates and the multipliers lambda; the accelerations of the kinematic ones are given.
The multiplier of a taut string is negative here (it pulls): tension = -2 length lambda; lambda = -lam/dt of the variational
integrator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics.system import System

_SINGULAR = "the equations of motion are singular there: constraints depend on each other, or a dynamic coordinate moves no mass"


@dataclass(frozen=True)
class ContinuousDerivatives:
    """First derivatives over x = (q, v, u, a_k): ``f`` (nd, nx) of the dynamic accelerations, ``lam`` (nc, nx) of the multipliers.

    ``acceleration`` (nq,) and ``multipliers`` (nc,) are the values; ``columns`` names the four slices of x; ``factors`` serve
    second derivatives.
    """

    acceleration: Array
    multipliers: Array
    f: Array
    lam: Array
    columns: dict[str, slice]
    at: tuple[Array, Array, Array]
    factors: tuple[Array, Array, NDArray[np.int64]]


def continuous(
    system: System, q: ArrayLike, v: ArrayLike, u: ArrayLike = (), kinematic_acceleration: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Accelerations (nd,) of the dynamic coordinates and multipliers (nc,) at q, v (nq,), u (nu,), kinematic ones (nk,)."""
    q, v, u, ak = _given(system, q, v, u, kinematic_acceleration)
    a, lam = _solve(system, q, v, u, ak)
    return a[system.dynamic], lam


def continuous_first(
    system: System, q: ArrayLike, v: ArrayLike, u: ArrayLike = (), kinematic_acceleration: ArrayLike | None = None
) -> ContinuousDerivatives:
    """Accelerations and multipliers with their exact first derivatives."""
    q, v, u, ak = _given(system, q, v, u, kinematic_acceleration)
    a, lam = _solve(system, q, v, u, ak)
    Y, LU, pivot, good = kernels.accelerate_first(system.model, q, v, u, a, lam)
    if not good:
        raise BadInput(_SINGULAR)
    n, nu = system.nq, system.nu
    columns = {
        "q": slice(0, n),
        "v": slice(n, 2 * n),
        "u": slice(2 * n, 2 * n + nu),
        "kinematic_acceleration": slice(2 * n + nu, 2 * n + nu + system.nk),
    }
    return ContinuousDerivatives(a, lam, Y[system.nc :], Y[: system.nc], columns, (q, v, u), (Y, LU, pivot))


def continuous_contracted(
    system: System, derivatives: ContinuousDerivatives, za: ArrayLike, zlam: ArrayLike | None = None
) -> Array:
    """Second derivatives of za.a_d (+ zlam.lambda) over x = (q, v, u, a_k): a symmetric matrix (nx, nx)."""
    d = derivatives
    q, v, u = d.at
    Y, LU, pivot = d.factors
    za = system.vector("za", za, system.nd)
    zl = np.zeros(system.nc) if zlam is None else system.vector("zlam", zlam, system.nc)
    return kernels.accelerate_second(system.model, q, v, u, d.acceleration, d.multipliers, Y, LU, pivot, za, zl)


def _given(
    system: System, q: ArrayLike, v: ArrayLike, u: ArrayLike, kinematic_acceleration: ArrayLike | None
) -> tuple[Array, Array, Array, Array]:
    ak = np.zeros(system.nk) if kinematic_acceleration is None else kinematic_acceleration
    return (
        system.vector("q", q, system.nq),
        system.vector("v", v, system.nq),
        system.vector("u", u, system.nu),
        system.vector("kinematic_acceleration", ak, system.nk),
    )


def _solve(system: System, q: Array, v: Array, u: Array, ak: Array) -> tuple[Array, Array]:
    a, lam, good = kernels.accelerate(system.model, q, v, u, ak)
    if not good:
        raise BadInput(_SINGULAR)
    return a, lam
