"""Refinement: nothing of the volume and the patches is lost, old nodes stay, children lie in their parents."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import TetMesh, cell_volumes, quadratic, with_patch
from bunraku.geometry.tet_refine import refined
from bunraku.geometry.tetrahedra import EDGES


def two_cells(order):
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0.2, 1.1, 0], [0.1, 0.3, 0.9], [1.0, 1.0, 1.2]])
    mesh = with_patch(TetMesh(nodes, np.array([[0, 1, 2, 3], [1, 2, 3, 4]])), "floor", lambda p: p[:, 2] < 1e-9)
    return quadratic(mesh) if order == 2 else mesh


@pytest.mark.parametrize("order", [1, 2])
def test_what_a_refined_mesh_keeps(order):
    mesh = two_cells(order)
    fine = refined(mesh)
    check_mesh(fine.mesh)
    assert fine.mesh.order == order
    assert len(fine.mesh.cells) == 8 * len(mesh.cells)
    np.testing.assert_array_equal(fine.mesh.nodes[fine.node], mesh.nodes)
    volumes = np.bincount(fine.parent, cell_volumes(fine.mesh))
    np.testing.assert_allclose(volumes, cell_volumes(mesh), rtol=1e-12)
    np.testing.assert_allclose(cell_volumes(fine.mesh), np.repeat(cell_volumes(mesh) / 8, 8), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_patches_are_cut_into_four_of_the_same_area_and_direction(order):
    def areas(mesh):
        x = mesh.nodes[mesh.faces("floor")[:, :3]]
        return 0.5 * np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])

    mesh = two_cells(order)
    fine = refined(mesh).mesh
    np.testing.assert_allclose(areas(fine), np.repeat(areas(mesh) / 4, 4, axis=0), atol=1e-15)


def test_children_lie_in_their_parents():
    mesh = two_cells(1)
    fine = refined(mesh)
    centres = fine.mesh.nodes[fine.mesh.cells].mean(axis=1)
    for centre, parent in zip(centres, fine.parent, strict=True):
        x = mesh.nodes[mesh.cells[parent]]
        share = np.linalg.solve(np.vstack([x.T, np.ones(4)]), np.append(centre, 1.0))
        assert share.min() > 0.0


def cell_quality(mesh):
    """Mean ratio (m,) of the corners' tetrahedra: 12 (3 V)^(2/3) / sum of squared edges; 1 when regular, 0 when flat."""
    X = mesh.nodes[mesh.cells[:, :4]]
    volumes = np.linalg.det(X[:, 1:] - X[:, :1]) / 6.0
    squares = sum(((X[:, a] - X[:, b]) ** 2).sum(axis=1) for a, b in EDGES)
    return 12.0 * np.cbrt(3.0 * volumes) ** 2 / squares


def test_cells_do_not_get_worse_and_worse():
    mesh = two_cells(1)
    once = refined(mesh).mesh
    thrice = refined(refined(once).mesh).mesh
    assert cell_quality(thrice).min() > 0.8 * cell_quality(once).min()
