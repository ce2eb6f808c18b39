"""Joint curves as a table: a header with the names of the coordinates, then one line a sample.

Columns are radians or metres; a name that ends in ``_deg`` (``_rad``, ``_m``, ``_mm``) says otherwise and loses that ending.
A column ``time_s`` (or ``time``, ``t``, ``time_ms``) gives the rate; times that are not uniform to 1 %, or of
fewer than 10 lines a second, are keyframes: curves through all of them, which never go beyond neighbouring ones, are sampled at
100 Hz or more from the first to the last, which the clip's source then says. Without it the rate is that of a comment
``# rate_hz: 100``, or of the argument, or 25, which the clip's source says too; `csv_notes` gives what a source says of this kind.
Separators are commas, semicolons or tabs; with the latter two a decimal comma is understood.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.files import MAX_NUMBERS, check_size, decoded
from bunraku.formats.places import located
from bunraku.formats.units import accepted_units
from bunraku.geometry.monotone import monotone
from bunraku.motion import Clip, JointCurves

DEFAULT_RATE = 25.0
SPARSE, KEYED = 10.0, 100.0
"""Below ``SPARSE`` [Hz] lines are keyframes, between which a spline would swing; their curves have ``KEYED`` [Hz] at least."""
MAX_CSV_BYTES = 64 * 1024 * 1024
TIME_NAMES = ("time_s", "time", "t", "time_ms")
_UNEVEN = "uneven times, taken as keyframes with smooth curves between them"
_SPARSE = "fewer than 10 lines a second, taken as keyframes with smooth curves between them"
_ASSUMED = f"no time column and no rate, so {DEFAULT_RATE:g} Hz is assumed (add a column time_s, or a first line '# rate_hz: 100')"
_RATE = re.compile(r"rate(?:_hz)?\s*[:=]\s*([-+.0-9eE]+)")


def read_csv(data: bytes, *, file: str, folder: Path | None = None, rate: float | None = None) -> Clip:
    """A clip with the joint curves of a table; ``rate`` [Hz] counts when the file gives none."""
    check_size(data, file=file, limit=MAX_CSV_BYTES)
    lines, stated = _lines(decoded(data, file=file))
    names, values = _named_table(lines, file)
    number = lines[0][0]
    clocks = [index for index, name in enumerate(names) if name.lower() in TIME_NAMES]
    curves = [index for index in range(len(names)) if index not in clocks]
    if len(clocks) > 1 or not curves:
        raise BadInput("has to have one time column at most, and a coordinate", file=file, place=f"line {number}")
    short, factors = zip(*(_unit(names[index]) for index in curves), strict=True)
    samples, note = values[:, curves] * np.array(factors), "" if clocks or stated is not None or rate is not None else _ASSUMED
    if clocks:
        times = values[:, clocks[0]] * (0.001 if names[clocks[0]].lower() == "time_ms" else 1.0)
        samples, measured, note = _uniform(times, samples, file, [line for line, _ in lines[1:]], stated is not None)
        agree = measured is not None and stated is not None and abs(stated - measured) <= 1e-4 * measured
        stated = stated if agree or measured is None else measured
    with located(file, f"line {number}"):
        joints = JointCurves(tuple(short), next(hz for hz in (stated, rate, DEFAULT_RATE) if hz is not None), samples)
    return Clip(Path(file).stem or "csv", joints=joints, source=f"CSV file {Path(file).name}" + (f"; {note}" if note else ""))


def csv_table(text: str, *, file: str) -> tuple[list[str], Array, float | None]:
    """Names of the columns, values (lines, columns) as they stand there, and the rate [Hz] that a comment states."""
    lines, stated = _lines(text)
    return *_named_table(lines, file), stated


def csv_notes(clip: Clip) -> tuple[str, ...]:
    """What had to be assumed or changed to read a clip from a table, in sentences; none for any other clip."""
    said = clip.source.startswith("CSV file ")
    return tuple(note for note in (_UNEVEN, _SPARSE, _ASSUMED) if said and clip.source.endswith(f"; {note}"))


def csv_bytes(curves: JointCurves) -> bytes:
    """The bytes of a table that reads back exactly: the rate as a comment, a time column, one column a coordinate."""
    head = f"# rate_hz: {curves.rate!r}\n" + ",".join(_quoted(name) for name in ("time_s", *curves.names)) + "\n"
    rows = np.column_stack([curves.times, curves.values]).tolist()
    return (head + "".join(",".join(map(repr, row)) + "\n" for row in rows)).encode()


def write_csv(clip: Clip, name: str) -> dict[str, bytes]:
    """The joint curves of a clip as a table."""
    return {name: csv_bytes(clip.need_joints("a CSV file"))}


def _lines(text: str) -> tuple[list[tuple[int, str]], float | None]:
    """The lines that count, with their numbers, and the rate a comment states."""
    filled: list[tuple[int, str]] = []
    rate: float | None = None
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        stripped = line.strip(" \t")
        if stripped.startswith("#"):
            match = _RATE.search(stripped)
            if match and _is_number(match[1]):
                rate = float(match[1])
        elif stripped:
            filled.append((number, stripped if "\t" not in line else line))
    return filled, rate


def _named_table(lines: list[tuple[int, str]], file: str) -> tuple[list[str], Array]:
    """The names in the first line, and the values (lines, names) of the others."""
    if not lines:
        raise BadInput("holds no line; a header with coordinate names is needed", file=file, place="line 1")
    number, header = lines[0]
    separator = next((mark for mark in (";", "\t") if mark in header), ",")
    names = [_unquoted(name) for name in header.split(separator)]
    if names and names[-1] == "" and len(names) > 1:
        names.pop()
    if not all(names) or all(_is_number(name) for name in names):
        raise BadInput("the first line must name the coordinate of every column", file=file, place=f"line {number}")
    if len(names) > 10_000 or len(names) * (len(lines) - 1) > MAX_NUMBERS:
        raise BadInput(
            f"holds {len(lines)} lines of {len(names)} columns; that is more than can be read", file=file, place="line 1"
        )
    values = _table(lines[1:], len(names), separator, file)
    if len(values) < 1:
        raise BadInput("holds a header and no sample; at least one is needed", file=file, place=f"line {number}")
    return names, values


def _table(lines: list[tuple[int, str]], columns: int, separator: str, file: str) -> Array:
    values = np.empty((len(lines), columns))
    for row, (number, line) in enumerate(lines):
        cells = (line if separator == "," else line.replace(",", ".")).split(separator)
        if len(cells) == columns + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) != columns:
            raise BadInput(f"has {len(cells)} cells where the header has {columns}", file=file, place=f"line {number}")
        try:
            values[row] = [float(cell) for cell in cells]
        except ValueError:
            values[row] = [_cell(cell, number, column, file) for column, cell in enumerate(cells)]
        if not np.abs(values[row]).max() < 1e12:
            raise BadInput("holds a number that is not finite, or beyond 1e12", file=file, place=f"line {number}")
    return values


def _cell(cell: str, number: int, column: int, file: str) -> float:
    try:
        return float(_unquoted(cell))
    except ValueError:
        raise BadInput(
            f"{cell.strip()[:40]!r} stands where a number is needed", file=file, place=f"line {number}, column {column + 1}"
        ) from None


def _uniform(times: Array, samples: Array, file: str, lines: list[int], stated: bool) -> tuple[Array, float | None, str]:
    """Samples at a uniform rate from t = 0, that rate (None for a single sample), and a note if they had to be sampled anew.

    Where the file has ``stated`` a rate, even lines are samples however few they are.
    """
    if len(times) == 1:
        return samples, None, ""
    steps = np.diff(times)
    if not (steps > 0.0).all():
        raise BadInput("time does not rise; sort the lines", file=file, place=f"line {lines[int(np.argmin(steps)) + 1]}")
    mean = float(times[-1] - times[0]) / (len(times) - 1)
    rate = 1.0 / mean if mean > 1e-9 else np.inf
    whole = float(round(rate)) if rate < 1e6 else 0.0
    if whole > 0 and abs(rate - whole) < 1e-4 * whole:
        rate = whole
    even = bool(np.abs(steps - mean).max() <= 0.01 * mean)
    if even and (stated or rate >= SPARSE or len(times) == 2):
        return samples, rate, ""
    duration, fast = float(times[-1] - times[0]), max(KEYED, 1.0 / max(float(np.median(steps)), 1e-12))
    count = int(np.ceil(duration * fast - 1e-9)) + 1 if duration * fast < MAX_NUMBERS else MAX_NUMBERS
    if count * samples.shape[1] > min(MAX_NUMBERS, 1000 * samples.size + 1_000_000):
        raise BadInput("the times are too uneven to be sampled anew", file=file, place=f"line {lines[int(np.argmax(steps)) + 1]}")
    at = np.linspace(times[0], times[-1], count)
    resampled = np.column_stack([monotone(times, samples[:, j], at) for j in range(samples.shape[1])])
    return resampled, (count - 1) / duration, _SPARSE if even else _UNEVEN


def _unit(name: str) -> tuple[str, float]:
    """The coordinate's name and the factor to SI, by the ending of a column's name."""
    for suffix, (factor, _) in accepted_units("coordinate").items():
        if name.endswith(f"_{suffix}") and len(name) > len(suffix) + 1:
            return name[: -len(suffix) - 1], factor
    return name, 1.0


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text


def _quoted(name: str) -> str:
    if any(mark in name for mark in ',;\t"\n\r#') or _unit(name)[0] != name or name.strip() != name:
        raise BadInput(f"the coordinate {name!r} cannot be a column's name in a CSV file; write YAML instead")
    return name


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
