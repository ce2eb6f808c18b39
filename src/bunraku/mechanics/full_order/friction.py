"""Viscous damping in the links: a torque against the rates of the free turns.

With z_i the world directions of the free turns of a link and w the angular velocity of its child relative to its parent, the rates
are Z^+ w (Z = [z_i], pseudo-inverse), and the torque on the child is -(Z^+)' d (Z^+ w), d the dampings. A ball's rates are taken as
w itself, with the mean of its dampings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.full_order.description import Link


class _Rates(Protocol):
    @property
    def w(self) -> Array: ...
    @property
    def w_by(self) -> Array: ...


def damping_torques(
    links: Sequence[Link], ends: Sequence[tuple[int, int]], R: Array, rates: _Rates, torque: Array, block: Array
) -> None:
    """Add the torques (B, 3), on the side that resists, and their derivative by small turns to ``block`` (B, 2, 3, B, 2, 3)."""
    B = len(torque)
    for link, (i, j) in zip(links, ends, strict=True):
        free = [f for f in link.freedoms if f.kind == "hinge" and f.motor < 0]
        if not any(f.damping for f in free):
            continue
        D = _matrix(link, R[i], R[j])
        w = (rates.w[j] if j < B else np.zeros(3)) - (rates.w[i] if i < B else np.zeros(3))
        for body, sign in ((j, 1.0), (i, -1.0)):
            if body >= B:
                continue
            torque[body] += sign * (D @ w)
            for other, other_sign in ((j, 1.0), (i, -1.0)):
                if other < B:
                    block[body, 1, :, other, 1, :] += sign * other_sign * (D @ rates.w_by[other])


def _matrix(link: Link, R_i: Array, R_j: Array) -> Array:
    free = [f for f in link.freedoms if f.kind == "hinge" and f.motor < 0]
    if len(free) == 3:
        return float(np.mean([f.damping for f in free])) * np.eye(3)
    sides = [R_i @ link.pose[0], R_j @ link.child_pose[0]]
    last = link.freedoms[-1]
    Z = np.array([(sides[1] if f is last else sides[0]) @ (np.array(f.direction) / np.linalg.norm(f.direction)) for f in free]).T
    P = np.linalg.pinv(Z)
    return np.asarray(P.T @ np.diag([f.damping for f in free]) @ P)
