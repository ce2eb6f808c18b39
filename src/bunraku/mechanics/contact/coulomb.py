"""Coulomb contact of soft patches with flat ground, solved exactly for a given condensed compliance.

The ground is z = 0. Patch p stands ``gap[p]`` above it and moves by u_p during the frame, u = u0 + W F, with F_p the force of the
ground on it, W symmetric and positive definite. The law, the normal part first, then friction on the circular cone:
0 <= F_n, gap + u_n >= 0, F_n (gap + u_n) = 0; and |F_t| <= mu F_n, where u_t = 0 (stick) or F_t = -mu F_n u_t / |u_t| (slide).

Method: semi-smooth Newton on the residual of Alart and Curnier, F = project(F - rho (u + gap e_z)), rho = 1 / (largest diagonal
entry of the patch's block of W), with a line search on its norm; where that stalls, sweeps of projected Gauss-Seidel, then Newton
again. The Newton matrix also gives the derivative of the forces, exact inside a piece (no patch changing what it does).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.mechanics.contact import _kernels
from bunraku.optimization.solution import Status

__all__ = ["OPEN", "SLIDE", "STICK", "Contact", "contact_slope", "solve_contact"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

OPEN, STICK, SLIDE = _kernels.OPEN, _kernels.STICK, _kernels.SLIDE
"""What a patch does: no force; force and no slip; force on the rim of the cone."""

TOLERANCE = 1e-11
"""Residual at which Newton stops, relative to the forces of the problem."""

GOOD = 1e-9
"""Relative residual that counts as solved when rounding keeps the other out of reach."""


@dataclass(frozen=True)
class Contact:
    """The forces that obey the law, and how they were found.

    ``F`` (P, 3) [N] and ``u`` (P, 3) [m] in world axes, ``labels`` (P,) of OPEN, STICK, SLIDE, ``residual`` [N] the largest entry
    of F - project(F - rho (u + gap e_z)), ``newton_steps``, ``rescues`` rounds of Gauss-Seidel.
    """

    F: Array
    u: Array
    labels: Labels
    status: Status
    newton_steps: int
    rescues: int
    residual: float


def solve_contact(W: Array, u0: Array, gap: Array, mu: Array, F0: Array | None = None) -> Contact:
    """The contact forces of P patches.

    ``W`` (3 P, 3 P) [m/N], ``u0`` (3 P,) or (P, 3) [m] the displacement without ground forces, ``gap`` (P,) [m] height of the
    patches now (negative: inside the ground), ``mu`` (P,) or one number, ``F0`` (P, 3) [N] where to start (none: zero).
    """
    W, u0, gap, mu = _read(W, u0, gap, mu)
    P = len(gap)
    F = np.zeros(3 * P) if F0 is None else np.array(F0, dtype=np.float64).reshape(-1)
    if F.shape != (3 * P,) or not np.isfinite(F).all():
        raise BadInput(f"F0 has {F.size} numbers or some that are not finite; {P} x 3 finite forces are needed")
    rho = _rho(W)
    free = np.abs(u0.reshape(P, 3) + gap[:, None] * np.array([0.0, 0.0, 1.0]))
    scale = max(float((rho[:, None] * free).max()), 1e-12)
    u, labels = np.empty(3 * P), np.empty(P, np.int64)
    steps, rescues, residual = _kernels.solve(W, u0, gap, mu, rho, F, TOLERANCE * scale, u, labels)
    status = Status.CONVERGED if residual <= GOOD * scale else Status.STALLED
    return Contact(F.reshape(P, 3), u.reshape(P, 3), labels, status, int(steps), int(rescues), float(residual))


def contact_slope(W: Array, u0: Array, gap: Array, mu: Array, F: Array, R: Array, labels: Labels | None = None) -> Array | None:
    """The derivative dF/dtau (3 P, na) of the contact forces at a solution ``F`` (P, 3), for u = u0 + R dtau + W F.

    ``u0`` is the free displacement at the present tau, ``R`` (3 P, na). ``labels`` (P,) asks for the derivative in the piece where
    the patches do that (useful at its edge; -1: what they do at F). None where the piece has no derivative (singular matrix).
    """
    W, u0, gap, mu = _read(W, u0, gap, mu)
    R = np.ascontiguousarray(R, dtype=np.float64)
    if R.ndim != 2 or len(R) != len(u0):
        raise BadInput(f"R has shape {R.shape}; ({len(u0)}, number of torques) is needed")
    forced = np.full(len(gap), -1) if labels is None else np.ascontiguousarray(labels, dtype=np.int64)
    F, S = np.ascontiguousarray(F, dtype=np.float64).reshape(-1), np.empty(R.shape)
    return S if _kernels.slope(W, u0, gap, mu, _rho(W), F, forced, R, S) else None


def _rho(W: Array) -> Array:
    """One over the largest diagonal entry of each patch's block of W [N/m]."""
    return 1.0 / np.diag(W).reshape(-1, 3).max(axis=1)


def _read(W: Array, u0: Array, gap: Array, mu: Array) -> tuple[Array, Array, Array, Array]:
    """The data as contiguous float arrays of one fit, or a refusal."""
    W = np.ascontiguousarray(W, dtype=np.float64)
    u0 = np.ascontiguousarray(u0, dtype=np.float64).reshape(-1)
    gap = np.ascontiguousarray(gap, dtype=np.float64)
    P = len(gap)
    if gap.ndim != 1 or P == 0 or W.shape != (3 * P, 3 * P) or u0.shape != (3 * P,) or np.shape(mu) not in ((), (P,)):
        raise BadInput(
            f"W {W.shape}, u0 {u0.shape}, gap {gap.shape}, mu {np.shape(mu)} do not fit; (3 P, 3 P), (3 P,), (P,), (P,) are needed"
        )
    mu = np.ascontiguousarray(np.broadcast_to(np.asarray(mu, dtype=np.float64), (P,)))
    if not (np.isfinite(W).all() and np.isfinite(u0).all() and np.isfinite(gap).all() and np.isfinite(mu).all()):
        raise BadInput("W, u0, gap or mu of the contact holds numbers that are not finite")
    if mu.min() < 0.0 or np.diag(W).min() <= 0.0:
        raise BadInput("friction must not be negative and the diagonal of W must be positive: W is a compliance")
    return W, u0, gap, mu
