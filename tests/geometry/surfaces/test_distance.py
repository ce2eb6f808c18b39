"""Signed distances in closed form, and grids that are fine only near the surface."""

from __future__ import annotations

import numpy as np
import pytest

from _surfaces import box, sphere, torus
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.distance import (
    closest_points,
    inside,
    sampled,
    signed_distance,
    winding_number,
)
from bunraku.geometry.surfaces.surface import Surface, joined

pytest.importorskip("igl")
SIZE = np.array([0.2, 0.4, 0.6])


def box_distance(at: np.ndarray) -> np.ndarray:
    beyond = np.abs(at) - SIZE / 2
    return np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(beyond.max(axis=1), 0.0)


def test_distances_to_a_box_are_exact() -> None:
    at = np.random.default_rng(0).uniform(-0.5, 0.5, (500, 3))
    np.testing.assert_allclose(signed_distance(box(SIZE), at), box_distance(at), atol=1e-14)
    far, face, place = closest_points(box(SIZE), at)
    np.testing.assert_allclose(far, np.abs(box_distance(at)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(place - at, axis=1), far, atol=1e-14)
    assert face.max() < 12


def test_the_winding_number_counts() -> None:
    ball = sphere(1.0, 12)
    at = np.array([[0.0, 0.1, 0.0], [0.0, 0.0, 3.0], [0.3, 0.2, -0.5]])
    np.testing.assert_allclose(winding_number(ball, at), [1.0, 0.0, 1.0], atol=0.01)
    np.testing.assert_allclose(winding_number(joined([ball, ball.moved(lambda p: p * 0.5)]), at), [2, 0, 1], atol=0.02)
    np.testing.assert_allclose(
        winding_number(Surface(ball.vertices, ball.faces[ball.corners[:, :, 2].mean(axis=1) > 0]), at[:1] * 0), 0.5, atol=0.02
    )
    assert inside(ball, at).tolist() == [True, False, True]


def test_a_narrow_band_equals_the_whole_grid_where_it_matters() -> None:
    ring = torus(0.3, 0.1, 24, 12)
    count = [0]

    def function(at: np.ndarray) -> np.ndarray:
        count[0] += len(at)
        return signed_distance(ring, at)

    low, high, h = ring.bounds[0] - 0.03, ring.bounds[1] + 0.03, 0.012
    grid = sampled(function, low, high, h, band=2 * h)
    at = grid.points(np.ones(grid.values.shape, dtype=bool))
    exact = signed_distance(ring, at).reshape(grid.values.shape)
    np.testing.assert_allclose(grid.values[np.abs(exact) < 2 * h], exact[np.abs(exact) < 2 * h], atol=1e-15)
    np.testing.assert_array_equal(grid.values < 0, exact < 0)
    assert count[0] < 0.75 * exact.size
    assert ((grid.origin + h * (np.array(grid.values.shape) - 1)) >= high).all()


def test_grids_that_are_too_fine_or_empty_are_refused() -> None:
    with pytest.raises(BadInput, match=r"1e-05 m holds .* take 0\.00"):
        sampled(lambda at: at[:, 0], [0, 0, 0], [1, 1, 1], 1e-5, band=1e-5)
    with pytest.raises(BadInput, match="has no cells"):
        sampled(lambda at: at[:, 0], [0, 0, 0], [1, 0, 1], 0.1, band=0.1)
