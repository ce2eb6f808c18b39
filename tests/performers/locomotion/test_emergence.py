"""Ways of going that nobody described: from a goal and the rest pose alone come swizzles, strokes, turns, slaloms and braking."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.gait.commands import gait_for
from bunraku.mechanics.centroidal.kinematics import Kinematics, kinematics
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Gait, Swing
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.solution import Status
from bunraku.performers.locomotion.calmed import solve_from
from bunraku.performers.locomotion.certificate import shortfall
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.state import state_problem
from bunraku.performers.locomotion.tipping import tipping_of


def gait_of(clip: str, **changes: object) -> Gait:
    gait = read_clip(clip).gait
    assert gait is not None
    return gait.changed(**changes)


@cache
def planned(robot: str, clip: str, samples: int) -> MotionPlan:
    """The plan from the rest pose."""
    problem = state_problem(read_character(robot), gait_of(clip), samples=samples)
    return MotionPlan(problem, AugmentedLagrangian().solve(problem, problem.still()))


def seen(plan: MotionPlan, first: int, last: int) -> Kinematics:
    """Kinematics of the samples of the endless motion, from the coordinates alone."""
    model = plan.problem.model
    return kinematics(model, np.ascontiguousarray(plan.samples(first, last)[:, : model.nq]))


def sideways(found: Kinematics) -> np.ndarray:
    """How far (n - 1, n_e) [m] each contact point moves across the mean of its rolling directions from sample to sample."""
    e, yaw = found.contact, np.arctan2(found.rolling[..., 1], found.rolling[..., 0])
    mean = yaw[:-1] + 0.5 * ((yaw[1:] - yaw[:-1] + np.pi) % (2.0 * np.pi) - np.pi)
    move = e[1:] - e[:-1]
    return -np.sin(mean) * move[..., 0] + np.cos(mean) * move[..., 1]


def toe_angles(plan: MotionPlan) -> np.ndarray:
    """Angle (T, n_e) [deg] between rolling direction and x, zero in the air."""
    rolling = seen(plan, 0, plan.problem.samples - 1).rolling
    return np.where(plan.problem.contacts > 0, np.rad2deg(np.arctan2(np.abs(rolling[..., 1]), np.abs(rolling[..., 0]))), 0.0)


@pytest.mark.parametrize(("clip", "samples"), [("swizzle", 12), ("swizzle-rest", 13)])
def test_swizzling(clip: str, samples: int) -> None:
    """Half a metre in 1.2 s on four wheels that nothing drives, all on the ground, none sliding sideways: they toe in and out."""
    plan = planned("swizzlebot", clip, samples)
    assert plan.solution.status is Status.CONVERGED
    assert plan.displacement[0] == pytest.approx(0.5, abs=1e-5)
    assert plan.problem.step * plan.problem.intervals == pytest.approx(1.2)
    found = seen(plan, 0, samples if clip == "swizzle" else samples - 1)
    assert np.abs(found.contact[..., 2]).max() < 1e-6
    assert np.abs(sideways(found)).max() < 1e-6
    forces = plan.unknowns[:, plan.problem.model.nq + 2 :: 3]
    assert forces.min() > 0.49
    toe = np.rad2deg(np.arctan2(found.rolling[..., 1], found.rolling[..., 0]))
    assert (toe.max(axis=0) - toe.min(axis=0)).min() > 10.0


def test_stroking_turns_the_feet_out_further_the_more_the_wheels_drag() -> None:
    """Two wheels a foot: against a drag of 0.25, 0.5, 1 and 2 N s/m per wheel the skates push off at a growing angle."""
    character = read_character("skatebot")
    model = centroidal_model(character)
    angles = []
    for drag in (0.25, 0.5, 1.0, 2.0):
        heavy = dataclasses.replace(model, drag=np.full(model.n_tips, drag))
        problem = state_problem(character, gait_of("skate", symmetric=True), samples=12, model=heavy)
        plan = MotionPlan(problem, solve_from(problem, problem.still()))
        assert plan.solution.status is Status.CONVERGED
        assert plan.displacement[0] == pytest.approx(0.3, abs=1e-5)
        angles.append(float(toe_angles(plan).max()))
    assert all(later > 1.3 * earlier for earlier, later in pairwise(angles)), angles
    assert angles[-1] > 30.0


@pytest.mark.exhaustive
def test_with_feet_that_take_turns_without_overlap_the_push_off_is_steep() -> None:
    """A foot always in the air, 1 N s/m per wheel: 35.1 degrees measured (the bar of 35 is this close), 11.7 at 0.25 N s/m."""
    character = read_character("skatebot")
    model = centroidal_model(character)
    swings = [Swing(tip.name, start, start + 0.46) for tip in character.end_effectors for start in [_swing_start(tip.name)]]
    gait = Gait(1.2, "custom", distance=(0.3, 0.0), turn=0.0, swings=tuple(swings), friction=0.8, symmetric=True)
    angles = []
    for drag in (0.25, 1.0):
        heavy = dataclasses.replace(model, drag=np.full(model.n_tips, drag))
        problem = state_problem(character, gait, samples=12, model=heavy)
        plan = MotionPlan(problem, AugmentedLagrangian().solve(problem, problem.still()))
        assert plan.solution.status is Status.CONVERGED
        angles.append(float(toe_angles(plan).max()))
    assert angles[0] < 15.0
    assert angles[1] >= 35.0


def _swing_start(name: str) -> float:
    """Diagonals in turn, each in the middle of its half of the cycle."""
    return (0.25 if name[:2] in ("LF", "RH") else 0.75) - 0.23


def test_turning_in_place() -> None:
    """45 degrees on driven wheels that do not slide: the legs must steer them."""
    plan = planned("agilebot", "turn-in-place", 12)
    assert plan.solution.status is Status.CONVERGED
    x, y, turn = plan.displacement
    assert np.hypot(x, y) < 1e-6
    assert turn == pytest.approx(np.pi / 4.0, abs=1e-6)
    assert np.abs(sideways(seen(plan, 0, 12))).max() < 1e-6


def test_slalom() -> None:
    """The centre of mass passes its targets at +-8 cm within 1 cm while going on 1.07 m, and the wheels follow without sliding."""
    plan = planned("agilebot", "slalom", 24)
    assert plan.solution.status is Status.CONVERGED
    found = seen(plan, 0, 24)
    assert found.com[6, 1] == pytest.approx(0.08, abs=0.01)
    assert found.com[18, 1] == pytest.approx(-0.08, abs=0.01)
    assert found.com[24, 0] - found.com[0, 0] == pytest.approx(1.07, abs=1e-5)
    assert np.abs(sideways(found)).max() < 1e-6


def test_side_step_and_roll() -> None:
    """From rest to rest 0.6 m on and 0.1 m aside: only steps bring it aside, feet in the air rise to the swing height."""
    plan = planned("agilebot", "side-step", 37)
    assert plan.solution.status is Status.CONVERGED
    assert plan.displacement[:2] == pytest.approx((0.6, 0.1), abs=1e-5)
    found = seen(plan, 0, 36)
    assert found.contact[..., 2].max(axis=0) == pytest.approx(0.02, abs=0.006)
    both = (plan.problem.contacts[1:] * plan.problem.contacts[:-1]).astype(bool)
    assert np.abs(sideways(found)[both]).max() < 1e-6
    still = plan.q[[0, -1]] - plan.problem.model.home
    assert np.abs(still[0]).max() < 1e-6
    assert np.abs(still[1, 6:]).max() < 1e-6


def test_starting_and_stopping_the_tall_one_stoops() -> None:
    """A metre from rest to rest in 0.8 s: it spreads its wheels to more than twice their distance and lowers itself by 4 cm."""
    plan = planned("agilebot-tall", "start-stop-fast", 12)
    assert plan.solution.status is Status.CONVERGED
    assert plan.displacement[0] == pytest.approx(1.0, abs=1e-5)
    found = seen(plan, 0, 11)
    base = np.ptp(found.contact[..., 0], axis=1)
    assert base.max() > 2.0 * base[0]
    assert found.com[0, 2] >= 0.25
    assert found.com[:, 2].min() < found.com[0, 2] - 0.04
    forces = plan.unknowns[:, plan.problem.model.nq + 2 :: 3]
    assert forces.min() > 0.49


def test_with_locked_legs_the_tall_one_cannot_and_is_told_why() -> None:
    plan = planned("agilebot-tall", "start-stop-locked", 12)
    assert plan.solution.status is Status.INFEASIBLE
    told = shortfall(plan)
    assert "normal force" in told
    assert "centre of mass" in told


@pytest.mark.parametrize(("robot", "clip", "samples"), [("skatebot", "skate", 12), ("walker", "trot", 24)])
def test_a_half_cycle_mirrored_is_a_whole_one(robot: str, clip: str, samples: int) -> None:
    """Twice the objective of the half is that of the whole motion, which it solves, left and right exchanged in between."""
    character = read_character(robot)
    problem = state_problem(character, gait_of(clip, symmetric=True), samples=samples)
    half = MotionPlan(problem, solve_from(problem, problem.still()))
    assert half.solution.status is Status.CONVERGED
    whole = state_problem(character, gait_of(clip, symmetric=False), samples=samples)
    z = np.concatenate([half.samples(0, samples - 1).ravel(), half.sample(samples)[[0, 1, 3]] - half.sample(0)[[0, 1, 3]]])
    violated = whole.violations(z)
    assert max(violated.values()) < 1e-5, violated
    assert whole.objective(z) == pytest.approx(2.0 * problem.objective(half.solution.z), rel=1e-6)
    assert problem.ends.mirror is not None
    permutation, sign = problem.ends.mirror
    joints = slice(6, problem.model.nq)
    left = half.samples(0, samples // 2 - 1)
    right = half.samples(samples // 2, samples - 1)
    assert np.abs(right[:, joints] - (sign * left[:, permutation])[:, joints]).max() < 1e-12
    assert whole.objective(z) >= 0.98 * whole.objective(solve_from(whole, whole.still()).z)


def test_the_best_pattern_keeps_the_centre_of_mass_over_its_feet() -> None:
    """A slow cycle of 1.6 s: pairs of feet would be in the air for four times sqrt(h/g); one foot after the other survives."""
    gait = gait_of("trot", pattern="best", samples=24, duration=1.6, distance=(0.2, 0.0), turn=0.0)
    found = plan_motion(read_character("walker"), gait)
    assert found.plan.solution.status is Status.CONVERGED
    tried = [entry.split() for entry in found.notes[-1].partition(": ")[2].split("; ")]
    times = {words[0]: float(words[-2]) for words in tried}
    assert len(times) >= 3
    assert found.gait.pattern == tried[0][0] == min(times, key=lambda name: times[name]) == "crawl"
    assert tipping_of(found.plan).safe
    assert times["trot"] > 3.0


@pytest.mark.parametrize(("robot", "speed", "rate"), [("walker", 0.1, 0.2), ("swizzlebot", 0.3, 0.0), ("agilebot", 0.4, 0.2)])
def test_commands_alone(robot: str, speed: float, rate: float) -> None:
    """A speed and a turning rate are enough to go: the arc driven in the time of the gait is what comes out."""
    character = read_character(robot)
    gait = gait_for(character, (speed, 0.0), rate)
    plan = plan_motion(character, gait.changed(samples=24 if robot == "walker" else 12)).plan
    assert plan.solution.status is Status.CONVERGED
    x, y, turn = plan.displacement
    assert turn == pytest.approx(rate * gait.duration, abs=1e-5)
    length = speed * gait.duration * np.sinc(0.5 * turn / np.pi)
    assert (x, y) == pytest.approx((length * np.cos(0.5 * turn), length * np.sin(0.5 * turn)), abs=1e-5)
