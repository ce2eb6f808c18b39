"""Solids: inertias against sums over many small pieces, and against cutting a solid in two."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.building.solids import Solid, box, box_shell, capsule_shell, cylinder, joined, sphere
from bunraku.geometry.rotations import axis_angle

Array = NDArray[np.float64]
TURN = axis_angle(np.array([0.3, -0.5, 0.8]), 0.9)


def of_points(mass: float, points: Array) -> Solid:
    """Equal point masses as a solid."""
    m = mass / len(points)
    center = points.mean(axis=0)
    d = points - center
    return Solid(mass, center, m * (np.sum(d * d) * np.eye(3) - d.T @ d))


def cells(count: int) -> Array:
    return (np.arange(count) + 0.5) / count


def test_a_box_is_the_sum_of_its_pieces() -> None:
    size = np.array([0.2, 0.1, 0.05])
    grid = np.stack(np.meshgrid(*[cells(40) - 0.5] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    expected = of_points(0.7, grid * size @ TURN.T + [0.1, -0.2, 0.3])
    made = box(0.7, [0.1, -0.2, 0.3], size, TURN)
    np.testing.assert_allclose(made.center, expected.center, atol=1e-12)
    np.testing.assert_allclose(made.inertia, expected.inertia, rtol=2e-3, atol=2e-7)


def test_a_cylinder_is_the_sum_of_its_pieces() -> None:
    r = 0.03 * np.sqrt(cells(60))  # equal areas
    a, z = 2.0 * np.pi * cells(60), 0.02 * (cells(30) - 0.5)
    R, A, Z = np.meshgrid(r, a, z, indexing="ij")
    points = np.stack([R * np.cos(A), R * np.sin(A), Z], axis=-1).reshape(-1, 3) @ TURN.T
    made = cylinder(0.01, np.zeros(3), TURN[:, 2], 0.03, 0.02)
    np.testing.assert_allclose(made.inertia, of_points(0.01, points).inertia, rtol=3e-3, atol=1e-10)


def test_a_capsule_shell_is_the_sum_of_its_pieces() -> None:
    density, wall, radius, length = 1240.0, 0.003, 0.012, 0.08
    a = 2.0 * np.pi * cells(120)
    z = length * (cells(400) - 0.5)
    tube = np.stack([*(radius * f(np.repeat(a, len(z))) for f in (np.cos, np.sin)), np.tile(z, len(a))], axis=-1)
    up = 2.0 * cells(200) - 1.0  # equal heights are equal areas on a sphere
    U, A = np.meshgrid(up, a, indexing="ij")
    caps = radius * np.stack([np.sqrt(1 - U**2) * np.cos(A), np.sqrt(1 - U**2) * np.sin(A), U], axis=-1).reshape(-1, 3)
    caps[:, 2] += np.sign(caps[:, 2]) * length / 2.0
    parts = [of_points(2 * np.pi * radius * length * wall * density, tube), of_points(4 * np.pi * radius**2 * wall * density, caps)]
    expected = joined(parts)
    start, end = TURN @ [0.0, 0.0, -length / 2.0], TURN @ [0.0, 0.0, length / 2.0]
    shift = np.array([1.0, 2.0, 3.0])
    made = capsule_shell(density, wall, start + shift, end + shift, radius)
    assert made.mass == pytest.approx(expected.mass, rel=1e-12)
    np.testing.assert_allclose(made.center, [1.0, 2.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(made.inertia, TURN @ expected.inertia @ TURN.T, rtol=1e-3, atol=1e-9)


def test_a_hollow_box_and_its_filling_are_a_full_one() -> None:
    shell = box_shell(1000.0, 0.01, np.zeros(3), [0.2, 0.1, 0.06])
    filling = box(1000.0 * 0.18 * 0.08 * 0.04, np.zeros(3), [0.18, 0.08, 0.04])
    full = box(1000.0 * 0.2 * 0.1 * 0.06, np.zeros(3), [0.2, 0.1, 0.06])
    whole = joined([shell, filling])
    assert whole.mass == pytest.approx(full.mass, rel=1e-12)
    np.testing.assert_allclose(whole.inertia, full.inertia, rtol=1e-12)


def test_two_halves_are_the_whole() -> None:
    half = [0.1, 0.1, 0.05]
    whole = joined([box(0.2, [0.05, 1.0, 0.0], half), box(0.2, [0.15, 1.0, 0.0], half)])
    np.testing.assert_allclose(whole.inertia, box(0.4, [0.1, 1.0, 0.0], [0.2, 0.1, 0.05]).inertia, rtol=1e-12)
    np.testing.assert_allclose(whole.center, [0.1, 1.0, 0.0], rtol=1e-12)


def test_a_ball() -> None:
    np.testing.assert_allclose(np.diag(sphere(2.0, np.zeros(3), 0.5).inertia), 0.2, rtol=1e-12)
