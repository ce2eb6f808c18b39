"""The look of components: servos dark, printed parts light, wheels black."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.character import Pose, Shape
from bunraku.geometry.rotations import quaternion_of_matrix

Color = tuple[float, float, float, float]

LIGHT: Color = (0.93, 0.91, 0.86, 1.0)
"""Printed parts."""
DARK: Color = (0.17, 0.18, 0.21, 1.0)
"""Servos."""
RUBBER: Color = (0.07, 0.07, 0.08, 1.0)
"""Wheels and feet."""


def box_shape(center: ArrayLike, size: ArrayLike, color: Color, *, axes: ArrayLike | None = None, collides: bool = True) -> Shape:
    """A box of full lengths ``size`` [m] along ``axes`` (columns of a rotation; None: those of the body)."""
    half = tuple(float(part) / 2.0 for part in np.asarray(size))
    return Shape(kind="box", size=half, pose=_pose(center, axes), color=color, collides=collides)


def sphere_shape(center: ArrayLike, radius: float, color: Color) -> Shape:
    """A ball."""
    return Shape(kind="sphere", size=(radius,), pose=_pose(center, None), color=color)


def cylinder_shape(
    center: ArrayLike, axis: ArrayLike, radius: float, length: float, color: Color, *, collides: bool = True
) -> Shape:
    """A cylinder about ``axis``."""
    pose = _along(center, np.asarray(axis, dtype=float))
    return Shape(kind="cylinder", size=(radius, length / 2.0), pose=pose, color=color, collides=collides)


def capsule_shape(start: ArrayLike, end: ArrayLike, radius: float, color: Color) -> Shape:
    """A capsule whose middle line goes from ``start`` to ``end``."""
    p, q = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(q - p))
    pose = _along((p + q) / 2.0, q - p) if length > 1e-9 else _pose((p + q) / 2.0, None)
    return Shape(kind="capsule", size=(radius, max(length / 2.0, 1e-6)), pose=pose, color=color)


def _along(center: ArrayLike, direction: NDArray[np.float64]) -> Pose:
    """A pose whose z axis is along ``direction`` d or its opposite, whichever is nearer to z.

    The least turn of z into a unit vector d has the quaternion (1 + d_z, -d_y, d_x, 0), to be made unit.
    """
    x, y, z = (float(part) for part in (direction if direction[2] >= 0.0 else -direction))
    length = math.sqrt(x * x + y * y + z * z)
    w, i, j = 1.0 + z / length, -y / length, x / length
    norm = math.sqrt(w * w + i * i + j * j)
    px, py, pz = (float(part) for part in np.asarray(center))
    return Pose(position=(px, py, pz), quaternion=(w / norm, i / norm, j / norm, 0.0))


def _pose(center: ArrayLike, axes: ArrayLike | None) -> Pose:
    x, y, z = (float(part) for part in np.asarray(center))
    if axes is None:
        return Pose(position=(x, y, z))
    quaternion = tuple(float(part) for part in quaternion_of_matrix(np.asarray(axes)))
    return Pose(position=(x, y, z), quaternion=quaternion)
