from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.geometry.tet_checks import check_mesh, count_pieces, least_jacobians
from bunraku.geometry.tet_mesh import TetMesh, quadratic

REGULAR = np.array([[1, -1, -1], [1, 1, 1], [-1, 1, -1], [-1, -1, 1.0]])
CORNER = np.vstack([np.zeros(3), np.eye(3)])


def refused(mesh: TetMesh, words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        check_mesh(mesh, file="part.msh")
    assert str(caught.value).startswith("part.msh: ")
    assert "\n" not in str(caught.value)


def test_sound_meshes_pass() -> None:
    for mesh in (box((1, 1, 1), (2, 2, 2)), rod(0.1, 0.01, layers=3)):
        assert check_mesh(mesh) is mesh


def test_inverted_and_flat_cells_are_named() -> None:
    mesh = box((1, 1, 1), (2, 2, 2), order=1)
    cells = mesh.cells.copy()
    cells[7, :2] = cells[7, 1::-1]
    refused(TetMesh(mesh.nodes, cells), "cell 7 is inverted .*1 of 48")
    refused(TetMesh(CORNER, [[1, 0, 2, 3]]), "the other way round")
    refused(TetMesh(CORNER * [1, 1, 0], [[0, 1, 2, 3]]), "cell 0 is flat")
    refused(TetMesh(CORNER, [[0, 1, 2, 2]]), "cell 0 names a node twice")


def test_a_cell_that_is_curved_inside_out_is_named() -> None:
    mesh = quadratic(TetMesh(CORNER, [[0, 1, 2, 3]]))
    nodes = mesh.nodes.copy()
    middle = np.flatnonzero((nodes == [0.5, 0.0, 0.0]).all(axis=1))[0]
    nodes[middle] += [0.0, 0.2, 0.2]
    assert least_jacobians(TetMesh(nodes, mesh.cells))[0] < 0
    refused(TetMesh(nodes, mesh.cells), "curved beyond its corners")


def test_loose_pieces_and_nodes_are_named() -> None:
    both = TetMesh(np.vstack([CORNER, CORNER + 5]), [[0, 1, 2, 3], [4, 5, 6, 7]])
    assert count_pieces(both)[0] == 2
    refused(both, "2 pieces that share no node")
    refused(TetMesh(np.vstack([CORNER, [9, 9, 9]]), [[0, 1, 2, 3]]), "node 4 belongs to no cell")


def test_cracks_are_named() -> None:
    mesh = box((1, 1, 1), (1, 1, 1))
    cells = mesh.cells.copy()
    cells[0, 4] = len(mesh.nodes)
    cracked = TetMesh(np.vstack([mesh.nodes, mesh.nodes[mesh.cells[0, 4]]]), cells)
    refused(cracked, "two middle nodes")
    doubled = TetMesh(CORNER, [[0, 1, 2, 3]] * 3)
    refused(doubled, "shared by 3 cells")


def test_a_patch_inside_the_solid_is_named() -> None:
    mesh = box((1, 1, 1), (2, 2, 2), order=1)
    surface = {tuple(sorted(face)) for faces in mesh.patches.values() for face in faces.tolist()}
    inner = next(cell[:3] for cell in mesh.cells.tolist() if tuple(sorted(cell[:3])) not in surface)
    refused(TetMesh(mesh.nodes, mesh.cells, {"cut": [inner]}), "patch 'cut' is no face of the surface")
