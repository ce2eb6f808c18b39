"""Reading back tables and plain JSON: every sample as it was, to the last bit."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.csv_curves import TIME_NAMES, csv_table
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import located
from bunraku.motion import Channel
from bunraku.stage.readers.exported import MAX_FILE_BYTES, Exported, Reading, channel_of, number_of, rate_of

KEYS = "is a table of keyframes, a wish and no commands: perform it first (bunraku perform CHARACTER TABLE), then verify the result"
"""What is said of a table that `perform` takes."""
UNEVEN = 0.01
"""A time may be off by this share of a step: spreadsheets round."""
_COLUMN = re.compile(r"^#[ \t]*(.*): (position|velocity|torque|length) \[([^\]\n]*)\]\s*$", re.MULTILINE)


def read_csv(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The columns of a table; kinds and units by its comment lines, or by the character where it has none."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    text = decoded(data, file=file)
    names, values, stated = csv_table(text, file=file)
    clocks = [j for j, name in enumerate(names) if name.lower() in TIME_NAMES]
    if len(clocks) != 1:
        raise BadInput("has to have one column time_s", file=file, place="line 1")
    times = values[:, clocks[0]] * (0.001 if names[clocks[0]].lower() == "time_ms" else 1.0)
    kinds = {name: (kind, unit) for name, kind, unit in _COLUMN.findall(text)}
    with located(file):
        if stated is None and not kinds and (_uneven(times) or any(name.endswith("_deg") for name in names)):
            raise BadInput(KEYS)
        rate = _rate(times, stated, reading)
        channels = []
        for j, name in enumerate(names):
            if j in clocks:
                continue
            kind, unit = kinds.get(name) or reading.kind_of(name)
            short = name if kind in ("position", "length") else name.removesuffix(f".{kind}")
            channels.append(channel_of(short, kind, unit, rate, values[:, j]))
    return Exported("csv", tuple(channels))


def _uneven(times: Any) -> bool:
    """Whether the times rise in steps that differ by more than spreadsheets round."""
    steps = np.diff(times)
    return bool(len(steps) and (steps > 0.0).all() and np.ptp(steps) > 0.1 * float(np.median(steps)))


def _rate(times: Any, stated: float | None, reading: Reading) -> float:
    """The stated rate, which the times must keep; the one that the times tell where none is stated."""
    if stated is None:
        step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
        return rate_of(times, max(1e-9, 1e-6 * step), known=reading.rate)
    if not 0.0 < stated <= 100_000.0:
        raise BadInput(f"states a rate of {stated} Hz; give one between 0 and 100000")
    off = np.abs(times - np.arange(len(times)) / stated)
    if off.max() > UNEVEN / stated:
        k = int(np.argmax(off > UNEVEN / stated))
        raise BadInput(
            f"states {stated:g} Hz, and sample {k} is at {times[k]:g} s instead of {k / stated:g} s; correct one of them"
        )
    return stated


def read_json(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The channels of a performance in plain JSON."""
    content = json_object(data, file=file)
    if content.get("format") != "bunraku-performance" or not isinstance(content.get("channels"), list):
        raise BadInput("is no performance: 'format' should be 'bunraku-performance', and 'channels' a list", file=file)
    with located(file):
        channels = tuple(_channel(one, place) for place, one in enumerate(content["channels"][:10_000]))
    return Exported("json", channels)


def _channel(one: Any, place: int) -> Channel:
    fields = ("name", "kind", "unit", "rate_hz", "values")
    if not isinstance(one, dict) or any(key not in one for key in fields):
        raise BadInput(f"channels[{place}] should have {', '.join(fields)}")
    name, kind, unit, rate, values = (one[key] for key in fields)
    texts = isinstance(name, str) and isinstance(unit, str) and kind in ("position", "velocity", "torque", "length")
    if not (texts and isinstance(values, list)):
        raise BadInput(f"channels[{place}] holds a field of the wrong kind")
    return channel_of(name, kind, unit, number_of(rate, f"channels[{place}].rate_hz"), values)


def json_object(data: bytes, *, file: str) -> dict[str, Any]:
    """The object of a JSON file; NaN and Infinity, which JSON does not have, are refused."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    try:
        content = json.loads(decoded(data, file=file), parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is no JSON: {error}"[:200], file=file) from error
    if not isinstance(content, dict):
        raise BadInput("holds no JSON object", file=file)
    return content


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
