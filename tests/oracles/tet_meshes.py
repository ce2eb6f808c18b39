"""Changes of meshes that only tests need: fewer nodes a cell, one patch more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.geometry.tet_mesh import TetMesh, boundary_faces


def with_patch(mesh, name, where):
    """The mesh with one patch more: the boundary faces all of whose nodes satisfy ``where``, a test of points (k, 3) to (k,)."""
    faces = boundary_faces(mesh)
    chosen = np.asarray(where(mesh.nodes[faces.ravel()]), dtype=bool).reshape(faces.shape).all(axis=1)
    assert chosen.any(), name
    return replace(mesh, patches={**mesh.patches, name: faces[chosen]})


def linear(mesh):
    """The linear mesh of the corners of a quadratic one; nodes are renumbered, their order is kept."""
    if mesh.order == 1:
        return mesh
    kept, cells = np.unique(mesh.cells[:, :4], return_inverse=True)
    number = np.full(len(mesh.nodes), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    patches = {name: number[faces[:, :3]] for name, faces in mesh.patches.items()}
    return TetMesh(mesh.nodes[kept], np.asarray(cells).reshape(-1, 4), patches)
