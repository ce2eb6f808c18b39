"""Framing: the box covers what it should of the free part of the picture, and stands in its middle."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.stage.picture.camera import framed, spread

BOXES = [([-0.2, -0.3, 0.0], [0.3, 0.3, 0.4]), ([-1.0, -0.1, 0.0], [1.0, 0.1, 1.7]), ([0.0, 0.0, 0.5], [0.05, 0.05, 3.0])]


@pytest.mark.parametrize(("low", "high"), BOXES)
@pytest.mark.parametrize("field", [0.6, 0.9, 1.31])
@pytest.mark.parametrize(("aspect", "part"), [(0.9, 0.7), (1.8, 0.7), (0.5, 0.45), (1.0, 1.0)])
def test_the_box_fills_its_share_of_the_free_part_and_stands_in_its_middle(
    low: list[float], high: list[float], aspect: float, part: float, field: float
) -> None:
    low_, high_ = np.array(low), np.array(high)
    place, target = framed(low_, high_, field=field, aspect=aspect, part=part, share=0.6)
    lowest, highest = spread(low_, high_, place, target, field=field, aspect=aspect)
    covered = (highest - lowest) / (2.0, 2.0 * part)
    assert covered.max() == pytest.approx(0.6, rel=1e-3)
    np.testing.assert_allclose(0.5 * (lowest + highest), [0.0, 1.0 - part], atol=1e-3)


def test_spread_is_the_pinhole_projection_of_the_corners() -> None:
    place, target = np.array([0.0, -2.0, 0.0]), np.zeros(3)
    lowest, highest = spread(np.array([-0.5, -1.0, -0.25]), np.array([0.5, 1.0, 0.25]), place, target, field=np.pi / 2, aspect=2.0)
    np.testing.assert_allclose(highest, [0.5 / (1.0 * 2.0), 0.25 / 1.0])  # the nearer corners, 1 m away
    np.testing.assert_allclose(lowest, -highest)


def test_a_point_does_not_bring_the_camera_into_it() -> None:
    place, target = framed(np.zeros(3), np.zeros(3), field=0.9, aspect=1.0)
    assert np.linalg.norm(place - target) > 0.01
