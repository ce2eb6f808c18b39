"""What a worker and the studio say to each other: one JSON object a line, of bounded length; nothing else is believed.

To the worker: ``{"id", "verb", "arguments", "folder"}`` asks for a job, ``{"cancel": id}`` to end one with the best so far. From
the worker: ``{"ready": pid}`` once, ``{"beat": n}`` every second, ``{"id", "event"}`` on the way, ``{"id", "seen"}`` when a
computation has seen that it is to stop, ``{"id", "ended", "result", "error"}`` at the end. Arrays and nouns travel as files.
"""

from __future__ import annotations

import json
import math
from typing import IO, Any

MAX_LINE = 1 << 20
"""Longest line [bytes]; what is longer is skipped."""


def encode(message: dict[str, Any]) -> bytes:
    """One message as a line; numbers that JSON cannot say become null."""
    line = json.dumps(plain(message), allow_nan=False, separators=(",", ":")).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise ValueError(f"a message of {len(line)} bytes; at most {MAX_LINE} are sent")
    return line


def decode(line: bytes) -> dict[str, Any] | None:
    """The message of a line; None where it is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def read_line(stream: IO[bytes]) -> bytes | None:
    """The next whole line within the bound; longer ones are read over and come back empty; None at the end of the stream."""
    line = stream.readline(MAX_LINE + 1)
    if not line:
        return None
    if line.endswith(b"\n"):
        return line
    while line and not line.endswith(b"\n"):
        line = stream.readline(MAX_LINE + 1)
    return b""


def plain(value: Any) -> Any:
    """A value of what JSON knows: tuples as lists, numbers of arrays as numbers, paths as text, numbers that are none as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
