"""Finer meshes of tetrahedra: every cell cut into eight, every face of a patch into four.

Red refinement: the middles of the six edges become corners; four cells are cut off at the old corners, and the octahedron left in
the middle is cut into four along its shortest diagonal. Quadratic cells are refined where their middle nodes are (a curved mesh
stays on the curve at old nodes), the new middle nodes lie half-way (straight-sided).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Indices
from bunraku.geometry.tet_mesh import TetMesh, quadratic

_CORNERS = ((0, 4, 6, 7), (4, 1, 5, 8), (6, 5, 2, 9), (7, 8, 9, 3))
_OCTAHEDRON = {
    (4, 9): ((4, 9, 5, 6), (4, 9, 6, 7), (4, 9, 7, 8), (4, 9, 8, 5)),
    (5, 7): ((5, 7, 6, 4), (5, 7, 9, 6), (5, 7, 8, 9), (5, 7, 4, 8)),
    (6, 8): ((6, 8, 4, 5), (6, 8, 5, 9), (6, 8, 9, 7), (6, 8, 7, 4)),
}
"""The four cells of the octahedron about each of its diagonals, by the local numbers of a quadratic cell."""

_FACE = ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))


@dataclass(frozen=True)
class Refined:
    """The finer mesh. ``node`` (n,): where each node of the coarse mesh is among its nodes; ``parent`` (8 m,): the coarse cell."""

    mesh: TetMesh
    node: Indices
    parent: Indices


def refined(mesh: TetMesh) -> Refined:
    """The mesh refined once, of the same order; nodes of the coarse mesh are nodes of the fine one, patches keep their names."""
    ten = quadratic(mesh)
    X, cells = ten.nodes, ten.cells
    lengths = np.stack([((X[cells[:, a]] - X[cells[:, b]]) ** 2).sum(axis=1) for a, b in _OCTAHEDRON], axis=1)
    shortest = np.argmin(lengths, axis=1)
    inner = np.array(list(_OCTAHEDRON.values()), dtype=np.int64)[shortest]  # (m, 4, 4)
    local = np.concatenate([np.broadcast_to(np.array(_CORNERS), (len(cells), 4, 4)), inner], axis=1)
    fine = np.take_along_axis(cells[:, None, :], local.reshape(len(cells), 1, 32), axis=2).reshape(-1, 4)
    patches = {name: faces[:, np.array(_FACE)].reshape(-1, 3) for name, faces in ten.patches.items()}
    finer = TetMesh(X, fine, patches)
    parent = np.repeat(np.arange(len(cells)), 8)
    number = np.arange(len(X)) if mesh.order == 2 else np.arange(len(mesh.nodes))
    return Refined(quadratic(finer) if mesh.order == 2 else finer, number, parent)
