"""Which places of a character are covered by one of its shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.building.character_geometry import Frames
from bunraku.building.components.placing import Rigid, moved, rigid_of
from bunraku.character import Character, Shape

_STEP = 0.0015


def covered(character: Character, frames: Frames, places: list[tuple[str, Rigid]]) -> NDArray[np.bool_]:
    """Whether something lies in front of each place (n,): 1.5 mm along z of a frame on a body is inside a shape at ``frames``."""
    points = np.zeros((len(places), 3))
    for index, (name, X) in enumerate(places):
        points[index] = moved(moved(frames[name], X[1], X[0]), (0.0, 0.0, _STEP))[1]
    hidden = np.zeros(len(places), dtype=bool)
    for body in character.bodies:
        R, p = frames[body.name]
        for shape in body.shapes:
            turn, middle = rigid_of(shape.pose)
            hidden |= inside(shape, (points - p - R @ middle) @ (R @ turn))
    return hidden


def inside(shape: Shape, points: Array) -> NDArray[np.bool_]:
    """Which points (n, 3) [m], in the shape's own axes from its middle, are inside it; a mesh holds none."""
    found: NDArray[np.bool_]
    if shape.kind == "box":
        found = np.abs(points / np.maximum(np.array(shape.size), 1e-12)).max(axis=1) < 1.0
    elif shape.kind in ("sphere", "ellipsoid"):
        size = np.maximum(np.array(shape.size * (3 if shape.kind == "sphere" else 1)), 1e-12)
        square: Array = ((points / size) ** 2).sum(axis=1)
        found = square < 1.0
    elif shape.kind == "cylinder":
        found = (np.abs(points[:, 2]) < shape.size[1]) & (np.hypot(points[:, 0], points[:, 1]) < shape.size[0])
    elif shape.kind == "capsule":
        beyond = np.maximum(np.abs(points[:, 2]) - shape.size[1], 0.0)
        found = points[:, 0] ** 2 + points[:, 1] ** 2 + beyond**2 < shape.size[0] ** 2
    else:
        found = np.zeros(len(points), dtype=bool)
    return found
