"""Transitions: planned motions that continue two cycles, place and velocity, with footfalls that fit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.performers.locomotion.carried import after, between_poses, carried, cycle_shift
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.state import state_problem
from bunraku.performers.locomotion.transition import plan_transition, state_transition, supports

STAND = Gait(0.6, distance=(0.0, 0.0), turn=0.0)
SWIZZLE = Gait(1.2, distance=(0.5, 0.0), turn=0.0)


def unsolved(character, gait, samples):
    """A plan whose samples are the first guess: enough for its footfalls."""
    problem = state_problem(character, gait, samples=samples)
    return MotionPlan(problem, SimpleNamespace(z=problem.still()))


@pytest.fixture(scope="module")
def swizzlebot():
    return read_character("swizzlebot")


@pytest.fixture(scope="module")
def walker():
    return read_character("walker")


@pytest.fixture(scope="module")
def cycles(swizzlebot):
    solver = AugmentedLagrangian(tolerance=1e-9)
    return {
        name: plan_motion(swizzlebot, gait.changed(samples=round(gait.duration / 0.05)), solver=solver).plan
        for name, gait in (("stand", STAND), ("swizzle", SWIZZLE))
    }


def test_shifts_are_a_group_that_acts_on_samples():
    rng = np.random.default_rng(0)
    v, F, S = rng.standard_normal((5, 8 + 6)), rng.standard_normal(3), rng.standard_normal(3)
    np.testing.assert_allclose(carried(carried(v, 8, S), 8, F), carried(v, 8, after(F, S)), atol=1e-14)
    D = between_poses(v[0], v[1])
    np.testing.assert_allclose(carried(v[0], 8, D)[[0, 1, 3]], v[1][[0, 1, 3]], atol=1e-14)
    forces = carried(v, 8, F)[:, 8:].reshape(5, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(forces, axis=2), np.linalg.norm(v[:, 8:].reshape(5, 2, 3), axis=2), rtol=1e-14)


def test_the_shift_of_a_cycle_carries_its_samples(cycles):
    plan = cycles["swizzle"]
    nq = plan.problem.model.nq
    np.testing.assert_allclose(carried(plan.sample(5), nq, cycle_shift(plan)), plan.sample(5 + plan.cycle), atol=1e-12)


def test_cycles_are_left_in_the_middle_of_full_support(walker, swizzlebot):
    crawl = unsolved(walker, Gait(1.2, "crawl", distance=(0.12, 0.0)), 48)
    assert supports(crawl) == (0, 12, 24, 36)  # four swings of 0.18, each in the middle of a quarter
    assert supports(unsolved(swizzlebot, SWIZZLE, 24)) == (0, 6, 12, 18)


@pytest.mark.parametrize(("source", "target"), [("stand", "crawl"), ("crawl", "stand"), ("crawl", "turn")])
def test_every_foot_swings_once_and_flags_continue_on_both_sides(walker, source, target):
    gaits = {
        "stand": Gait(0.3, distance=(0.0, 0.0), turn=0.0),
        "crawl": Gait(1.2, "crawl", distance=(0.12, 0.0)),
        "turn": Gait(1.2, "crawl", distance=(0.0, 0.0), turn=0.3),
    }
    plans = {name: unsolved(walker, gaits[name], round(gaits[name].duration / 0.025)) for name in (source, target)}
    leave, enter = supports(plans[source])[0], supports(plans[target])[-1]
    problem = state_transition(plans[source], plans[target], leave, enter, pause=0.1)
    whole = np.vstack([problem.ends.contacts_before, problem.contacts, problem.ends.contacts_after])
    np.testing.assert_array_equal((np.diff(whole, axis=0) < 0).sum(axis=0), 1)
    np.testing.assert_array_equal((np.diff(whole, axis=0) > 0).sum(axis=0), 1)
    np.testing.assert_array_equal(problem.contacts[[0, -1]], 1)
    assert (problem.heights[problem.contacts == 1] == 0.0).all()
    assert (problem.heights[problem.contacts == 0] > 0.0).all()
    assert problem.samples == 48 + 1 + 4


def test_weights_count_per_sample_as_in_the_cycle(walker):
    crawl = unsolved(walker, Gait(1.2, "crawl", distance=(0.12, 0.0)), 48)
    stand = unsolved(walker, Gait(0.3, distance=(0.0, 0.0), turn=0.0), 12)
    problem = state_transition(stand, crawl, 0, 0, pause=0.3)
    np.testing.assert_allclose(problem.weights.at(problem.intervals), crawl.problem.weights.at(48), rtol=1e-12)


@pytest.mark.parametrize(("source", "target"), [("stand", "swizzle"), ("swizzle", "stand")])
def test_newton_holds_at_every_sample_across_the_seams(swizzlebot, cycles, source, target):
    """Centres of mass by the tree: M (x+ - 2 x + x-) / h^2 = sum f - M g z, on both cycles, the transition, and where they meet."""
    a, b = cycles[source], cycles[target]
    one = plan_transition(a, b, tries=1)
    assert one.good
    model, h = a.problem.model, a.problem.step
    rows = [a.samples(one.leave - 5, one.leave - 1), one.plan.unknowns]
    rows.append(carried(b.samples(one.enter + 1, one.enter + 5), model.nq, one.plan.shift))
    v = np.concatenate(rows)
    tree = compile_tree(swizzlebot)
    rotation, position = tree.poses(tree.expand(tuple(model.names), v[:, : model.nq]))
    com = np.einsum("i,nij->nj", tree.mass, position + np.einsum("nijk,ik->nij", rotation, tree.center_of_mass)) / tree.mass.sum()
    force = v[:, model.nq :].reshape(len(v), -1, 3).sum(axis=1)
    force[:, 2] -= tree.mass.sum() * GRAVITY
    found = tree.mass.sum() * np.diff(com, 2, axis=0) / h**2
    np.testing.assert_allclose(found, force[1:-1], atol=2e-6)
    np.testing.assert_allclose(v[5, : model.nq], a.sample(one.leave)[: model.nq], atol=2e-8)
    last = carried(b.sample(one.enter), model.nq, one.plan.shift)
    np.testing.assert_allclose(v[-6, : model.nq], last[: model.nq], atol=2e-8)


def test_cycles_of_other_steps_are_refused(swizzlebot):
    with pytest.raises(BadInput, match="one robot and step"):
        state_transition(unsolved(swizzlebot, STAND, 12), unsolved(swizzlebot, SWIZZLE, 12), 0, 0)
