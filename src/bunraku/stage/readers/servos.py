"""Reading back positions of servos: the add-on's JSON, header and binary file, and the arrays of Arduino headers and sketches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import located
from bunraku.motion import Channel
from bunraku.motion.performance import ChannelKind
from bunraku.stage.blender_servo import BYTES_A_COMMAND, END, LINE_BREAK, START
from bunraku.stage.manifest import KEY, Manifest, from_data, from_text
from bunraku.stage.readers.exported import MAX_FILE_BYTES, Exported, Reading, between, counted
from bunraku.stage.readers.tables import json_object
from bunraku.stage.servos import calibrations, servos_of

_NUMBER = re.compile(r"-?[0-9]{1,6}")


class _Line(NamedTuple):
    """A channel whose samples are whole numbers under ``key``: zero + per_unit * value."""

    key: int
    name: str
    kind: ChannelKind
    unit: str
    zero: float
    per_unit: float


def read_blender_servo(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The add-on's JSON in any of its layouts."""
    content = json_object(data, file=file)
    with located(file):
        said = from_data(content[KEY], file=file) if KEY in content else None
        rows = _rows(content)
        fps = content.get("fps")
        if not isinstance(fps, int) or isinstance(fps, bool) or not 1 <= fps <= 100_000:
            raise BadInput(f"'fps' is {str(fps)[:40]!r}; a whole number of frames a second is needed")
        lines = _lines(said, reading)
        _same_rate(said, float(fps))
        keys = {line.name: line.name for line in lines} if {line.name for line in lines} == set(rows) else {}
        positions = {line.key: rows.get(keys.get(line.name, str(line.key)), []) for line in lines}
        if len(positions) != len(rows):
            raise BadInput(f"holds {len(rows)} servos where {len(positions)} are known; give their calibration (--servos)")
        return _exported("blender-servo", lines, positions, float(fps))


def _rows(content: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The positions of every servo by the key it has in the file, in the three layouts of the add-on."""
    rows, servos = content.get("positions"), content.get("servos")
    if isinstance(servos, dict):
        rows = {key: one.get("positions") if isinstance(one, dict) else None for key, one in servos.items()}
    elif isinstance(rows, list):
        keys = list(rows[0]) if rows and isinstance(rows[0], dict) else []
        if not all(isinstance(row, dict) and set(row) == set(keys) for row in rows):
            raise BadInput("has a frame with other servos than the first")
        rows = {key: [row[key] for row in rows] for key in keys}
    if not isinstance(rows, dict) or not rows:
        raise BadInput("holds no positions of servos")
    return {str(key): row for key, row in rows.items()}


def read_blender_servo_h(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The commands in the add-on's header."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    text = decoded(data, file=file)
    said = from_text(text, file=file)
    with located(file):
        fps = _constant(text, r"const byte FPS = (\d+);", "FPS")
        count = _constant(text, r"const int LENGTH = (\d+);", "LENGTH")
        body = between(text, "ANIMATION_DATA[LENGTH] = {", "};")
        if body is None:
            raise BadInput("holds no ANIMATION_DATA; it is another file, or was cut off")
        numbers = re.findall(r"0x([0-9a-fA-F]{2})\b", body)
        if len(numbers) != count:
            raise BadInput(f"has {len(numbers)} bytes where {count} are announced; it was cut off")
        _same_rate(said, float(fps))
        lines = _lines(said, reading)
        return _exported("blender-servo-h", lines, _commands(bytes(int(one, 16) for one in numbers)), float(fps))


def read_blender_servo_bin(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The commands of the binary file, which says neither the rate nor the names of its servos."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    with located(file):
        positions = _commands(data)
        frames = len(next(iter(positions.values())))
        rate = reading.rate
        if rate is None and reading.channels and len(reading.channels[0].values) == frames:
            rate = reading.channels[0].rate
        if rate is None:
            raise BadInput("does not say how many frames a second there are; give --rate")
        return _exported("blender-servo-bin", _lines(None, reading), positions, rate)


def _commands(data: bytes) -> dict[int, list[int]]:
    """The position of every servo at every frame; one that a frame leaves out stays where it was."""
    frames: list[dict[int, int]] = []
    now: dict[int, int] = {}
    at = 0
    while at < len(data):
        if data[at] == LINE_BREAK:
            frames.append(dict(now))
            at += 1
            continue
        command = data[at : at + BYTES_A_COMMAND]
        if len(command) < BYTES_A_COMMAND or command[0] != START or command[-1] != END:
            raise BadInput(f"byte {at} begins no command of a servo; it is another file, or was cut off")
        now[command[1]] = 256 * command[2] + command[3]
        at += BYTES_A_COMMAND
    if not frames or not now or (data and data[-1] != LINE_BREAK) or set(frames[0]) != set(now):
        raise BadInput("holds no whole frame, or a servo that its first frame leaves out")
    return {key: [frame[key] for frame in frames] for key in sorted(now)}


def read_arduino(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The arrays of our header."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    text = decoded(data, file=file)
    said = from_text(text, file=file)
    with located(file):
        match = re.search(r"RATE_HZ = ([0-9]{1,20}(?:\.[0-9]{0,20})?(?:e[-+]?[0-9]{1,3})?)f;", text)
        _same_rate(said, float(match[1]) if match else 0.0)
        lines = _lines(said, reading)
        return _exported("arduino", lines, _arrays(text, "int16_t", lines), said.rate_hz)


def read_arduino_sketch(data: bytes, *, file: str, reading: Reading) -> Exported:
    """The pulses of a sketch; the period by which it plays must be that of its rate."""
    check_size(data, file=file, limit=MAX_FILE_BYTES)
    text = decoded(data, file=file)
    said = from_text(text, file=file)
    with located(file):
        step, rest, parts = (_constant(text, rf"const uint32_t {name} = (\d+)UL;", name) for name in ("STEP_US", "REST", "PARTS"))
        period = Fraction(step) + Fraction(rest, max(parts, 1))
        _same_rate(said, float(1_000_000 / period) if period > 0 else 0.0)
        lines = _lines(said, reading)
        return _exported("arduino-sketch", lines, _arrays(text, "uint16_t", lines), said.rate_hz)


def _arrays(text: str, kind: str, lines: Sequence[_Line]) -> dict[int, list[int]]:
    """The numbers of the arrays in program memory, one a channel, in their order."""
    frames = _constant(text, r"const uint32_t FRAMES = (\d+);", "FRAMES")
    bodies = re.findall(rf"^const {kind} \w+\[FRAMES\] PROGMEM = \{{([^{{}}]*)\}};", text, re.MULTILINE)
    if len(bodies) != len(lines):
        raise BadInput(f"has {len(bodies)} arrays where {len(lines)} channels are named; it was cut off")
    rows = {}
    for line, body in zip(lines, bodies, strict=True):
        words = [word.strip() for word in body.split(",")]
        if len(words) != frames or not all(_NUMBER.fullmatch(word) for word in words):
            raise BadInput(f"the array of {line.name[:60]!r} should have {frames} whole numbers and has {len(words)} entries")
        rows[line.key] = [int(word) for word in words]
    return rows


def _lines(said: Manifest | None, reading: Reading) -> tuple[_Line, ...]:
    """Channel by channel what the numbers mean: by the calibration that is given, else by what the file says.

    A file that says nothing needs names: of the performance, or of a calibration that gives every servo its id.
    """
    if said is not None and reading.servos is None:
        if any(one.per_unit is None for one in said.channels):
            raise BadInput("does not say what its numbers mean; give the calibration of the servos (--servos)")
        return tuple(_Line(c.key, c.name, c.kind, c.unit, c.zero, float(c.per_unit or 0.0)) for c in said.channels)
    given = servos_of(reading.servos)
    if said is not None:
        names = [one.name for one in said.channels]
    elif reading.channels:
        names = [channel.name for channel in reading.channels if channel.kind == "position"]
    else:
        names = [str(name) for name in given] if isinstance(given, Mapping) else []
        if not names:
            raise BadInput("does not name its channels; give --against PERFORMANCE, or --servos FILE with the id of every servo")
    if said is not None and isinstance(given, Mapping):
        given = {name: _with_id(given.get(name), one.key) for name, one in zip(names, said.channels, strict=True)}
    servos = calibrations(tuple(Channel(name, "position", "rad", 1.0, np.zeros(1)) for name in names), given)
    return tuple(
        _Line(one.id or 0, name, "position", "rad", one.at_zero, one.per_radian) for name, one in zip(names, servos, strict=True)
    )


def _with_id(fields: Any, key: int) -> Any:
    """The fields of a servo, with the id under which the file has it where they give none."""
    return {"id": key, **fields} if isinstance(fields, Mapping) else {"id": key} if fields is None else fields


def _exported(form: str, lines: Sequence[_Line], positions: Mapping[int, Any], rate: float) -> Exported:
    channels, steps = [], {}
    missing = next((line.name for line in lines if line.key not in positions), None)
    if missing is not None or len(positions) != len(lines):
        raise BadInput(
            f"holds {len(positions)} servos, and {len(lines)} are known{f'; {missing[:60]!r} is missing' if missing else ''}"
        )
    for line in lines:
        raw = positions[line.key]
        if not isinstance(raw, list) or not all(type(one) is int and abs(one) <= 65_535 for one in raw):
            raise BadInput(f"the positions of {line.name[:60]!r} should be whole numbers of at most 65535")
        channels.append(counted(line.name, line.kind, line.unit, rate, raw, (line.zero, line.per_unit)))
        steps[line.name] = abs(1.0 / line.per_unit)
    if len({len(channel.values) for channel in channels}) > 1:
        raise BadInput("has servos with different numbers of frames")
    return Exported(form, tuple(channels), steps)


def _same_rate(said: Manifest | None, played: float) -> None:
    """A file that says one rate and is played at another is refused."""
    if said is not None and abs(played - said.rate_hz) > 1e-6 * said.rate_hz:
        raise BadInput(f"was exported at {said.rate_hz:g} Hz and would be played at {played:g} Hz; export it again")


def _constant(text: str, pattern: str, name: str) -> int:
    match = re.search(pattern, text)
    if match is None or len(match[1]) > 12:
        raise BadInput(f"does not state {name}; it is another file, or was cut off")
    return int(match[1])
