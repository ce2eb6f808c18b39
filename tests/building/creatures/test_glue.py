"""Spread points and shares."""

from __future__ import annotations

import numpy as np

from bunraku.building.creatures.skins import shares, spread_points


def test_the_first_points_of_a_square_are_its_corners():
    x, y = np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 7))
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(49)])
    chosen = points[spread_points(points, 4)]
    assert {tuple(p) for p in chosen[:, :2].tolist()} == {(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)}


def test_spread_points_cover_within_twice_the_best_radius():
    """Farthest point sampling is a 2-approximation: on a circle k points cannot be farther apart than the chord of 2 pi / k."""
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    points = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(400)])
    chosen = points[spread_points(points, 10)]
    gap = np.linalg.norm(points[:, None] - chosen, axis=2).min(axis=1).max()
    assert gap <= 2.0 * 2.0 * np.sin(np.pi / 20.0)


def test_more_points_than_there_are_gives_all():
    points = np.random.default_rng(0).normal(size=(5, 3))
    assert spread_points(points, 9).tolist() == [0, 1, 2, 3, 4]


def test_shares_add_up_and_follow_the_areas():
    areas = np.array([3.0, 1.0, 1.0, 0.1])
    found = shares(areas, 100, 8)
    assert found.sum() == 100
    assert found.min() >= 8
    assert np.abs(found - (8 + 68 * areas / areas.sum())).max() < 1.0
