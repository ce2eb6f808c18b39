"""The MCAP log: read by the mcap library, decoded by a decoder that follows the definitions in the file."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from bunraku.errors import BadInput, MissingExtra
from bunraku.motion import Audio, Channel
from bunraku.stage.mcap_export import CdrMessage, export_mcap

VOICE = Audio(np.sin(np.arange(11_025) / 7.0) * 1.01, 22_050.0)


def test_the_head_of_a_message_byte_by_byte():
    """As DDSI-RTPS lays them out: sec, nanosec, length of the string with its zero, padding to four, one name, padding to eight."""
    message = CdrMessage().time(1_500_000_002).string("ab").strings(("q",)).float64s([1.0]).float64s([]).octets(b"xyz").uint32(7)
    expected = (
        "00010000" "01000000" "0265cd1d" "03000000" "61620000" "01000000" "02000000" "71000000" "01000000"
        "000000000000f03f" "00000000" "03000000" "78797a00" "07000000"
    )  # fmt: skip
    assert message.bytes().hex() == expected


def test_states_and_voice_share_one_clock(performance, readers):
    found = readers.mcap_messages(export_mcap(performance.changed(audio=VOICE), start_s=5.25, frame_id="stage"))
    states, sound = found["/joint_states"], found["/audio"]
    assert [time for time, _ in states] == [5_250_000_000 + 20_000_000 * k for k in range(76)]
    assert all(one["header"]["frame_id"] == "stage" for _, one in states)
    assert [one["name"] for _, one in states] == [list(performance.motion.names)] * 76
    np.testing.assert_array_equal([one["position"] for _, one in states], performance.motion.values)
    x = performance.motion.values
    np.testing.assert_allclose([one["velocity"] for _, one in states[1:-1]], (x[2:] - x[:-2]) * 25.0, rtol=1e-12, atol=1e-12)
    assert all(one["effort"] == [] for _, one in states)
    samples = np.frombuffer(b"".join(one["data"] for _, one in sound), "<i2")
    np.testing.assert_array_equal(samples, np.clip(np.round(VOICE.samples * 32768.0), -32768, 32767))
    assert {(one["format"], one["sample_rate"], one["number_of_channels"]) for _, one in sound} == {("pcm-s16", 22_050, 1)}
    first = np.cumsum([0, *(len(one["data"]) // 2 for _, one in sound)])[:-1]
    assert [time for time, _ in sound] == [5_250_000_000 + round(k * 1e9 / 22_050) for k in first]
    stamps = [one["timestamp"]["sec"] * 10**9 + one["timestamp"]["nanosec"] for _, one in sound]
    assert stamps == [time for time, _ in sound]


def test_the_file_says_what_ros_looks_for(performance):
    from mcap.reader import make_reader

    reader = make_reader(io.BytesIO(export_mcap(performance.changed(audio=VOICE))), validate_crcs=True)
    assert reader.get_header().profile == "ros2"
    summary = reader.get_summary()
    named = {channel.topic: summary.schemas[channel.schema_id].name for channel in summary.channels.values()}
    assert named == {"/joint_states": "sensor_msgs/msg/JointState", "/audio": "foxglove_msgs/msg/RawAudio"}
    assert summary.statistics.message_count == 76 + 11
    times = [message.log_time for _, _, message in reader.iter_messages(log_time_order=False)]
    assert times == sorted(times)


def test_every_kind_is_there_and_what_is_not_known_is_no_number(performance, readers):
    rows = {kind: np.random.default_rng(k).normal(size=76) for k, kind in enumerate(("velocity", "torque", "length"))}
    channels = (
        performance.channels[0],
        Channel("class", "velocity", "rad/s", 50.0, rows["velocity"]),
        Channel("spin", "velocity", "rad/s", 50.0, rows["velocity"]),
        Channel("HeadYaw", "torque", "N·m", 50.0, rows["torque"]),
        Channel("string", "length", "m", 50.0, rows["length"]),
    )
    curves = type(performance.wish)(("HeadYaw",), 50.0, performance.motion.values[:, :1])
    states = readers.mcap_messages(export_mcap(performance.changed(channels=channels, wish=curves)))["/joint_states"]
    position, velocity, effort = (np.array([one[key] for _, one in states]) for key in ("position", "velocity", "effort"))
    assert states[0][1]["name"] == ["HeadYaw", "class", "spin", "string"]
    np.testing.assert_array_equal(position[:, 1], performance.motion.values[:, 2])
    np.testing.assert_array_equal(velocity[:, 1:3].T, [rows["velocity"]] * 2)
    np.testing.assert_array_equal(position[:, 3], rows["length"])
    np.testing.assert_array_equal(effort[:, 0], rows["torque"])
    assert np.isnan(position[:, 2]).all()
    assert np.isnan(effort[:, 1:]).all()


def test_the_same_performance_gives_the_same_bytes_and_thinning_drops_states(performance, readers):
    voiced = performance.changed(audio=VOICE)
    assert export_mcap(voiced) == export_mcap(voiced)
    assert len(readers.mcap_messages(export_mcap(performance, rate=25.0))["/joint_states"]) == 38
    assert "/audio" not in readers.mcap_messages(export_mcap(voiced, audio=False))


def test_hostile_names_come_through_whole(performance, readers):
    names = ('a"b\\', "a\nb", "é∞", "")
    channels = tuple(Channel(name, "velocity", "rad/s", 50.0, np.zeros(76)) for name in names)
    states = readers.mcap_messages(export_mcap(performance.changed(channels=channels)))["/joint_states"]
    assert states[0][1]["name"] == list(names)


def test_what_cannot_be_written_is_refused(performance, monkeypatch):
    with pytest.raises(BadInput, match=r"22050\.5 samples a second"):
        export_mcap(performance.changed(audio=Audio(np.zeros(100), 22_050.5)))
    for start in (-1.0, 3e9, float("nan")):
        with pytest.raises(BadInput, match="cannot be stamped"):
            export_mcap(performance, start_s=start)
    monkeypatch.setitem(sys.modules, "mcap.writer", None)
    with pytest.raises(MissingExtra, match=r'pip install "bunraku\[stage\]"'):
        export_mcap(performance)
