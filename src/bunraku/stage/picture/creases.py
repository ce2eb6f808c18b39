"""Creases: vertices of a mesh told apart where its faces meet at an edge that should look sharp."""

from __future__ import annotations

from math import cos, radians

import numpy as np
from numpy.typing import NDArray

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
