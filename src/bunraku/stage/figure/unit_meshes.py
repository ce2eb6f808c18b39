"""The unit shapes as triangles: box, ball and tube."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput

Vertices = NDArray[np.float32]
Faces = NDArray[np.int32]

UNIT_KINDS = ("box", "ball", "tube")
AROUND, DOWN = 20, 12
"""Corners around a ball or tube; rows of faces from pole to pole of a ball."""


@cache
def unit_mesh(kind: str) -> tuple[Vertices, Faces]:
    """Vertices (v, 3) and faces (f, 3), counter-clockwise seen from outside, of the unit 'box', 'ball' or 'tube'.

    Edges that should look sharp have their vertices twice, so that smooth shading keeps them: the corners of a box three times,
    the rims of a tube twice.
    """
    if kind == "box":
        vertices, faces = _box()
    elif kind == "ball":
        angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, DOWN + 1)
        vertices, faces = _turned([(np.cos(a), np.sin(a)) for a in angle])
    elif kind == "tube":
        parts = [_turned(outline) for outline in ([(0, -1), (1, -1)], [(1, -1), (1, 1)], [(1, 1), (0, 1)])]
        vertices = np.vstack([part[0] for part in parts])
        before = np.cumsum([0, *(len(part[0]) for part in parts)])
        faces = np.vstack([part[1] + start for part, start in zip(parts, before, strict=False)])
    else:
        raise BadInput(f"there is no unit shape {kind!r}; known: {', '.join(UNIT_KINDS)}")
    made = vertices.astype(np.float32), faces.astype(np.int32)
    for array in made:
        array.flags.writeable = False
    return made


def _box() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    vertices: list[NDArray[np.float64]] = []
    faces: list[list[list[int]]] = []
    square = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.zeros((4, 3))
            face[:, axis] = side
            face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = square.T
            start = 4 * len(faces)
            turn = [0, 1, 2, 3] if side > 0.0 else [3, 2, 1, 0]
            vertices.append(face[turn])
            faces.append([[start, start + 1, start + 2], [start, start + 2, start + 3]])
    return np.vstack(vertices), np.array(faces).reshape(-1, 3)


def _turned(outline: Sequence[tuple[float, float]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What the outline (radius, height), from below to above, makes when it turns about z; a pole is one vertex."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    vertices: list[NDArray[np.float64]] = []
    rings: list[NDArray[np.int64]] = []
    count = 0
    for r, z in outline:
        corners = 1 if r < 1e-9 else AROUND
        vertices.append(np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(AROUND, z)])[:corners])
        rings.append(count + np.arange(AROUND) % corners)
        count += corners
    faces = []
    for low, high in pairwise(rings):
        low_next, high_next = np.roll(low, -1), np.roll(high, -1)
        if len(set(low.tolist())) > 1:
            faces.append(np.column_stack([low, low_next, high_next if len(set(high.tolist())) > 1 else high]))
        if len(set(high.tolist())) > 1:
            faces.append(np.column_stack([low, high_next, high]))
    return np.vstack(vertices), np.vstack(faces)
