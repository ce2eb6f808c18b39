"""UDP packets with their times as a pcap file, as if they had been heard on this machine's loopback.

A pcap file is a head (the mark 0xA1B2C3D4, version 2.4, two zeros, the longest packet, 1 for Ethernet) and the packets, each
after its time (seconds, microseconds) and its length, twice. Heads are those of Ethernet, IPv4 and UDP, with checksums.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

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
