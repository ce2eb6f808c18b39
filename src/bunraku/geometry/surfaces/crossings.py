"""Which faces of a surface cross each other: boxes of triangles on a grid of cells, then a test of each pair that meets there.

Faces that share no vertex cross also when they only touch. Faces that share a vertex or an edge cross when they meet elsewhere too,
or lie on each other in one plane.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Indices
from bunraku.geometry.surfaces.crossings_kernels import crossing_pairs, fill_cells
from bunraku.geometry.surfaces.surface import Surface

_MAX_CELLS = 8_000_000


def crossing_faces(surface: Surface, *, limit: int = 100_000) -> Indices:
    """Pairs (k, 2) of faces that cross, at most ``limit`` of them; lengths below 1e-10 of the size count as zero.

    Faces without area are left out. Time grows with the number of faces when they are of similar size.
    """
    e = 1e-10 * surface.size
    whole = np.flatnonzero(surface.face_areas() > e * e)
    if not len(whole):
        return np.zeros((0, 2), dtype=np.int64)
    corners = np.ascontiguousarray(surface.corners[whole])
    low, high = corners.min(axis=1) - e, corners.max(axis=1) + e
    origin, end = low.min(axis=0), high.max(axis=0)
    side = max(1.5 * float((high - low).max(axis=1).mean()), float(np.cbrt(np.prod(end - origin + e) / _MAX_CELLS)))
    cells = (np.floor((end - origin) / side) + 1).astype(np.int64)
    first = np.minimum(((low - origin) / side).astype(np.int64), cells - 1)
    last = np.minimum(((high - origin) / side).astype(np.int64), cells - 1)
    total = int(np.prod(cells))
    counts = np.zeros(total, dtype=np.int64)
    starts = np.zeros(total + 1, dtype=np.int64)
    fill_cells(first, last, counts, cells, starts, np.zeros(1, dtype=np.int64), 0)
    starts[1:] = np.cumsum(counts)
    items = np.empty(int(starts[-1]), dtype=np.int64)
    counts[:] = 0
    fill_cells(first, last, counts, cells, starts, items, 1)
    normals = np.ascontiguousarray(surface.face_normals()[whole])
    faces = np.ascontiguousarray(surface.faces[whole])
    pairs = crossing_pairs(corners, faces, normals, first, cells, starts, items, e, limit)
    ordered: Indices = np.sort(whole[pairs].astype(np.int64), axis=1)
    return ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]
