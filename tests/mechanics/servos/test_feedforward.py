"""Commands of servos against closed forms, and against a servo simulated by the law that they are made for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.arrays import Array
from bunraku.mechanics.servos.feedforward import command_offsets, servo_commands
from bunraku.mechanics.servos.gains import ServoGains
from bunraku.motion import MotionLimits

RATE = 100.0
GAINS = ServoGains(
    names=("a", "b"),
    coordinates=("a", "b"),
    stiffness=np.array([20.0, 50.0]),
    damping=np.array([0.3, 2.0]),
    stated=np.array([True, True]),
    on_error=np.array([True, True]),
    wheel=np.array([False, False]),
)


def limits(reach: float = np.inf, speed: float = np.inf, k: int = 2) -> MotionLimits:
    names = tuple("abcd"[:k])
    free = np.full(k, np.inf)
    return MotionLimits(names, np.full(k, -reach), np.full(k, reach), np.full(k, speed), free, free)


def plan(n: int = 200, size: float = 0.4) -> tuple[Array, Array]:
    """Smooth angles (n, 2) and their speeds."""
    t = np.arange(n) / RATE
    w = np.array([5.0, 3.0])
    return size * np.sin(np.outer(t, w)), size * w * np.cos(np.outer(t, w))


def test_a_constant_torque_is_its_share_of_the_stiffness() -> None:
    """E = tau / kp, from the first sample on."""
    torque = np.tile([3.0, -4.0], (50, 1))
    offset = command_offsets(GAINS, np.zeros((50, 2)), torque, RATE)
    np.testing.assert_allclose(offset, np.tile([0.15, -0.08], (50, 1)), rtol=1e-12)


def test_the_offset_solves_the_law_of_the_servo() -> None:
    """Kp e + kv e' = tau by closed form for a torque that rises steadily, and by a fine solution for one that swings."""
    t = np.arange(400) / RATE
    ramp = np.column_stack([8.0 * t, -2.0 * t])
    offset = command_offsets(GAINS, np.zeros((400, 2)), ramp, RATE)
    T = GAINS.damping / GAINS.stiffness
    expected = np.array([8.0, -2.0]) / GAINS.stiffness * (t[:, None] - T * (1.0 - np.exp(-t[:, None] / T)))
    np.testing.assert_allclose(offset, expected, atol=1e-12)
    fine = np.arange(400 * 200) / (200 * RATE)
    torque = np.interp(fine, t, np.sin(9.0 * t))
    e = np.empty(len(fine))
    e[0] = 0.0
    for i in range(1, len(fine)):
        e[i] = e[i - 1] + (0.5 * (torque[i] + torque[i - 1]) - 20.0 * e[i - 1]) / 0.3 / (200 * RATE)
    swing = command_offsets(GAINS, np.zeros((400, 2)), np.sin(9.0 * t)[:, None] * [1.0, 1.0], RATE)[:, 0]
    np.testing.assert_allclose(swing, e[::200], atol=2e-5)


def test_one_that_damps_its_own_speed_is_sent_more() -> None:
    angle, speed = plan()
    own = replace(GAINS, on_error=np.array([False, False]))
    offset = command_offsets(own, speed, np.full_like(angle, 2.0), RATE)
    np.testing.assert_allclose(offset, (2.0 + GAINS.damping * speed) / GAINS.stiffness)


def test_without_damping_the_command_follows_the_torque_at_once() -> None:
    angle, speed = plan()
    stiff = replace(GAINS, damping=np.zeros(2))
    torque = np.random.default_rng(3).normal(size=angle.shape)
    np.testing.assert_allclose(command_offsets(stiff, speed, torque, RATE), torque / GAINS.stiffness, atol=1e-12)


def test_a_servo_that_is_sent_this_gives_the_planned_torque() -> None:
    """The law with the rate of commands that go straight from sample to sample: its mean torque over a sample is the plan's."""
    angle, speed = plan()
    torque = np.column_stack([np.sin(np.arange(200) / 15.0), 2.0 * np.cos(np.arange(200) / 11.0)])
    sent = servo_commands(GAINS, angle, speed, torque, RATE, limits())
    e = sent - angle
    given = GAINS.stiffness * 0.5 * (e[1:] + e[:-1]) + GAINS.damping * np.diff(e, axis=0) * RATE
    np.testing.assert_allclose(given, 0.5 * (torque[1:] + torque[:-1]), atol=0.02)


def test_servos_of_unstated_gains_are_sent_plain_angles() -> None:
    """Bit for bit, whatever torque is planned, and beside one that is stated."""
    angle, speed = plan()
    torque = np.full_like(angle, 3.0)
    loose = replace(GAINS, stated=np.array([False, False]))
    np.testing.assert_array_equal(servo_commands(loose, angle, speed, torque, RATE, limits(0.3, 0.1)), angle)
    mixed = servo_commands(replace(GAINS, stated=np.array([False, True])), angle, speed, torque, RATE, limits())
    np.testing.assert_array_equal(mixed[:, 0], angle[:, 0])
    assert np.abs(mixed[:, 1] - angle[:, 1]).min() > 0.01


@pytest.mark.parametrize("speed_limit", [2.3, 5.0])
def test_commands_keep_range_and_speed(speed_limit: float) -> None:
    """Exactly the range; the speed to rounding; a plan within its limits is never left without a command."""
    angle, speed = plan()
    torque = 40.0 * np.sign(np.sin(np.arange(200) / 7.0))[:, None] * [1.0, 1.0]
    sent = servo_commands(GAINS, angle, speed, torque, RATE, limits(0.41, speed_limit))
    assert np.abs(sent).max() <= 0.41
    assert np.abs(np.diff(sent, axis=0)).max() * RATE <= speed_limit * (1.0 + 1e-12)
    assert np.abs(sent - angle).max() > 0.05
    free = servo_commands(GAINS, angle, speed, torque, RATE, limits())
    assert np.abs(free).max() > 1.0


def test_commands_keep_the_limits_also_where_the_plan_does_not() -> None:
    angle, speed = plan()
    sent = servo_commands(GAINS, angle, speed, np.ones_like(angle), RATE, limits(0.3, 0.5))
    assert np.abs(sent).max() <= 0.3
    assert np.abs(np.diff(sent, axis=0)).max() * RATE <= 0.5 * (1.0 + 1e-12)


def test_a_range_that_depends_on_another_coordinate_is_that_of_the_commands() -> None:
    """As a player looks at it: b may go less far the farther a is sent, though the plan has it at its very end."""
    knots = np.array([[0.0, -0.4, 0.4], [0.5, 0.0, 0.0]])
    tied = replace(limits(1.0, 5.0), dependents=((1, 0, knots),))
    a = 0.2 + 0.05 * np.sin(np.arange(200) / 20.0)
    angle = np.column_stack([a, 0.4 - 0.8 * a])
    sent = servo_commands(GAINS, angle, np.gradient(angle, 1.0 / RATE, axis=0), np.tile([2.0, 0.0], (200, 1)), RATE, tied)
    assert (sent[:, 0] - a).min() > 0.09
    assert tied.excess(sent, RATE).range.max() <= 1e-12
    assert (angle[:, 1] - sent[:, 1]).min() > 0.07


def wheels(stated: bool = True) -> ServoGains:
    return replace(
        GAINS, stiffness=np.zeros(2), damping=np.array([0.1, 0.4]), wheel=np.array([True, True]), stated=np.array([stated, stated])
    )


def test_a_wheel_is_sent_its_speed_and_the_torque_over_its_gain() -> None:
    angle, speed = plan()
    torque = np.full_like(angle, 0.02)
    np.testing.assert_allclose(servo_commands(wheels(), angle, speed, torque, RATE, limits()), speed + np.array([0.2, 0.05]))
    np.testing.assert_array_equal(servo_commands(wheels(False), angle, speed, torque, RATE, limits()), speed)
    most = np.abs(speed).max()
    assert np.abs(servo_commands(wheels(), angle, speed, torque, RATE, limits(speed=most))).max() == most
