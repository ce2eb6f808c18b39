"""The camera of a picture: where it stands so that a box fills a part of it, where it looks, and where points are seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput

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
        factor = float(((highest - lowest) / room).max()) / share
        distance = max(distance * min(max(factor, 0.5), 2.0) ** 0.35, 0.51 * size)
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


View = Literal["three-quarter", "front", "side", "back", "top"]

DIRECTIONS: dict[str, tuple[float, float, float]] = {
    "three-quarter": TOWARDS,
    "front": (1.0, 0.0, 0.16),
    "side": (0.0, -1.0, 0.16),
    "back": (-1.0, 0.0, 0.16),
    "top": (0.05, 0.0, 1.0),
}
"""The way from what is looked at to the camera, by the name of the view; x is forward, z up."""

FIELD = 0.5
"""Vertical field of view [rad]."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera at ``place`` (3,) that looks at ``target`` (3,) [m], z upward in its picture, with a vertical ``field`` [rad]."""

    place: Array
    target: Array
    field: float = FIELD

    @property
    def frame(self) -> Array:
        """Rows (3, 3): right, up, forward, of length 1."""
        forward = (self.target - self.place) / np.linalg.norm(self.target - self.place)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward])

    def seen(self, points: NDArray[np.float32], width: int, height: int) -> tuple[NDArray[np.float32], ...]:
        """Where points (v, 3) are in a picture of so many pixels, x to the right and y down, and w = 1 / depth [1/m], (v,) each.

        The pixel in row i and column j covers x from j to j + 1 and y from i to i + 1. Points behind the camera have w <= 0.
        """
        frame = self.frame
        at = (points @ frame.T.astype(np.float32)) - (frame @ self.place).astype(np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            w = np.where(at[:, 2] > 1e-6, 1.0 / at[:, 2], -1.0).astype(np.float32)
        scale = np.float32(0.5 * height / np.tan(0.5 * self.field))
        return 0.5 * width + scale * at[:, 0] * w, 0.5 * height - scale * at[:, 1] * w, w

    def moved(self, way: Array) -> Camera:
        """The same camera a ``way`` (3,) [m] on."""
        return replace(self, place=self.place + way, target=self.target + way)


def standing(low: Array, high: Array, *, view: str = "three-quarter", aspect: float = 16.0 / 9.0, share: float = 0.78) -> Camera:
    """A camera that sees the box from ``low`` to ``high`` (3,) [m] in ``share`` of its picture, from where ``view`` says."""
    if view not in DIRECTIONS:
        raise BadInput(f"there is no view {view!r}; there are {', '.join(DIRECTIONS)}")
    place, target = framed(low, high, field=FIELD, aspect=aspect, share=share, towards=DIRECTIONS[view])
    return Camera(place, target)


def nearer(camera: Camera, points: NDArray[np.float32], *, aspect: float, share: float = 0.82) -> Camera:
    """The same camera moved so that ``points`` (n, 3) [m] fill ``share`` of its picture, in the middle of it.

    A box around a figure is larger than the figure; this looks at the figure itself.
    """
    frame, tangent = camera.frame, float(np.tan(0.5 * camera.field))
    half = share * tangent * np.array([aspect, 1.0])
    at = np.asarray(points, dtype=np.float64) @ frame.T
    # from (x, y, z) of this frame a point p is seen within the share if |p_x - x| <= half (p_z - z), and so for y
    lowest = np.array([(at[:, k] + half[k] * at[:, 2]).min() for k in range(2)])
    highest = np.array([(at[:, k] - half[k] * at[:, 2]).max() for k in range(2)])
    z = float(((lowest - highest) / (2.0 * half)).min())
    x, y = 0.5 * (lowest + highest)
    place = np.array([x, y, z]) @ frame
    deep = float(at[:, 2].mean())
    return replace(camera, place=place, target=place + (deep - z) * frame[2])
