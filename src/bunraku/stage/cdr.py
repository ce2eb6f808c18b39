"""Messages as ROS 2 puts them on the wire: Common Data Representation, little-endian.

Four bytes say so (0x00 0x01 0x00 0x00); after them every number stands at a multiple of its own size, counted from there. A string
is its length with the closing zero (uint32), its bytes, the zero; a sequence its count (uint32) and its elements. OMG DDSI-RTPS,
chapter 10.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class CdrMessage:
    """A message under construction: fields are added in the order of its definition."""

    def __init__(self) -> None:
        self._body = bytearray()

    def int32(self, value: int) -> CdrMessage:
        """A signed integer of four bytes."""
        return self._number("<i", value)

    def uint32(self, value: int) -> CdrMessage:
        """An unsigned integer of four bytes."""
        return self._number("<I", value)

    def string(self, text: str) -> CdrMessage:
        """Text in UTF-8; a zero within would end it early, so none is kept."""
        data = text.replace("\0", "").encode() + b"\0"
        self.uint32(len(data))
        self._body += data
        return self

    def strings(self, texts: Sequence[str]) -> CdrMessage:
        """A sequence of texts."""
        self.uint32(len(texts))
        for text in texts:
            self.string(text)
        return self

    def float64s(self, values: NDArray[np.float64] | Sequence[float]) -> CdrMessage:
        """A sequence of numbers of eight bytes."""
        self.uint32(len(values))
        if len(values):
            self._align(8)
            self._body += np.asarray(values, dtype="<f8").tobytes()
        return self

    def octets(self, data: bytes) -> CdrMessage:
        """A sequence of bytes."""
        self.uint32(len(data))
        self._body += data
        return self

    def time(self, nanoseconds: int) -> CdrMessage:
        """builtin_interfaces/Time: seconds and the nanoseconds beyond them."""
        return self.int32(nanoseconds // 1_000_000_000).uint32(nanoseconds % 1_000_000_000)

    def bytes(self) -> bytes:
        """The whole message, with the four bytes in front."""
        return b"\x00\x01\x00\x00" + bytes(self._body)

    def _number(self, form: str, value: int) -> CdrMessage:
        self._align(struct.calcsize(form))
        self._body += struct.pack(form, value)
        return self

    def _align(self, size: int) -> None:
        self._body += bytes(-len(self._body) % size)
