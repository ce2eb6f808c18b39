"""Joint damping and friction: told to the servos, and taken from what their motors leave for the motion."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Joint
from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.performers.locomotion.played import _own_torque


def test_a_joint_takes_armature_damping_and_friction() -> None:
    """Along q = sin 2t: I a + d v + f sign(v) away from where it turns back, by closed form."""
    joint = Joint(name="knee", kind="hinge", parent="a", child="b", damping=0.3, friction=0.2, armature=0.01)
    rate = 1000.0
    t = np.arange(3001) / rate
    tau = _own_torque(joint, np.sin(2.0 * t), rate)
    v, a = 2.0 * np.cos(2.0 * t), -4.0 * np.sin(2.0 * t)
    fast = (np.abs(v) > 0.3) & (t > 0.01) & (t < 2.99)
    np.testing.assert_allclose(tau[fast], (0.01 * a + 0.3 * v + 0.2 * np.sign(v))[fast], atol=1e-4)


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
