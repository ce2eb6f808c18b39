"""Where carriages go with the root as one plate, which wishes they can go with, and which start comes first."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import JointCurves
from bunraku.performers.marionette.carriage_path import fit_root, rigid_path
from bunraku.performers.marionette.problem import state_puppet_problem
from bunraku.performers.marionette.solve import starts

RATE, SECONDS = 50.0, 2.0


@pytest.fixture(scope="module")
def puppet():
    return read_character("marionette")


def wish(root, **curves):
    """A wish of the root's coordinates, each a function of time [s]."""
    t = np.arange(round(SECONDS * RATE) + 1) / RATE
    return JointCurves(tuple(f"{root}.{name}" for name in curves), RATE, np.column_stack([curve(t) for curve in curves.values()]))


def smooth(t):
    s = np.clip(t / SECONDS, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


@pytest.fixture(scope="module")
def root(puppet):
    return next(joint.name for joint in puppet.joints if joint.parent == "world")


def stated(puppet, asked):
    return state_puppet_problem(puppet, asked, rate=RATE, blend=0.0)


def carriages(problem, u):
    """Places (N, carriages, 2) that the inputs lead to, in the order of the limits."""
    limits = CarriageLimits.of(problem.character)
    place = {problem.system.names[j]: i for i, j in enumerate(problem.system.kinematic)}
    k = u[:, problem.system.nu :][:, [place[name] for name in limits.names[: 2 * len(limits.carriages)]]]
    return k.reshape(len(u), -1, 2)


def test_a_slow_turn_carries_the_plate_round_with_the_root(puppet, root):
    """The plate ends turned by as much as the root, every arm as long as it was, and the puppet hangs below it as before."""
    angle = 1.2
    problem = stated(puppet, wish(root, rz=lambda t: angle * smooth(t)))
    places = carriages(problem, problem.rigid[1])
    c, s = np.cos(angle), np.sin(angle)
    home = Points(problem.system, [puppet.joints[0].child]).positions(problem.rest[None, : problem.system.nq])[0, 0, :2]
    np.testing.assert_allclose(places[-1] - home, (places[0] - home) @ np.array([[c, s], [-s, c]]), atol=2e-2)
    first = starts(problem)[0]
    np.testing.assert_allclose(first[1], problem.rigid[1], atol=1e-12)
    assert problem.cost.value(*first) < 0.3 * problem.cost.value(*problem.still)


def test_the_rigid_start_comes_first_only_where_carriages_keep_apart(puppet, root):
    """A shaking heading low-passed leaves the plate in place; one that spins draws all carriages to the middle, where they meet."""
    spinning = stated(puppet, wish(root, rz=lambda t: 12.0 * np.pi * smooth(t)))
    gaps = CarriageLimits.of(puppet).separation
    places = carriages(spinning, spinning.rigid[1])
    pairs = CarriageLimits.of(puppet).pairs
    apart = np.linalg.norm(places[:, pairs[:, 0]] - places[:, pairs[:, 1]], axis=2)
    assert (apart < gaps).any()
    np.testing.assert_array_equal(starts(spinning)[0][1], spinning.still[1])


def test_the_start_is_hanging_still_alone_where_nothing_leads_the_root(puppet, root):
    assert len(starts(stated(puppet, wish(root, tz=lambda t: 0.0 * t)))) == 1


@pytest.mark.parametrize(("reach", "scaled"), [(0.8, False), (3.0, True)])
def test_a_root_that_leaves_the_range_is_moved_or_scaled_into_it(puppet, root, reach, scaled):
    """The whole plate is in range all along, the path is s r + b, no narrower than it must be; the problem says what was done."""
    asked = wish(root, tx=lambda t: reach * smooth(t), ty=lambda t: 0.2 * reach * np.sin(np.pi * t))
    problem = stated(puppet, asked)
    rest = problem.rest[: problem.system.nq]
    fitted = fit_root(puppet, problem.system, rest, asked)
    assert (fitted.scale < 1.0) is scaled
    np.testing.assert_allclose(fitted.wish.values, fitted.scale * asked.values + np.array(fitted.shift), atol=1e-9)
    np.testing.assert_allclose(problem.wish.column(f"{root}.tx"), fitted.wish.column(f"{root}.tx"), atol=1e-12)
    path = problem.points.positions(problem.q)[:, :, :2]
    assert np.abs(path).max() < 0.6 + 0.2
    k = rigid_path(puppet, problem.system, rest, problem.q, RATE)
    excess = CarriageLimits.of(puppet).excess(k, 1.0 / RATE)
    assert excess.range == 0.0
    assert fitted.notes == problem.notes
    assert "the wish leaves the carriages' range" in problem.notes[0]
    if scaled:  # one carriage stands at the drawn-in end of its range on both sides
        assert f"{fitted.scale:.2f} times" in problem.notes[0]
        span = fitted.wish.values[:, 0].max() - fitted.wish.values[:, 0].min()
        assert 0.7 < span < 1.08


@pytest.mark.parametrize("reach", [0.2, 0.45])
def test_a_wish_within_reach_is_left_as_it_is(puppet, root, reach):
    """Also one that needs the whole range of the carriages, 0.45 m and the arms to the foremost one."""
    asked = wish(root, tx=lambda t: reach * smooth(t), ty=lambda t: 0.0 * t, rz=lambda t: 0.1 * smooth(t))
    problem = stated(puppet, asked)
    fitted = fit_root(puppet, problem.system, problem.rest[: problem.system.nq], asked)
    assert (fitted.scale, fitted.shift, fitted.notes, problem.notes) == (1.0, (0.0, 0.0), (), ())
    np.testing.assert_array_equal(fitted.wish.values, asked.values)


def test_a_root_wished_along_one_axis_alone_is_fitted_too(puppet, root):
    asked = wish(root, tx=lambda t: 3.0 * smooth(t))
    problem = stated(puppet, asked)
    assert "the wish leaves the carriages' range" in problem.notes[0]
    k = rigid_path(puppet, problem.system, problem.rest[: problem.system.nq], problem.q, RATE)
    assert CarriageLimits.of(puppet).excess(k, 1.0 / RATE).range == 0.0
