"""DMX512 over Art-Net 4, as a log of network packets with times that Wireshark shows and tcpreplay sends.

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

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.dmx_patch import patched, sixteen_bits

PORT = 6454
DMX_RATE = 44.0
"""How often a DMX line of 512 bytes can be told [Hz]."""

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
    found, values = thinned(motor_rate, values, motor_rate / step if rate is None else rate)
    if found > 1000.0:
        raise BadInput(f"{found:g} frames a second are more than a network of lamps takes; give --rate of at most 1000")
    slots = patched(performance, channels, patch)
    numbers = [sixteen_bits(channel, values[:, j], slots[j], found) for j, channel in enumerate(channels)]
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
            packets.append((k / found, art_dmx(universe, lines[k].tobytes(), 1 + k % 255)))
        if len(universes) > 1:
            packets.append((k / found, art_sync()))
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
    found = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
    for number, (time, data) in enumerate(packets):
        frame = _frame(data, port, number & 0xFFFF)
        microseconds = round(1e6 * time)
        found += struct.pack("<IIII", microseconds // 1_000_000, microseconds % 1_000_000, len(frame), len(frame)) + frame
    return bytes(found)


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
