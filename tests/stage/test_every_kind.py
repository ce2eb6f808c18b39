"""Every kind of channel in every format: it is in the file, or it is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Carriage, Character, Joint, Motor, String
from bunraku.errors import BadInput
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.registry import exporters

RATE, FRAMES = 25.0, 20
KINDS = ("position", "velocity", "torque", "length")


def curve(kind: str) -> np.ndarray:
    return 0.5 + 0.3 * np.sin(np.arange(FRAMES) / 3.0 + KINDS.index(kind))


def with_kind(kind: str) -> Performance:
    """A performance of one hinge whose only channel is of a kind; a length has its string and carriage."""
    strings = kind == "length"
    who = Character(
        name="one",
        bodies=(Body(name="b", mass=1.0),),
        joints=(Joint(name="HeadYaw", kind="hinge", parent="world", child="b", range=(-2.0, 2.0)),),
        motors=(Motor(name="m", coordinate="HeadYaw", velocity=4.0),),
        carriages=(Carriage(name="c", home=(0.0, 0.0, 2.0), x_range=(-1.0, 1.0), y_range=(-1.0, 1.0), winch_range=(0.1, 3.0)),)
        if strings
        else (),
        strings=(String(name="s", carriage="c", hook="b", length=1.0),) if strings else (),
    )
    units = {"position": "rad", "velocity": "rad/s", "torque": "N·m", "length": "m"}
    channels = [Channel("s.length" if strings else "HeadYaw", kind, units[kind], RATE, curve(kind))]
    if strings:
        channels += [Channel(f"c.{axis}", "position", "m", RATE, np.zeros(FRAMES)) for axis in "xy"]
    columns = [np.linspace(0.0, 1.0, FRAMES)] + ([np.zeros(FRAMES), np.zeros(FRAMES), curve(kind)] if strings else [])
    names = ("HeadYaw", "c.x", "c.y", "s.length") if strings else ("HeadYaw",)
    order = who.coordinates + who.prescribed
    motion = JointCurves(order, RATE, np.column_stack([columns[names.index(one)] for one in order]))
    if kind == "position":
        motion = JointCurves(("HeadYaw",), RATE, curve(kind)[:, None])
    wish = JointCurves(("HeadYaw",), RATE, motion.values[:, :1])
    return Performance(who, "one", tuple(channels), wish, motion, Certificate(Status.CONVERGED, ()), Provenance("test", {}, {}, {}))


def test_the_table_names_every_format(readers):
    assert list(readers.TAKES) == list(exporters())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", list(exporters()))
def test_a_kind_is_in_the_file_or_refused_by_name(form, kind, readers, tmp_path):
    performance = with_kind(kind)
    channel = performance.channels[0]
    function, options = exporters()[form].function, {} if kind == "length" else readers.options(form, performance)
    if kind not in readers.TAKES[form]:
        with pytest.raises(BadInput, match=f"channel '{channel.name}' is a {kind}, which the {form} format cannot express") as said:
            function(performance, **options)
        assert "\n" not in str(said.value)
        return
    data = function(performance, **options)
    if form == "ros" and kind == "torque":
        points = readers.json.loads(data)["points"]
        np.testing.assert_array_equal([point["effort"][0] for point in points], channel.values)
        return
    _, values, count = readers.READERS[form](data, performance, tmp_path)[channel.name, kind]
    assert np.abs(values - channel.values).max() <= 0.5 * count + 1e-9


@pytest.mark.parametrize("form", list(exporters()))
def test_a_performance_without_channels_has_nothing_to_export(form):
    empty = with_kind("position").changed(channels=())
    if form == "json":
        return  # it holds the certificate and the marks too
    with pytest.raises(BadInput, match="has no channel; there is nothing to export"):
        exporters()[form].function(empty)


HOSTILE = ("a\"'\\*/ ??/ #error {x} <b>&amp; é∞ \N{SNOWMAN}", 'x\n"] ; #error\n\t*/\r\n')
"""Quotes, code, other scripts; and line breaks, which a channel may have and a joint may not."""


@pytest.mark.parametrize("name", HOSTILE, ids=("joint", "lines"))
@pytest.mark.parametrize("form", list(exporters()))
def test_hostile_names_come_back_or_do_no_harm(form, name, readers, tmp_path):
    """The file stays readable, and the values stay with their channel."""
    plain = with_kind("position")
    if name.isprintable():
        joint = plain.character.joints[0].changed(name=name)
        who = plain.character.changed(joints=(joint,), motors=(Motor(name="m", coordinate=name, velocity=4.0),))
        plain = plain.changed(character=who, channels=(), motion=JointCurves((name,), RATE, plain.motion.values))
    channels = (Channel(name, "position", "rad", RATE, curve("position")),)
    hostile = plain.changed(channels=channels, wish=JointCurves((name,), RATE, curve("position")[:, None]), clip_name=name)
    refusals = {"csv": "cannot be a column's name in a CSV file", "naoqi": "is no joint of NAO or Pepper"}
    if form in refusals:
        with pytest.raises(BadInput, match=refusals[form]) as said:
            exporters()[form].function(hostile)
        assert "\n" not in str(said.value)
        return
    data = exporters()[form].function(hostile, **readers.options(form, hostile))
    found = readers.READERS[form](data, hostile, tmp_path)
    if form == "gltf" and not name.isprintable():
        assert found == {}, "a channel that is no joint moves no node"
        return
    assert list(found) == [(name, "position")]
    (_, values, count), *_ = found.values()
    assert np.abs(values - curve("position")).max() <= 0.5 * count + 1e-9
