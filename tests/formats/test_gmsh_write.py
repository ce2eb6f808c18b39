"""Meshes written for gmsh are read again to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from tet_meshes import linear

from bunraku.formats.gmsh_mesh import gmsh_bytes, read_gmsh
from bunraku.geometry.meshing.shapes import rod
from bunraku.geometry.tet_mesh import TetMesh, quadratic, with_patch
from bunraku.mechanics.elastic.known_meshes import KNOWN_MESHES


@pytest.mark.parametrize("form", ["linear", "quadratic", "read as linear", "curved"])
def test_a_mesh_that_was_read_comes_back_from_what_is_written(form: str) -> None:
    mesh = rod(0.1, 0.007, layers=4)
    if form in ("linear", "read as linear"):
        mesh = linear(mesh)
    if form == "curved":
        mesh = mesh.moved(lambda points: points + 1e-3 * np.sin(40.0 * points[:, [2, 0, 1]]))
    mesh = with_patch(mesh, 'the "half" face', lambda points: points[:, 2] < 0.05)  # shares faces with another
    first = read_gmsh(gmsh_bytes(mesh), file="a.msh")
    first = quadratic(first) if form == "read as linear" else first
    again = read_gmsh(gmsh_bytes(first), file="b.msh")
    _same(again, first)
    assert KNOWN_MESHES.remember(again) == KNOWN_MESHES.remember(first)
    assert {name: len(faces) for name, faces in again.patches.items()} == {name: len(faces) for name, faces in mesh.patches.items()}


def _same(one: TetMesh, other: TetMesh) -> None:
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_array_equal(one.cells, other.cells)
    assert set(one.patches) == set(other.patches)
    for name, faces in one.patches.items():
        np.testing.assert_array_equal(faces, other.patches[name])
