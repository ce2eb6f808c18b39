"""The motion problem: its gradient is right, its gauge is hard, its torques are MuJoCo's."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.mirror import mirror_map
from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.model import CentroidalModel, centroidal_model
from bunraku.motion import Gait, HeightField
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.derivative_check import check_gradient
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.problem import Ends, MotionProblem, Waypoint
from bunraku.performers.locomotion.state import _mirror, state_problem

ROBOTS = ("swizzlebot", "agilebot", "walker", "skatebot", "creature3", "car")
T = 6


def anything(model: CentroidalModel, rng: np.random.Generator, **fields: object) -> MotionProblem:
    """A problem of random contacts and heights with every kind of row."""
    contacts = (rng.random((T, model.n_tips)) < 0.75).astype(np.int64)
    points = (Waypoint(2, 0.3, -1, (0.1, 0.2, 0.3), (1.0, 2.0, 0.0)), Waypoint(T - 1, 0.5, 0, (0.1, 0.2, 0.3), (1.0, 2.0, 1.0)))
    base = {
        "periodic": True,
        "travel": (0.5, 0.1, 0.3),
        "waypoints": (*points, Waypoint(1, 0.0, -2, (0.1, 0.2, 0.3), (3.0, 2.0, 1.0))),
    }
    return MotionProblem(model, contacts, 0.02 * rng.random(contacts.shape), 0.1, **(base | fields))


def assert_gradient(problem: MotionProblem, rng: np.random.Generator) -> None:
    z = problem.still() + 0.1 * rng.standard_normal(problem.size)
    shifts = 0.3 * rng.random(problem.zero_shifts().size)

    def gradient(at: np.ndarray) -> np.ndarray:
        _, _, _, _, g, gD = problem.assemble(at, 3.0, shifts)
        return np.concatenate([g.ravel(), gD])

    report = check_gradient(lambda at: problem.energy(at, 3.0, shifts), gradient, z, seed=1, scale=1e-2)
    assert report.holds, report


@pytest.mark.parametrize("name", ROBOTS)
def test_gradient_of_a_cycle(name: str) -> None:
    rng = np.random.default_rng(2)
    assert_gradient(anything(centroidal_model(read_character(name)), rng), rng)


@pytest.mark.parametrize("name", ["swizzlebot", "walker"])
def test_gradient_of_a_motion_that_happens_once(name: str) -> None:
    rng = np.random.default_rng(3)
    model = centroidal_model(read_character(name))
    before = np.concatenate([model.home + 0.1 * rng.standard_normal(model.nq), rng.standard_normal(3 * model.n_tips)])
    ends = Ends(start=model.home, before=before, end=model.home + 0.05, after=before + 0.1 * rng.standard_normal(model.nv))
    assert_gradient(anything(model, rng, periodic=False, travel=(0.5, np.nan, 0.3), ends=ends), rng)


def test_gradient_of_a_mirrored_half_cycle() -> None:
    rng = np.random.default_rng(4)
    character = read_character("walker")
    model = centroidal_model(character)
    assert_gradient(anything(model, rng, ends=Ends(mirror=_mirror(character, model))), rng)


def test_gradient_on_a_slope() -> None:
    rng = np.random.default_rng(5)
    x = np.arange(-40, 41) * 0.05
    slope = HeightField((-2.0, -2.0), 0.05, 0.2 * x[:, None] + 0.1 * x[None, :])
    model = centroidal_model(read_character("walker"))
    ends = Ends(start=model.home, before=np.concatenate([model.home, np.zeros(3 * model.n_tips)]))
    assert_gradient(anything(model, rng, periodic=False, ends=ends, terrain=slope), rng)


@pytest.mark.parametrize("name", ["walker", "agilebot"])
def test_gradient_on_hills(name: str) -> None:
    rng = np.random.default_rng(7)
    hills = HeightField((-2.0, -2.0), 0.1, 0.03 * rng.standard_normal((41, 41)))
    model = centroidal_model(read_character(name))
    ends = Ends(start=model.home, before=np.concatenate([model.home, np.zeros(3 * model.n_tips)]))
    assert_gradient(anything(model, rng, periodic=False, ends=ends, terrain=hills), rng)


def test_a_wrong_gradient_is_seen() -> None:
    rng = np.random.default_rng(2)
    problem = anything(centroidal_model(read_character("car")), rng)
    shifts = problem.zero_shifts()

    def wrong(at: np.ndarray) -> np.ndarray:
        _, _, _, _, g, gD = problem.assemble(at, 3.0, shifts)
        return 1.001 * np.concatenate([g.ravel(), gD])

    z = problem.still() + 0.1 * rng.standard_normal(problem.size)
    assert not check_gradient(lambda at: problem.energy(at, 3.0, shifts), wrong, z, seed=1, scale=1e-2).holds


def test_energy_does_not_depend_on_whether_derivatives_are_asked_for() -> None:
    rng = np.random.default_rng(6)
    problem = anything(centroidal_model(read_character("agilebot")), rng)
    z, shifts = problem.still() + 0.1 * rng.standard_normal(problem.size), rng.random(problem.zero_shifts().size)
    assert problem.assemble(z, 2.0, shifts)[0] == pytest.approx(problem.energy(z, 2.0, shifts), rel=1e-14)


def test_mirroring_twice_is_nothing() -> None:
    character = read_character("walker")
    permutation, sign = _mirror(character, centroidal_model(character))
    assert (permutation[permutation] == np.arange(len(permutation))).all()
    assert (sign * sign[permutation] == 1.0).all()
    assert mirror_map(character).coordinates["base.ty"] == ("base.ty", -1.0)


def test_the_gauge_is_hard() -> None:
    """The centre of mass itself goes as far as asked; with a soft anchor, metres away, the shift's turn would do that for it."""
    problem = state_problem(read_character("swizzlebot"), Gait(1.2, distance=(0.5, 0.0), turn=0.0), samples=12)
    found = AugmentedLagrangian().solve(problem, problem.still())
    q0 = found.z[: problem.model.nq]
    assert np.abs(q0[[0, 1, 3]]).max() < 1e-6
    assert found.z[-3:] == pytest.approx([0.5, 0.0, 0.0], abs=1e-5)
    assert MotionPlan(problem, found).displacement == pytest.approx((0.5, 0.0, 0.0), abs=1e-6)
