from __future__ import annotations

import numpy as np
import pytest
from tet_meshes import linear

from bunraku.errors import BadInput
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces, cell_volumes, quadratic, straightened, with_patch
from bunraku.geometry.tetrahedra import triangle_gradients, triangle_rule, triangle_values


@pytest.mark.parametrize("mesh", [box((1, 2, 3), (1, 2, 2), order=1), rod(0.05, 0.01, layers=3)], ids=["box", "curved rod"])
def test_volume_inside_equals_flux_through_the_surface(mesh: TetMesh) -> None:
    points, weights = triangle_rule(6)
    X = mesh.nodes[boundary_faces(mesh)]
    x = np.einsum("fai,qa->fqi", X, triangle_values(mesh.order, points))
    t = np.einsum("fai,qaj->fqij", X, triangle_gradients(mesh.order, points))
    flux = np.einsum("fqi,fqi,q->", x, np.cross(t[..., 0], t[..., 1]), weights) / 3
    assert flux == pytest.approx(cell_volumes(mesh).sum(), rel=1e-12)


def test_orders_change_there_and_back() -> None:
    first = box((1, 2, 3), (2, 1, 2), order=1)
    second = quadratic(first)
    assert second.order == 2
    np.testing.assert_allclose(cell_volumes(second), cell_volumes(first), rtol=1e-13)
    back = linear(second)
    np.testing.assert_array_equal(back.cells, first.cells)
    np.testing.assert_array_equal(back.nodes, first.nodes)
    for name, faces in first.patches.items():
        np.testing.assert_array_equal(back.patches[name], faces)
        middle = second.nodes[second.patches[name][:, 3:]]
        np.testing.assert_allclose(middle[:, 0], second.nodes[second.patches[name][:, :2]].mean(axis=1))


def test_straightening_loses_the_volume_of_the_polygon() -> None:
    mesh = rod(0.1, 0.01, layers=4)
    share = 7 / (2 * np.pi) * np.sin(2 * np.pi / 7)
    assert cell_volumes(straightened(mesh)).sum() == pytest.approx(share * np.pi * 0.005**2 * 0.1, rel=1e-12)


def test_a_patch_is_found_by_place() -> None:
    mesh = with_patch(box((1, 1, 1), (2, 2, 2)), "top", lambda x: x[:, 2] > 1 - 1e-9)
    assert sorted(map(tuple, mesh.faces("top"))) == sorted(map(tuple, mesh.faces("end")))
    with pytest.raises(BadInput, match="no boundary face"):
        with_patch(mesh, "none", lambda x: x[:, 2] > 2)


def test_wrong_arrays_are_named() -> None:
    nodes, cells = np.vstack([np.zeros(3), np.eye(3)]), [[0, 1, 2, 3]]
    assert cell_volumes(TetMesh(nodes, cells))[0] == pytest.approx(1 / 6)
    for arguments, words in (
        ((nodes, [[0, 1, 2, 4]]), "names node 4"),
        ((nodes, [[0, 1, 2]]), "shape"),
        ((nodes * np.nan, cells), "node 0 is not finite"),
        ((nodes, np.array(cells, dtype=float)), "whole numbers"),
        ((nodes, cells, {"a": [[0, 1]]}), "patch 'a'"),
    ):
        with pytest.raises(BadInput, match=words):
            TetMesh(*arguments)
    with pytest.raises(BadInput, match="no patch 'end'"):
        TetMesh(nodes, cells).faces("end")
