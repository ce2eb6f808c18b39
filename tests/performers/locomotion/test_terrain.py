"""Walking on terrain: standing on slopes, footholds away from edges, a step climbed in the replay."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points, kinematics
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Clip, Gait, HeightField
from bunraku.performers.locomotion.footing import moved_standing, smoothed, standing_pose, unevenness
from bunraku.performers.locomotion.performer import LocomotionPerformer
from bunraku.verification.ground.replay import replay_on_ground

TEN = float(np.deg2rad(10.0))
EDGE = 0.18
STEP = Gait(
    4.2, "crawl", periodic=False, cycles=3, distance=(0.4, 0.0), turn=0.0, friction=0.5, swing_height=0.03, samples=85,
    terrain=HeightField.step(0.015, at=EDGE),
)  # fmt: skip


@pytest.fixture(scope="module")
def walker():
    return read_character("walker")


@pytest.fixture(scope="module")
def model(walker):
    return centroidal_model(walker)


@pytest.fixture(scope="module")
def climbed(walker):
    performer = LocomotionPerformer(max_iterations=250)
    clip = Clip("step", gait=STEP)
    task, planned = performer.solved(walker, clip)
    return planned, performer.performance(task, planned)


def test_a_pose_put_on_a_slope_stands_on_it_and_stays_itself(model):
    slope = HeightField.slope(TEN, start=-3.0, length=9.0)
    pose = model.home.copy()
    pose[:2], pose[3] = (1.1, 0.2), 0.7
    found = standing_pose(model, slope, pose)
    feet = contact_points(model, found, slope)
    np.testing.assert_allclose(feet[:, 2], slope.height(feet[:, 0], feet[:, 1]), atol=1e-12)
    flat = contact_points(model, pose)
    for j in range(1, len(feet)):
        assert np.linalg.norm(feet[j] - feet[0]) == pytest.approx(np.linalg.norm(flat[j] - flat[0]), abs=1e-12)
    np.testing.assert_array_equal(found[6:], pose[6:])


def test_standing_farther_on_moves_the_centre_of_mass_as_asked(model):
    slope = HeightField.slope(TEN, start=0.2, length=9.0)
    start = center_of_mass(model, standing_pose(model, slope, model.home))
    end = center_of_mass(model, moved_standing(model, slope, (0.9, 0.1), 0.3))
    np.testing.assert_allclose((end - start)[:2], (0.9, 0.1), atol=1e-12)


def test_smoothing_keeps_planes_and_levels_away_from_the_edge():
    slope = HeightField.slope(TEN, start=0.0, length=1.0)
    x = np.linspace(0.1, 0.9, 33)
    np.testing.assert_allclose(smoothed(slope).height(x, 0.0), np.tan(TEN) * x, atol=1e-12)
    step = HeightField.step(0.015, at=EDGE)
    far = np.array([-1.0, EDGE - 0.045, EDGE + 0.045, 2.0])
    np.testing.assert_allclose(smoothed(step).height(far, 0.3), [0.0, 0.0, 0.015, 0.015], atol=1e-15)
    ramp = smoothed(step).height(np.linspace(EDGE - 0.05, EDGE + 0.05, 101), 0.0)
    assert (np.diff(ramp) >= -1e-15).all()
    assert np.diff(ramp).max() / 0.001 <= 0.015 / 0.06 * 1.01


def test_only_the_edge_is_uneven():
    step = HeightField.step(0.015, at=EDGE)
    assert unevenness(step, EDGE, 0.0, 0.04) > 0.003
    assert unevenness(step, EDGE + 0.06, 0.0, 0.04) < 1e-12
    assert unevenness(HeightField.slope(TEN, start=-1.0, length=3.0), 0.5, 0.0, 0.04) < 1e-12


def test_the_step_is_planned_with_feet_on_the_true_ground_and_clear_of_its_edge(climbed):
    planned, performance = climbed
    plan, model = planned.plan, planned.plan.problem.model
    assert performance.certificate.figures["max_residual"] <= 1e-5
    seen = kinematics(model, plan.q, plan.problem.terrain)
    on = plan.problem.contacts.astype(bool)
    feet = seen.contact[on]
    assert np.abs(feet[:, 2] - STEP.terrain.height(feet[:, 0], feet[:, 1])).max() <= 1e-4
    assert np.abs(feet[:, 0] - EDGE).min() >= 0.025
    names = list(performance.motion.names)
    q = performance.motion.values[:, [names.index(name) for name in model.names]]
    fine = kinematics(model, q).contact  # lowest points of the balls on level ground
    radius = float(model.tips[4][0])
    center = fine + np.array([0.0, 0.0, radius])
    corner = np.hypot(np.maximum(EDGE + 0.01 - center[..., 0], 0.0), center[..., 2] - 0.015)
    near = np.abs(center[..., 0] - EDGE) < 0.03
    assert near.any()
    assert (corner[near] - radius).min() > 0.0  # between the samples too


def test_the_step_is_climbed_in_the_replay(climbed):
    replay = replay_on_ground(climbed[1], gain=1.0, friction=0.6)
    assert not replay.fell
    assert replay.figures["velocity_error"] <= 0.06
    assert replay.figures["distance_error"] <= 0.05
    assert replay.record.com[-1, 2] - replay.record.com[0, 2] == pytest.approx(0.015, abs=0.002)


def test_a_slope_is_planned_from_standing_to_standing(walker):
    slope = HeightField.slope(TEN, start=0.2, length=2.0)
    gait = Gait(
        4.2, "crawl", periodic=False, cycles=3, distance=(0.36, 0.0), turn=0.0, friction=0.5, terrain=slope, samples=43
    )  # fmt: skip
    plan = LocomotionPerformer(tolerance=1e-5, max_iterations=150).solved(walker, Clip("slope", gait=gait))[1].plan
    assert plan.solution.residual <= 1e-5
    q = plan.q[-1]
    assert q[4] < -0.02  # it leans back, its nose up
    on = plan.problem.contacts.astype(bool)
    feet = kinematics(plan.problem.model, plan.q, plan.problem.terrain).contact[on]
    assert np.abs(feet[:, 2] - slope.height(feet[:, 0], feet[:, 1])).max() <= 2e-4
    assert plan.displacement[0] == pytest.approx(0.36, abs=1e-4)
