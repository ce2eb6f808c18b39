"""The pressure that a plan needs is the pressure that its forces make; margins of polygons."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.motion import Gait
from bunraku.performers.skin.learned import needed_pressure, pressure_margin
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.stance import crouched


@pytest.fixture(scope="module")
def plan() -> SpacetimePlan:
    """A short walk of the monster's skeleton, two diagonal steps."""
    monster = read_character("monster-quick")
    gait = Gait(1.6, "trot", False, cycles=1, distance=(0.05, 0.0), turn=0.0, samples=33)
    return plan_spacetime(monster, gait, stance=crouched(monster, 0.015))


def test_motion_and_forces_agree_where_the_pressure_is(plan: SpacetimePlan) -> None:
    soles = plan.moved[1]
    f, m = plan.force, plan.moment
    total = f[:, :, 2].sum(axis=1)
    x = (soles[:, :, 0] * f[:, :, 2] - m[:, :, 1]).sum(axis=1) / total
    y = (soles[:, :, 1] * f[:, :, 2] + m[:, :, 0]).sum(axis=1) / total
    np.testing.assert_allclose(needed_pressure(plan), np.column_stack([x, y]), atol=2e-5)


def test_a_skin_that_sags_to_one_side_takes_the_pressure_with_it(plan: SpacetimePlan) -> None:
    lumps = len(plan.problem.model.points[0]) // 4
    shift = np.zeros((plan.problem.samples, lumps, 3))
    shift[:, :, 1] = 0.003  # every lump by 3 mm to its left; at rest all frames are parallel to the world
    moved = needed_pressure(plan, SkinEffect(shift=shift)) - needed_pressure(plan)
    np.testing.assert_allclose(moved[0], [0.0, 0.003], atol=1e-6)
    np.testing.assert_allclose(moved[-1], [0.0, 0.003], atol=1e-6)


def test_margins_are_distances_to_the_nearest_edge() -> None:
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
    places = np.zeros((4, 10, 3))
    places[:, :5, :2] = corners
    places[:, 5:, :2] = corners + np.array([10.0, 0.0])
    stands = np.array([[True, False], [True, False], [True, True], [False, False]])
    points = np.array([[0.0, 0.7], [0.0, 1.5], [5.0, 0.0], [0.0, 0.0]])
    found = pressure_margin(points, stands, places)
    np.testing.assert_allclose(found[:3], [0.3, -0.5, 1.0])
    assert np.isnan(found[3])
