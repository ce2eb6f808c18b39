"""Quaternions, rotation matrices and poses, for the files that store them one way or another.

Quaternions are (w, x, y, z); a pose is a pair (R, p) of a rotation matrix (3, 3) and a position (3,), and
``X_AC = compose(X_AB, X_BC)``. Inside Bunraku turns are single-axis coordinates; quaternions live in `formats` only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Pose

__all__ = [
    "Array",
    "Rigid",
    "about",
    "angles_of",
    "as_pose",
    "compose",
    "inverse",
    "matrix_of",
    "of_pose",
    "quaternion_of",
    "sequence_matrix",
]

Array = NDArray[np.float64]
Rigid = tuple[Array, Array]
_UNIT = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}


def matrix_of(quaternion: Array | tuple[float, ...] | list[float]) -> Array:
    """The rotation matrix (3, 3) of a quaternion (w, x, y, z), normalized first."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(R: Array) -> Array:
    """The unit quaternion (w >= 0) of a rotation matrix, by its largest component (Shepperd's method)."""
    trace = float(R[0, 0] + R[1, 1] + R[2, 2])
    squares = np.array([trace, R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1.0 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + m] = R[m, i] + R[i, m]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0 else q


def about(axis: Array | tuple[float, float, float], angle: float) -> Array:
    """Rotation matrix of a turn by ``angle`` [rad] about ``axis`` (any length but zero), Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def sequence_matrix(sequence: str, angles: Array | list[float] | tuple[float, ...]) -> Array:
    """R = R_a(angle 1) R_b(angle 2) R_c(angle 3), turns about moving axes in the order of ``sequence``, e.g. "zyx"."""
    R = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        R = R @ about(_UNIT[letter], float(angle))
    return R


def angles_of(R: Array, sequence: str) -> Array:
    """The three angles (3,) with ``sequence_matrix(sequence, angles) == R``, the middle one in [-pi/2, pi/2].

    With axes (i, j, k) of the sequence and s = +1 for an even permutation, R[j, k] = -s sin(a) cos(b) and R[k, k] = cos(a) cos(b)
    give a; M = R_i(-a) R is R_j(b) R_k(c), from which b and c follow. Near b = +-pi/2, where a and c turn about the same axis,
    an error in a is made good by c.
    """
    i, j, k = ("xyz".index(letter) for letter in sequence)
    s = 1.0 if (j - i) % 3 == 1 else -1.0
    a = float(np.arctan2(-s * R[j, k], R[k, k])) if np.hypot(R[j, k], R[k, k]) > 1e-12 else 0.0
    M = about(_UNIT[sequence[0]], -a) @ R
    return np.array([a, np.arctan2(s * M[i, k], M[k, k]), np.arctan2(s * M[j, i], M[j, j])])


def compose(X_AB: Rigid, X_BC: Rigid) -> Rigid:
    """``X_AC = X_AB X_BC``."""
    return X_AB[0] @ X_BC[0], X_AB[1] + X_AB[0] @ X_BC[1]


def inverse(X_AB: Rigid) -> Rigid:
    """``X_BA``."""
    return X_AB[0].T, -X_AB[0].T @ X_AB[1]


def of_pose(pose: Pose) -> Rigid:
    """The pair (R, p) of a described pose."""
    return matrix_of(pose.quaternion), np.array(pose.position)


def as_pose(X: Rigid) -> Pose:
    """The description of a pair (R, p)."""
    w, x, y, z = (float(part) for part in quaternion_of(X[0]))
    return Pose(position=(float(X[1][0]), float(X[1][1]), float(X[1][2])), quaternion=(w, x, y, z))
