"""What triangles say about a part, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.fabrication.mesh import TriangleMesh
from bunraku.geometry.rotations import exponential


def brick(size: tuple[float, float, float]) -> TriangleMesh:
    """A box about the origin, made by hand."""
    v = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(size) / 2.0
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return TriangleMesh(np.array([v[[a, b, c]] for q in quads for a, b, c in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))]))


def test_a_box_is_closed_and_holds_its_volume_however_it_is_turned() -> None:
    mesh = brick((2.0, 3.0, 5.0))
    assert mesh.open_edges() == 0
    R = exponential(np.array([0.3, -1.1, 0.7]))
    turned = TriangleMesh(mesh.corners @ R.T + np.array([10.0, -4.0, 7.0]))
    assert mesh.volume() == pytest.approx(30.0)
    assert turned.volume() == pytest.approx(30.0)
    np.testing.assert_allclose(mesh.size(), [2.0, 3.0, 5.0])


def test_a_missing_or_turned_triangle_is_found() -> None:
    mesh = brick((2.0, 3.0, 5.0))
    assert TriangleMesh(mesh.corners[1:]).open_edges() == 3
    flipped = mesh.corners.copy()
    flipped[0] = flipped[0][::-1]
    assert TriangleMesh(flipped).open_edges() > 0
    doubled = TriangleMesh(np.concatenate([mesh.corners, mesh.corners[:1]]))
    assert doubled.open_edges() == 3


def test_inside_agrees_with_the_box() -> None:
    mesh = brick((2.0, 3.0, 5.0))
    points = np.random.default_rng(1).uniform(-3.0, 3.0, (400, 3))
    wanted = (np.abs(points) < np.array([1.0, 1.5, 2.5])).all(axis=1)
    assert wanted.any()
    np.testing.assert_array_equal(mesh.inside(points), wanted)


def test_distances_to_the_walls_of_a_box() -> None:
    mesh = brick((2.0, 3.0, 5.0))
    start = np.array([0.25, -0.5, 1.0])
    d = np.random.default_rng(2).normal(size=(200, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        wanted = ((np.sign(d) * np.array([1.0, 1.5, 2.5]) - start) / d).min(axis=1)
    np.testing.assert_allclose(mesh.distances(start, d), wanted, rtol=1e-9)
    assert np.isinf(mesh.distances([5.0, 0.0, 0.0], [[1.0, 0.0, 0.0]])[0])
