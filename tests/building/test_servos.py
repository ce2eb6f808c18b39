"""The component library: torque-speed lines, screws that fit, sources, unknown names."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.servos import SERVOS, HolePattern, Servo, off_wheel, on_wheel, rectangle, servo
from bunraku.building.tips import TIPS, payload, tip_model
from bunraku.errors import BadInput


@pytest.mark.parametrize("name", SERVOS)
def test_torque_falls_on_a_line_to_zero_at_the_no_load_speed(name: str) -> None:
    part = servo(name)
    motor = part.motor("m", "c", (-1.0, 1.0))
    assert motor.available_torque(0.0) == pytest.approx(part.stall_torque)
    assert motor.available_torque(part.no_load_speed / 2.0) == pytest.approx(part.stall_torque / 2.0)
    assert motor.available_torque(part.no_load_speed) == 0.0
    assert motor.continuous_torque == pytest.approx(part.stall_torque / 3.0)
    assert motor.model == name
    assert motor.source


def test_gains_are_said_to_be_ours_and_which_register_makes_them() -> None:
    """A P gain of P gives all of 885 steps, so the stall torque, at 885 * 128 / P of 4096 ticks a turn."""
    xm = servo("Dynamixel XM430-W210").motor("m", "c", None)
    assert xm.source.endswith("position gains are ours, a P gain of 1158")
    error = 885.0 * 128.0 / 1158.0 * 2.0 * np.pi / 4096.0
    assert xm.stall_torque is not None
    assert xm.stall_torque / error == pytest.approx(20.0, rel=1e-3)
    assert servo("MG995R").motor("m", "c", None).source.endswith("position gains are ours")


def test_a_wheel_motor_is_sent_speeds() -> None:
    """It has no position gains and no range, but one of its speed; taken off the wheel, it is a servo again."""
    part = servo("Dynamixel AX-12W")
    drive = part.wheel_motor("m", "c")
    assert (drive.stiffness, drive.damping, drive.range, drive.speed_gain) == (None, None, None, 0.1)
    assert drive.source.endswith("the gain of its speed is ours")
    plain = part.motor("m", "c", (-1.0, 1.0)).changed(delay=0.02)
    assert on_wheel(plain) == drive.changed(delay=0.02)
    assert off_wheel(on_wheel(plain), (-1.0, 1.0)) == plain
    own = plain.changed(model="home-made")
    assert (on_wheel(own).stiffness, on_wheel(own).speed_gain) == (None, None)


def test_the_figures_of_the_makers() -> None:
    xm = servo("Dynamixel XM430-W210")
    assert (xm.stall_torque, xm.mass) == (3.0, 0.082)
    assert xm.no_load_speed == pytest.approx(8.063, abs=1e-3)
    assert servo("MG995R").stall_torque == pytest.approx(20.0 * 9.80665 / 100.0, rel=2e-3)
    assert "generic" in servo("generic micro servo").source


@pytest.mark.parametrize("part", SERVOS.values(), ids=SERVOS)
def test_screws_stay_on_the_horn_and_the_shaft_in_the_case(part: Servo) -> None:
    if part.horn.count > 1:
        assert part.horn.radius + part.horn.hole_diameter / 2.0 < part.horn_radius
    assert abs(part.shaft_offset) + 0.004 < part.size[1] / 2.0  # the bearing stays inside the case
    assert part.flange.places().shape == (part.flange.count, 2)


def test_holes_stand_on_their_circle_and_apart() -> None:
    places = HolePattern(0.008, 0.002, 8, "M2", "").places()
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 0.008)
    np.testing.assert_allclose(np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1), 2 * 0.008 * np.sin(np.pi / 8))
    corners = rectangle(0.024, 0.010, 0.003, "M3", "")
    np.testing.assert_allclose(np.linalg.norm(corners.places(), axis=1), corners.radius)
    np.testing.assert_allclose(np.ptp(corners.places(), axis=0), [0.024, 0.010])


def test_wheels_say_their_drag() -> None:
    for model in TIPS.values():
        assert (model.rolling_resistance > 0.0) == (model.kind == "passive")
        assert model.source


def test_unknown_components_are_named() -> None:
    with pytest.raises(BadInput, match=r"'XM999'.*Dynamixel XM430-W210"):
        servo("XM999")
    with pytest.raises(BadInput, match="ball foot"):
        tip_model("hoof")
    with pytest.raises(BadInput, match="battery"):
        payload("sack")
