"""Poses and rotations as the robot files need them: pairs (R, p), one at a time.

A pose X_AB is a pair of a rotation matrix R (3, 3) and a position p (3,), and ``X_AC = compose(X_AB, X_BC)``. The mathematics is
that of `geometry`; here it is tied to described poses, whose quaternions are (w, x, y, z).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.character import Pose
from bunraku.geometry.euler import euler_angles, euler_matrix
from bunraku.geometry.rotations import axis_angle, matrix_of_quaternion, quaternion_of_matrix

__all__ = [
    "Array",
    "Rigid",
    "about",
    "angles_of",
    "as_pose",
    "compose",
    "inverse",
    "least_turn",
    "matrix_of",
    "of_pose",
    "quaternion_of",
    "sequence_matrix",
]

Array = NDArray[np.float64]
Rigid = tuple[Array, Array]

matrix_of = matrix_of_quaternion
quaternion_of = quaternion_of_matrix
about = axis_angle


def sequence_matrix(sequence: str, angles: ArrayLike) -> Array:
    """R = R_i(a) R_j(b) R_k(c), turns about moving axes in the order of ``sequence``, e.g. "zyx"."""
    return euler_matrix(angles, sequence)


def angles_of(R: Array, sequence: str) -> Array:
    """The three angles (3,) with ``sequence_matrix(sequence, angles) == R``, the middle one in [-pi/2, pi/2]."""
    return euler_angles(R, sequence)[0]


def least_turn(axis: Array) -> Array:
    """The least rotation that turns z onto ``axis`` (3,), of any length but zero."""
    unit = axis / np.linalg.norm(axis)
    cross = np.array([-unit[1], unit[0], 0.0])
    sine = float(np.linalg.norm(cross))
    if sine < 1e-12:
        return np.eye(3) if unit[2] > 0 else axis_angle((1.0, 0.0, 0.0), np.pi)
    return axis_angle(cross, float(np.arctan2(sine, unit[2])))


def compose(X_AB: Rigid, X_BC: Rigid) -> Rigid:
    """``X_AC = X_AB X_BC``."""
    return X_AB[0] @ X_BC[0], X_AB[1] + X_AB[0] @ X_BC[1]


def inverse(X_AB: Rigid) -> Rigid:
    """``X_BA``."""
    return X_AB[0].T, -X_AB[0].T @ X_AB[1]


def of_pose(pose: Pose) -> Rigid:
    """The pair (R, p) of a described pose."""
    return matrix_of_quaternion(pose.quaternion), np.array(pose.position)


def as_pose(X: Rigid) -> Pose:
    """The description of a pair (R, p)."""
    w, x, y, z = (float(part) for part in quaternion_of_matrix(X[0]))
    return Pose(position=(float(X[1][0]), float(X[1][1]), float(X[1][2])), quaternion=(w, x, y, z))
