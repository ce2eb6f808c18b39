"""Creatures by a seed: one closed body, on its feet, where its limbs are."""

from __future__ import annotations

import numpy as np
import pytest

from _surfaces import RoundLimb, limb_surface, limbs_distance, quadruped_limbs, random_quadruped
from bunraku.geometry.surfaces.checks import check_surface


@pytest.mark.parametrize("seed", range(5))
def test_creatures_are_one_sound_body(seed: int) -> None:
    surface = random_quadruped(seed, spacing=0.012)
    report = check_surface(surface)
    assert report.sound
    assert (report.components, report.genus) == (1, (0,))
    assert abs(surface.bounds[0, 2]) < 1e-9
    soles = surface.vertices[np.abs(surface.vertices[:, 2]) < 1e-9]
    # All four feet stand on the ground.
    for name in ("fl", "fr", "hl", "hr"):
        foot = quadruped_limbs(seed)[name].points[-1]
        assert (np.linalg.norm(soles[:, :2] - foot[:2], axis=1) < 0.03).sum() > 5


def test_seeds_differ_and_repeat() -> None:
    one, again, other = (random_quadruped(seed, spacing=0.02) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.vertices, again.vertices)
    assert abs(one.volume() / other.volume() - 1.0) > 0.01
    twice = random_quadruped(3, length=1.2, spacing=0.04)
    assert twice.volume() == pytest.approx(8.0 * one.volume(), rel=1e-6)


def test_a_capsule_has_its_volume() -> None:
    capsule = limb_surface([RoundLimb(np.array([[0, 0, 0], [0.3, 0.1, 0.2]]), np.array([0.1, 0.1]))], spacing=0.01, blend=0.01)
    length = np.sqrt(0.09 + 0.01 + 0.04)
    assert capsule.volume() == pytest.approx(np.pi * 0.01 * length + 4 / 3 * np.pi * 0.001, rel=0.005)


def test_limbs_join_smoothly() -> None:
    """Far from each other limbs are themselves; where they are equally far, a quarter of the blend is taken off."""
    limbs = [RoundLimb(np.array([[x, 0.0, 0.0], [x, 0.0, 1.0]]), np.array([0.1, 0.1])) for x in (-0.2, 0.2)]
    joined = limbs_distance(limbs, blend=0.08)
    np.testing.assert_allclose(
        joined(np.array([[0.0, 0.0, 0.5], [-0.5, 0.0, 0.5], [0.04, 0.0, 0.5]])), [0.1 - 0.02, 0.2, 0.06], atol=1e-12
    )
