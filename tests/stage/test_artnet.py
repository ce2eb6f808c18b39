"""Art-Net: packets byte by byte as the standard lays them out, the patch, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.stage.artnet import DmxSlot, art_dmx, art_sync, export_artnet

PATCH = {"HeadYaw": {"universe": 0x1234, "address": 511, "low": -1.2, "high": 1.2}, "class": {"universe": 1, "address": 8}}


def test_packets_are_laid_out_as_published():
    assert art_dmx(0x1234, bytes((1, 2, 3, 4)), 9).hex() == (
        "4172742d4e657400"  # Art-Net and a zero
        "0050"  # OpDmx, low byte first
        "000e"  # version 14, high byte first
        "09"  # sequence
        "00"  # physical
        "34"  # SubUni, the low byte of the port address
        "12"  # Net, its upper seven bits
        "0004"  # length, high byte first
        "01020304"
    )
    assert art_sync().hex() == "4172742d4e6574000052000e0000"


def test_channels_stand_where_the_patch_says_coarse_byte_first(performance, readers):
    packets = readers.art_packets(export_artnet(performance, patch=PATCH))
    assert [packet[8:10].hex() for _, packet in packets[:4]] == ["0050", "0050", "0050", "0052"], (
        "three universes, then all at once"
    )
    first = {packet[14] + 256 * packet[15]: packet[18:] for _, packet in packets[:3]}
    assert {universe: len(data) for universe, data in first.items()} == {0: 4, 1: 10, 0x1234: 512}
    values = performance.motion.values[0]
    share = (values[0] + 1.2) / 2.4
    assert first[0x1234][510:] == round(share * 65535).to_bytes(2, "big")
    assert first[0][2:4] == round((values[1] + 0.5) / 1.0 * 65535).to_bytes(2, "big")
    assert first[1][7:9] == round((values[2] + math.pi) / (2 * math.pi) * 65535).to_bytes(2, "big")
    assert not any(first[1][:7] + first[1][9:])


def test_times_and_sequence_numbers_at_what_a_dmx_line_takes(performance, readers):
    packets = readers.art_packets(export_artnet(performance))
    assert [time for time, _ in packets] == pytest.approx([k / 25.0 for k in range(38)], abs=1e-6)
    assert [packet[12] for _, packet in packets] == list(range(1, 39))
    many = readers.art_packets(export_artnet(_long(performance)))
    assert [packet[12] for _, packet in many[253:258]] == [254, 255, 1, 2, 3]
    fast = readers.art_packets(export_artnet(performance, rate=50.0))
    assert len(fast) == 76


def _long(performance):
    values = np.zeros((1200, 3))
    curves = JointCurves(performance.motion.names, 100.0, values)
    channels = tuple(Channel(name, "position", "rad", 100.0, values[:, j]) for j, name in enumerate(curves.names))
    return performance.changed(channels=channels, wish=curves, motion=curves)


def test_300_channels_fill_one_universe_and_go_on_in_the_next(performance, readers):
    names = tuple(f"j{j}" for j in range(300))
    values = np.tile(np.linspace(-3.0, 3.0, 300), (2, 1))
    channels = tuple(Channel(name, "position", "rad", 25.0, values[:, j]) for j, name in enumerate(names))
    curves = JointCurves(names, 25.0, values)
    motion = JointCurves(performance.motion.names, 25.0, np.zeros((2, 3)))
    packets = readers.art_packets(export_artnet(performance.changed(channels=channels, wish=curves, motion=motion)))
    data = packets[0][1][18:] + packets[1][1][18:]
    assert (len(packets[0][1]) - 18, len(packets[1][1]) - 18) == (512, 88)
    raw = np.frombuffer(data, ">u2")
    assert np.abs(raw / 65535.0 * 2 * math.pi - math.pi - values[0]).max() <= math.pi / 65535.0 * (1 + 1e-9)


def test_a_mirrored_range_counts_down(performance, readers):
    patch = {"HeadYaw": DmxSlot(address=1, low=1.2, high=-1.2)}
    data = readers.art_packets(export_artnet(performance, patch=patch))[5][1][18:]
    value = performance.motion.values[10, 0]
    assert int.from_bytes(data[:2], "big") == round((1.2 - value) / 2.4 * 65535)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"Nose": {}}, "patch names 'Nose', which is no channel"),
        ({"HeadYaw": {"address": 512}}, "patch of 'HeadYaw'.*address"),
        ({"HeadYaw": {"address": 4}}, "'HeadYaw' and 'Head Pitch/1' share address 4"),
        ({"HeadYaw": {"universe": 40_000}}, "patch of 'HeadYaw'.*universe"),
        ({"HeadYaw": {"low": 1.0, "high": 1.0}}, "low 1 and high 1 must differ"),
        ({"HeadYaw": {"low": -0.5, "high": 0.5}}, r"'HeadYaw' is at 0\.5\d+ rad at 0\.\d+ s, outside the patch's \[-0\.5, 0\.5\]"),
        ({"HeadYaw": {"low": float("nan")}}, "patch of 'HeadYaw'.*low"),
        ({"HeadYaw": 5}, "'HeadYaw' is '5'; fields are needed, by name: universe, address, low, high"),
        (5, "patch is '5'"),
    ],
)
def test_bad_patches_are_refused(performance, patch, message):
    with pytest.raises(BadInput, match=message) as caught:
        export_artnet(performance, patch=patch)
    assert "\n" not in str(caught.value)


def test_what_has_no_limits_must_be_given_some(performance, readers):
    spin = performance.changed(channels=(Channel("spin", "velocity", "rad/s", 50.0, np.linspace(-2.0, 2.0, 76)),))
    with pytest.raises(BadInput, match=r"'spin' has no limit to range over; give --patch .*rad/s"):
        export_artnet(spin)
    packets = readers.art_packets(export_artnet(spin, patch={"spin": {"low": -2.0, "high": 2.0}}, rate=50.0))
    assert (packets[0][1][18:], packets[-1][1][18:]) == (b"\0\0", b"\xff\xff")
