"""Meshes of tetrahedra: nodes, cells, named patches of the surface; volumes, boundary faces, a change of order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.tetrahedra import EDGES, FACES, shape_gradients, tetrahedron_rule


@dataclass(frozen=True)
class TetMesh:
    """``nodes`` (n, 3) [m] and ``cells`` (m, 4) or (m, 10), node numbers in the order of :mod:`bunraku.geometry.tetrahedra`.

    ``patches`` name parts of the surface: faces (k, 3) or (k, 6) by their node numbers, corners first. Arrays are not writable.
    Only shapes and numbers are checked here; :func:`bunraku.geometry.tet_checks.check_mesh` checks the mesh as a whole.
    """

    nodes: Array
    cells: Indices
    patches: Mapping[str, Indices] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes, cells = np.array(self.nodes, dtype=np.float64), _indices(self.cells, "cells")
        if nodes.ndim != 2 or nodes.shape[1] != 3 or len(nodes) < 4:
            raise BadInput(f"the nodes of a mesh have shape {nodes.shape}; (n, 3) with at least 4 nodes is needed")
        if not np.isfinite(nodes).all():
            raise BadInput(
                f"node {int(np.argmin(np.isfinite(nodes).all(axis=1)))} is not finite; every coordinate must be a number"
            )
        if cells.ndim != 2 or cells.shape[1] not in (4, 10) or not len(cells):
            raise BadInput(f"the cells of a mesh have shape {cells.shape}; (m, 4) or (m, 10) with at least one cell is needed")
        patches = {name: _indices(faces, f"patch {name!r}") for name, faces in self.patches.items()}
        width = 3 if cells.shape[1] == 4 else 6
        for name, faces in patches.items():
            if faces.ndim != 2 or faces.shape[1] != width:
                raise BadInput(f"patch {name!r} has shape {faces.shape}; faces of {width} nodes are needed, as the cells have them")
        for what, array in (("cell", cells), *((f"patch {name!r}: face", faces) for name, faces in patches.items())):
            wrong = (array < 0) | (array >= len(nodes))
            if wrong.any():
                row = int(np.argmax(wrong.any(axis=1)))
                raise BadInput(f"{what} {row} names node {int(array[wrong][0])}; the mesh has nodes 0 to {len(nodes) - 1}")
        nodes.flags.writeable = False
        for array in (cells, *patches.values()):
            array.flags.writeable = False
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "patches", MappingProxyType(patches))

    @property
    def order(self) -> int:
        """1 for linear cells, 2 for quadratic ones."""
        return 1 if self.cells.shape[1] == 4 else 2

    def faces(self, patch: str) -> Indices:
        """The faces (k, 3 or 6) of a named patch."""
        if patch not in self.patches:
            raise BadInput(f"the mesh has no patch {patch!r}; it has {', '.join(sorted(self.patches)) or 'none'}")
        return self.patches[patch]

    def moved(self, function: Callable[[Array], ArrayLike]) -> TetMesh:
        """The mesh with every node X replaced by ``function`` of all nodes, (n, 3) to (n, 3): turned, tapered, bent."""
        return replace(self, nodes=np.asarray(function(self.nodes.copy()), dtype=np.float64))


def cell_volumes(mesh: TetMesh) -> Array:
    """Volume (m,) [m^3] of every cell, curved or not; negative when its corners are numbered the wrong way round."""
    points, weights = tetrahedron_rule(1 if mesh.order == 1 else 3)
    X = mesh.nodes[mesh.cells]
    J = np.einsum("eai,qaj->eqij", X, shape_gradients(mesh.order, points))
    return np.asarray(np.linalg.det(J) @ weights, dtype=np.float64)


def boundary_faces(mesh: TetMesh) -> Indices:
    """Faces (k, 3 or 6) that belong to one cell only, seen counter-clockwise from outside (of cells that are not inverted)."""
    local = np.array(FACES)[:, : 3 if mesh.order == 1 else 6]
    faces = mesh.cells[:, local].reshape(-1, local.shape[1])
    _, first, count = np.unique(np.sort(faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])]


def with_patch(mesh: TetMesh, name: str, where: Callable[[Array], NDArray[np.bool_]]) -> TetMesh:
    """The mesh with one patch more: the boundary faces all of whose nodes satisfy ``where``, a test of points (k, 3) to (k,)."""
    faces = boundary_faces(mesh)
    chosen = np.asarray(where(mesh.nodes[faces.ravel()]), dtype=bool).reshape(faces.shape).all(axis=1)
    if not chosen.any():
        raise BadInput(f"no boundary face satisfies the condition of patch {name!r}; state it with a tolerance, in metres")
    return replace(mesh, patches={**mesh.patches, name: faces[chosen]})


def quadratic(mesh: TetMesh) -> TetMesh:
    """A linear mesh as a quadratic one with straight edges; corners keep their numbers, middles follow. Move them to curve it."""
    if mesh.order == 2:
        return mesh
    pairs = np.sort(mesh.cells[:, np.array(EDGES)].reshape(-1, 2), axis=1)
    edges, number = np.unique(pairs, axis=0, return_inverse=True)
    middle = len(mesh.nodes) + np.asarray(number).reshape(-1, 6)
    of_edge = {(int(a), int(b)): len(mesh.nodes) + i for i, (a, b) in enumerate(edges)}

    def widened(faces: Indices) -> Indices:
        middles = [[of_edge[min(a, b), max(a, b)] for a, b in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0]))] for f in faces.tolist()]
        return np.hstack([faces, np.array(middles, dtype=np.int64).reshape(-1, 3)])

    return TetMesh(
        np.vstack([mesh.nodes, 0.5 * mesh.nodes[edges].sum(axis=1)]),
        np.hstack([mesh.cells, middle]),
        {name: widened(faces) for name, faces in mesh.patches.items()},
    )


def straightened(mesh: TetMesh) -> TetMesh:
    """A quadratic mesh with its middle nodes moved half-way between the corners: what is lost when curving is forgotten."""
    nodes = mesh.nodes.copy()
    if mesh.order == 2:
        for e, (a, b) in enumerate(EDGES):
            nodes[mesh.cells[:, 4 + e]] = 0.5 * (mesh.nodes[mesh.cells[:, a]] + mesh.nodes[mesh.cells[:, b]])
    return replace(mesh, nodes=nodes)


def _indices(values: ArrayLike, what: str) -> Indices:
    array = np.array(values)
    if array.dtype.kind not in "iu" and array.size:
        raise BadInput(f"{what} must hold whole numbers; numbers of type {array.dtype} arrived")
    return np.ascontiguousarray(array, dtype=np.int64)
