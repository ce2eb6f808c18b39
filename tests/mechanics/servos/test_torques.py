"""Torques of gestures: what holds a pose, and what the joints themselves take."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, Joint, Motor
from bunraku.formats.registry import read_character
from bunraku.mechanics.measures.motion import measure_motion
from bunraku.mechanics.servos.torques import gesture_torques, joint_torques
from bunraku.motion import JointCurves

RATE = 1000.0


def pendulum(**joint: object) -> Character:
    """A point of 2 kg, 0.3 m below a hinge about y, and a follower that turns twice as far."""
    return Character(
        name="pendulum",
        bodies=(Body(name="bob", mass=2.0, center_of_mass=(0.0, 0.0, -0.3)), Body(name="tail")),
        joints=(
            Joint(name="j", kind="hinge", parent="world", child="bob", axis=(0.0, 1.0, 0.0), **joint),  # type: ignore[arg-type]
            Joint(name="t", kind="hinge", parent="bob", child="tail", axis=(0.0, 1.0, 0.0), damping=0.1),
        ),
        couplings=(Coupling(driver="j", follower="t", ratio=2.0),),
        motors=(Motor(name="m", coordinate="j"),),
    )


def swing(size: float = 0.8, frequency: float = 2.0, seconds: float = 3.0) -> JointCurves:
    t = np.arange(int(seconds * RATE) + 1) / RATE
    q = size * np.sin(frequency * t)
    return JointCurves(("j", "t"), RATE, np.column_stack([q, 2.0 * q]))


def test_joints_take_damping_friction_and_armature() -> None:
    """Along q = a sin w t: I q'' + d q' + f sign(q') away from where it turns back, by closed form, and the follower's share."""
    character = pendulum(damping=0.3, friction=0.2, armature=0.01)
    motion = swing()
    t = motion.times
    v, a = 1.6 * np.cos(2.0 * t), -3.2 * np.sin(2.0 * t)
    fast = (np.abs(v) > 0.3) & (t > 0.01) & (t < 2.99)
    taken = joint_torques(character, motion)
    expected = 0.01 * a + 0.3 * v + 0.2 * np.sign(v) + 2.0 * 0.1 * 2.0 * v
    np.testing.assert_allclose(taken[fast, 0], expected[fast], atol=1e-4)
    np.testing.assert_array_equal(taken[:, 1], 0.0)
    slow = joint_torques(character, motion, armature=False)[fast, 0]
    np.testing.assert_allclose(slow, expected[fast] - 0.01 * a[fast], atol=1e-4)


def test_a_joint_without_losses_takes_nothing() -> None:
    character = pendulum().changed(couplings=(), bodies=(pendulum().bodies[0],), joints=(pendulum().joints[0],))
    assert not joint_torques(character, swing().chosen(("j",))).any()


def test_a_gesture_is_held_against_gravity() -> None:
    """Of a pendulum m g l sin q, which the motor holds up; damping on top of it."""
    motion = swing()
    held = gesture_torques(pendulum(), motion)[:, 0]
    q, v = motion.values[:, 0], 1.6 * np.cos(2.0 * motion.times)
    expected = 2.0 * 9.81 * 0.3 * np.sin(q) + 2.0 * 0.1 * 2.0 * v
    np.testing.assert_allclose(held[5:-5], expected[5:-5], atol=1e-4)


def test_a_robot_on_wheels_carries_itself_on_them() -> None:
    """The hips of Agilebot at home: half of the weight right of its middle stands on each of two legs, and they push up, not down.

    Were its legs to hang from the base, the torques of hip and knee would have the opposite sign.
    """
    robot = read_character("agilebot")
    home = JointCurves(robot.coordinates, 100.0, np.array([[robot.home.get(name, 0.0) for name in robot.coordinates]]))
    torque = dict(zip(robot.driven, gesture_torques(robot, home)[0], strict=True))
    hanging = robot.changed(end_effectors=())
    free = dict(zip(robot.driven, gesture_torques(hanging, home)[0], strict=True))
    knee = next(name for name in robot.driven if name.endswith("knee"))
    assert torque[knee] * free[knee] < 0.0
    assert abs(torque[knee]) > 3.0 * abs(free[knee])
    wheels = [torque[name] for name in robot.wheel_axles]
    assert wheels == pytest.approx([0.0] * 4, abs=1e-9)


def test_what_a_plan_takes_of_its_motors_counts_the_losses_of_joints() -> None:
    """A share of the stall torque: of a light arm that turns against damping nearly all of it."""
    light = pendulum(damping=0.5).changed(
        bodies=(Body(name="bob", mass=0.01, center_of_mass=(0.0, 0.0, -0.3)), Body(name="tail")),
        motors=(Motor(name="m", coordinate="j", stall_torque=2.0),),
    )
    motion = swing().chosen(("j",))
    figures = measure_motion(light, None, motion).figures
    assert figures["static_torque_share"] == pytest.approx((0.5 + 4.0 * 0.1) * 1.6 / 2.0, rel=0.02)
