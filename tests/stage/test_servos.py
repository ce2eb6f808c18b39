"""Servo positions: the add-on's own formula, calibrations, layouts."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.stage.blender_servo import export_blender_servo
from bunraku.stage.servos import ServoCalibration, calibrated, calibrations


def addon_position(radians: float, servo: ServoCalibration) -> int:
    """The formula as the add-on's documentation states it, in degrees, one number at a time."""
    degrees = math.degrees(radians) * servo.multiplier * (-1 if servo.reverse else 1)
    share = (servo.neutral_deg - degrees) / servo.range_deg
    return round(share * (servo.position_max - servo.position_min) + servo.position_min)


SERVOS = [
    ServoCalibration(),
    ServoCalibration(position_min=500, position_max=2500, neutral_deg=100.0, range_deg=270.0),
    ServoCalibration(position_min=0, position_max=180, reverse=True, multiplier=0.5),
]


@pytest.mark.parametrize("servo", SERVOS)
def test_positions_follow_the_formula_and_invert_to_half_a_step(performance, servo):
    channel = performance.channels[0]
    found = calibrated(channel, channel.values, servo, 50.0)
    assert found.tolist() == [addon_position(value, servo) for value in channel.values]
    back = (found - servo.at_zero) / servo.per_radian
    assert np.abs(back - channel.values).max() <= 0.5 / abs(servo.per_radian) * (1 + 1e-12)


def test_a_reversed_servo_mirrors_about_neutral(performance):
    values = performance.channels[0].values
    plain = calibrated(performance.channels[0], values, ServoCalibration(position_min=500, position_max=2500), 50.0)
    turned = calibrated(performance.channels[0], -values, ServoCalibration(position_min=500, position_max=2500, reverse=True), 50.0)
    np.testing.assert_array_equal(plain, turned)


def test_the_example_of_the_live_protocol_is_the_neutral_position():
    assert addon_position(0.0, ServoCalibration()) == 375
    channel = Channel("servo", "position", "rad", 50.0, np.zeros(1))
    assert calibrated(channel, channel.values, ServoCalibration(), 50.0).tolist() == [375]


def test_out_of_range_is_refused_by_name_and_time(performance):
    narrow = {"HeadYaw": {"range_deg": 60.0, "neutral_deg": 30.0}}
    with pytest.raises(BadInput, match=r"'HeadYaw' needs position .* at 0\.\d+ s, outside .* with --servos FILE"):
        export_blender_servo(performance, servos=narrow)


@pytest.mark.parametrize(
    ("servos", "message"),
    [
        ({"Nose": {}}, "'Nose', which is no channel"),
        ({"HeadYaw": {"id": 1}}, "share the servo id 1"),
        ({"HeadYaw": {"position_min": 600, "position_max": 150}}, "position_min 600 must be below"),
        ({"HeadYaw": {"pulse": 3}}, "'HeadYaw'.*pulse"),
        ({"HeadYaw": 5}, "'HeadYaw' is '5'; fields are needed, by name: id, position_min"),
        ({"HeadYaw": [1, 2]}, "'HeadYaw' is .*fields are needed"),
        ({"HeadYaw": {1: 2}}, "'HeadYaw' is .*fields are needed"),
        (5, "servos is '5'; a calibration of each channel"),
    ],
)
def test_bad_calibrations_are_refused(performance, servos, message):
    with pytest.raises(BadInput, match=message):
        calibrations(performance.channels, servos)


def test_a_servo_without_fields_has_the_default_calibration(performance):
    assert calibrations(performance.channels, {"HeadYaw": None}) == calibrations(performance.channels, None)


def test_the_three_layouts_hold_the_same_integers(performance):
    servos = {"HeadYaw": {"id": 9, "position_min": 1000, "position_max": 2000}}
    table = json.loads(export_blender_servo(performance, servos=servos))
    named = json.loads(export_blender_servo(performance, servos=servos, keys="name"))["positions"]
    nested = json.loads(export_blender_servo(performance, servos=servos, layout="servos"))["servos"]
    frames = json.loads(export_blender_servo(performance, servos=servos, layout="frames"))["positions"]
    assert (table["fps"], table["frames"], table["seconds"]) == (50, 76, 2)
    assert list(table["positions"]) == ["9", "1", "2"]
    expected = calibrated(
        performance.channels[0], performance.channels[0].values, ServoCalibration(position_min=1000, position_max=2000), 50.0
    )
    assert table["positions"]["9"] == expected.tolist()
    assert all(isinstance(number, int) for row in table["positions"].values() for number in row)
    assert [named["HeadYaw"], named["Head Pitch/1"], named["class"]] == list(table["positions"].values())
    assert {key: part["positions"] for key, part in nested.items()} == table["positions"]
    assert nested["9"]["name"] == "HeadYaw"
    assert {key: [frame[key] for frame in frames] for key in frames[0]} == table["positions"]


def test_fewer_frames_are_every_kth_sample_or_refused(performance):
    full = json.loads(export_blender_servo(performance))["positions"]
    half = json.loads(export_blender_servo(performance, fps=25))
    assert half["fps"] == 25
    assert half["frames"] == 38
    assert half["positions"] == {key: row[::2] for key, row in full.items()}
    with pytest.raises(BadInput, match="30 Hz does not divide the motor rate of 50 Hz"):
        export_blender_servo(performance, fps=30)


def test_a_velocity_channel_and_a_length_are_refused_by_name(performance):
    spin = Channel("wheel", "velocity", "rad/s", 50.0, np.zeros(76))
    with pytest.raises(BadInput, match="'wheel' is a velocity, which the blender-servo format cannot express"):
        export_blender_servo(performance.changed(channels=(*performance.channels, spin)))
    slide = Channel("rail", "position", "m", 50.0, np.zeros(76))
    with pytest.raises(BadInput, match="'rail' is in m"):
        export_blender_servo(performance.changed(channels=(slide,), wish=JointCurves(("rail",), 50.0, slide.values[:, None])))
