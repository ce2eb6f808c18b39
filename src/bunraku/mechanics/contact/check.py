"""Does an accepted answer obey the law of contact? Computed anew from W, u0 and F, with nothing of the solver in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array

LENGTH = 1e-7
"""Penetration, and slip of a patch inside its cone, that count as none [m]."""

FORCE = 1e-4
"""Pull of the ground, and friction outside the cone, that count as none [N]."""

ANGLE = np.deg2rad(0.1)
"""How far friction may point off the direction against the slip [rad]."""


@dataclass(frozen=True)
class ContactCheck:
    """The largest offence of each kind over all patches; zero where there is none.

    ``penetration`` [m] of gap + u_n below zero, ``pull`` [N] of F_n below zero, ``cone`` [N] of |F_t| above mu F_n, ``slip`` [m] of
    patches strictly inside their cone (by more than 1e-4 N), ``direction`` [rad] between friction and minus the slip for
    patches that slide, ``complementarity`` [J] of F_n (gap + u_n), ``floating`` [m] height of patches that carry more than 1e-4 N.
    ``sliding`` and ``loaded`` count patches.
    """

    penetration: float
    pull: float
    cone: float
    slip: float
    direction: float
    floating: float
    complementarity: float
    sliding: int
    loaded: int

    @property
    def ok(self) -> bool:
        """Whether every figure is within its tolerance: 1e-7 m, 1e-4 N, 0.1 degree."""
        lengths = max(self.penetration, self.slip, self.floating) <= LENGTH
        return (
            lengths and max(self.pull, self.cone) <= FORCE and self.direction <= ANGLE and bool(np.isfinite(self.complementarity))
        )


def check_contact(W: Array, u0: Array, gap: Array, mu: Array, F: Array) -> ContactCheck:
    """Judge the forces ``F`` (P, 3) [N] of the ground on patches that move by u0 + W F; data as for `solve_contact`."""
    F = np.asarray(F, dtype=np.float64).reshape(-1, 3)
    u = (np.asarray(u0).reshape(-1) + np.asarray(W) @ F.reshape(-1)).reshape(-1, 3)
    normal, height = F[:, 2], np.asarray(gap) + u[:, 2]
    friction, slip = np.linalg.norm(F[:, :2], axis=1), np.linalg.norm(u[:, :2], axis=1)
    limit = np.asarray(mu) * np.maximum(normal, 0.0)
    loaded = normal > FORCE
    inside = loaded & (friction < limit - FORCE)
    sliding = loaded & (slip > LENGTH) & (limit > FORCE)
    turned = np.abs(_angle(F[sliding, :2], -u[sliding, :2]))
    if not (np.isfinite(F).all() and np.isfinite(u).all()):
        return ContactCheck(np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, np.inf, 0, 0)
    return ContactCheck(
        penetration=_largest(-height),
        pull=_largest(-normal),
        cone=_largest(friction - limit),
        slip=_largest(slip[inside]),
        direction=_largest(turned),
        floating=_largest(height[loaded]),
        complementarity=_largest(np.abs(normal * height)),
        sliding=int(sliding.sum()),
        loaded=int(loaded.sum()),
    )


def _angle(a: Array, b: Array) -> Array:
    """Angles (n,) [rad] from the plane vectors ``a`` (n, 2) to ``b`` (n, 2)."""
    return np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(axis=1))


def _largest(values: Array) -> float:
    """The largest of the values, or zero if none is positive."""
    return float(np.max(values, initial=0.0))
