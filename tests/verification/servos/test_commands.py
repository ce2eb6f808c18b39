"""What servos make of what they are sent: ticks, resolution, delay, the rate of the commands, slower devices."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.commands import Commands, commanded, drive
from bunraku.verification.servos.drives import tick_drives
from bunraku.verification.worlds import World, fixed_worlds


def arm(**motor: float | str) -> Character:
    return Character(
        name="arm",
        bodies=(Body(name="rod", mass=0.1, inertia=(4e-4, 4e-4, 1e-5, 0, 0, 0)),),
        joints=(Joint(name="swing", kind="hinge", parent="world", child="rod", axis=(0, 1, 0)),),
        motors=(Motor(name="servo", coordinate="swing", **motor),),
    )


def test_a_servo_goes_straight_from_command_to_command_and_knows_how_fast() -> None:
    bank = ServoBank.of(arm())
    sent = Commands(np.array([[0.0], [0.1], [0.4], [0.2]]), 10.0)
    times = np.array([-0.05, 0.05, 0.1, 0.15, 0.25, 0.4])
    place, rate = commanded(bank, sent, times, late=np.zeros(1))
    np.testing.assert_allclose(place[:, 0], [0.0, 0.05, 0.1, 0.25, 0.3, 0.2], atol=1e-12)
    np.testing.assert_allclose(rate[:, 0], [0.0, 1.0, 3.0, 3.0, -2.0, 0.0], atol=1e-9)
    late, _ = commanded(bank, sent, times + 0.03, late=np.array([0.03]))
    np.testing.assert_allclose(late, place, atol=1e-12)


def test_commands_come_in_steps_of_the_resolution() -> None:
    bank = ServoBank.of(arm(resolution=0.1))
    place, _ = commanded(bank, Commands(np.linspace(0, 1, 21)[:, None], 20.0), np.arange(21) / 20.0, late=np.zeros(1))
    np.testing.assert_allclose(place / 0.1, np.round(place / 0.1), atol=1e-9)
    assert np.abs(place[:, 0] - np.linspace(0, 1, 21)).max() <= 0.05 + 1e-9


def test_the_derivative_acts_on_the_error_or_on_the_speed() -> None:
    """The drive is kp c + kv w where it acts on the error; kp c where it acts on the joint's own speed."""
    for derivative, expected in (("error", 3.0 * 0.5 + 0.2 * 2.0), ("speed", 3.0 * 0.5)):
        bank = ServoBank.of(arm(stiffness=3.0, damping=0.2, derivative=derivative))
        assert drive(bank, np.array([[0.5]]), np.array([[2.0]]))[0, 0] == pytest.approx(expected)


def test_a_device_of_half_the_rate_leaves_out_every_second_command() -> None:
    sent = Commands(np.arange(11.0)[:, None] ** 2, 100.0)
    np.testing.assert_array_equal(sent.at_rate(50.0).values[:, 0], np.arange(0.0, 11.0, 2.0) ** 2)
    assert sent.at_rate(50.0).duration == sent.duration


def test_encoders_and_jitter_are_drawn_by_the_seed_alone() -> None:
    """The same seed, the same disturbance; its size is what was asked for: kp times the noise, slope times the jitter."""
    bank = ServoBank.of(arm(stiffness=3.0, damping=0.0))
    times, sent = np.arange(4000) / 1000.0, Commands(np.zeros((2001, 1)), 500.0)
    noisy = tick_drives(bank, sent, World(noise=0.01, seed=5), times)
    np.testing.assert_array_equal(noisy, tick_drives(bank, sent, World(noise=0.01, seed=5), times))
    assert (noisy != tick_drives(bank, sent, World(noise=0.01, seed=6), times)).any()
    assert noisy.std() == pytest.approx(3.0 * 0.01, rel=0.05)
    ramp = Commands(np.arange(2001.0)[:, None] / 500.0, 500.0)
    still, shaken = (tick_drives(bank, ramp, World(jitter=j, seed=1), times) for j in (0.0, 1e-4))
    assert np.mean(still - shaken) == pytest.approx(3.0 * 1e-4 * np.sqrt(2.0 / np.pi), rel=0.1)


def test_the_fixed_worlds_keep_to_what_is_stated() -> None:
    """The usual first; stated gains vary a little, unstated ones by two; a plan that needs more grip gets just that."""
    guessed, stated = ServoBank.of(arm()), ServoBank.of(arm(stiffness=3.0))
    worlds = fixed_worlds(guessed, 200.0)
    assert (float(worlds[0].gain[0]), worlds[0].friction, worlds[0].rate) == (1.0, 0.8, 200.0)
    assert {float(world.gain[0]) for world in worlds} == {0.5, 1.0, 2.0}
    assert {float(world.gain[0]) for world in fixed_worlds(stated, 200.0)} == {0.8, 1.0, 1.25}
    assert {(world.friction, world.rate) for world in worlds} == {(0.8, 200.0), (0.6, 200.0), (0.8, 100.0), (0.6, 100.0)}
    assert {world.friction for world in fixed_worlds(guessed, 200.0, 1.0)} == {1.0}
