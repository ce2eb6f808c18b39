"""CSV and JSON: the numbers read back exactly."""

from __future__ import annotations

import csv
import dataclasses
import json

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.csv_curves import read_csv
from bunraku.motion import Channel
from bunraku.stage.csv_export import export_csv
from bunraku.stage.json_export import export_json


def test_csv_reads_back_exactly_with_the_standard_library_and_as_a_clip(performance):
    data = export_csv(performance)
    lines = [line for line in data.decode().splitlines() if not line.startswith("#")]
    header, *rows = list(csv.reader(lines))
    assert header == ["time_s", *[channel.name for channel in performance.channels]]
    table = np.array(rows, dtype=float)
    np.testing.assert_array_equal(table[:, 0], performance.motion.times)
    np.testing.assert_array_equal(table[:, 1:], performance.motion.values)
    clip = read_csv(data, file="x.csv")
    assert clip.joints.names == performance.motion.names
    assert clip.joints.rate == performance.rate
    np.testing.assert_array_equal(clip.joints.values, performance.motion.values)


def test_csv_says_the_kind_of_a_torque_and_refuses_two_rates_by_name(performance):
    torque = Channel("HeadYaw", "torque", "N·m", performance.rate, np.linspace(0, 1, 76))
    text = export_csv(performance.changed(channels=(*performance.channels, torque))).decode()
    assert "# HeadYaw.torque: torque [N·m]" in text
    slow = Channel("slow", "position", "rad", 25.0, np.zeros(38))
    with pytest.raises(BadInput, match="'slow' has 38 samples at 25 Hz"):
        export_csv(performance.changed(channels=(*performance.channels, slow)))


def test_json_keeps_channels_marks_certificate_and_provenance(performance):
    content = json.loads(export_json(performance), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    for channel, read in zip(performance.channels, content["channels"], strict=True):
        assert (read["name"], read["kind"], read["unit"], read["rate_hz"]) == (channel.name, "position", "rad", 50.0)
        np.testing.assert_array_equal(read["values"], channel.values)
    assert content["duration_s"] == performance.duration == 1.5
    assert content["words"] == [
        {"text": "hello", "start_s": 0.1, "end_s": 0.4, "stroke_s": 0.25},
        {"text": "thére", "start_s": 0.5, "end_s": 0.9, "stroke_s": None},
    ]
    assert content["certificate"]["status"] == "converged"
    assert content["certificate"]["holds"] is True
    assert content["certificate"]["checks"][1]["value"] is None
    assert content["provenance"] == dataclasses.asdict(performance.provenance)


def test_the_same_performance_gives_the_same_bytes(performance):
    assert export_json(performance) == export_json(performance.changed())
    assert export_csv(performance) == export_csv(performance.changed())
