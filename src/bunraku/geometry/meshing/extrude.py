"""Extrusion: a plane section carried along z in layers of prisms, each prism split into three tetrahedra.

Section vertices are ranked by their numbers; on the quadrilateral above an edge (a, b), a < b, the diagonal runs from a below to
b above, so that neighbouring prisms agree, and in every second layer the other way, which makes linear cells lock less in bending.
Nodes are numbered layer by layer: with V vertices and E edges of the section, plane k of a quadratic mesh holds the nodes
2 k (V + E) + (vertices, middles of edges), and half-way to the next plane lie V middles of upright edges and E middles of
diagonals. All middles stand above or below the middles of the section, so a curved section gives curved cells whose nodes lie on
the extruded surface.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.meshing.section import Section
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces
from bunraku.geometry.tetrahedra import EDGES

MAX_NODES = 3_000_000


def extrude(section: Section, heights: ArrayLike, *, order: int = 2) -> TetMesh:
    """The mesh of ``section`` between the rising ``heights`` (layers + 1,) [m], of ``order`` 1 or 2 (curved where the section is).

    Patches: ``start`` and ``end`` (the first and last plane) and every loop of the section (``side`` of a rod).
    """
    z = np.asarray(heights, dtype=np.float64)
    if z.ndim != 1 or len(z) < 2 or not np.isfinite(z).all() or (np.diff(z) <= 0.0).any():
        raise BadInput("the heights of the layers must be two or more rising numbers")
    if order not in (1, 2):
        raise BadInput(f"a mesh of order {order} was asked for; there are order 1 (linear) and 2 (quadratic)")
    V, E = len(section.points), len(section.edges)
    if 2 * len(z) * (V + E) > MAX_NODES:
        raise BadInput(f"the mesh would have about {2 * len(z) * (V + E)} nodes; at most {MAX_NODES} are made: choose fewer layers")
    corners = _corners(section, len(z) - 1)
    vertex, level = corners[..., 0], corners[..., 1]
    if order == 1:
        nodes = _stacked(section.points, z)
        cells = level * V + vertex
    else:
        plane, half = np.vstack([section.points, section.middles]), 0.5 * (z[:-1] + z[1:])
        between = np.sort(np.concatenate([z, half]))
        nodes = _stacked(plane, between)
        cells = np.concatenate([2 * level * (V + E) + vertex, _middles(section, vertex, level)], axis=1)
    bare = TetMesh(nodes, cells)
    return TetMesh(nodes, cells, _patches(bare, section, len(z) - 1))


def _stacked(plane: Array, z: Array) -> Array:
    return np.column_stack([np.tile(plane, (len(z), 1)), np.repeat(z, len(plane))])


def _corners(section: Section, layers: int) -> Indices:
    """Corners (cells, 4, 2) as pairs (vertex of the section, plane), cells with positive volume, layer by layer."""
    patterns = []
    for descending in (False, True):
        ranked = np.sort(section.triangles, axis=1)
        if descending:
            ranked = ranked[:, ::-1]
        a, b, c = ranked.T
        P = section.points
        turn = (P[b] - P[a])[:, 0] * (P[c] - P[a])[:, 1] - (P[b] - P[a])[:, 1] * (P[c] - P[a])[:, 0]
        zero, one = np.zeros_like(a), np.ones_like(a)
        tets = [((a, zero), (b, zero), (c, zero), (c, one)), ((a, zero), (b, one), (b, zero), (c, one))]
        tets.append(((a, zero), (a, one), (b, one), (c, one)))
        cells = np.stack([np.stack([np.stack(corner, axis=-1) for corner in tet], axis=1) for tet in tets], axis=1)
        cells[turn < 0.0] = cells[turn < 0.0][:, :, [1, 0, 2, 3]]
        patterns.append(cells.reshape(-1, 4, 2))
    corners = np.concatenate([patterns[k % 2] + np.array([0, k]) for k in range(layers)])
    return np.asarray(corners, dtype=np.int64)


def _middles(section: Section, vertex: Indices, level: Indices) -> Indices:
    V, E = len(section.points), len(section.edges)
    key = section.edges[:, 0] * V + section.edges[:, 1]
    order = np.argsort(key)
    columns = []
    for i, j in EDGES:
        low, high = np.minimum(vertex[:, i], vertex[:, j]), np.maximum(vertex[:, i], vertex[:, j])
        place = order[np.minimum(np.searchsorted(key, low * V + high, sorter=order), E - 1)]
        columns.append((level[:, i] + level[:, j]) * (V + E) + np.where(low == high, low, V + place))
    return np.stack(columns, axis=1)


def _patches(mesh: TetMesh, section: Section, layers: int) -> dict[str, Indices]:
    V, E = len(section.points), len(section.edges)
    width, planes = (V, layers) if mesh.order == 1 else (V + E, 2 * layers)
    faces = boundary_faces(mesh)
    level, vertex = faces // width, faces[:, :3] % width
    start, end = (level == 0).all(axis=1), (level == planes).all(axis=1)
    patches = {"start": faces[start], "end": faces[end]}
    rest, ends = faces[~(start | end)], np.sort(vertex[~(start | end)], axis=1)
    key = ends[:, 0] * V + ends[:, 2]
    for name, edges in section.loops.items():
        own = section.edges[edges]
        patches[name] = rest[np.isin(key, own[:, 0] * V + own[:, 1])]
    return patches
