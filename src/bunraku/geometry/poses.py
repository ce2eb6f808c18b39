"""Poses: where a frame stands in another. Named outer frame first, so that neighbours cancel: X_WB = X_WA @ X_AB.

A pose X_AB is a 4 x 4 matrix (..., 4, 4) holding R_AB and p_AB, the origin of B in A: a point p_B in B is R_AB p_B + p_AB in A.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BadInput
from bunraku.geometry.rotations import logarithm, matrix_of_quaternion, quaternion_of_matrix

__all__ = [
    "compose",
    "difference",
    "inverse",
    "move",
    "pose",
    "pose_of_quaternion",
    "position_of",
    "quaternion_of",
    "relative",
    "rotation_of",
]

Array = NDArray[np.float64]


def pose(rotation: ArrayLike | None = None, position: ArrayLike | None = None) -> Array:
    """X_AB (..., 4, 4) from R_AB (..., 3, 3) and p_AB (..., 3) [m]; what is not given is no turn, no shift."""
    R = np.eye(3) if rotation is None else np.asarray(rotation, dtype=np.float64)
    p = np.zeros(3) if position is None else np.asarray(position, dtype=np.float64)
    if R.shape[-2:] != (3, 3) or p.shape[-1:] != (3,):
        raise BadInput(f"a pose needs a rotation (..., 3, 3) and a position (..., 3); {R.shape} and {p.shape} arrived")
    lead = np.broadcast_shapes(R.shape[:-2], p.shape[:-1])
    X: Array = np.zeros((*lead, 4, 4))
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R, p, 1.0
    return X


def pose_of_quaternion(quaternion: ArrayLike, position: ArrayLike) -> Array:
    """X_AB from a quaternion (w, x, y, z) and a position [m]."""
    return pose(matrix_of_quaternion(quaternion), position)


def rotation_of(X_AB: Array) -> Array:
    """R_AB of a pose."""
    return X_AB[..., :3, :3]


def position_of(X_AB: Array) -> Array:
    """p_AB of a pose [m]."""
    return X_AB[..., :3, 3]


def quaternion_of(X_AB: Array) -> Array:
    """The canonical quaternion of a pose."""
    return quaternion_of_matrix(rotation_of(X_AB))


def compose(*poses: Array) -> Array:
    """X_AZ = X_AB X_BC ... X_YZ, outermost first; no pose at all gives the identity."""
    X: Array = np.eye(4)
    for following in poses:
        X = X @ following
    return X


def inverse(X_AB: Array) -> Array:
    """X_BA: R_BA = R_AB^T, p_BA = -R_AB^T p_AB."""
    R_BA = np.swapaxes(rotation_of(X_AB), -1, -2)
    return pose(R_BA, -(R_BA @ position_of(X_AB)[..., None])[..., 0])


def relative(X_WA: Array, X_WB: Array) -> Array:
    """X_AB of two frames given in a third."""
    return inverse(X_WA) @ X_WB


def move(X_AB: Array, points_B: ArrayLike) -> Array:
    """Points (..., n, 3) of B, in A."""
    p = np.asarray(points_B, dtype=np.float64)
    return p @ np.swapaxes(rotation_of(X_AB), -1, -2) + position_of(X_AB)[..., None, :]


def difference(X_WA: Array, X_WB: Array) -> Array:
    """From pose A to pose B, in world axes: p_WB - p_WA [m], then the rotation vector of R_WB R_AW [rad]; shape (..., 6)."""
    turn = rotation_of(X_WB) @ np.swapaxes(rotation_of(X_WA), -1, -2)
    return np.concatenate([position_of(X_WB) - position_of(X_WA), logarithm(turn)], axis=-1)
