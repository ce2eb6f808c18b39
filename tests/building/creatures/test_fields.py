"""Signed distances against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from creature_forms import above, chain, ellipsoid, round_cone, smooth_union

RNG = np.random.default_rng(3)


def test_a_round_cone_of_equal_radii_is_a_capsule():
    a, b, r = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.1, -0.1]), 0.07
    x = RNG.normal(scale=0.5, size=(500, 3))
    t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    expected = np.linalg.norm(x - a - t[:, None] * (b - a), axis=1) - r
    assert round_cone(a, b, r, r)(x) == pytest.approx(expected, abs=1e-12)


def test_a_round_cone_is_the_envelope_of_its_balls():
    a, b, r1, r2 = np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.3, 0.1
    x = RNG.normal(scale=0.8, size=(300, 3))
    t = np.linspace(0.0, 1.0, 4001)[:, None]
    balls = np.linalg.norm(x[None] - (a + t[..., None] * (b - a)), axis=2) - (r1 + t * (r2 - r1))
    assert round_cone(a, b, r1, r2)(x) == pytest.approx(balls.min(axis=0), abs=1e-6)


def test_an_ellipsoid_is_a_sphere_when_its_axes_are_equal_and_zero_on_its_surface():
    x = RNG.normal(size=(200, 3))
    assert ellipsoid((0.1, 0.2, 0.3), (0.4, 0.4, 0.4))(x) == pytest.approx(np.linalg.norm(x - (0.1, 0.2, 0.3), axis=1) - 0.4)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    half = np.array([0.2, 0.3, 0.5])
    step = 1e-6
    grown = ellipsoid((0, 0, 0), half)(unit * half * (1.0 + step))
    normal = unit / half
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    assert grown == pytest.approx(step * (unit * half * normal).sum(axis=1), rel=1e-4)


def test_a_smooth_union_is_the_union_away_from_the_seam_and_adds_a_quarter_of_the_blend_on_it():
    parts = [lambda x: x[:, 0], lambda x: x[:, 1]]
    x = np.array([[1.0, 0.5, 0.0], [0.2, 0.2, 0.0], [-1.0, 3.0, 0.0]])
    assert smooth_union(parts, 0.1)(x) == pytest.approx([0.5, 0.2 - 0.1 / 4.0, -1.0])


def test_what_is_above_a_plane_ends_there():
    ball = ellipsoid((0, 0, 0), (1, 1, 1))
    cut = above(ball, -0.5)
    x = np.array([[0.0, 0.0, -0.6], [0.0, 0.0, -0.4], [0.0, 0.0, 2.0]])
    assert np.sign(cut(x)).tolist() == [1.0, -1.0, 1.0]


def test_a_chain_is_the_least_of_its_cones():
    p = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]])
    x = RNG.normal(size=(50, 3))
    expected = np.minimum(round_cone(p[0], p[1], 0.1, 0.2)(x), round_cone(p[1], p[2], 0.2, 0.1)(x))
    assert chain(p, (0.1, 0.2, 0.1))(x) == pytest.approx(expected)
