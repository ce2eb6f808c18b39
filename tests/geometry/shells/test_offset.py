"""Inner surfaces: mitres at corners, normals on smooth parts, the room inside a limb."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.geometry.shells.offset import inner_surface, limb_radii, vertex_normals

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def cube() -> Surface:
    X = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return X, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def test_the_corner_of_a_cube_is_mitred_whatever_its_diagonals() -> None:
    X, F = cube()
    inner = inner_surface(X, F, np.full(8, 0.1), np.full(8, 1e-9))
    np.testing.assert_allclose(inner, np.where(X > 0.5, 0.9, 0.1), atol=1e-7)
    np.testing.assert_allclose(vertex_normals(X, F), (2.0 * X - 1.0) / np.sqrt(3.0), atol=1e-12)


def test_the_middle_of_a_flat_face_moves_along_its_normal() -> None:
    angles = np.pi / 3 * np.arange(6)
    X = np.vstack([[0.3, 0.1, 0.0], np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])])
    F = np.array([[0, i + 1, (i + 1) % 6 + 1] for i in range(6)])
    inner = inner_surface(X, F, np.full(7, 0.25), np.full(7, 0.02))
    np.testing.assert_allclose(inner[0], [0.3, 0.1, -0.25], atol=1e-12)


def test_the_room_inside_a_capsule_is_its_radius_and_in_a_slab_half_its_height(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.04, 0.2, 48, 30)
    radii = limb_radii(X, F)
    side = np.abs(X[:, 2]) < 0.08
    np.testing.assert_allclose(radii[side], 0.04, rtol=0.02)
    radii = limb_radii(X * [1.0, 0.1, 1.0], F)
    middle = side & (np.abs(X[:, 0]) < 0.005)
    np.testing.assert_allclose(radii[middle], 0.004, rtol=0.05)


def test_a_vertex_without_a_face_with_area_stays_and_the_others_move() -> None:
    """A plain STL may hold triangles without area, and vertices that no triangle is left of."""
    box = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([[q[0], *pair] for q in quads for pair in ((q[1], q[2]), (q[2], q[3]))])
    vertices, broken = np.vstack([box, [[5.0, 5.0, 5.0]]]), np.vstack([faces, [[8, 8, 8]]])
    whole = inner_surface(box, faces, np.full(8, 0.1), np.full(8, 1e-3))
    for more in (faces, broken):
        found = inner_surface(vertices, more, np.full(9, 0.1), np.full(9, 1e-3))
        assert found[:8] == pytest.approx(whole, abs=1e-9)
        assert found[8] == pytest.approx(vertices[8])


def test_normals_that_cancel_leave_a_vertex_where_it_is() -> None:
    vertices, faces = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[0, 1, 2], [0, 2, 1]])
    assert inner_surface(vertices, faces, np.full(3, 0.1), np.zeros(3)) == pytest.approx(vertices)
