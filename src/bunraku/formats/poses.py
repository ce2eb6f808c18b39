"""Described poses, whose quaternions are (w, x, y, z), as pairs (R, p) of `geometry.poses`, and back."""

from __future__ import annotations

import numpy as np

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
