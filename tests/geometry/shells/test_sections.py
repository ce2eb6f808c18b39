"""Plane sections: closed loops, the right one of several, rays from their centre."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.geometry.shells.sections import enclosing_loop, loop_centre, ray_radii, section_loops

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]
U, V, W = np.eye(3)


def test_a_capsule_is_cut_in_one_polygon_even_through_its_vertices(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.05, 0.2, 24, 21)
    for z in (0.0, 0.013):
        (loop,) = section_loops(X, F, np.array([0.0, 0.0, z]), W)
        edges = np.linalg.norm(np.roll(loop.points, -1, axis=0) - loop.points, axis=1)
        np.testing.assert_allclose(edges.sum(), 2 * 24 * 0.05 * np.sin(np.pi / 24), rtol=1e-12)
        np.testing.assert_allclose(loop.points[:, 2], z, atol=1e-15)


def test_faces_join_neighbouring_points(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.05, 0.2, 24, 20)
    loop = enclosing_loop(section_loops(X, F, np.zeros(3), W), np.zeros(3), U, V)
    assert loop is not None
    following = np.roll(loop.edges, -1, axis=0)
    for edge, after, face in zip(loop.edges.tolist(), following.tolist(), F[loop.faces].tolist(), strict=True):
        assert set(edge) <= set(face)
        assert set(after) <= set(face)
    turn = np.cross(loop.points, np.roll(loop.points, -1, axis=0))[:, 2]
    assert (turn > 0.0).all()


def test_a_torus_is_cut_twice_and_the_loop_round_the_point_is_taken(torus: Surface) -> None:
    X, F = torus
    loops = section_loops(X, F, np.zeros(3), V)
    assert len(loops) == 2
    found = enclosing_loop(loops, np.array([0.1, 0.0, 0.0]), U, W)
    assert found is not None
    assert (found.points[:, 0] > 0.0).all()
    assert enclosing_loop(loops, np.zeros(3), U, W) is None


def test_rays_meet_a_polygon_where_it_is() -> None:
    square = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]]) + 3.0 * U
    centre = loop_centre(square, np.zeros(3), U, V)
    np.testing.assert_allclose(centre, 3.0 * U, atol=1e-15)
    angles = np.array([0.0, 0.3, np.pi / 4, 2.0, 5.0])
    radii = ray_radii(square, centre, U, V, angles, "here")
    np.testing.assert_allclose(radii, 1.0 / np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles))))


def test_the_centre_is_that_of_area_not_of_points() -> None:
    rectangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(loop_centre(rectangle, np.array([5.0, 5.0, 0.0]), U, V), [1.0, 0.5, 0.0])


def test_a_section_that_is_not_star_shaped_is_refused() -> None:
    hook = np.array([[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [0, 3, 0], [3, 3, 0], [3, 1, 0], [0, 1, 0]], dtype=np.float64)
    with pytest.raises(BadInput, match="knee: a cross-section is not star-shaped"):
        ray_radii(hook, np.array([0.5, 3.5, 0.0]), U, V, np.zeros(1), "knee")
