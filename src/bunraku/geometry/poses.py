"""Poses: where a frame stands in another. Named outer frame first, so that neighbours cancel: X_AC = X_AB X_BC.

A pose X_AB is a pair of the rotation R_AB (..., 3, 3) and the position p_AB (..., 3) [m] of B's origin in A: a point p_B of B is
R_AB p_B + p_AB in A. Leading axes are kept, so that a pose may also be a motion.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array

Rigid = tuple[Array, Array]

NO_MOVE: Rigid = (np.eye(3), np.zeros(3))
"""The pose of a frame in itself."""
for _part in NO_MOVE:
    _part.setflags(write=False)


def compose(*poses: Rigid) -> Rigid:
    """X_AZ = X_AB X_BC ... X_YZ, outermost first; no pose at all gives :data:`NO_MOVE`."""
    R, p = NO_MOVE
    for turn, shift in poses:
        p = move((R, p), shift)
        R = R @ turn
    return R, p


def inverse(X_AB: Rigid) -> Rigid:
    """X_BA: R_BA = R_AB^T, p_BA = -R_AB^T p_AB."""
    R_BA = np.swapaxes(X_AB[0], -1, -2)
    return R_BA, -(R_BA @ X_AB[1][..., None])[..., 0]


def move(X_AB: Rigid, point_B: Array) -> Array:
    """A point (..., 3) of B, in A."""
    return (X_AB[0] @ point_B[..., None])[..., 0] + X_AB[1]
