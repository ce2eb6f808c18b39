"""Device files: what is written is read back, and what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.formats.schema import json_schema
from bunraku.formats.yaml_file import load_yaml
from bunraku.stage.devices.device_yaml import has_comments, read_device, write_device
from bunraku.stage.devices.reported import check_numbers
from bunraku.stage.player.described import DEFAULTS, described_device, out_of_reach
from bunraku.stage.player.limits import limits_of
from bunraku.stage.servos import ServoCalibration

TEXT = """bunraku: device/1
name: head
driver: dynamixel
port: /dev/ttyUSB0
baud: 1000000
servos:
  yaw: {id: 3, position_min: 0, position_max: 4095, soft_min: 1000, soft_max: 3000, neutral_deg: 180,
    range_deg: 360, offset_deg: -4.5}
  winch: {id: 4, span_m: [0.2, 1.4]}
"""


def saved(folder: Path, text: str) -> Path:
    path = folder / "head.device.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("driver", list(DEFAULTS))
@pytest.mark.parametrize("name", ["nao", "puppet-arm", "car"])
def test_what_is_described_is_written_read_back_and_fits_the_schema(tmp_path: Path, driver, name: str) -> None:
    device = described_device(read_character(name), driver)
    path = tmp_path / "x.device.yaml"
    write_device(path, device)
    assert read_device(path) == device
    jsonschema.validate(load_yaml(path.read_bytes(), file="x")[0], json_schema("device"))


def test_a_file_by_hand_is_read_and_maps_as_it_says(tmp_path: Path) -> None:
    device = read_device(saved(tmp_path, TEXT))
    yaw, winch = device.servos["yaw"], device.servos["winch"]
    assert device.ids == (3, 4)
    assert (yaw.low, yaw.high) == (1000, 3000)
    zero, slope = yaw.line("rad", "yaw")
    # a = 180 - (angle - 4.5 deg), position = a / 360 * 4095
    assert zero + slope * np.radians(30.0) == pytest.approx((180.0 - (30.0 - 4.5)) / 360.0 * 4095.0)
    zero, slope = winch.line("m", "winch")
    assert (zero + slope * 0.2, zero + slope * 1.4) == pytest.approx((150.0, 600.0))
    with pytest.raises(BadInput, match=r"channel 'winch' is in rad/s, .* span_rad_s"):
        winch.line("rad/s", "winch")
    with pytest.raises(BadInput, match=r"channel 'x' is in N·m, .* rad, m and rad/s can be played"):
        winch.line("N·m", "x")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("device/1", "clip/1", "this is a clip file; a device file is needed"),
        ("driver: dynamixel", "driver: telepathy", r"line 3.*driver"),
        ("soft_min: 1000", "soft_min: 3500", r"line 7.*the soft limits \[3500, 3000\] must lie within"),
        ("soft_max: 3000", "soft_max: 5000", r"soft limits \[1000, 5000\] must lie within \[0, 4095\]"),
        ("id: 4", "id: 3", r"line 9, servos.winch: the servo of 'winch' has the id 3 of another"),
        ("baud: 1000000", "at_end: fly", r"line 5, at_end: Input should be"),
        ("span_m: [0.2, 1.4]", "span_m: [0.2, 0.2]", r"span_m is \[0.2, 0.2\]; its ends"),
        ("range_deg: 360", "range_deg: .nan", "range_deg"),
        ("baud: 1000000", "bauds: 1", r"line 5.*bauds"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        read_device(saved(tmp_path, TEXT.replace(old, new)))
    assert "\n" not in str(caught.value)
    assert "head.device.yaml" in str(caught.value)


def test_sensors_are_not_servos(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'yaw' is a servo and a sensor"):
        read_device(saved(tmp_path, TEXT + "sensors: {yaw: {}}\n"))
    assert read_device(saved(tmp_path, TEXT + "sensors: {elbow: {}}\n")).sensors == {"elbow": ServoCalibration()}


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"is called NAME\.device\.yaml"):
        write_device(tmp_path / "x.yaml", read_device(saved(tmp_path, TEXT)))
    assert not (tmp_path / "x.yaml").exists()


@pytest.mark.parametrize("driver", [name for name in DEFAULTS if name != "websocket"])
def test_a_rehearsal_has_servos_for_the_whole_range(driver: Any) -> None:
    nao = read_character("nao")
    usual, ample = described_device(nao, driver), described_device(nao, driver, ample=True)
    limits = limits_of(nao, tuple(ample.servos), ("rad",) * len(ample.servos))
    for device, whole in ((ample, True), (usual, driver in ("dry-run", "dynamixel"))):
        lines = np.array([servo.line("rad", name) for name, servo in device.servos.items()])
        ends = lines[:, :1] + lines[:, 1:] * np.column_stack([limits.lower, limits.upper])
        low, high = (np.array([getattr(servo, end) for servo in device.servos.values()])[:, None] for end in ("low", "high"))
        assert bool(((ends >= low - 1.0) & (ends <= high + 1.0)).all()) is whole


def test_a_count_of_a_dynamixel_is_a_4096th_of_a_turn() -> None:
    servo = described_device(read_character("nao"), "dynamixel").servos["HeadYaw"]
    zero, slope = servo.line("rad", "HeadYaw")
    assert zero == pytest.approx(2048.0, abs=1e-9)
    assert slope * 2.0 * np.pi == pytest.approx(4096.0, abs=1e-9)


def test_joints_that_turn_farther_than_their_servo_are_known() -> None:
    nao = read_character("nao")
    assert out_of_reach(nao, described_device(nao, "dynamixel")) == {}
    found = out_of_reach(nao, described_device(nao, "serial"))  # 180 degrees
    widths = {joint.name: joint.range[1] - joint.range[0] for joint in nao.joints if joint.range is not None}
    assert set(found) == {name for name in described_device(nao, "serial").servos if widths.get(name, 0.0) > 1.01 * np.pi}
    np.testing.assert_allclose(found["HeadYaw"], np.radians([-119.5, 119.5, -90.0, 90.0]), atol=2e-3)


@pytest.mark.parametrize(("driver", "last"), [("maestro", 23), ("dynamixel", 252)])
def test_ids_that_a_protocol_does_not_know_are_refused(tmp_path: Path, driver: str, last: int) -> None:
    device = read_device(saved(tmp_path, TEXT)).changed(driver=driver)

    def numbered(number: int) -> Any:
        return device.changed(servos=device.servos | {"winch": device.servos["winch"].changed(id=number)})

    check_numbers(numbered(last))
    check_numbers(numbered(last + 1).changed(driver="serial"))
    with pytest.raises(BadInput, match=rf"'winch' has the id {last + 1}; .*{last}"):
        check_numbers(numbered(last + 1))


def test_pulses_that_a_maestro_cannot_make_are_refused(tmp_path: Path) -> None:
    device = read_device(saved(tmp_path, TEXT.replace("position_max: 4095", "position_max: 16384")))
    check_numbers(device)
    with pytest.raises(BadInput, match="'yaw' goes to 16384; a Maestro takes at most 16383"):
        check_numbers(device.changed(driver="maestro"))


def test_comments_are_seen_and_signs_in_texts_are_none(tmp_path: Path) -> None:
    assert not has_comments(saved(tmp_path, TEXT))
    assert not has_comments(saved(tmp_path, TEXT.replace("name: head", 'name: "head # 2"').replace("ttyUSB0", "tty#0")))
    assert has_comments(saved(tmp_path, TEXT.replace("name: head", "name: head # the old one")))
    assert has_comments(saved(tmp_path, "# mine\n" + TEXT))
