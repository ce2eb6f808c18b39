"""Gains of the servos of a character that goes: as stated, else scaled with the robot."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.verification.ground.servo import WHEEL_GAIN, ground_servos


def _with_motors(character, **stated):
    return character.changed(motors=tuple(motor.changed(**stated) for motor in character.motors))


def test_stated_gains_are_used_at_half_once_and_twice() -> None:
    """Kp in proportion to the gain, kv to its root: the damping ratio stays."""
    stiff = _with_motors(read_character("walker"), stiffness=100.0, damping=4.0)
    for gain in (0.5, 1.0, 2.0):
        servos = ground_servos(stiff, gain)
        np.testing.assert_allclose(servos.stiffness, 100.0 * gain)
        np.testing.assert_allclose(servos.damping, 4.0 * np.sqrt(gain))


def test_unstated_gains_scale_with_the_robot() -> None:
    """Kp = stall torque / 0.185 rad and kv = 0.8 sqrt(kp M h^2 / 4): 20 and 0.35 for the walker, whose motors state 20."""
    walker = read_character("walker")
    servos = ground_servos(_with_motors(walker, stiffness=None, damping=None))
    mass = sum(body.mass for body in walker.bodies)
    np.testing.assert_allclose(servos.stiffness, 3.7 / 0.185, rtol=1e-9)
    height = servos.damping / (0.4 * np.sqrt(servos.stiffness * mass))
    assert 0.1 < height[0] < 0.2
    assert servos.damping[0] == pytest.approx(0.35, rel=0.01)
    strong = ground_servos(_with_motors(walker, stiffness=None, damping=None, stall_torque=4.0 * 3.7))
    np.testing.assert_allclose(strong.stiffness, 4.0 * servos.stiffness)
    np.testing.assert_allclose(strong.damping, 2.0 * servos.damping)


def test_wheels_have_a_gain_of_their_own() -> None:
    """The damping a motor states is that of a position servo: a wheel's velocity servo does not take it, a leg's does."""
    agilebot = read_character("agilebot")
    for robot in (agilebot, _with_motors(agilebot, damping=7.0)):
        servos = ground_servos(robot, 2.0)
        assert servos.wheel.sum() == 4
        np.testing.assert_allclose(servos.damping[servos.wheel], 2.0 * WHEEL_GAIN)
        np.testing.assert_allclose(servos.damping[~servos.wheel], np.sqrt(2.0) * robot.motors[0].damping)
        np.testing.assert_allclose(servos.stiffness[servos.wheel], 0.0)


def test_without_a_stall_torque_a_joint_is_as_stiff_as_toppling_asks() -> None:
    """Kp = 9 M g h of the whole robot, h = 0.16 m as its unstated damping has it."""
    walker = read_character("walker")
    servos = ground_servos(_with_motors(walker, stiffness=None, damping=None, stall_torque=None))
    mass = sum(body.mass for body in walker.bodies)
    height = servos.damping / (0.4 * np.sqrt(servos.stiffness * mass))
    np.testing.assert_allclose(servos.stiffness, 9.0 * mass * 9.81 * height, rtol=1e-3)
