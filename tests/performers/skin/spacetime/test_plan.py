"""A plan between its samples: it goes through them, goes on beyond a cycle, and its soles stay where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.motion import Gait
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights


@pytest.fixture(scope="module")
def turning(robot: Character) -> SpacetimePlan:
    return plan_spacetime(
        robot,
        Gait(2.5, pattern="crawl", distance=(0.04, 0.01), turn=0.2, swing_height=0.03, samples=50),
        weights=SpacetimeWeights(level=10.0),
    )


def test_it_goes_through_its_samples(turning: SpacetimePlan) -> None:
    at = turning.sample_at(turning.times)
    assert at.q == pytest.approx(turning.q, abs=1e-12)
    assert at.force == pytest.approx(turning.force * turning.problem.contacts[:, :, None], abs=1e-12)
    assert at.torque == pytest.approx(turning.torque, abs=1e-12)
    assert (at.touching == turning.problem.contacts).all()


def test_the_next_cycle_is_the_last_one_carried_on(turning: SpacetimePlan) -> None:
    """Joints repeat; soles, forces and the base are turned and moved by the shift."""
    t = np.linspace(0.3, 2.2, 17)
    one, two = turning.sample_at(t), turning.sample_at(t + turning.duration)
    x, y, yaw = turning.shift
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, -s], [s, c]])
    assert two.q[:, 4:] == pytest.approx(one.q[:, 4:], abs=1e-9)
    assert two.q[:, 3] == pytest.approx(one.q[:, 3] + yaw, abs=1e-9)
    assert two.q[:, :2] == pytest.approx(one.q[:, :2] @ R.T + [x, y], abs=1e-9)
    assert two.force[:, :, :2] == pytest.approx(one.force[:, :, :2] @ R.T, abs=1e-9)


def test_soles_stay_where_they_stand_between_samples(turning: SpacetimePlan) -> None:
    frames = turning.frames()
    assert len(frames.times) == 501
    seen = kinematics(turning.problem.model, frames.q).contact
    for j in range(4):
        stands = frames.touching[:, j].astype(bool)
        both = stands[1:] & stands[:-1]
        assert np.abs(np.diff(seen[:, j, :2], axis=0))[both].max() < 2e-4
        assert np.abs(seen[stands, j, 2]).max() < 3e-4
    assert (frames.force[frames.touching == 0] == 0.0).all()


def test_one_that_happens_once_stands_still_outside_its_time(robot: Character) -> None:
    plan = plan_spacetime(robot, Gait(2.0, pattern="roll", periodic=False, distance=(0.0, 0.0), turn=0.0, samples=20))
    at = plan.sample_at([-1.0, 0.0, 2.0, 9.0])
    assert at.q[0] == pytest.approx(at.q[1], abs=1e-12)
    assert at.q[3] == pytest.approx(at.q[2], abs=1e-12)
