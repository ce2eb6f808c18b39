"""Where cameras stand, and the colours of the layers."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.rotations import quaternion_of_matrix
from bunraku.stage.picture.camera import TOWARDS, framed

GREEN, GREY, BLUE, RED = (60, 190, 90), (130, 134, 140), (70, 120, 230), (224, 49, 49)

FIELD = 1.3
"""Vertical field of view of browsers [rad], unless they say otherwise."""
COVERED = 280.0
"""How much of the view the timeline covers at the bottom [px]."""
PHONE = 576.0
"""Views at most this wide [px] have all panels in one sheet over their lower half."""

FILM_FIELD = 0.6
"""Vertical field of view of films [rad]."""


def camera_for(
    low: Array, high: Array, *, field: float = FIELD, width: float = 770.0, height: float = 850.0, covered: float = COVERED
) -> tuple[Array, Array]:
    """Where to look, and the way from there to the camera: the box stands well within what is free of a view [px]."""
    part = min(max(1.0 - covered / max(height, 1.0), 0.3), 1.0)
    place, target = framed(low, high, field=field, aspect=max(width, 1.0) / max(height, 1.0), part=part)
    return target, place - target


def film_camera(low: Array, high: Array) -> tuple[Array, Array]:
    """Place (3,) and orientation (w, x, y, z) of a film's camera (z forward, y down); the box fills the height."""
    towards = np.array(TOWARDS) / np.linalg.norm(TOWARDS)
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    forward = -towards
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    R = np.stack([right, np.cross(forward, right), forward], axis=1)
    return middle + towards * max(0.5 * size / np.tan(0.5 * FILM_FIELD), 0.05), quaternion_of_matrix(R)
