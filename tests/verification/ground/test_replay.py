"""Replays on the ground against closed forms: coasting, driving, braking, rolling downhill, sagging servos, falls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.character import Shape
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.motion import HeightField
from bunraku.verification.ground.replay import replay_on_ground

mujoco = pytest.importorskip("mujoco")

G, RADIUS, MASS = 9.81, 0.03, 1.08
ROLLING = MASS + 4 * 0.5 * 0.02
"""Mass and the wheels' turning inertia over the square of their radius [kg]."""


def test_a_car_coasts_down_by_its_rolling_resistance(make_car, make_going, driving) -> None:
    """M dv/dt = -4 c v: the speed falls as exp(-4 c t / M), the way is v0 M / (4 c) (1 - exp(-4 c t / M))."""
    car, drag = make_car("passive", drag=0.5), 0.5
    result = replay_on_ground(make_going(car, driving(car, 0.5, 1.0), 200.0), friction=0.8)
    slower = np.exp(-4 * drag * 1.0 / ROLLING)
    assert not result.fell
    assert result.measures.distance == pytest.approx(0.5 * ROLLING / (4 * drag) * (1.0 - slower), rel=2e-3)
    assert result.record.qvel[-1, 0] == pytest.approx(0.5 * slower, rel=5e-3)


@pytest.mark.parametrize("gain", [0.5, 2.0])
def test_a_car_drives_where_it_is_told(make_car, make_going, driving, gain: float) -> None:
    """At constant speed each motor gives d v r against the drag of its wheel; the way is v t with hardly any slip.

    Sent w + d r^2 w / kv for the wheel's speed w, it goes at w; one g times as strong gets the same and goes at
    g kv (w + d r^2 w / kv) / (g kv + d r^2).
    """
    car, drag, speed, kv = make_car("active", drag=0.5), 0.5, 0.5, 0.1
    q = driving(car, speed, 1.0)
    torque = {f"axle{i}": np.full(len(q), drag * speed * RADIUS) for i in range(4)}
    sent = speed / RADIUS + drag * speed * RADIUS / kv
    speeds = {name: np.full(len(q), sent) for name in torque}
    going = make_going(car, q, 200.0, torque, speeds=speeds)
    result = replay_on_ground(going, friction=0.6)
    other = replay_on_ground(going, gain=gain, friction=0.6).measures.distance
    assert other == pytest.approx(RADIUS * gain * kv * sent / (gain * kv + drag * RADIUS**2), rel=2e-4)
    measures = result.measures
    assert measures.distance == pytest.approx(0.5, rel=2e-4)
    assert measures.velocity_error < 1e-3
    assert measures.distance_error < 1e-3
    assert measures.slip < 1e-6
    np.testing.assert_allclose(np.sqrt(np.mean(result.record.torque**2, axis=0)), drag * speed * RADIUS, rtol=0.02)
    np.testing.assert_allclose(measures.planned_utilisation, drag * speed * RADIUS / 1.5 + speed / RADIUS / 60.0, rtol=1e-9)
    np.testing.assert_allclose(measures.peak_utilisation, measures.planned_utilisation, rtol=2e-3)


@pytest.mark.parametrize("friction", [0.6, 0.8])
def test_locked_wheels_brake_with_the_friction_of_the_floor(make_car, make_going, driving, friction: float) -> None:
    """Wheels told to stand slide to rest in v^2 / (2 mu g)."""
    car = make_car("active")
    q, speed = driving(car, 0.8, 0.4), 0.8
    speeds = {f"axle{i}": np.zeros(len(q)) for i in range(4)}
    result = replay_on_ground(make_going(car, q, 200.0, speeds=speeds), friction=friction)
    assert result.measures.distance == pytest.approx(speed**2 / (2 * friction * G), rel=0.02)
    assert abs(result.record.qvel[-1, 0]) < 1e-3


@pytest.mark.parametrize(("kind", "share"), [("welded", 0.6), ("ball", 0.6)])
def test_slip_is_the_way_that_feet_slide(make_car, make_going, driving, kind: str, share: float) -> None:
    """Feet that do not turn, started at v, slide v^2 / (2 mu g), and that is what is reported."""
    sled = make_car(kind)
    q = driving(sled, 0.5, 0.4)
    result = replay_on_ground(make_going(sled, q, 200.0), friction=share)
    way = 0.5**2 / (2 * share * G)
    assert result.measures.distance == pytest.approx(way, rel=0.02)
    assert result.measures.slip == pytest.approx(way, rel=0.06)


def test_wheels_roll_down_a_slope(make_car, make_going, driving) -> None:
    """On a height field that falls at 8 degrees a car without drag gains g sin(a) M / (M + 4 I / r^2) along it."""
    car, angle = make_car("passive"), np.radians(8.0)
    ground = HeightField.slope(-angle, start=-1.0, length=4.0)
    q = driving(car, 0.0, 0.5)
    along, normal = np.array([np.cos(angle), -np.sin(angle)]), np.array([np.sin(angle), np.cos(angle)])
    q[:, 0], q[:, 2] = np.array([0.0, -np.tan(angle)]) + 0.05 * normal
    q[:, car.coordinates.index("base.ry")] = angle
    result = replay_on_ground(make_going(car, q, 200.0), terrain=ground)
    np.testing.assert_allclose(result.plan.clearance, 0.0, atol=1e-9)
    moved = (result.record.com[-1] - result.record.com[0])[[0, 2]]
    assert moved @ along == pytest.approx(0.5 * G * np.sin(angle) * MASS / ROLLING * 0.5**2, rel=0.02)
    assert abs(moved @ normal) < 5e-4


def test_servos_sag_by_torque_over_stiffness_unless_the_torque_is_fed_forward(make_going) -> None:
    """Standing, a servo gives tau = kp (command - q): off by tau / kp; told tau as well, it stands where it should."""
    walker = read_character("walker")
    home = np.array([walker.home.get(name, 0.0) for name in walker.coordinates])
    q = np.tile(home, (101, 1))
    sagging = replay_on_ground(make_going(walker, q, 200.0), gain=1.0)
    torque, off = sagging.record.torque[-1], sagging.record.angle[-1] - sagging.plan.angle[-1]
    resolution = walker.motors[0].resolution
    np.testing.assert_allclose(off, -torque / 20.0, atol=resolution)
    assert np.abs(off).max() > 3 * resolution
    told = {name: np.full(len(q), torque[j]) for j, name in enumerate(walker.driven)}
    upright = replay_on_ground(make_going(walker, q, 200.0, told), gain=1.0)
    assert np.abs(upright.record.angle[-1] - upright.plan.angle[-1]).max() < resolution
    np.testing.assert_allclose(upright.record.force[-1, :, 3].sum(), G * sum(body.mass for body in walker.bodies), rtol=1e-3)


def test_it_falls_when_the_motion_cannot_be_kept(make_car, make_going, driving) -> None:
    """Wheels of the front axle alone do not hold the car: its rear goes down, and says so; with a body to see, it touches."""
    car = make_car("passive")
    front = car.changed(end_effectors=car.end_effectors[:2], bodies=tuple(body.changed(shapes=()) for body in car.bodies))
    q = driving(front, 0.0, 1.0)
    leaning = replay_on_ground(make_going(front, q, 200.0))
    assert leaning.fell
    assert "leans" in leaning.reason or "sank" in leaning.reason
    assert len(leaning.record.times) < len(q)
    solid = front.changed(bodies=(car.bodies[0].changed(shapes=(Shape(kind="box", size=(0.12, 0.06, 0.03)),)), *front.bodies[1:]))
    touching = replay_on_ground(make_going(solid, q, 200.0))
    assert "body, which is no end effector, touches the ground" in touching.reason
    assert touching.record.touched < 0.3


@pytest.mark.skipif(not hasattr(mujoco.mjtSensor, "mjSENS_CONTACT"), reason="nothing to compare with")
def test_contacts_that_are_looked_up_are_those_that_sensors_feel(make_car, make_going, driving, monkeypatch) -> None:
    """Without sensors of contacts, as before MuJoCo 3.3.5: wheels that slide to rest, and a body that touches."""
    car, box = make_car("active"), Shape(kind="box", size=(0.12, 0.06, 0.03))
    q = driving(car, 0.8, 0.4)
    sliding = make_going(car, q, 200.0, speeds={f"axle{i}": np.zeros(len(q)) for i in range(4)})
    front = car.changed(end_effectors=car.end_effectors[:2], bodies=(car.bodies[0].changed(shapes=(box,)), *car.bodies[1:]))
    tipping = make_going(front, driving(front, 0.0, 1.0), 200.0)
    felt = [replay_on_ground(one) for one in (sliding, tipping)]
    assert felt[0].record.force[..., 1:].max(axis=(0, 1)).all()
    assert np.isfinite(felt[1].record.touched)
    monkeypatch.setattr("bunraku.verification.ground.model.contact_sensors", lambda: False)
    for sensed, one in zip(felt, (sliding, tipping), strict=True):
        seen = replay_on_ground(one)
        assert int(mujoco.mjtSensor.mjSENS_USER) in seen.ground.model.sensor_type
        np.testing.assert_array_equal(seen.record.qpos, sensed.record.qpos)
        np.testing.assert_allclose(seen.record.force, sensed.record.force, rtol=1e-9, atol=1e-9)
        np.testing.assert_equal(seen.record.touched, sensed.record.touched)
        assert seen.reason == sensed.reason


def test_what_cannot_be_replayed_is_said(make_car, make_going, driving) -> None:
    car = make_car("active")
    going = make_going(car, driving(car, 0.5, 0.1), 200.0)
    with pytest.raises(BadInput, match="friction of 0"):
        replay_on_ground(going, friction=0.0)
    with pytest.raises(BadInput, match="does not go over the ground"):
        replay_on_ground(replace(going, character=car.changed(end_effectors=())))
