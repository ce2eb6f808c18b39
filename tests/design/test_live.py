"""A motion that follows the hand: bounded work while dragging, the very motion of the edited design when let go."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.robot_design import built_in_design
from bunraku.design.live import LiveMotion
from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip
from bunraku.motion import Swing

CASES = {
    "swizzle": ("swizzlebot", "F.hip x", 0.012),
    "crawl": ("walker", "F.knee z", 0.008),
    "slalom": ("agilebot", "F.knee z", 0.025),
}

SAMPLES = {"swizzle": 12, "crawl": 24, "slalom": 16}


def opened(clip):
    """A live motion of a built-in robot, and the dimension that is dragged."""
    robot, name, move = CASES[clip]
    design = built_in_design(robot)
    motion = LiveMotion(design, read_clip(clip).gait, samples=SAMPLES[clip])
    return motion, name, float(design.initial[design.index(name)]), move


@pytest.mark.parametrize("clip", list(CASES))
def test_drags_of_a_dimension_meet_the_rows_and_end_where_the_design_is_solved(clip):
    motion, name, value, move = opened(clip)
    motion.learn()
    for share in (0.25, 0.5, 0.75, 1.0):
        plan = motion.drag(parameters={name: value + share * move})
        assert plan.solution.factorizations <= 8
        assert plan.solution.residual <= 1e-4
    dragged = plan.solution.objective
    released = motion.release().solution
    assert released.status.good
    assert dragged == pytest.approx(released.objective, rel=0.02)
    fresh = LiveMotion(motion.design, motion.gait, samples=SAMPLES[clip], parameters=motion.parameters).plan.solution
    assert released.objective == pytest.approx(fresh.objective, rel=2e-3)
    assert motion.character == motion.design.character(motion.parameters)


def test_what_was_learnt_brings_a_long_drag_nearer():
    found = []
    for learn in (False, True):
        motion, name, value, move = opened("slalom")
        if learn:
            motion.learn()
        found.append(motion.drag(parameters={name: value + move}).solution)
    assert found[1].factorizations < found[0].factorizations
    assert found[1].residual < 0.5 * found[0].residual


def test_nothing_is_learnt_from_a_motion_that_is_being_dragged():
    motion, name, value, move = opened("swizzle")
    motion.drag(parameters={name: value + move})
    motion.learn()
    assert motion._known is None
    motion.release()
    motion.learn()
    assert motion._known is not None


def test_goal_and_dimension_at_once():
    motion, name, value, move = opened("swizzle")
    length = motion.gait.distance[0]
    motion.drag(parameters={name: value + move}, distance=(1.05 * length, None))
    assert motion.gait.distance == (1.05 * length, motion.gait.distance[1])
    assert motion.release().displacement[0] == pytest.approx(1.05 * length, abs=1e-5)
    assert motion.parameters[motion.design.index(name)] == value + move


def test_a_target_is_followed():
    motion, _, _, _ = opened("slalom")
    motion.drag(targets={0: (None, 0.21, None)})
    released = motion.release().solution
    fresh = LiveMotion(motion.design, motion.gait, samples=16).plan.solution
    assert motion.gait.targets[0].place[1] == 0.21
    assert released.objective == pytest.approx(fresh.objective, rel=1e-3)


def test_what_cannot_be_built_changes_nothing():
    motion, name, value, _ = opened("swizzle")
    plan, gait, p = motion.plan, motion.gait, motion.parameters.copy()
    for changes in ({name: value + 1.0}, {"wing span": 0.1}):
        with pytest.raises(BadInput):
            motion.drag(parameters=changes, distance=(9.0, None))
    assert motion.plan is plan
    assert motion.gait is gait
    assert np.array_equal(motion.parameters, p)


def test_another_footfall_begins_from_the_last_motion_where_sizes_agree():
    motion, _, _, _ = opened("crawl")
    gait = motion.gait
    other = gait.changed(swing_height=1.2 * gait.swing_height)
    warm = motion.regait(other).solution
    cold = LiveMotion(motion.design, other, samples=24).plan.solution
    assert warm.status.good
    assert warm.objective == pytest.approx(cold.objective, rel=1e-3)
    assert warm.iterations < cold.iterations
    assert motion.gait == other


def test_another_footfall_of_another_size_is_solved_afresh():
    design = built_in_design("walker")
    gait = read_clip("crawl").gait
    motion = LiveMotion(design, gait)
    before = motion.size
    swings = tuple(Swing(name, k / 4.0, k / 4.0 + 0.2) for k, name in enumerate(("LF", "RH", "RF", "LH")))
    names = motion.plan.problem.model.tip_names
    swings = tuple(Swing(names[k], swing.start, swing.end) for k, swing in enumerate(swings))
    plan = motion.regait(gait.changed(pattern="custom", swings=swings, air=None, samples=30))
    assert plan.solution.status.good
    assert motion.size != before
    assert np.all((plan.problem.contacts == 0).sum(axis=0) > 0)


def test_curves_are_those_of_the_plan():
    motion, _, _, _ = opened("swizzle")
    curves = motion.curves(rate=1.0 / motion.plan.problem.step)
    names = motion.plan.problem.model.names
    values = np.column_stack([curves.column(name) for name in names])
    n = min(len(values), motion.plan.problem.samples)
    assert np.allclose(values[:n], motion.plan.q[:n], atol=1e-9)
    assert set(curves.names) == set(motion.character.coordinates)
