"""The exact winding number: a cube, a ball, one surface twice; and libigl's."""

from __future__ import annotations

import numpy as np

from _surfaces import box, sphere
from bunraku.geometry.surfaces.distance import winding_number
from bunraku.geometry.surfaces.solid_angle import exact_winding_number


def test_a_cube_goes_once_around_what_is_inside() -> None:
    corners = box((2.0, 2.0, 2.0)).corners
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    middle = 0.5 * (low + high)
    points = np.array([middle, 0.05 * low + 0.95 * high, high + 0.1, [5.0, -4.0, 3.0]])
    np.testing.assert_allclose(exact_winding_number(corners, points), [1.0, 1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(exact_winding_number(np.concatenate([corners, corners]), points[:1]), [2.0], atol=1e-12)
    face = np.array([[high[0], middle[1] + 0.3, middle[2] - 0.2]])  # half of all directions go into the cube
    near = [exact_winding_number(corners, face + np.array([side * 1e-7, 0.0, 0.0]))[0] for side in (-1.0, 1.0)]
    np.testing.assert_allclose(np.mean(near), 0.5, atol=1e-6)


def test_it_is_the_one_of_libigl() -> None:
    surface = sphere(0.3, 3)
    points = np.random.default_rng(3).uniform(-0.4, 0.4, (60, 3))
    found = exact_winding_number(surface.corners, points)
    np.testing.assert_allclose(found, winding_number(surface, points), atol=0.01)
    assert 5 < (found > 0.5).sum() < 55
