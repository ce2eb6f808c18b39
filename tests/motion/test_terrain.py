"""The ground: exact on slopes, once differentiable everywhere, level beyond its edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion.terrain import HeightField


@pytest.fixture
def rough():
    heights = np.random.default_rng(5).uniform(0.0, 0.1, (9, 7))
    return HeightField((-0.3, 0.2), 0.05, heights)


def test_linear_heights_are_kept_exactly_inside():
    x, y = -1.0 + 0.1 * np.arange(21), 2.0 + 0.1 * np.arange(11)
    field = HeightField((-1.0, 2.0), 0.1, 0.3 + 0.2 * x[:, None] - 0.4 * y[None, :])
    at = np.random.default_rng(1).uniform([-0.95, 2.05], [0.95, 2.95], (200, 2))
    np.testing.assert_allclose(field.height(*at.T), 0.3 + 0.2 * at[:, 0] - 0.4 * at[:, 1], atol=1e-14)
    np.testing.assert_allclose(field.gradient(*at.T), np.tile([0.2, -0.4], (200, 1)), atol=1e-13)


def test_at_the_points_it_is_the_mean_of_the_neighbours(rough):
    h = rough.heights
    w = np.array([1.0, 6.0, 1.0]) / 8.0
    x, y = rough.origin[0] + 3 * rough.spacing, rough.origin[1] + 2 * rough.spacing
    assert rough.height(x, y) == pytest.approx(w @ h[2:5, 1:4] @ w)


def test_the_gradient_is_the_derivative(rough):
    at = np.random.default_rng(2).uniform([-0.5, 0.0], [0.3, 0.7], (300, 2))
    step = 1e-6
    for axis in (0, 1):
        d = step * np.eye(2)[axis]
        slope = (rough.height(*(at + d).T) - rough.height(*(at - d).T)) / (2 * step)
        np.testing.assert_allclose(rough.gradient(*at.T)[:, axis], slope, atol=2e-5)


def test_the_gradient_is_continuous_where_pieces_meet(rough):
    """On both sides of every line halfway between points, and over the edge of the grid."""
    y = np.linspace(0.0, 0.7, 40)
    for k in range(-1, 10):
        x = rough.origin[0] + (k + 0.5) * rough.spacing
        before, after = rough.gradient(np.full(40, x - 1e-12), y), rough.gradient(np.full(40, x + 1e-12), y)
        np.testing.assert_allclose(before, after, atol=1e-8)
        np.testing.assert_allclose(rough.height(x - 1e-12, y), rough.height(x + 1e-12, y), atol=1e-11)


def test_outside_the_edge_goes_on(rough):
    far = rough.height(np.array([-50.0, 50.0]), np.array([-50.0, 50.0]))
    np.testing.assert_allclose(far, [rough.heights[0, 0], rough.heights[-1, -1]])
    np.testing.assert_allclose(rough.gradient(1e12, -1e12), 0.0, atol=1e-15)


def test_normals_are_upright_to_both_tangents(rough):
    at = np.random.default_rng(3).uniform([-0.3, 0.2], [0.1, 0.5], (50, 2))
    n, slope = rough.normal(*at.T), rough.gradient(*at.T)
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0)
    np.testing.assert_allclose(n[:, 0] + n[:, 2] * slope[:, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(n[:, 1] + n[:, 2] * slope[:, 1], 0.0, atol=1e-15)
    assert (n[:, 2] > 0.0).all()


@pytest.mark.parametrize("length", [0.5, 0.513])
def test_a_slope_is_exact_between_its_corners(length):
    angle = math.radians(10.0)
    field = HeightField.slope(angle, start=0.2, length=length)
    x = np.linspace(0.2 + 0.021, 0.2 + length - 0.041, 30)
    np.testing.assert_allclose(field.height(x, 7.0), math.tan(angle) * (x - 0.2), atol=1e-15)
    np.testing.assert_allclose(np.degrees(np.arccos(field.normal(x, -3.0)[:, 2])), 10.0)
    np.testing.assert_array_equal(field.height(np.array([-1.0, 0.0, 0.18]), 0.0), 0.0)
    np.testing.assert_allclose(field.height(np.array([0.2 + length + 0.041, 9.0]), 0.0), math.tan(angle) * length)


def test_a_step_is_level_one_spacing_from_its_edge():
    field = HeightField.step(0.015, at=0.3, spacing=0.01)
    assert field.height(0.3, 1.0) == pytest.approx(0.0075)
    np.testing.assert_allclose(field.height(np.array([-2.0, 0.29]), 0.0), 0.0, atol=1e-17)
    np.testing.assert_allclose(field.height(np.array([0.31, 5.0]), 0.0), 0.015)
    kerb = HeightField.step(0.015, at=0.3, length=0.2)
    np.testing.assert_allclose(kerb.height(np.array([0.29, 0.32, 0.48, 0.52, 3.0]), 0.0), [0, 0.015, 0.015, 0, 0], atol=1e-17)


def test_flat_ground_is_flat():
    field = HeightField((-1.0, -1.0), 1.0, np.full((3, 3), 0.1))
    np.testing.assert_allclose(field.height(np.linspace(-5, 5, 11), 0.3), 0.1)
    np.testing.assert_allclose(field.gradient(0.3, 0.4), 0.0, atol=1e-15)


def test_equal_grounds_are_equal(rough):
    assert HeightField.step(0.01, at=0.2) == HeightField.step(0.01, at=0.2)
    assert HeightField.step(0.01, at=0.2) != HeightField.step(0.02, at=0.2)
    assert hash(HeightField((-1.0, -1.0), 1.0, np.zeros((3, 3)))) == hash(HeightField((-1.0, -1.0), 1.0, np.zeros((3, 3))))
    assert rough != "rough"


@pytest.mark.parametrize(
    "make",
    [
        lambda: HeightField.slope(1.6),
        lambda: HeightField.slope(0.1, length=0.0),
        lambda: HeightField.slope(0.1, length=1e9),
        lambda: HeightField.slope(0.1, start=math.nan),
        lambda: HeightField.step(math.inf, at=0.0),
        lambda: HeightField.step(0.1, at=0.0, spacing=0.0),
        lambda: HeightField((0.0, math.nan), 0.1, np.zeros((3, 3))),
        lambda: HeightField((0.0, 0.0), 0.1, np.zeros((2, 3))),
        lambda: HeightField((0.0, 0.0), -0.1, np.zeros((3, 3))),
    ],
)
def test_ground_that_cannot_be_is_refused(make):
    with pytest.raises(BadInput):
        make()
