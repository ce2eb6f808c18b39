"""Closest points: against a trial of all triangles, on faces of very different size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.shells.closest import ClosestPoints, closest_on_triangles

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def test_closest_points_equal_a_trial_of_all_faces(tube: Surface) -> None:
    X, F = tube
    big = np.array([[0.2, 0.0, -1.0], [0.2, 1.0, 1.0], [0.2, -1.0, 1.0]])
    F = np.vstack([F, len(X) + np.arange(3)])
    X = np.vstack([X, big])
    points = np.random.default_rng(3).uniform(-0.25, 0.25, size=(60, 3))
    distance, face, place = ClosestPoints(X, F).query(points)
    everything = closest_on_triangles(np.repeat(points, len(F), axis=0), np.tile(X[F], (len(points), 1, 1)))
    trial = np.linalg.norm(everything.reshape(len(points), -1, 3) - points[:, None], axis=2)
    np.testing.assert_allclose(distance, trial.min(axis=1), atol=1e-14)
    np.testing.assert_allclose(trial[np.arange(len(points)), face], distance, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(points - place, axis=1), distance, atol=1e-14)
    assert (face == len(F) - 1).any()


def test_a_triangle_has_inner_edge_and_corner_regions() -> None:
    triangle = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    cases = {
        (0.2, 0.2, 5.0): (0.2, 0.2, 0.0),
        (0.5, -1.0, 1.0): (0.5, 0.0, 0.0),
        (2.0, 2.0, 0.0): (0.5, 0.5, 0.0),
        (-1.0, -2.0, 0.0): (0.0, 0.0, 0.0),
    }
    for point, closest in cases.items():
        np.testing.assert_allclose(closest_on_triangles(np.array([point]), triangle)[0], closest, atol=1e-15)


def test_a_flat_triangle_counts_as_its_edges() -> None:
    flat = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]])
    np.testing.assert_allclose(closest_on_triangles(np.array([[1.5, 3.0, 0.0]]), flat)[0], [1.5, 0.0, 0.0])
