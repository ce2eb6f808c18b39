"""The outer surface of a skin: what is seen of it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bunraku.arrays import Indices
from bunraku.character import SkinMesh
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces


def outer_surface(mesh: SkinMesh) -> tuple[Indices, Indices]:
    """The nodes (v,) of the outer surface, rising, and its triangles (f, 3) of them, counter-clockwise seen from outside.

    Of the closed pieces of a skin's boundary those that enclose a positive volume are outer; inner walls face the cavity. Every
    quadratic face is four triangles.
    """
    faces = boundary_faces(TetMesh(mesh.nodes, mesh.cells))
    corners = faces[:, :3]
    ends = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]]])
    n = len(mesh.nodes)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    piece = connected_components(graph, directed=False)[1][corners[:, 0]]
    X = mesh.nodes[corners]
    enclosed = np.bincount(piece, weights=np.einsum("fi,fi->f", X[:, 0], np.cross(X[:, 1], X[:, 2])))
    a, b, c, ab, bc, ca = faces[enclosed[piece] > 0.0].T
    fine = np.vstack([np.column_stack(one) for one in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    nodes, numbers = np.unique(fine, return_inverse=True)
    return nodes, np.asarray(numbers, dtype=np.int64).reshape(-1, 3)
