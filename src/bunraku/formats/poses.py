"""Poses of files: described ones as pairs (R, p) of `geometry.poses` and back; and from the axes of animation files to ours.

Quaternions are (w, x, y, z). Animation files have y up and z forward, we z up, x forward and y left. With C the cyclic matrix
that maps (x, y, z) to (z, x, y), a vector p becomes C p and a rotation R becomes C R Cᵀ. C is a proper rotation, applied to the
world and to every bone frame alike, so chains of poses keep their meaning.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Pose
from bunraku.geometry.poses import Rigid
from bunraku.geometry.rotations import matrix_of_quaternion, quaternion_of_matrix


def of_pose(pose: Pose) -> Rigid:
    """The pair (R, p) of a described pose."""
    return matrix_of_quaternion(pose.quaternion), np.array(pose.position)


def as_pose(X: Rigid) -> Pose:
    """The description of a pair (R, p)."""
    w, x, y, z = (float(part) for part in quaternion_of_matrix(X[0]))
    return Pose(position=(float(X[1][0]), float(X[1][1]), float(X[1][2])), quaternion=(w, x, y, z))


_ORDER = np.array([2, 0, 1])
_BACK = np.array([1, 2, 0])


def vectors_z_up(vectors: Array) -> Array:
    """Vectors (..., 3) of y-up, z-forward axes in z-up, x-forward ones."""
    return np.ascontiguousarray(vectors[..., _ORDER])


def rotations_z_up(rotations: Array) -> Array:
    """Rotation matrices (..., 3, 3) of y-up, z-forward axes in z-up, x-forward ones."""
    return np.ascontiguousarray(rotations[..., _ORDER[:, None], _ORDER[None, :]])


def vectors_y_up(vectors: Array) -> Array:
    """Vectors (..., 3) of our axes in y-up, z-forward ones."""
    return np.ascontiguousarray(vectors[..., _BACK])


def rotations_y_up(rotations: Array) -> Array:
    """Rotation matrices (..., 3, 3) of our axes in y-up, z-forward ones."""
    return np.ascontiguousarray(rotations[..., _BACK[:, None], _BACK[None, :]])
