"""Framing: where a camera stands so that a box fills a part of its picture."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array

TOWARDS = (1.2, -0.95, 0.5)
"""The way to the camera: from the front, its right and above."""
STEPS = 80


def framed(
    low: Array,
    high: Array,
    *,
    field: float,
    aspect: float,
    part: float = 1.0,
    share: float = 0.68,
    towards: tuple[float, float, float] = TOWARDS,
) -> tuple[Array, Array]:
    """Place of the camera and the point it looks at (3,) [m], so that a box fills ``share`` of the upper ``part`` of the picture.

    Args:
        low: Lower corner (3,) of the box [m].
        high: Upper corner (3,) of the box [m].
        field: Vertical field of view [rad].
        aspect: Width of the picture over its height.
        part: Which part of its height is free, from the top; the box stands in its middle.
        share: How much of the free part the corners of the box cover, in the dimension in which they cover more.
        towards: The way from the box to the camera, not straight up or down.
    """
    back = np.array(towards) / np.linalg.norm(towards)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    tangents = np.array([np.tan(0.5 * field) * aspect, np.tan(0.5 * field)])
    room, centre = np.array([2.0, 2.0 * part]), np.array([0.0, 1.0 - part])
    size = max(float(np.linalg.norm(high - low)), 0.03)
    distance, target = size / float(tangents.min()), 0.5 * (low + high)
    for _ in range(STEPS):
        lowest, highest = spread(low, high, target + distance * back, target, field=field, aspect=aspect)
        off = 0.35 * (0.5 * (lowest + highest) - centre)  # near corners move more than the middle: go a part of the way
        target = target + distance * (off[0] * tangents[0] * right + off[1] * tangents[1] * up)
        wanted = float(((highest - lowest) / room).max()) / share
        distance = max(distance * min(max(wanted, 0.5), 2.0) ** 0.35, 0.51 * size)
    return target + distance * back, target


def spread(low: Array, high: Array, place: Array, target: Array, *, field: float, aspect: float) -> tuple[Array, Array]:
    """Lowest and highest (x, y) of the corners of a box in a picture whose edges are at -1 and 1, y up, z of the world upward."""
    forward = (target - place) / np.linalg.norm(target - place)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    ends = np.stack([low, high])
    corners = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) - place
    depth = np.maximum(corners @ forward, 1e-9)
    tangent = np.tan(0.5 * field)
    seen = np.stack([corners @ right / (depth * tangent * aspect), corners @ up / (depth * tangent)], axis=1)
    return seen.min(axis=0), seen.max(axis=0)
