"""Prisms as tetrahedra: they fill the layer, share their diagonals and keep their sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.shells.prisms import better_diagonals, first_diagonals, prism_cells
from bunraku.geometry.shells.quality import cell_merits
from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces, cell_volumes

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def volume(X: NDArray[np.float64], F: NDArray[np.int64]) -> float:
    return float(np.einsum("ij,ij->i", X[F[:, 0]], np.cross(X[F[:, 1]], X[F[:, 2]])).sum() / 6.0)


def test_a_layer_is_filled_without_cracks_for_any_numbering(torus: Surface) -> None:
    X, F = torus
    order = np.random.default_rng(2).permutation(len(X))
    X, F = X[order], np.argsort(order)[F]
    ring = X * [1.0, 1.0, 0.0]
    core = 0.1 * ring / np.linalg.norm(ring, axis=1, keepdims=True)
    inner = core + 0.8 * (X - core)
    mesh = TetMesh(np.vstack([X, inner]), prism_cells(F, len(X), first_diagonals(F)))
    check_mesh(mesh)
    assert (cell_volumes(mesh) > 0.0).all()
    boundary = {tuple(sorted(face)) for face in boundary_faces(mesh).tolist()}
    assert boundary == {tuple(sorted(face)) for face in np.vstack([F, F + len(X)]).tolist()}
    np.testing.assert_allclose(cell_volumes(mesh).sum(), volume(X, F) - volume(inner, F), rtol=1e-12)


def test_cells_of_a_face_follow_one_another() -> None:
    faces = np.array([[5, 2, 9], [2, 5, 7]])
    cells = prism_cells(faces, 10, first_diagonals(faces))
    assert [set((cells[3 * f : 3 * f + 3] % 10).ravel().tolist()) for f in (0, 1)] == [{2, 5, 9}, {2, 5, 7}]


def test_better_diagonals_raise_the_least_angle_and_stay_conforming(torus: Surface) -> None:
    X, F = torus
    ring = X * [1.0, 1.0, 0.0]
    core = 0.1 * ring / np.linalg.norm(ring, axis=1, keepdims=True)
    turn = np.array([[np.cos(0.05), -np.sin(0.05), 0.0], [np.sin(0.05), np.cos(0.05), 0.0], [0.0, 0.0, 1.0]])
    both = np.vstack([X, (core + 0.9 * (X - core)) @ turn.T])
    forward = first_diagonals(F)
    better = better_diagonals(both, F, forward, 2.0)
    before, after = (cell_merits(both[prism_cells(F, len(X), flags)]).min() for flags in (forward, better))
    assert after > 1.2 * before > 0.0
    mesh = TetMesh(both, prism_cells(F, len(X), better))
    check_mesh(mesh)
    assert len(boundary_faces(mesh)) == 2 * len(F)
    assert not (better.all(axis=1) | (~better).all(axis=1)).any()
    np.testing.assert_array_equal(better_diagonals(both, F, forward, 0.0), forward)
