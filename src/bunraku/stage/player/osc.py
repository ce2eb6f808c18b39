"""Open Sound Control 1.0, the part that cues need: messages and bundles out of a datagram, bounded and strict.

A message is an address, a type tag text that begins with a comma, and arguments; texts end with a zero and are filled up to four
bytes. A bundle is ``#bundle``, a time tag (ignored: cues are for now) and elements, each with its length before it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAX_DATAGRAM = 1_472
MAX_TEXT = 255
MAX_ARGUMENTS = 32
MAX_DEPTH = 4
MAX_MESSAGES = 64

Argument = int | float | str | bytes | bool | None
_FIXED = {"i": ">i", "f": ">f", "d": ">d", "h": ">q", "t": ">Q"}
_PLAIN: dict[str, Argument] = {"T": True, "F": False, "N": None}


class OscError(ValueError):
    """A datagram that is no OSC."""


@dataclass(frozen=True)
class OscMessage:
    """An address such as ``/bunraku/cue`` and its arguments."""

    address: str
    arguments: tuple[Argument, ...] = ()


def read_osc(data: bytes) -> list[OscMessage]:
    """The messages of a datagram, in order; `OscError` for anything else."""
    if len(data) > MAX_DATAGRAM:
        raise OscError(f"{len(data)} bytes; at most {MAX_DATAGRAM} are read")
    messages: list[OscMessage] = []
    _packet(data, messages, 0)
    return messages


def _packet(data: bytes, messages: list[OscMessage], depth: int) -> None:
    if len(messages) >= MAX_MESSAGES:
        raise OscError("too many messages in one bundle")
    if data.startswith(b"#bundle\x00"):
        if depth >= MAX_DEPTH or len(data) < 16:
            raise OscError("a bundle too deep or too short")
        at = 16
        while at < len(data):
            if at + 4 > len(data):
                raise OscError("a bundle ends within a length")
            size = int.from_bytes(data[at : at + 4], "big")
            if size == 0 or size % 4 or at + 4 + size > len(data):
                raise OscError(f"an element of {size} bytes does not fit its bundle")
            _packet(data[at + 4 : at + 4 + size], messages, depth + 1)
            at += 4 + size
        return
    address, at = _text(data, 0)
    if not address.startswith("/"):
        raise OscError("the address does not begin with a slash")
    tags, at = _text(data, at) if at < len(data) else (",", at)
    if not tags.startswith(",") or len(tags) > MAX_ARGUMENTS + 1:
        raise OscError("no type tags, or too many")
    arguments: list[Argument] = []
    for tag in tags[1:]:
        value, at = _argument(data, at, tag)
        arguments.append(value)
    if at != len(data):
        raise OscError(f"{len(data) - at} bytes are left over")
    messages.append(OscMessage(address, tuple(arguments)))


def _argument(data: bytes, at: int, tag: str) -> tuple[Argument, int]:
    if tag in _PLAIN:
        return _PLAIN[tag], at
    if tag in ("s", "S"):
        return _text(data, at)
    if tag == "b":
        size = int.from_bytes(data[at : at + 4], "big")
        end = at + 4 + size + (-size % 4)
        if at + 4 > len(data) or end > len(data):
            raise OscError("a blob is longer than its datagram")
        return data[at + 4 : at + 4 + size], end
    form = _FIXED.get(tag)
    if form is None:
        raise OscError(f"the type {tag!r} is not known")
    size = struct.calcsize(form)
    if at + size > len(data):
        raise OscError("a number is cut short")
    return struct.unpack_from(form, data, at)[0], at + size


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.find(b"\x00", at, at + MAX_TEXT + 1)
    if end < 0:
        raise OscError("a text without end")
    after = end + 4 - (end - at) % 4
    if after > len(data) or any(data[end:after]):
        raise OscError("a text is not filled up with zeros")
    try:
        return data[at:end].decode("utf-8"), after
    except UnicodeDecodeError as error:
        raise OscError("a text is not UTF-8") from error
