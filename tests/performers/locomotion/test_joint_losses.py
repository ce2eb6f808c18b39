"""Joint damping and friction: told to the servos, and taken from what their motors leave for the motion."""

from __future__ import annotations

import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.model import centroidal_model


def test_what_a_motor_leaves_for_the_motion_is_its_line_less_the_joint() -> None:
    """Tau + f + d v on the motor's own line is tau on the line of the model, at every driving speed."""
    walker = read_character("walker")
    lossy = walker.changed(
        joints=tuple(joint if joint.kind == "free" else joint.changed(friction=0.2, damping=0.05) for joint in walker.joints)
    )
    motor, model = walker.motors[0], centroidal_model(lossy)
    i = model.names.index(motor.coordinate)
    for v in (0.0, 1.0, 3.0):
        own = motor.torque_fraction * motor.stall_torque * (1.0 - v / motor.no_load_speed)
        left = model.stall[i] * (1.0 - v / model.no_load[i])
        assert left + 0.2 + 0.05 * v == pytest.approx(own, rel=1e-9)
