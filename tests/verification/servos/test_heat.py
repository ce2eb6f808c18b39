"""The warmth of windings against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.heat import heat_checks, winding_heat


def bank(**motor: float) -> ServoBank:
    return ServoBank.of(
        Character(
            name="arm",
            bodies=(Body(name="rod", mass=0.1, inertia=(4e-4, 4e-4, 1e-5, 0, 0, 0)),),
            joints=(Joint(name="swing", kind="hinge", parent="world", child="rod", axis=(0, 1, 0)),),
            motors=(Motor(name="servo", coordinate="swing", **motor),),
        )
    )


def test_a_winding_warms_up_with_its_time_constant() -> None:
    """Held at twice what it may have for ever: w = 4 (1 - exp(-t / T)); a pulse cools down again, so the largest counts."""
    servo, held = bank(continuous_torque=0.5, winding_time=20.0), np.full((6000, 1), 1.0)
    warm = winding_heat(servo, held, 0.001, repeats=False)
    assert warm[0] == pytest.approx(4.0 * (1.0 - np.exp(-6.0 / 20.0)), rel=1e-6)
    pulse = np.vstack([held, np.zeros((30000, 1))])
    assert winding_heat(servo, pulse, 0.001, repeats=False)[0] == pytest.approx(warm[0], rel=1e-9)
    assert heat_checks(servo, warm)[0].broken
    assert heat_checks(servo, winding_heat(servo, 0.4 * held, 0.001, repeats=False))[0].holds


def test_what_repeats_ends_at_the_mean_square() -> None:
    torque = np.sin(np.linspace(0.0, 2.0 * np.pi, 1000, endpoint=False))[:, None]
    servo = bank(continuous_torque=0.5, winding_time=20.0)
    assert winding_heat(servo, torque, 0.001, repeats=True)[0] == pytest.approx(0.5 / 0.25, rel=1e-9)
    # for ever and a very long while are the same
    long = winding_heat(servo, np.tile(torque, (200, 1)), 0.001, repeats=False)
    assert long[0] == pytest.approx(2.0, rel=0.01)
    assert winding_heat(bank(continuous_torque=0.5), torque, 0.001, repeats=False)[0] == pytest.approx(2.0, rel=1e-9)


def test_a_motor_whose_continuous_torque_nobody_states_is_not_checked() -> None:
    (check,) = heat_checks(bank(stall_torque=2.0), np.array([np.nan]))
    assert check.state == "not checked"
    assert "continuous_torque_n_m of servo" in check.missing
    assert not check.stands_against
