"""A marker over time as a table: what motion capture or a video tracker exports.

A header, then one line a sample. Time is a column ``time_s`` (``time``, ``t``, ``time_ms``), or ``frame`` together with a comment
``# rate_hz: 60``. Position is two or three of the columns ``x``, ``y``, ``z``, perhaps behind the marker's name (``tip_x_mm``),
whose ending is the unit: ``_m``, ``_cm``, ``_mm``, ``_in``, or ``_px`` for the pixels of a picture, which a comment ``# mm_per_px:
0.42`` makes lengths. A sample with an empty cell (or ``nan``) is one at which the marker was hidden, and is left out. Separators
are commas, semicolons or tabs; with the latter two a decimal comma is understood.
"""

from __future__ import annotations

import re

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import located
from bunraku.formats.units import FAMILIES, LINEAR
from bunraku.mechanics.identification.record import MarkerRecord

MAX_BYTES = 64 * 1024 * 1024
MAX_COLUMNS = 1000
LENGTHS = FAMILIES["length"][LINEAR]
_TIME = {"time_s": 1.0, "time": 1.0, "t": 1.0, "t_s": 1.0, "time_ms": 1e-3, "t_ms": 1e-3}
_COMMENT = re.compile(r"(rate(?:_hz)?|mm_per_px)\s*[:=]\s*([-+.0-9eE]+)")
_AXIS = re.compile(r"(?:.*[\W_])?([xyz])")
_GAPS = {"", "nan", "null", "none", "-"}


def read_marker(
    data: bytes, *, file: str, unit: str | None = None, rate: float | None = None, mm_per_px: float | None = None
) -> MarkerRecord:
    """The marker of a table; ``unit`` counts for columns that state none, ``rate`` [Hz] when there is no time.

    ``mm_per_px``: millimetres a pixel, when they are pixels and the file states no scale.
    """
    check_size(data, file=file, limit=MAX_BYTES)
    stated, lines = _lines(decoded(data, file=file))
    if len(lines) < 2:
        raise BadInput("holds no sample; a header and one line a sample are needed", file=file, place="line 1")
    number, header = lines[0]
    separator = next((mark for mark in (";", "\t") if mark in header), ",")
    names = [name.strip().strip("\"'").strip().lower() for name in header.split(separator)]
    if len(names) > MAX_COLUMNS:
        raise BadInput(f"has {len(names)} columns; at most {MAX_COLUMNS} are read", file=file, place=f"line {number}")
    where = f"line {number}"
    columns, factor, scaled = _position(names, unit, mm_per_px or stated.get("mm_per_px"), file, where)
    clock, second = _clock(names, rate or stated.get("rate"), file, where)
    needed = [*([clock] if clock is not None else []), *columns]
    rows = [_cells(line, place, names, needed, separator, file) for place, line in lines[1:]]
    values = np.array(rows, dtype=np.float64)
    times = second * (values[:, 0] if clock is not None else np.arange(len(values), dtype=np.float64))
    points = values[:, len(needed) - len(columns) :] * factor
    seen = np.isfinite(values).all(axis=1)
    late = np.flatnonzero(~(np.diff(times[seen]) > 0.0))
    if len(late):
        line = lines[1:][int(np.flatnonzero(seen)[late[0] + 1])][0]
        raise BadInput("time does not rise; sort the lines", file=file, place=f"line {line}")
    with located(file):
        return MarkerRecord(times[seen], points[seen], scaled)


def _lines(text: str) -> tuple[dict[str, float], list[tuple[int, str]]]:
    """What comments state, and the lines that count with their numbers."""
    stated: dict[str, float] = {}
    filled = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if line.lstrip().startswith("#"):
            for name, value in _COMMENT.findall(line):
                try:
                    stated[name.removesuffix("_hz")] = float(value)
                except ValueError:
                    continue
        elif line.strip():
            filled.append((number, line))
    return stated, filled


def _position(names: list[str], unit: str | None, mm_per_px: float | None, file: str, where: str) -> tuple[list[int], float, bool]:
    """The columns of x, y, z, the factor to metres (or 1) and whether there is one."""
    axes: dict[str, tuple[int, str]] = {}
    for index, name in enumerate(names):
        stem, _, ending = name.rpartition("_")
        own = ending if stem and ending in (*LENGTHS, "px") else ""
        match = _AXIS.fullmatch(stem if own else name)
        if not match:
            continue
        if match[1] in axes:
            raise BadInput(f"has two columns for {match[1]}; keep those of one marker", file=file, place=where)
        axes[match[1]] = (index, own or unit or "")
    if len(axes) < 2:
        raise BadInput(
            f"has the columns {', '.join(names)[:120]}; time_s and two or three of x_mm, y_mm, z_mm are needed",
            file=file,
            place=where,
        )
    units = {own for _, own in axes.values()}
    given = units.pop()
    if units or given not in (*LENGTHS, "px"):
        wrong = "mixes units" if units else f"gives the unit {given!r}" if given else "gives no unit"
        raise BadInput(f"{wrong} for x, y, z; end the columns' names in _m, _cm, _mm, _in or _px", file=file, place=where)
    columns = [axes[axis][0] for axis in sorted(axes)]
    if given != "px":
        return columns, LENGTHS[given], True
    if mm_per_px is not None and not (np.isfinite(mm_per_px) and mm_per_px > 0.0):
        raise BadInput(f"the scale is {mm_per_px} mm a pixel; a positive number is needed", file=file)
    return columns, 1e-3 * mm_per_px if mm_per_px else 1.0, mm_per_px is not None


def _clock(names: list[str], rate: float | None, file: str, where: str) -> tuple[int | None, float]:
    """The column of time (None: lines are counted) and its unit [s]."""
    for name, factor in _TIME.items():
        if name in names:
            return names.index(name), factor
    if rate is None or not (np.isfinite(rate) and rate > 0.0):
        raise BadInput("has no column time_s and states no rate; add one, or a comment '# rate_hz: 60'", file=file, place=where)
    return (names.index("frame") if "frame" in names else None), 1.0 / rate


def _cells(line: str, number: int, names: list[str], needed: list[int], separator: str, file: str) -> list[float]:
    """The needed numbers of a line, nan where a cell is empty."""
    cells = line.split(separator)
    if len(cells) == len(names) + 1 and not cells[-1].strip():
        cells.pop()
    if len(cells) != len(names):
        raise BadInput(f"has {len(cells)} cells where the header has {len(names)}", file=file, place=f"line {number}")
    row = []
    for index in needed:
        cell = cells[index].strip().strip("\"'")
        if cell.lower() in _GAPS:
            row.append(float("nan"))
            continue
        try:
            value = float(cell if separator == "," else cell.replace(",", "."))
        except ValueError:
            place = f"line {number}, column {index + 1}"
            raise BadInput(f"{cell[:40]!r} stands where a number is needed", file=file, place=place) from None
        if not abs(value) < 1e12:
            raise BadInput("holds a number that is not finite, or beyond 1e12", file=file, place=f"line {number}")
        row.append(value)
    return row
