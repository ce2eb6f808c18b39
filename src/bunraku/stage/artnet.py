"""DMX512 over Art-Net 4, as a log of network packets with times that Wireshark shows and tcpreplay sends; and the patch.

A channel has two bytes, the coarse one first. Every frame is one ArtDmx packet a universe, followed by an ArtSync where there are
several, so that all change at once. An ArtDmx packet is ``Art-Net`` and a zero, the code 0x5000 low byte first, the version 14 high
byte first, a sequence number (1 to 255 and over), the physical port (0), the universe low byte first, the number of bytes high byte
first (even, 2 to 512), the bytes. ArtSync: the same head with the code 0x5200 and two zeros.

The log is a pcap file: a head (the mark 0xA1B2C3D4, version 2.4, two zeros, the longest packet, 1 for Ethernet) and the packets as
if heard on this machine's loopback, each after its time (seconds, microseconds) and its length, twice. Heads are those of
Ethernet, IPv4 and UDP, with checksums.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from bunraku.character import Character
from bunraku.character.description import Description
from bunraku.errors import BadInput
from bunraku.motion import Channel, MotionLimits, Performance
from bunraku.stage.channels import need_kinds, table, thinned

FULL = 65_535
SLOTS = 512


class DmxSlot(Description):
    """One channel's place: ``universe`` (0 to 32767), ``address`` of its coarse byte (1 to 511; the fine one follows), and range.

    ``low`` and ``high`` are the values, in the channel's unit, that 0 and 65535 stand for; ``high`` below ``low`` mirrors.
    """

    universe: int = Field(0, ge=0, le=32_767)
    address: int = Field(ge=1, le=SLOTS - 1)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)

    @model_validator(mode="after")
    def _check(self) -> DmxSlot:
        if abs(self.high - self.low) < 1e-9:
            raise ValueError(f"low {self.low:g} and high {self.high:g} must differ")
        return self


def patched(character: Character, channels: tuple[Channel, ...], patch: Mapping[str, Any] | None) -> tuple[DmxSlot, ...]:
    """The slot of each channel: what ``patch`` says by channel name, the rest by default.

    By default channels stand one after the other from universe 0, address 1, 256 a universe, and range over the limits of their
    motor: its range for a place, its velocity for a speed, the winch's range for a length. An angle without limits ranges over one
    turn, -pi to pi; for anything else without limits the patch must say it.
    """
    if patch is not None and not isinstance(patch, Mapping):
        raise BadInput(f"patch is {str(patch)[:60]!r}; universe, address, low and high of each channel by its name are needed")
    given = dict(patch or {})
    names = [channel.name for channel in channels]
    stray = next((name for name in given if name not in names), None)
    if stray is not None:
        raise BadInput(f"patch names {str(stray)[:60]!r}, which is no channel; there are {', '.join(names[:12])}")
    limits = _limits(character)
    slots = tuple(_slot(place, channel, given.get(channel.name), limits) for place, channel in enumerate(channels))
    taken: dict[tuple[int, int], str] = {}
    for channel, slot in zip(channels, slots, strict=True):
        for byte in (slot.address, slot.address + 1):
            other = taken.setdefault((slot.universe, byte), channel.name)
            if other != channel.name:
                raise BadInput(
                    f"channels {other!r} and {channel.name!r} share address {byte} of universe {slot.universe}; each needs two"
                )
    return slots


def sixteen_bits(channel: Channel, values: NDArray[np.float64], slot: DmxSlot, rate: float) -> NDArray[np.int64]:
    """Values 0 to 65535 of a channel; beyond its range it is refused by name, with the time."""
    share = (values - slot.low) / (slot.high - slot.low)
    outside = (share < -1e-9) | (share > 1.0 + 1e-9)
    if outside.any():
        k = int(np.argmax(outside))
        raise BadInput(
            f"channel {channel.name!r} is at {values[k]:.4g} {channel.unit} at {k / rate:.3f} s, outside the patch's "
            f"[{slot.low:g}, {slot.high:g}]; widen low and high in the patch"
        )
    numbers: NDArray[np.int64] = np.clip(np.rint(share * FULL), 0, FULL).astype(np.int64)
    return numbers


def _slot(place: int, channel: Channel, fields: Any, limits: dict[tuple[str, str], tuple[float, float]]) -> DmxSlot:
    if isinstance(fields, DmxSlot):
        return fields
    if fields is not None and not (isinstance(fields, Mapping) and all(isinstance(key, str) for key in fields)):
        known = ", ".join(DmxSlot.model_fields)
        raise BadInput(f"the patch of {channel.name!r} is {str(fields)[:60]!r}; fields are needed, by name: {known}")
    entries: dict[str, Any] = {"universe": place // 256, "address": 1 + 2 * (place % 256)}
    turn = (-math.pi, math.pi) if (channel.kind, channel.unit) == ("position", "rad") else None
    span = limits.get((channel.name, channel.kind), turn)
    entries |= {} if span is None else {"low": span[0], "high": span[1]}
    entries |= fields or {}
    if not {"low", "high"} <= set(entries):
        raise BadInput(
            f"channel {channel.name!r} has no limit to range over; give --patch a file with its low and high [{channel.unit}]"
        )
    try:
        return DmxSlot(**entries)
    except BadInput as error:
        raise BadInput(f"the patch of {channel.name!r}: {str(error).removeprefix('DmxSlot: ')}") from error


def _limits(who: Character) -> dict[tuple[str, str], tuple[float, float]]:
    """The finite limits of what is sent, by channel name and kind."""
    limits = {}
    motors = MotionLimits.of(who)
    for j, name in enumerate(motors.names):
        limits[name, "position"] = (float(motors.lower[j]), float(motors.upper[j]))
        limits[name, "velocity"] = (-float(motors.velocity[j]), float(motors.velocity[j]))
    for carriage in who.carriages:
        for name, span in zip(carriage.coordinates, (carriage.x_range, carriage.y_range), strict=True):
            if span is not None:
                limits[name, "position"] = span
    winches = {carriage.name: carriage.winch_range for carriage in who.carriages}
    for string in who.strings:
        span = winches[string.carriage]
        if span is not None:
            limits[string.coordinate, "length"] = span
    return {key: span for key, span in limits.items() if np.isfinite(span).all() and span[0] < span[1]}


PORT = 6454
DMX_RATE = 44.0
"""How often a DMX line of 512 bytes can be sent [Hz]."""

_HEAD = b"Art-Net\0"


def export_artnet(performance: Performance, *, patch: Mapping[str, Any] | None = None, rate: float | None = None) -> bytes:
    """The log (pcap) of all packets, to UDP port 6454 of this machine; frame k at the time k / rate.

    ``patch``: universe, address, low and high of channels by name (`DmxSlot`). ``rate`` [Hz] must divide the motor rate; by
    default the highest that does and that a DMX line can take (44 Hz). Torques are refused by name: nothing tells whether a line
    of lamps is still there.
    """
    channels = need_kinds(performance, ("position", "velocity", "length"), "artnet")
    motor_rate, values = table(channels, "artnet")
    step = max(1, math.ceil(motor_rate / DMX_RATE - 1e-9))
    sent_rate, values = thinned(motor_rate, values, motor_rate / step if rate is None else rate)
    if sent_rate > 1000.0:
        raise BadInput(f"{sent_rate:g} frames a second are more than a network of lamps takes; give --rate of at most 1000")
    slots = patched(performance.character, channels, patch)
    numbers = [sixteen_bits(channel, values[:, j], slots[j], sent_rate) for j, channel in enumerate(channels)]
    universes: dict[int, np.ndarray[Any, np.dtype[np.uint8]]] = {}
    for slot in slots:
        size = max(other.address + 1 for other in slots if other.universe == slot.universe)
        universes[slot.universe] = np.zeros((len(values), size + size % 2), dtype=np.uint8)
    for slot, one in zip(slots, numbers, strict=True):
        lines = universes[slot.universe]
        lines[:, slot.address - 1], lines[:, slot.address] = one >> 8, one & 0xFF
    packets: list[tuple[float, bytes]] = []
    for k in range(len(values)):
        for universe, lines in sorted(universes.items()):
            packets.append((k / sent_rate, art_dmx(universe, lines[k].tobytes(), 1 + k % 255)))
        if len(universes) > 1:
            packets.append((k / sent_rate, art_sync()))
    return packet_log(packets, PORT)


def art_dmx(universe: int, data: bytes, sequence: int) -> bytes:
    """One ArtDmx packet; ``data`` has 2 to 512 bytes, an even number."""
    head = struct.pack("<8sH", _HEAD, 0x5000) + struct.pack(">HBB", 14, sequence, 0)
    return head + struct.pack("<H", universe) + struct.pack(">H", len(data)) + data


def art_sync() -> bytes:
    """The packet after which all universes change."""
    return struct.pack("<8sH", _HEAD, 0x5200) + struct.pack(">HBB", 14, 0, 0)


_LOOPBACK = bytes((127, 0, 0, 1))


def packet_log(packets: Iterable[tuple[float, bytes]], port: int) -> bytes:
    """The file of packets (time [s], data), all from and to ``port`` of 127.0.0.1."""
    log = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
    for number, (time, data) in enumerate(packets):
        frame = _frame(data, port, number & 0xFFFF)
        microseconds = round(1e6 * time)
        log += struct.pack("<IIII", microseconds // 1_000_000, microseconds % 1_000_000, len(frame), len(frame)) + frame
    return bytes(log)


def _frame(data: bytes, port: int, number: int) -> bytes:
    udp = struct.pack(">HHHH", port, port, 8 + len(data), 0) + data
    pseudo = _LOOPBACK + _LOOPBACK + struct.pack(">BBH", 0, 17, len(udp))
    udp = udp[:6] + struct.pack(">H", _checksum(pseudo + udp) or 0xFFFF) + udp[8:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), number, 0, 64, 17, 0) + _LOOPBACK + _LOOPBACK
    ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
    return bytes(12) + b"\x08\x00" + ip + udp


def _checksum(data: bytes) -> int:
    """The ones' complement of the ones' complement sum of 16-bit words (RFC 1071)."""
    even = data + bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(even) // 2}H", even))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
