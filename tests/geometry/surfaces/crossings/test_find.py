"""Which faces cross: against every pair tested one by one, and in the cases where faces touch or lie in one plane."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from _surfaces import box, sphere, torus
from bunraku.geometry.surfaces.crossings import crossing_faces
from bunraku.geometry.surfaces.surface import Surface, joined


def pierced(segment: np.ndarray, triangle: np.ndarray) -> bool:
    """Möller and Trumbore as three equations: p + t (q - p) = a + u (b - a) + v (c - a)."""
    (p, q), (a, b, c) = segment, triangle
    M = np.stack([p - q, b - a, c - a], axis=1)
    if abs(np.linalg.det(M)) < 1e-18:
        return False
    t, u, v = np.linalg.solve(M, p - a)
    return bool(0 <= t <= 1 and u >= 0 and v >= 0 and u + v <= 1)


def test_all_pairs_are_found_among_random_triangles() -> None:
    rng = np.random.default_rng(5)
    corners = rng.uniform(-1, 1, (80, 1, 3)) + 0.4 * rng.normal(size=(80, 3, 3))
    loose = Surface(corners.reshape(-1, 3), np.arange(240).reshape(-1, 3))
    expected = {
        (f, g)
        for f, g in combinations(range(80), 2)
        if any(pierced(corners[x][[i, (i + 1) % 3]], corners[y]) for x, y in ((f, g), (g, f)) for i in range(3))
    }
    assert len(expected) > 50
    assert {tuple(pair) for pair in crossing_faces(loose).tolist()} == expected


@pytest.mark.parametrize("solid", [box([1.0, 2.0, 3.0]), sphere(1.0, 12), torus(1.0, 0.4, 30, 15)])
def test_sound_surfaces_do_not_cross(solid: Surface) -> None:
    assert len(crossing_faces(solid)) == 0


def test_two_balls_cross_along_their_circle() -> None:
    ball = sphere(1.0, 16)
    both = joined([ball, ball.moved(lambda points: points + np.array([1.0, 0.012, 0.007]))])
    pairs = crossing_faces(both)
    assert ((pairs[:, 0] < len(ball.faces)) & (pairs[:, 1] >= len(ball.faces))).all()
    middles = both.corners[pairs[:, 0]].mean(axis=1)
    assert np.abs(middles[:, 0] - 0.5).max() < 0.1
    np.testing.assert_allclose(np.linalg.norm(middles[:, 1:], axis=1), np.sqrt(0.75), atol=0.1)


def test_faces_in_one_plane() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    # Neighbours in a plane are no crossing, whether they share an edge or a vertex.
    fan = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0.0]])
    assert len(crossing_faces(Surface(fan, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4]])))) == 0
    assert crossing_faces(Surface(square, np.array([[0, 1, 2], [0, 1, 3]]))).tolist() == [[0, 1]]  # folded onto each other
    stacked = joined([box([1, 1, 1]), box([0.5, 0.5, 1]).moved(lambda points: points + np.array([0.0, 0.0, 1.0]))])
    assert len(crossing_faces(stacked)) > 0
    apart = joined([box([1, 1, 1]), box([0.5, 0.5, 1]).moved(lambda points: points + np.array([0.0, 0.0, 1.0 + 1e-6]))])
    assert len(crossing_faces(apart)) == 0


def test_faces_that_share_a_vertex_and_cross_elsewhere() -> None:
    points = np.array([[0, 0, 0], [2, -1, 0], [2, 1, 0], [1, 0, -1], [1, 0, 1.0]])
    assert crossing_faces(Surface(points, np.array([[0, 1, 2], [0, 3, 4]]))).tolist() == [[0, 1]]
    points[3:, 0] = -1.0
    assert len(crossing_faces(Surface(points, np.array([[0, 1, 2], [0, 3, 4]])))) == 0


def test_the_number_of_pairs_is_bounded() -> None:
    ball = sphere(1.0, 12)
    assert len(crossing_faces(joined([ball, ball.moved(lambda points: points + 0.5)]), limit=7)) == 7
