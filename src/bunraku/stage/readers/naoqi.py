"""Reading back a script for NAO: its lists as literals, never executed."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import located
from bunraku.stage.readers.exported import Exported, Reading, between, channel_of, number_of, rate_of

MICROSECOND = 0.51e-6
"""Times are written to a millionth of a second [s]."""
MAX_SCRIPT_BYTES = 16 * 1024 * 1024
"""Literals take many times the room of their text once they are read."""
_RATE = re.compile(r"^# rate_hz: ([0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[-+]?[0-9]{1,3})?)$", re.MULTILINE)


def read_naoqi(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The angles [rad] of the script's one call, the first pose before them."""
    check_size(data, file=file, limit=MAX_SCRIPT_BYTES)
    text = decoded(data, file=file).replace("\r\n", "\n")
    with located(file):
        names, times, first, angles = (_literal(text, name) for name in ("NAMES", "TIMES", "FIRST", "ANGLES"))
        if not (len(names) == len(first) == len(angles) and all(isinstance(name, str) for name in names)):
            raise BadInput("names another number of joints than it moves; export it again")
        if not all(isinstance(row, list) and len(row) == len(times) for row in angles):
            raise BadInput("has a joint with another number of angles than of times; export it again")
        stamps = np.concatenate([[0.0], _numbers(times, "TIMES")])
        stated = _RATE.search(text)
        rate = rate_of(stamps, MICROSECOND, known=float(stated[1]) if stated else reading.rate)
        rows = [[_numbers([start], "FIRST")[0], *_numbers(row, "ANGLES")] for start, row in zip(first, angles, strict=True)]
        channels = tuple(channel_of(name, "position", "rad", rate, row) for name, row in zip(names, rows, strict=True))
    return Exported("naoqi", channels, rate_error=0.0 if stated else 1e-6)


def _literal(text: str, name: str) -> list[Any]:
    """The list that the script gives ``name``, from its line to the closing bracket that begins one."""
    inside = between(f"\n{text}", f"\n{name} = [\n", "\n]\n")
    if inside is None:
        raise BadInput(f"holds no list {name}; it is no script of this kind, or was cut off")
    try:
        value = ast.literal_eval(f"[\n{inside}\n]")
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise BadInput(f"the list {name} is damaged: {error}"[:200]) from error
    return list(value)


def _numbers(values: list[Any], name: str) -> list[float]:
    return [number_of(value, f"a number of the list {name}") for value in values]
