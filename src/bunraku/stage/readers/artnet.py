"""Reading back a log of Art-Net packets (pcap): the bytes of every universe at every frame, by the patch as values."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.formats.files import check_size
from bunraku.formats.places import located
from bunraku.motion import Channel
from bunraku.stage.artnet import FULL, patched
from bunraku.stage.readers.exported import MAX_FILE_BYTES, Exported, Reading, channel_of, rate_of

MICROSECOND = 0.51e-6
"""Times are right to half a microsecond [s]."""
_DMX, _SYNC = 0x5000, 0x5200
_HEADS = 42
"""Bytes of the heads of Ethernet, IPv4 and UDP."""
MOST_FRAMES = 1_000_000


def read_artnet(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The channels that the patch finds in the universes; by default those of the performance, in the order of its channels."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    with located(file):
        times, universes = _frames(data)
        named = _named(reading)
        slots = patched(reading.character, named, reading.patch)
        rate = rate_of(times, MICROSECOND, known=_known_rate(times, reading))
        channels, steps = [], {}
        for channel, slot in zip(named, slots, strict=True):
            lines = universes.get(slot.universe)
            if lines is None or lines.shape[1] < slot.address + 1:
                raise BadInput(f"has no bytes for channel {channel.name[:60]!r} in universe {slot.universe}; correct the patch")
            raw = 256.0 * lines[:, slot.address - 1] + lines[:, slot.address]
            values = slot.low + raw / FULL * (slot.high - slot.low)
            channels.append(channel_of(channel.name, channel.kind, channel.unit, rate, values))
            steps[channel.name] = abs(slot.high - slot.low) / FULL
    return Exported("artnet", tuple(channels), steps, rate_error=1e-6)


def _named(reading: Reading) -> tuple[Channel, ...]:
    """The channels that the log holds: of the performance, or those that the patch names, of the kind that the character takes."""
    if reading.channels:
        moved = {channel.name for channel in reading.channels if channel.kind != "torque"}
        return tuple(c for c in reading.channels if c.kind != "torque" or c.name not in moved)
    if not reading.patch:
        raise BadInput("does not name its channels; give --against PERFORMANCE, or --patch FILE as it was exported with")
    return tuple(Channel(str(name), *reading.kind_of(str(name)), 1.0, np.zeros(1)) for name in reading.patch)


def _known_rate(times: NDArray[np.float64], reading: Reading) -> float | None:
    """The rate that divides the performance's and comes nearest to the times."""
    if reading.rate is not None or not reading.channels or len(times) < 2:
        return reading.rate
    rate = reading.channels[0].rate
    return rate / max(1, round(rate * float(times[-1]) / (len(times) - 1)))


def _frames(data: bytes) -> tuple[NDArray[np.float64], dict[int, NDArray[np.uint8]]]:
    """Times [s] of the frames, and the bytes (frames, slots) of every universe."""
    lines: dict[int, list[bytes]] = {}
    times: dict[int, list[float]] = {}
    for time, packet in _packets(data):
        if packet[:8] != b"Art-Net\0" or len(packet) < 14:
            raise BadInput("holds a packet that is no Art-Net")
        code = packet[8] + 256 * packet[9]
        if code == _SYNC:
            continue
        size = 256 * packet[16] + packet[17] if len(packet) >= 18 else -1
        if code != _DMX or size != len(packet) - 18 or not 2 <= size <= 512:
            raise BadInput("holds an Art-Net packet that is no whole ArtDmx")
        universe = packet[14] + 256 * packet[15]
        lines.setdefault(universe, []).append(packet[18:])
        times.setdefault(universe, []).append(time)
    if not lines:
        raise BadInput("holds no ArtDmx packet")
    clock = next(iter(times.values()))
    if any(other != clock for other in times.values()) or any(len({len(line) for line in rows}) > 1 for rows in lines.values()):
        raise BadInput("has universes with other times than the first, or of a size that changes")
    arrays = {universe: np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1) for universe, rows in lines.items()}
    return np.array(clock) - clock[0], arrays


def _packets(data: bytes) -> Iterator[tuple[float, bytes]]:
    """(time [s], what UDP carries) of every packet of a pcap file on Ethernet."""
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != 0xA1B2C3D4 or struct.unpack_from("<I", data, 20)[0] != 1:
        raise BadInput("is no pcap file of Ethernet packets, the low byte first, with microseconds")
    at, count = 24, 0
    while at < len(data):
        if at + 16 > len(data):
            raise BadInput(f"was cut off at byte {at}")
        seconds, microseconds, kept, whole = struct.unpack_from("<IIII", data, at)
        at += 16
        frame, count = data[at : at + kept], count + 1
        if kept != whole or len(frame) < kept or kept < _HEADS or microseconds >= 1_000_000 or count > MOST_FRAMES:
            raise BadInput(f"holds no whole packet at byte {at}; it was cut off, or is another file")
        if frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 17:
            raise BadInput(f"holds a packet at byte {at} that is no plain UDP over IPv4")
        at += kept
        yield seconds + 1e-6 * microseconds, frame[_HEADS:]
