"""Static equilibrium: hang the puppet. Where the dynamic coordinates rest while inputs and kinematic coordinates are held.

L_q(q, 0) + F(q, 0, u) + Dh' lambda = 0 (dynamic rows),    h(q) = 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.initial import check_independent, make_consistent
from bunraku.mechanics.dynamics.model import Segments
from bunraku.mechanics.dynamics.system import System
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Equilibrium:
    """q (nq,) at rest, multipliers (nc,) (continuous sign: a taut string's is negative), the residuals, and how it ended.

    ``force_residual`` [N, N·m] and ``violation`` are largest absolute values. ``stable``: the potential energy grows in every
    direction the constraints allow (``stiffness``, its least second derivative, is positive).
    """

    q: Array
    multipliers: Array
    force_residual: float
    violation: float
    stiffness: float
    iterations: int
    status: Status

    @property
    def stable(self) -> bool:
        """Whether a small push is answered by a restoring force."""
        return self.stiffness > 0.0


def find_equilibrium(
    system: System, q: ArrayLike, u: ArrayLike | None = None, *, tolerance: float = 1e-9, max_iterations: int = 200
) -> Equilibrium:
    """Newton over dynamic coordinates and multipliers from ``q`` (nq,), with inputs u (nu,).

    Steps go along the constraints' tangent, in a Hessian lifted to be positive there, so that they lead downhill in energy to
    stable rest, and back onto the constraints; halved until the energy (with conservative forces) or the residual falls. With
    flexible segments full Newton steps come first: the energy of slender parts rises for a moment when they bend, and descent in it
    would crawl.
    """
    d = system.dynamic
    u = system.vector("u", np.zeros(system.nu) if u is None else u, system.nu)
    start = make_consistent(system, q)
    at, rest = start.q, np.zeros(system.nq)
    if not start.status.good:
        force, lam = _forces(system, at, u)
        return Equilibrium(at, lam, _largest(force), start.violation, np.nan, 0, Status.INFEASIBLE)
    check_independent(system, at)
    conservative = not len(system.model.wrench_i) and not len(system.model.actuator_i)
    if isinstance(system.model.segments, Segments):
        settled = _full_steps(system, at, u)
        if settled is not None:
            return settled
    status, used, worst = Status.MAX_ITERATIONS, max_iterations, np.inf
    for k in range(max_iterations):
        force, lam = _forces(system, at, u)
        worst = _largest(force)
        violation = _largest(system.constraint_values(at))
        if worst <= tolerance and violation <= tolerance:
            status, used = Status.CONVERGED, k
            break
        K, Z = _stiffness(system, at, u, lam)
        gradient = -(Z.T @ force)
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        floor = 1e-6 * max(1.0, _largest(values))
        lifted = np.where(np.abs(values) < floor, floor, np.abs(values))
        move = Z @ (-(vectors @ ((vectors.T @ gradient) / lifted)))
        largest = _largest(move)
        scale = min(1.0, 0.5 / largest) if largest > 0.0 else 1.0
        merit = system.energies(at, rest)[1] if conservative else worst
        slack = 1e-13 * (1.0 + abs(merit))
        for _ in range(40):
            trial = at.copy()
            trial[d] += scale * move
            back = make_consistent(system, trial)
            if back.status.good:
                new = system.energies(back.q, rest)[1] if conservative else _largest(_forces(system, back.q, u)[0])
                if new <= merit + slack:
                    break
            scale *= 0.5
        else:
            status, used = Status.STALLED, k
            break
        at = back.q
    return _judged(system, at, u, used, status)


def _judged(system: System, at: Array, u: Array, used: int, status: Status) -> Equilibrium:
    """The equilibrium at a configuration: what is left of the forces there, and how stiff it is."""
    force, lam = _forces(system, at, u)
    K, _ = _stiffness(system, at, u, lam)
    least = float(np.min(np.linalg.eigvalsh(0.5 * (K + K.T)), initial=np.inf))
    return Equilibrium(at, lam, _largest(force), _largest(system.constraint_values(at)), least, used, status)


def _full_steps(system: System, start: Array, u: Array, limit: int = 40) -> Equilibrium | None:
    """Full Newton steps to stable rest, until they are at rounding (stiff modes leave forces of eps |K||q|); None: they fail."""
    d, at = system.dynamic, start.copy()
    for used in range(1, limit + 1):
        force, lam = _forces(system, at, u)
        K, Z = _stiffness(system, at, u, lam)
        if not np.isfinite(K).all():
            return None
        try:
            move = Z @ np.linalg.solve(K, Z.T @ force)
        except np.linalg.LinAlgError:
            return None
        largest = _largest(move)
        if not largest <= 1e3 * (1.0 + _largest(at)):
            return None
        at[d] += move
        if system.nc:
            back = make_consistent(system, at)
            if not back.status.good:
                return None
            at = back.q
        if largest <= 1e-11 * (1.0 + _largest(at)):
            rest = _judged(system, at, u, used, Status.CONVERGED)
            return rest if rest.stable else None
    return None


def _forces(system: System, q: Array, u: Array) -> tuple[Array, Array]:
    """What is left of the forces on the dynamic coordinates (nd,) when the constraints carry what they can, and the multipliers."""
    d, zero = system.dynamic, np.zeros(system.nq)
    total = (system.lagrangian_derivatives(q, zero).q + system.force(q, zero, u))[d]
    if not system.nc:
        return total, np.zeros(0)
    Dh = system.constraint_jacobian(q)[:, d]
    lam: Array = np.linalg.lstsq(Dh.T, -total, rcond=1e-12)[0].astype(np.float64)
    return total + Dh.T @ lam, lam


def _stiffness(system: System, q: Array, u: Array, lam: Array) -> tuple[Array, Array]:
    """Second derivative of the potential along the constraints' tangent (nt, nt), and an orthonormal basis (nd, nt) of it."""
    d, zero = system.dynamic, np.zeros(system.nq)
    K = -(system.lagrangian_derivatives(q, zero).qq + system.force_derivatives(q, zero, u)[1])
    if system.nc:
        K = K - system.constraint_curvature(q, lam)
        Q = np.linalg.qr(system.constraint_jacobian(q)[:, d].T, mode="complete")[0]
        Z = Q[:, system.nc :]
    else:
        Z = np.eye(system.nd)
    return Z.T @ K[np.ix_(d, d)] @ Z, Z


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
