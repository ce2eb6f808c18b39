"""What is drawn of a motion at a time, as triangles: what is seen of its solids, its parts, skin and strings, coloured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import cos, radians

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.stage.figure.motion import DrawnMotion
from bunraku.stage.figure.solids import UNIT_KINDS
from bunraku.stage.picture.raster_kernels import vertex_normals

CREASE = radians(40.0)
"""Faces that meet at more than this [rad] meet at a sharp edge."""

Vertices = NDArray[np.float32]
Faces = NDArray[np.int32]


def creased(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces]:
    """The same mesh with a vertex of its own for every group of faces about a vertex that look smooth together.

    Vertices (v, 3), faces (f, 3). Two faces about a vertex are in one group when they share an edge there and meet at less than
    `CREASE`. Vertices at one place, as in meshes without shared ones, are taken as one first.
    """
    if not len(faces):
        return vertices, faces
    places, one = np.unique(np.round(vertices / max(float(np.abs(vertices).max()), 1e-9), 6), axis=0, return_inverse=True)
    corner = one.reshape(-1)[faces].astype(np.int64)
    a, b, c = (vertices[faces[:, k]].astype(np.float64) for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    group = _groups(corner, normal, len(places))
    names, first, number = np.unique(group, return_index=True, return_inverse=True)
    kept = faces.reshape(-1)[first]
    assert len(names) == len(kept)  # noqa: S101 - one vertex a group
    return vertices[kept], number.reshape(-1, 3).astype(np.int32)


def _groups(corner: NDArray[np.int64], normal: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """For every corner of every face (3 f,) the group it is in: corners at one place, joined over smooth edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(corner)
    start, end = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)
    here = np.arange(3 * size)
    after = (here // 3) * 3 + (here + 1) % 3
    low, high = np.minimum(start, end), np.maximum(start, end)
    at_low, at_high = np.where(start < end, here, after), np.where(start < end, after, here)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    one, two = order[:-1][same], order[1:][same]
    smooth = (normal[one // 3] * normal[two // 3]).sum(axis=1) > cos(CREASE)
    one, two = one[smooth], two[smooth]
    rows = np.concatenate([at_low[one], at_high[one]])
    columns = np.concatenate([at_low[two], at_high[two]])
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(3 * size, 3 * size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


Small = NDArray[np.float32]
Color = tuple[float, float, float]

MARKED: Color = (0.88, 0.19, 0.19)
"""Of bodies that are marked, because their joint goes beyond a limit."""
STRING: Color = (0.45, 0.20, 0.20)
AROUND = 6
"""Sides of a string."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """Points (v, 3) [m] and unit normals (v, 3) of vertices, faces (f, 3) and their colours (f, 3) in linear light, float32.

    The first ``single`` faces belong to closed solids and are seen from outside only, from where they go counter-clockwise.
    """

    points: Small
    normals: Small
    faces: NDArray[np.int32]
    colors: Small
    single: int = 0


def linear(color: object) -> Small:
    """Colours as screens have them (sRGB, 0 to 1) in linear light."""
    value = np.clip(np.asarray(color, dtype=np.float64), 0.0, 1.0)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4).astype(np.float32)


class TriangleModel:
    """The triangles of a motion, ready to be posed at any of its times: in its own colours, or all in one ``tint`` (sRGB).

    ``marked`` bodies are red. ``thread``: the radius [m] strings are drawn with; None: they are not.
    """

    def __init__(
        self, motion: DrawnMotion, *, tint: Color | None = None, marked: Collection[str] = (), thread: float | None = 0.001
    ) -> None:
        self.motion, self._thread = motion, thread or 0.0
        self._strings = motion.strings if thread else motion.strings[:, :0]
        figure = motion.figure
        self._local: list[tuple[str, Small, Small]] = []
        faces, colors, count = [], [], 0
        self._single = 0
        own: list[NDArray[np.bool_]] = []
        for kind, solids in sorted(figure.solids.items(), key=lambda item: item[0] not in UNIT_KINDS):
            seen = figure.seen[kind]
            if not len(seen):
                continue
            vertices, triangles = creased(*figure.mesh(kind))
            local = vertices[None] * solids.scale[seen].astype(np.float32)[:, None]
            normals = np.stack([vertex_normals(one, triangles) for one in local])
            self._local.append((kind, local, normals))
            each = triangles[None] + (count + len(vertices) * np.arange(len(seen), dtype=np.int32))[:, None, None]
            faces.append(each.reshape(-1, 3).astype(np.int32))
            shown = np.array(solids.color[seen, :3] if tint is None else np.broadcast_to(np.array(tint), (len(seen), 3)))
            shown[[figure.bodies[int(body)] in marked for body in solids.body[seen]]] = MARKED
            colors.append(np.repeat(linear(shown), len(triangles), axis=0))
            count += local.shape[0] * local.shape[1]
            own.append(np.repeat(solids.body[seen] < len(figure.character.bodies), len(vertices)))
            self._single += len(seen) * len(triangles) if kind in UNIT_KINDS else 0
        self._surfaces = motion.surfaces
        for surface in self._surfaces:
            faces.append(surface.faces + np.int32(count))
            colors.append(np.broadcast_to(linear(surface.color[:3] if tint is None else tint), surface.faces.shape))
            count += surface.points.shape[1]
        sides = _sides() if self._strings.shape[1] else np.zeros((0, 3), dtype=np.int32)
        for _ in range(self._strings.shape[1]):
            faces.append(sides + np.int32(count))
            colors.append(np.broadcast_to(linear(STRING if tint is None else tint), sides.shape))
            count += 2 * AROUND
        own.append(np.ones(sum(surface.points.shape[1] for surface in self._surfaces), dtype=bool))
        own.append(np.zeros(2 * AROUND * self._strings.shape[1], dtype=bool))
        self.own = np.concatenate(own)
        """Which vertices (v,) are of the character, not of its carriages and strings."""
        self._faces = np.ascontiguousarray(np.vstack(faces), dtype=np.int32)
        self._colors = np.ascontiguousarray(np.vstack(colors), dtype=np.float32)

    def at(self, time: float) -> Triangles:
        """The triangles at a time [s], straight between the two frames of the motion about it, held before and after."""
        motion = self.motion
        low, high, share = _about(motion.times, time)
        points, normals = [], []
        for kind, local, normal in self._local:
            placed, seen = motion.placed[kind], motion.figure.seen[kind]
            place = (1.0 - share) * placed.positions[low, seen] + share * placed.positions[high, seen]
            one, two = placed.wxyz[low, seen], placed.wxyz[high, seen]
            near = np.where((one * two).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
            turn = (1.0 - share) * one + share * near * two
            R = matrix_of_quaternion(turn / np.linalg.norm(turn, axis=1, keepdims=True)).astype(np.float32)
            points.append((local @ np.swapaxes(R, 1, 2) + place[:, None].astype(np.float32)).reshape(-1, 3))
            normals.append((normal @ np.swapaxes(R, 1, 2)).reshape(-1, 3))
        for surface in self._surfaces:
            here = ((1.0 - share) * surface.points[low] + share * surface.points[high]).astype(np.float32)
            points.append(here)
            normals.append(vertex_normals(here, surface.faces))
        if self._strings.shape[1]:
            ends = (1.0 - share) * self._strings[low] + share * self._strings[high]
            around = _rings(ends)
            normals.append(around.reshape(-1, 3).astype(np.float32))
            points.append((np.repeat(ends, AROUND, axis=1) + self._thread * around).reshape(-1, 3).astype(np.float32))
        return Triangles(np.vstack(points), np.vstack(normals), self._faces, self._colors, self._single)


def _about(times: NDArray[np.float64], time: float) -> tuple[int, int, float]:
    """The frames before and after a time, and its share of the way between them."""
    high = int(np.clip(np.searchsorted(times, time), 0, len(times) - 1))
    low = max(high - 1, 0)
    if high == low or time <= times[low]:
        return low, low, 0.0
    return low, high, float(min((time - times[low]) / (times[high] - times[low]), 1.0))


def _sides() -> NDArray[np.int32]:
    """The triangles of a tube of two rings."""
    low = np.arange(AROUND)
    low_next = (low + 1) % AROUND
    return np.vstack(
        [np.column_stack([low, low_next, low_next + AROUND]), np.column_stack([low, low_next + AROUND, low + AROUND])]
    ).astype(np.int32)


def _rings(ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions (s, 2 AROUND, 3) of length 1 around segments ``ends`` (s, 2, 3), across them."""
    along = ends[:, 1] - ends[:, 0]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    other = np.where(np.abs(along[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    across = np.cross(along, other)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    third = np.cross(along, across)
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    ring = np.cos(angle)[None, :, None] * across[:, None] + np.sin(angle)[None, :, None] * third[:, None]
    return np.concatenate([ring, ring], axis=1)
