"""Poses between descriptions and arithmetic: rigid moves (R, p), turned into `Pose` and back, and mirrored in the plane y = 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import Pose
from bunraku.geometry.poses import Rigid
from bunraku.geometry.rotations import canonical, matrix_of_quaternion, quaternion_of_matrix

MIRROR = np.array([1.0, -1.0, 1.0])
"""What a reflection in y = 0 does to the components of a place."""
_FINE = 12


def numbers(vector: ArrayLike) -> tuple[float, float, float]:
    """A place or direction as three plain numbers, without the dust of rounding below 1e-12."""
    x, y, z = (float(part) + 0.0 for part in np.round(np.asarray(vector, dtype=np.float64), _FINE))
    return (x, y, z)


def rounded(value: float) -> float:
    """A length without dust below 1e-12."""
    return round(float(value), _FINE) + 0.0


def of_pose(pose: Pose) -> Rigid:
    """The rigid move of a pose."""
    return matrix_of_quaternion(pose.quaternion), np.array(pose.position)


def pose_of(X: Rigid) -> Pose:
    """The pose of a rigid move, the real part of its quaternion not negative."""
    w, x, y, z = (float(part) + 0.0 for part in np.round(canonical(quaternion_of_matrix(X[0])), 15))
    return Pose(position=numbers(X[1]), quaternion=(w, x, y, z))


def moved(X: Rigid, shift: ArrayLike, turn: Array | None = None) -> Rigid:
    """A frame that stands in X at ``shift`` (3,) and is turned by ``turn`` (3, 3) there."""
    return (X[0] if turn is None else X[0] @ turn), X[1] + X[0] @ np.asarray(shift, dtype=np.float64)


def reflected(X: Rigid) -> Rigid:
    """The mirror image M X M of a frame, again right-handed: what is at v in the one is at M v in the other."""
    return MIRROR[:, None] * X[0] * MIRROR, MIRROR * X[1]
