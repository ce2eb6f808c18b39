"""What performers send to servos: the plan where nobody states gains, commands where somebody does; nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.motion import Clip, JointCurves, MotionLimits, Performance
from bunraku.performers.performer import make_performer
from bunraku.stage.devices.device import Device
from bunraku.stage.player.check import checked_values
from bunraku.stage.player.outputs import outputs_of
from bunraku.stage.servos import ServoCalibration

RATE = 50.0


def arm(**motor: object) -> Character:
    """Two links of 0.5 kg that reach out from a wall, their joints with losses."""
    links = [("a", "world"), ("b", "a")]
    return Character(
        name="arm",
        bodies=tuple(Body(name=name, mass=0.5, center_of_mass=(0.15, 0.0, 0.0)) for name, _ in links),
        joints=tuple(
            Joint(
                name=name, kind="hinge", parent=parent, child=name, axis=(0, 1, 0), range=(-1.0, 1.0), damping=0.02, friction=0.05
            )
            for name, parent in links
        ),
        motors=tuple(Motor(name=name, coordinate=name, rate=RATE, velocity=3.0, **motor) for name, _ in links),  # type: ignore[arg-type]
    )


def waving(size: float = 0.6) -> Clip:
    wave = size * np.sin(2.0 * np.arange(int(4 * RATE) + 1) / RATE)
    return Clip("wave", joints=JointCurves(("a", "b"), RATE, np.column_stack([wave, -wave])))


def spoken(**motor: object) -> Performance:
    return make_performer("speech").perform(arm(**motor), waving())


def test_a_gesture_is_planned_alike_whatever_the_gains() -> None:
    """Stated gains change what is sent, by about the sag under the arm's own weight, and neither plan nor deviation."""
    loose, stiff = spoken(), spoken(stiffness=30.0, damping=0.4)
    np.testing.assert_array_equal(loose.sent().values, loose.positions().values)
    np.testing.assert_array_equal(stiff.positions().values, loose.positions().values)
    np.testing.assert_array_equal(stiff.motion.values, loose.motion.values)
    ahead = stiff.sent().values - stiff.positions().values
    sag = 9.81 * 0.5 * (0.15 + 0.15) / 30.0  # of both links, stretched out, at the first joint
    assert -1.5 * sag < ahead[:, 0].min() < -0.7 * sag
    assert stiff.certificate.figures == loose.certificate.figures


def test_the_certificate_judges_plan_and_commands() -> None:
    """The old names stay those of the plan; without stated gains there is nothing to add."""
    loose, stiff = spoken(), spoken(stiffness=30.0, damping=0.4)
    plan = [check.name for check in loose.certificate.checks]
    more = [check.name for check in stiff.certificate.checks if check.name not in plan]
    assert more == ["range excess of the commands", "velocity excess of the commands", "worst limit violation of the commands"]
    assert stiff.certificate.holds
    excess = MotionLimits.of(stiff.character).excess(stiff.sent().values, RATE)
    assert excess.relative <= 1e-9


def test_commands_can_be_played() -> None:
    """The player looks at range, speed and acceleration of every channel before anything moves."""
    made = spoken(stiffness=4.0, damping=0.2, acceleration=8.0)
    assert np.abs(made.sent().values - made.positions().values).max() > 0.2
    servo = ServoCalibration(position_min=0, position_max=4095, range_deg=360.0, neutral_deg=180.0)
    device = Device(name="d", driver="dry-run", rate_hz=RATE, servos={"a": servo.changed(id=1), "b": servo.changed(id=2)})
    rate, table = checked_values(made, outputs_of([made], device))
    assert rate == RATE
    np.testing.assert_array_equal(table, made.sent().values)


def test_a_chain_goes_on_from_the_plan() -> None:
    """A second performer that changes nothing sends what the first one sent: the feed-forward is not added twice."""
    stiff = arm(stiffness=30.0, damping=0.4)
    once = make_performer("speech").perform(stiff, waving())
    twice = make_performer("speech").perform(stiff, once.as_clip())
    np.testing.assert_allclose(twice.sent().values, once.sent().values, atol=1e-12)


@pytest.mark.parametrize("derivative", ["error", "speed"])
def test_a_gait_is_sent_its_planned_torques(derivative: str) -> None:
    """Walker: commands obey the law of its servos with the torque channels beside them; there is no wish."""
    walker = read_character("walker")
    walker = walker.changed(motors=tuple(motor.changed(derivative=derivative) for motor in walker.motors))
    made = make_performer("locomotion", {"samples": 48}).perform(walker, replace(read_clip("crawl"), name="crawl"))
    assert made.wish is None
    gains, rate = servo_gains(walker), made.rate
    torque = {channel.name: channel.values for channel in made.channels if channel.kind == "torque"}
    for k, name in enumerate(gains.coordinates):
        q, c = made.motion.column(name), made.sent().column(name)
        e, kp, kv = c - q, gains.stiffness[k], gains.damping[k]
        assert np.abs(e).max() > 0.005
        if derivative == "speed":
            np.testing.assert_allclose(kp * e, torque[name] + kv * np.gradient(q, 1.0 / rate), atol=1e-9)
        else:
            given = kp * 0.5 * (e[1:] + e[:-1]) + kv * np.diff(e) * rate
            np.testing.assert_allclose(given, 0.5 * (torque[name][1:] + torque[name][:-1]), atol=0.02)
    plain = walker.changed(motors=tuple(motor.changed(stiffness=None, damping=None) for motor in walker.motors))
    angles = make_performer("locomotion", {"samples": 48}).perform(plain, read_clip("crawl"))
    np.testing.assert_array_equal(angles.sent().values, angles.positions().values)
