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

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.contact import coulomb_kernels as kernels
from bunraku.optimization.solution import Status

Labels = NDArray[np.int64]

OPEN, STICK, SLIDE = kernels.OPEN, kernels.STICK, kernels.SLIDE
"""What a patch does: no force; force and no slip; force on the rim of the cone."""

TOLERANCE = 1e-11
"""Residual at which Newton stops, relative to the forces of the problem."""

GOOD = 1e-9
"""Relative residual that counts as solved when rounding keeps the other out of reach."""


@dataclass(frozen=True)
class ContactForces:
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


class ContactLaw:
    """The law for given patches, their data read once: ``W`` (3 P, 3 P) [m/N], ``gap`` (P,) [m], ``mu`` (P,) or one number."""

    def __init__(self, W: Array, gap: Array, mu: Array) -> None:
        self.W, self.gap, self.mu = _read(W, gap, mu)
        self.rho = 1.0 / np.diag(self.W).reshape(-1, 3).max(axis=1)
        self._as_they_are = np.full(len(self.gap), -1)

    def solve(self, u0: Array, F0: Array | None = None) -> ContactForces:
        """The contact forces for the free displacement ``u0`` (3 P,) or (P, 3) [m], from ``F0`` (P, 3) [N] on (none: zero)."""
        P = len(self.gap)
        u0 = self._vector(u0, "u0")
        F = np.zeros(3 * P) if F0 is None else self._vector(F0, "F0").copy()
        free = np.abs(u0.reshape(P, 3))
        free[:, 2] = np.abs(u0[2::3] + self.gap)
        scale = max(float((self.rho * free.max(axis=1)).max()), 1e-12)
        u, labels = np.empty(3 * P), np.empty(P, np.int64)
        steps, rescues, residual = kernels.solve(self.W, u0, self.gap, self.mu, self.rho, F, TOLERANCE * scale, u, labels)
        status = Status.CONVERGED if residual <= GOOD * scale else Status.STALLED
        return ContactForces(F.reshape(P, 3), u.reshape(P, 3), labels, status, int(steps), int(rescues), float(residual))

    def slope(self, u0: Array, F: Array, R: Array, labels: Labels | None = None) -> Array | None:
        """The derivative dF/dtau (3 P, na) of the contact forces at a solution ``F`` (P, 3), for u = u0 + R dtau + W F.

        ``u0`` is the free displacement at the present tau, ``R`` (3 P, na). ``labels`` (P,) asks for the derivative in the piece
        where the patches do that (useful at its edge; -1: what they do at F). None where the piece has no derivative (singular).
        """
        u0, F = self._vector(u0, "u0"), self._vector(F, "F")
        R = np.ascontiguousarray(R, dtype=np.float64)
        if R.ndim != 2 or len(R) != len(u0):
            raise BadInput(f"R has shape {R.shape}; ({len(u0)}, number of torques) is needed")
        forced = self._as_they_are if labels is None else np.ascontiguousarray(labels, dtype=np.int64)
        S = np.empty(R.shape)
        return S if kernels.slope(self.W, u0, self.gap, self.mu, self.rho, F, forced, R, S) else None

    def _vector(self, given: Array, name: str) -> Array:
        """Three finite numbers a patch, flat."""
        flat = np.ascontiguousarray(given, dtype=np.float64).reshape(-1)
        if len(flat) != len(self.W) or not np.isfinite(flat).all():
            raise BadInput(
                f"{name} has {flat.size} numbers or some that are not finite; {len(self.gap)} x 3 finite ones are needed"
            )
        return flat


def solve_contact(W: Array, u0: Array, gap: Array, mu: Array, F0: Array | None = None) -> ContactForces:
    """The contact forces of P patches.

    ``W`` (3 P, 3 P) [m/N], ``u0`` (3 P,) or (P, 3) [m] the displacement without ground forces, ``gap`` (P,) [m] height of the
    patches now (negative: inside the ground), ``mu`` (P,) or one number, ``F0`` (P, 3) [N] where to start (none: zero).
    """
    return ContactLaw(W, gap, mu).solve(u0, F0)


def _read(W: Array, gap: Array, mu: Array) -> tuple[Array, Array, Array]:
    """The data as contiguous float arrays of one fit, or a refusal."""
    W, gap = np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(gap, dtype=np.float64)
    P = len(gap) if gap.ndim == 1 else 0
    if P == 0 or W.shape != (3 * P, 3 * P) or np.shape(mu) not in ((), (P,)):
        raise BadInput(f"W {W.shape}, gap {gap.shape}, mu {np.shape(mu)} do not fit; (3 P, 3 P), (P,), (P,) are needed")
    mu = np.ascontiguousarray(np.broadcast_to(np.asarray(mu, dtype=np.float64), (P,)))
    if not (np.isfinite(W).all() and np.isfinite(gap).all() and np.isfinite(mu).all()):
        raise BadInput("W, gap or mu of the contact holds numbers that are not finite")
    if mu.min() < 0.0 or np.diag(W).min() <= 0.0:
        raise BadInput("friction must not be negative and the diagonal of W must be positive: W is a compliance")
    return W, gap, mu
