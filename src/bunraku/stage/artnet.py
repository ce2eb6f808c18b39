"""DMX512 over Art-Net 4, as a log of network packets with times that Wireshark shows and tcpreplay sends.

A channel has two bytes, the coarse one first. Every frame is one ArtDmx packet a universe, followed by an ArtSync where there are
several, so that all change at once. An ArtDmx packet is ``Art-Net`` and a zero, the code 0x5000 low byte first, the version 14 high
byte first, a sequence number (1 to 255 and over), the physical port (0), the universe low byte first, the number of bytes high byte
first (even, 2 to 512), the bytes. ArtSync: the same head with the code 0x5200 and two zeros.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.dmx_patch import patched, sixteen_bits
from bunraku.stage.packet_log import packet_log

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
