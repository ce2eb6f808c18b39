"""Splits, collapses and flips keep a closed surface closed, and refuse what would not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.shells.quality import check_closed
from bunraku.geometry.shells.triangulation import Triangulation
from bunraku.geometry.surfaces.topology import genus

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]
NONE = np.empty(0, dtype=np.int64)
TETRAHEDRON = (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))


def test_random_operations_keep_a_torus_closed_and_of_genus_one(torus: Surface) -> None:
    mesh = Triangulation(*torus, NONE)
    random = np.random.default_rng(1)
    done = np.zeros(3, dtype=np.int64)
    for _ in range(300):
        edges, border = mesh.edges()
        assert not border.any()
        a, b = edges[random.integers(len(edges))].tolist()
        kind = int(random.integers(3))
        if kind == 0:
            mesh.split(a, b)
            done[0] += 1
        elif kind == 1:
            done[1] += mesh.collapse(a, b, mesh.points[a])
        else:
            done[2] += mesh.flip(a, b)
    _, F = mesh.arrays()
    check_closed(F, "torus")
    assert genus(F) == 1
    assert (done > 10).all()


def test_a_tetrahedron_cannot_lose_a_vertex_or_flip_an_edge() -> None:
    mesh = Triangulation(*TETRAHEDRON, NONE)
    assert not mesh.collapse(0, 1, mesh.points[0], check=False)
    assert not mesh.flip(0, 1, bend=-2.0)


def test_fixed_points_stay_and_two_of_them_are_not_joined() -> None:
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    F = np.array([[0, 1, 2], [0, 2, 3]])
    assert not Triangulation(X, F, np.array([1, 3])).flip(0, 2, bend=-2.0)
    mesh = Triangulation(X, F, np.array([1]))
    assert not mesh.collapse(0, 1, mesh.points[0], check=False)
    assert mesh.collapse(3, 2, mesh.points[3])
    assert mesh.arrays()[1].tolist() == [[0, 1, 3]]


def test_a_collapse_that_turns_a_face_over_is_refused() -> None:
    angles = np.pi / 3 * np.arange(6)
    X = np.vstack([[0.0, 0.0, 0.0], np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])])
    F = np.array([[0, i + 1, (i + 1) % 6 + 1] for i in range(6)])
    mesh = Triangulation(X, F, NONE)
    mesh.points[2] = (0.05, 0.1, 0.0)
    assert not mesh.collapse(5, 0, (-3.0, -0.9, 0.0))
    assert not mesh.collapse(2, 0, mesh.points[2], longest=0.5)
    assert mesh.collapse(2, 0, mesh.points[2], longest=2.0)


def test_packing_renumbers_without_changing_the_surface(torus: Surface) -> None:
    mesh = Triangulation(*torus, np.array([7]))
    for a, b in ((0, 1), (40, 41), (100, 130)):
        mesh.collapse(a, b, mesh.points[a])
    X, F = mesh.arrays()
    packed, number = mesh.packed()
    Y, G = packed.arrays()
    np.testing.assert_array_equal(Y[G], X[F])
    assert packed.fixed == {int(number[7])}
    assert len(Y) == len(np.unique(F))
