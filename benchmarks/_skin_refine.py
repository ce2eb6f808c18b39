"""The skin refined once: every cell cut into eight, glue and soles carried over to the nodes that appear on them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.character import PATCHES, SkinMesh
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.geometry.tet_refine import refined
from bunraku.geometry.tetrahedra import EDGES

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


def refined_skin(mesh: SkinMesh) -> SkinMesh:
    """The skin refined once (`geometry.tet_refine`); nodes of the coarse mesh keep their numbers and what they are.

    A new node, in the middle of a fine edge, is glued if both ends are glued to the same body (where only corners are glued it
    stays so), and is part of a sole if both ends are part of it; where the ends are of two patches it joins the one whose middle is
    nearer.
    """
    fine = refined(TetMesh(mesh.nodes, mesh.cells))
    X, cells, n = fine.mesh.nodes, fine.mesh.cells, len(mesh.nodes)
    middle, first = np.unique(cells[:, 4:], return_index=True)
    ends = cells[:, np.array(EDGES)].reshape(-1, 2)[first]
    body = np.full(len(X), -1, dtype=np.int64)
    body[mesh.glue_node] = mesh.glue_body
    glued = (body[ends[:, 0]] >= 0) & (body[ends[:, 0]] == body[ends[:, 1]]) & (middle >= n)
    patch = np.full(len(X), -1, dtype=np.int64)
    patch[mesh.sole_node] = mesh.sole_patch
    one, other = patch[ends[:, 0]], patch[ends[:, 1]]
    soled = (one >= 0) & (other >= 0) & (one // PATCHES == other // PATCHES) & (middle >= n)
    chosen = _nearer(mesh, X[middle[soled]], one[soled], other[soled])
    return SkinMesh(
        X,
        cells,
        mesh.region[fine.parent],
        mesh.bodies,
        np.concatenate([mesh.glue_node, middle[glued]]),
        np.concatenate([mesh.glue_body, body[ends[glued, 0]]]),
        np.concatenate([mesh.sole_node, middle[soled]]),
        np.concatenate([mesh.sole_patch, chosen]),
    )


def _nearer(mesh: SkinMesh, places: Array, one: Indices, other: Indices) -> Indices:
    """Of two patches for each place (k, 3) the one whose middle is nearer."""
    patches = PATCHES * mesh.soles
    count = np.maximum(np.bincount(mesh.sole_patch, minlength=patches), 1)
    X = mesh.nodes[mesh.sole_node]
    center = np.column_stack([np.bincount(mesh.sole_patch, weights=X[:, a], minlength=patches) for a in range(3)]) / count[:, None]
    away = [np.linalg.norm(places - center[p], axis=1) for p in (one, other)]
    return np.where(away[0] <= away[1], one, other)
