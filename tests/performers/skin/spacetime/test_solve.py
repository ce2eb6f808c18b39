"""Plans of a small quadruped: what physics says of them, from whatever start, with and without dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bunraku.character import Character
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Gait
from bunraku.motion.gait import Swing
from bunraku.optimization.solution import Status
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime, replan, solve_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights

SOFT = SpacetimeWeights(level=10.0)
"""Soles of three-hinged legs give a degree."""

WALK = Gait(2.5, pattern="crawl", distance=(0.04, 0.0), turn=0.0, swing_height=0.03, samples=32, friction=0.56)


@pytest.fixture(scope="module")
def walk(robot: Character) -> SpacetimePlan:
    return plan_spacetime(robot, WALK, weights=SOFT)


def outside(places: np.ndarray, radius: np.ndarray, point: np.ndarray) -> float:
    """How far [m] a point (2,) lies outside the hull of discs about places (n, 2); negative inside."""
    angle = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    hull = ConvexHull(np.concatenate([place + r * ring for place, r in zip(places, radius, strict=True)]))
    return float((hull.equations[:, :2] @ point + hull.equations[:, 2]).max())


def test_the_walk_tracks_its_feet_and_holds_its_rows(walk: SpacetimePlan) -> None:
    soles = walk.moved[1]
    feet = walk.problem.tracks.feet
    assert walk.status is Status.CONVERGED
    assert walk.residual <= 1e-6
    assert max(walk.problem.violations(walk.solution.z).values()) <= 1e-6
    assert np.abs(soles - feet).max() < 5e-3
    assert walk.shift == pytest.approx([0.04, 0.0, 0.0], abs=1e-6)
    assert np.abs(walk.torque).max() <= 1.96


def test_a_cycle_carries_its_weight(walk: SpacetimePlan) -> None:
    """Over a cycle the momentum does not change, so the mean force is the weight and the mean push is nothing."""
    total = walk.force.sum(axis=1).mean(axis=0)
    assert total == pytest.approx([0.0, 0.0, walk.problem.model.mass * GRAVITY], abs=1e-5)


def test_the_pressure_stays_inside_the_support(walk: SpacetimePlan) -> None:
    _, soles = walk.moved
    for i in range(walk.problem.samples):
        stands = walk.problem.contacts[i].astype(bool)
        f, t, e = walk.force[i, stands], walk.moment[i, stands], soles[i, stands, :2]
        pressed = f[:, 2:] * e + np.column_stack([-t[:, 1], t[:, 0]])
        point = pressed.sum(axis=0) / f[:, 2].sum()
        assert outside(e, walk.problem.radius[stands], point) < 1e-6
        assert (np.hypot(f[:, 0], f[:, 1]) <= 0.56 * f[:, 2] + 1e-6).all()


def test_the_base_needs_no_torque(walk: SpacetimePlan) -> None:
    """Newton's and Euler's rows are the inverse dynamics of the six coordinates that no motor drives."""
    assert np.abs(walk.problem.torques(walk.solution.z)[:, :6]).max() < 1e-5


def test_a_margin_moves_the_pressure_inwards(robot: Character) -> None:
    plan = plan_spacetime(robot, WALK, weights=SOFT, margin=0.015)
    size = np.hypot(plan.moment[:, :, 0], plan.moment[:, :, 1])
    assert plan.status is Status.CONVERGED
    assert (size <= 0.01 * plan.force[:, :, 2] + 1e-6).all()


def test_four_starts_find_one_plan(robot: Character, walk: SpacetimePlan) -> None:
    rng = np.random.default_rng(1)
    problem = walk.problem
    for _ in range(3):
        z = problem.still()
        v = z[:-3].reshape(problem.samples, -1)
        v[:, :18] += 0.05 * rng.standard_normal(18) + 0.02 * rng.standard_normal((problem.samples, 18))
        plan = solve_spacetime(problem, z)
        assert plan.status is Status.CONVERGED
        assert plan.objective == pytest.approx(walk.objective, rel=1e-4)


def test_a_weak_motor_gives_no_more_than_it_has(robot: Character, walk: SpacetimePlan) -> None:
    weak = tuple(motor.model_copy(update={"stall_torque": 0.6}) for motor in robot.motors)
    plan = plan_spacetime(robot.model_copy(update={"motors": weak}), WALK, weights=SOFT)
    assert plan.status is Status.CONVERGED
    assert np.abs(walk.torque).max() > 0.7
    assert np.abs(plan.torque).max() <= 0.6 + 1e-6


def test_planning_again_finds_what_planning_anew_finds(walk: SpacetimePlan) -> None:
    rng = np.random.default_rng(2)
    samples, model = walk.problem.samples, walk.problem.model
    effect = SkinEffect(
        np.tile(1e-3 * rng.standard_normal((1, len(model.points[0]) // 4, 3)), (samples, 1, 1)),
        torque=np.tile(0.05 * rng.standard_normal(model.nq), (samples, 1)),
        stiffness=0.2 * np.eye(model.nq),
    )
    again = replan(walk, effect, joints=walk.q + 0.01 * rng.standard_normal(model.nq))
    anew = solve_spacetime(again.problem)
    assert again.status is Status.CONVERGED
    assert again.problem.weights.follow == pytest.approx(1.1 * walk.problem.weights.follow)
    assert again.objective == pytest.approx(anew.objective, rel=1e-5)
    assert again.q == pytest.approx(anew.q, abs=1e-3)
    assert np.abs(again.torque - walk.torque).max() > 0.02


def test_following_harder_brings_the_plan_nearer(walk: SpacetimePlan) -> None:
    """The sum of squares of a term falls when its weight grows."""
    wished = walk.q + 0.02 * np.random.default_rng(3).standard_normal(walk.problem.model.nq)
    far = [((replan(walk, joints=wished, growth=growth).q - wished) ** 2).sum() for growth in (1.0, 10.0, 100.0)]
    assert far[2] < 0.99 * far[1] < 0.98 * far[0]


def test_without_dynamics_the_centre_of_mass_stays_over_the_soles(robot: Character) -> None:
    plan = plan_spacetime(robot, WALK, weights=SOFT, kinematic_only=True)
    com, soles = plan.moved
    assert plan.status is Status.CONVERGED
    for i in range(plan.problem.samples):
        stands = plan.problem.contacts[i].astype(bool)
        assert outside(soles[i, stands, :2], plan.problem.radius[stands], com[i, :2]) < 1e-5


def test_flight_becomes_ballistic(robot: Character) -> None:
    """A kinematic trot whose body falls slower than gravity: the plan follows it and falls with g in every sample of flight."""
    pairs = (("LF", 0.2), ("RH", 0.2), ("RF", 0.7), ("LH", 0.7))
    swings = tuple(Swing(f"{leg}.sole", start, start + 0.6) for leg, start in pairs)
    gait = Gait(0.6, pattern="custom", swings=swings, distance=(0.15, 0.0), turn=0.0, swing_height=0.03, samples=40)
    clip = plan_spacetime(robot, gait, weights=SOFT, kinematic_only=True)
    plan = plan_spacetime(robot, gait, Tracks(joints=clip.q), weights=SOFT)

    def falls(one: SpacetimePlan) -> np.ndarray:
        q = np.array([one.sample(k)[:18] for k in range(-1, 41)])
        z = kinematics(one.problem.model, q).com[:, 2]
        flying = ~one.problem.contacts.any(axis=1)
        return ((z[2:] - 2 * z[1:-1] + z[:-2]) / one.problem.step**2)[flying]

    assert plan.status is Status.CONVERGED
    assert len(falls(plan)) == 6
    assert np.abs(falls(clip) + GRAVITY).min() > 1.0
    assert falls(plan) == pytest.approx(-GRAVITY, abs=1e-5)
    assert np.sqrt(((plan.q - clip.q)[:, 6:] ** 2).mean()) < np.radians(8.0)


def test_lifting_a_foot_once_begins_and_ends_at_rest(robot: Character) -> None:
    gait = Gait(
        3.0, pattern="custom", periodic=False, swings=(Swing("LF.sole", 0.3, 0.7),), distance=(0.0, 0.0), turn=0.0, samples=40
    )
    plan = plan_spacetime(robot, gait, weights=SOFT)
    assert plan.status is Status.CONVERGED
    assert plan.q[[0, -1]] == pytest.approx(np.array([plan.problem.model.home] * 2), abs=1e-6)
    assert plan.moved[1][:, 0, 2].max() == pytest.approx(0.02, rel=0.02)
