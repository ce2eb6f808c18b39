"""Footfalls moved in time where motors are too weak: the first way that spares them, and a sentence that says why."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.motion import Clip, Gait, Swing
from bunraku.optimization.solution import Status
from bunraku.performers.skin.retime import SPARE, WAYS, retime, torque_use


def hop(character, feet=4):
    """Two pairs of feet, the second leaving before the first comes down; or only one foot that lifts."""
    names = [tip.name for tip in character.end_effectors]
    swings = [Swing(name, 0.2, 0.5) if k < 2 else Swing(name, 0.4, 0.7) for k, name in enumerate(names[:feet])]
    return Clip("hop", gait=Gait(1.0, "custom", False, swings=tuple(swings), samples=21))


def plan_of(character, torque, speed=0.0, status=Status.CONVERGED):
    """What a plan shows of itself: all motors with the same torque, turning evenly."""
    names = [motor.coordinate for motor in character.motors]
    times = np.linspace(0.0, 1.0, 11)
    q = np.tile(speed * times[:, None], (1, len(names)))
    problem = SimpleNamespace(model=SimpleNamespace(names=names, mass=4.0), step=0.1, contacts=np.tile([1, 1, 0, 0], (11, 1)))
    force = np.zeros((11, 4, 3))
    force[:, :, 2] = 20.0
    return SimpleNamespace(problem=problem, q=q, torque=np.full((11, len(names)), torque), force=force, times=times, status=status)


def test_the_use_of_a_motor_is_on_one_on_its_line(puppet):
    character = puppet.model.character
    motor = character.motors[0]
    line = motor.stall_torque * (1.0 - 2.0 / motor.no_load_speed)
    assert torque_use(character, plan_of(character, line, 2.0)) == pytest.approx(1.0)
    assert torque_use(character, plan_of(character, -line, 2.0)) == pytest.approx(line / motor.stall_torque)


@pytest.mark.parametrize("helps", [0, 1, 2, 4])
def test_the_first_way_that_spares_the_motors_is_taken(puppet, helps):
    character = puppet.model.character
    stall = character.motors[0].stall_torque
    seen = []

    def planned(clip):
        seen.append(clip)
        return plan_of(character, stall if len(seen) <= helps else 0.9 * SPARE * stall)

    found = retime(character, hop(character), planned)
    assert found.helped
    assert found.way == WAYS[helps]
    assert found.clip is seen[-1]
    assert len(seen) == helps + 1
    assert found.clip.gait.duration == pytest.approx(WAYS[helps][1])
    assert bool(found.why) == bool(helps)
    if helps:
        assert "needs 100 % of its torque" in found.sentence


def test_what_cannot_be_helped_is_said(puppet):
    character = puppet.model.character
    found = retime(character, hop(character), lambda clip: plan_of(character, 1.0, status=Status.INFEASIBLE))
    assert not found.helped
    assert found.way == WAYS[-1]
    assert "does not help enough" in found.sentence


def test_a_lifted_foot_is_not_a_flight(puppet):
    character = puppet.model.character
    stall = character.motors[0].stall_torque
    seen = []

    def planned(clip):
        seen.append(clip)
        return plan_of(character, stall if len(seen) == 1 else 0.5 * stall)

    found = retime(character, hop(character, 1), planned)
    assert found.way == (1.0, 1.15)
    assert found.clip.gait.swings == hop(character, 1).gait.swings
    assert "flights" not in found.sentence
