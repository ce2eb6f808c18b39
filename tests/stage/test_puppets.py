"""Channels of a puppet leave the house: places, lengths and torques as tables; formats of servos refuse them by name."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from bunraku.character import Body, Carriage, Character, Joint, Motor, String
from bunraku.errors import BadInput
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.arduino import export_arduino
from bunraku.stage.blender_servo import export_blender_servo
from bunraku.stage.csv_export import export_csv
from bunraku.stage.json_export import export_json
from bunraku.stage.ros import export_ros

KINDS = {"a": ("torque", "N·m"), "c.x": ("position", "m"), "c.y": ("position", "m"), "s.length": ("length", "m")}


@pytest.fixture
def puppet() -> Performance:
    values = np.random.default_rng(2).normal(size=(11, 4))
    who = Character(
        name="puppet",
        bodies=(Body(name="b", mass=1.0),),
        joints=(Joint(name="a", kind="hinge", parent="world", child="b"),),
        motors=(Motor(name="m", coordinate="a"),),
        carriages=(Carriage(name="c", home=(0.0, 0.0, 2.0)),),
        strings=(String(name="s", carriage="c", hook="b"),),
    )
    return Performance(
        who,
        "hang",
        tuple(Channel(name, kind, unit, 100.0, values[:, j]) for j, (name, (kind, unit)) in enumerate(KINDS.items())),  # type: ignore[arg-type]
        JointCurves(("a",), 100.0, values[:, :1]),
        JointCurves(tuple(KINDS), 100.0, values),
        Certificate(Status.CONVERGED, ()),
        Provenance("test", {}, {}, {}),
    )


def test_tables_hold_every_channel_with_its_kind_and_unit(puppet) -> None:
    text = export_csv(puppet).decode()
    header, *rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    assert header == ["time_s", "a.torque", "c.x", "c.y", "s.length"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:], np.column_stack([c.values for c in puppet.channels]))
    assert "# s.length: length [m]" in text
    assert "# a.torque: torque [N·m]" in text
    content = json.loads(export_json(puppet))
    assert {c["name"]: (c["kind"], c["unit"]) for c in content["channels"]} == KINDS
    np.testing.assert_array_equal([c["values"] for c in content["channels"]], [c.values for c in puppet.channels])


@pytest.mark.parametrize(("exporter", "form"), [(export_ros, "ros"), (export_arduino, "arduino"), (export_blender_servo, "servo")])
def test_formats_of_servos_refuse_torques_and_servo_positions_of_lengths_by_name(puppet, exporter, form) -> None:
    with pytest.raises(BadInput, match="channel 'a' is a torque") as caught:
        exporter(puppet)
    assert "\n" not in str(caught.value)
    strings = puppet.changed(channels=puppet.channels[1:])
    if form == "servo":
        with pytest.raises(BadInput, match=r"channel 's\.length' is a length, which the blender-servo format cannot express"):
            exporter(strings)
    if form == "arduino":
        with pytest.raises(BadInput, match=r"channel 'c\.x' is in m; servo positions are made from angles"):
            exporter(strings, servos={})
