"""``bunraku export``: every format from the command line, by name and by ending, and one line where it cannot be."""

from __future__ import annotations

import pytest

from bunraku.cli.main import _run
from bunraku.formats.registry import write_performance
from bunraku.stage.registry import exporters


@pytest.fixture
def source(performance, tmp_path):
    path = tmp_path / "hello.performance.npz"
    write_performance(path, performance)
    return path


def test_the_list_tells_every_format_its_ending_and_its_options(capsys):
    assert _run(["export", "--list"]) == 0
    said = capsys.readouterr().err
    for name, exporter in exporters().items():
        line = next(line for line in said.splitlines() if line.split()[:2] == [name, exporter.suffix])
        assert exporter.meaning in line
        assert all(f"--{option.replace('_', '-')}" in line for option in exporter.options)


@pytest.mark.parametrize("name", [name for name in exporters() if name != "naoqi"])  # which takes robots of its own only
def test_a_format_is_found_by_name_and_by_ending(name, source, performance, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exporter = exporters()[name]
    assert _run(["export", str(source), "-f", name]) == 0
    assert _run(["export", str(source), "-o", f"other{exporter.suffix}"]) == 0
    expected = exporter.function(performance)
    assert (tmp_path / f"hello{exporter.suffix}").read_bytes() == expected
    assert (tmp_path / f"other{exporter.suffix}").read_bytes() == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-f", "mcap", "--rate", "7"], "7 Hz does not divide the motor rate of 50 Hz"),
        (["-f", "arduino-sketch", "--first-pin", "x"], "--first-pin takes a number"),
        (["-f", "arduino-sketch", "--speed", "2"], "'--speed' is no option of the arduino-sketch format"),
        (["-f", "artnet", "--patch", "patch.yaml"], "the patch of 'HeadYaw'"),
        (["-f", "gltf", "--meshes", "maybe"], "--meshes is yes or no"),
        (["-f", "naoqi", "--ramp-s", "1000"], "a ramp of 1000 s"),
        (["-f", "step"], "there is no export format 'step'; there are csv, json"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_nothing_is_written(words, message, source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patch.yaml").write_text("HeadYaw: {address: 0}\n")
    assert _run(["export", str(source), *words]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert "\n" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"hello.performance.npz", "patch.yaml"}


def test_a_patch_and_a_calibration_come_from_files(source, performance, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patch.yaml").write_text("HeadYaw: {universe: 3, address: 7, low: -2, high: 2}\n")
    (tmp_path / "servos.yaml").write_text("HeadYaw: {id: 9}\n")
    assert _run(["export", str(source), "-f", "artnet", "--patch", "patch.yaml"]) == 0
    assert _run(["export", str(source), "-f", "arduino-sketch", "--servos", "servos.yaml", "--repeat", "yes"]) == 0
    patch = {"HeadYaw": {"universe": 3, "address": 7, "low": -2.0, "high": 2.0}}
    assert (tmp_path / "hello.artnet.pcap").read_bytes() == exporters()["artnet"].function(performance, patch=patch)
    text = (tmp_path / "hello.ino").read_text()
    device = "bunraku: device/1\nname: head\ndriver: serial\nport: /dev/ttyUSB0\nservos:\n  HeadYaw: {id: 9}\n"
    (tmp_path / "head.device.yaml").write_text(device)
    words = ["export", str(source), "--servos", "head.device.yaml"]
    assert _run([*words, "-f", "arduino-sketch", "--repeat", "yes", "-o", "same.ino"]) == 0
    assert (tmp_path / "same.ino").read_text() == text, "the servos of a device file are a calibration"
    assert _run([*words, "-f", "blender-servo"]) == 0
    assert (tmp_path / "hello.servo.json").read_bytes() == exporters()["blender-servo"].function(
        performance, servos={"HeadYaw": {"id": 9}}
    )
    assert "PINS[SERVOS] = {9, 3, 4}" in text
    assert "REPEAT = true" in text
