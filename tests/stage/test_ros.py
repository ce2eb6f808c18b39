"""ROS trajectories: what the velocities mean."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves, MotionLimits
from bunraku.stage.channels import central_velocities
from bunraku.stage.ros import export_ros


def arrays(data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    points = json.loads(data)["points"]
    times = np.array([point["time_from_start"]["sec"] + 1e-9 * point["time_from_start"]["nanosec"] for point in points])
    return times, np.array([point["positions"] for point in points]), np.array([point["velocities"] for point in points])


def test_positions_and_times_read_back(performance):
    content = json.loads(export_ros(performance, frame_id="base"))
    times, positions, _ = arrays(export_ros(performance))
    assert content["joint_names"] == list(performance.motion.names)
    assert content["header"] == {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": "base"}
    assert all(0 <= point["time_from_start"]["nanosec"] < 1_000_000_000 for point in content["points"])
    np.testing.assert_array_equal(positions, performance.motion.values)
    np.testing.assert_allclose(times, performance.motion.times, rtol=0, atol=0.5e-9)


def test_velocities_integrate_back_to_a_quarter_of_the_second_difference_exactly(performance):
    times, x, v = arrays(export_ros(performance, stop=False))
    integral = x[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * np.diff(times)[:, None] * (v[1:] + v[:-1]), axis=0)])
    expected = np.zeros_like(x)
    expected[1:-1] = 0.25 * np.diff(x, n=2, axis=0)
    np.testing.assert_allclose(integral - x, expected, rtol=0, atol=1e-9)
    assert np.abs(integral - x).max() < 5e-3


def test_velocities_converge_with_order_two_to_the_derivative():
    errors = []
    for rate in (50.0, 100.0, 200.0):
        t = np.arange(int(rate) + 1) / rate
        found = central_velocities(np.sin(3.0 * t)[:, None], rate)[1:-1, 0]
        errors.append(np.abs(found - 3.0 * np.cos(3.0 * t[1:-1])).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.05)


def test_velocities_keep_the_limit_that_the_steps_keep(performance):
    rng = np.random.default_rng(3)
    steps = rng.uniform(-1.0, 1.0, size=(200, 3)) * MotionLimits.of(performance.character).velocity / 50.0
    values = np.cumsum(steps, axis=0)
    assert (np.abs(central_velocities(values, 50.0)) <= 4.0 * (1 + 1e-12)).all()


def test_the_last_point_stops_unless_told_otherwise(performance):
    assert (arrays(export_ros(performance))[2][-1] == 0.0).all()
    assert (np.abs(arrays(export_ros(performance, stop=False))[2][-1]) > 0.1).all()


def test_accelerations_are_second_differences(performance):
    points = json.loads(export_ros(performance, accelerations=True))["points"]
    found = np.array([point["accelerations"] for point in points])
    np.testing.assert_allclose(found[1:-1], np.diff(performance.motion.values, n=2, axis=0) * 2500.0)
    assert json.loads(export_ros(performance))["points"][5]["accelerations"] == []


def test_thinning_and_refusal(performance):
    _, positions, velocities = arrays(export_ros(performance, rate=10.0, stop=False))
    np.testing.assert_array_equal(positions, performance.motion.values[::5])
    np.testing.assert_allclose(velocities[1:-1], (positions[2:] - positions[:-2]) * 5.0)
    torque = Channel("HeadYaw", "torque", "N·m", 50.0, np.zeros(76))
    with pytest.raises(BadInput, match="'HeadYaw' is a torque, which the ros format cannot express"):
        export_ros(performance.changed(channels=(*performance.channels[1:], torque), wish=_wish(performance.channels[1:])))


def _wish(channels):
    return JointCurves(tuple(c.name for c in channels), 50.0, np.column_stack([c.values for c in channels]))


def test_torques_and_nothing_else_are_efforts(performance):
    push = 2.0 * np.sin(np.arange(76.0))
    channels = tuple(Channel(name, "torque", "N·m", 50.0, push * j) for j, name in enumerate(performance.motion.names))
    curves = performance.motion
    points = json.loads(export_ros(performance.changed(channels=channels, wish=curves)))["points"]
    np.testing.assert_array_equal([point["effort"] for point in points], np.column_stack([push * 0.0, push, push * 2.0]))
    assert all(point["positions"] == point["velocities"] == [] for point in points)


def test_a_driven_wheel_has_its_speed_as_told_and_its_place_from_the_motion(performance):
    wheel = Channel("class", "velocity", "rad/s", 50.0, np.linspace(1.0, 3.0, 76))
    channels = (*performance.channels[:2], wheel)
    mixed = performance.changed(channels=channels, wish=_wish(channels[:2]))
    _, positions, velocities = arrays(export_ros(mixed))
    np.testing.assert_array_equal(velocities[:, 2], wheel.values)
    np.testing.assert_array_equal(positions, performance.motion.values)
    assert (velocities[-1, :2] == 0.0).all()
    roll = Channel("roll", "velocity", "rad/s", 50.0, wheel.values)
    only = json.loads(export_ros(performance.changed(channels=(roll,))))["points"]
    assert only[7]["positions"] == []
    assert only[7]["velocities"] == [wheel.values[7]]
    with pytest.raises(BadInput, match="'roll' is a velocity and has no position beside the others"):
        export_ros(mixed.changed(channels=(*channels[:2], roll)))


def test_the_torque_of_a_motor_that_is_told_a_place_is_left_out(performance):
    name = performance.channels[0].name
    proof = Channel(name, "torque", "N·m", performance.rate, np.ones(len(performance.motion.values)))
    assert export_ros(performance.changed(channels=(*performance.channels, proof))) == export_ros(performance)
