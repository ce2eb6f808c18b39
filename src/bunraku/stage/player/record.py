"""What happened: everything that was sent and when, how punctual it was, what was cut, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array

KEPT = 100_000
"""So many of the last commands are kept."""


class Tape:
    """Room for the last commands, made before the show: counts, lateness and skew; ``ticks`` have been written in all."""

    def __init__(self, ticks: int, outputs: int) -> None:
        room = min(max(ticks, 1), KEPT)
        self._counts = np.zeros((room, outputs), dtype=np.int64)
        self._times, self._late, self._skew = np.zeros(room), np.zeros(room), np.zeros(room)
        self.ticks = 0

    def write(self, time: float, counts: NDArray[np.int64], late: float, skew: float) -> None:
        """One command: show time [s], counts (k,), how late it left [s], and how far from the clock [s]."""
        at = self.ticks % len(self._times)
        self._counts[at] = counts
        self._times[at], self._late[at], self._skew[at] = time, late, skew
        self.ticks += 1

    def _ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        kept = len(values)
        return values[: self.ticks].copy() if self.ticks <= kept else np.roll(values, -(self.ticks % kept), axis=0)

    @property
    def times(self) -> Array:
        """Show times [s] of the commands kept, oldest first."""
        return self._ordered(self._times)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Counts (n, k) of the commands kept."""
        return self._ordered(self._counts)

    @property
    def late(self) -> Array:
        """How late each left [s]."""
        return self._ordered(self._late)

    @property
    def skew(self) -> Array:
        """How far each was from the master clock [s], positive when late."""
        return self._ordered(self._skew)


@dataclass(frozen=True)
class PlayRecord:
    """The record of one show.

    ``ended``: why, in words; ``stopped``: whether that was an emergency stop; ``stop_ms``: from the moment its cause was known
    until the machine had been released. ``missed``: commands more than a period late; ``skipped``: samples left out to keep to
    the clock; ``cut``: values changed by the last clamp, ``cut_by`` the largest change by output; ``wild``: values that were no
    numbers; ``following`` the largest following error by output, in its unit (``units``). ``ignored``: OSC that was no cue.
    """

    device: str
    driver: str
    clock: str
    rate: float
    outputs: tuple[str, ...]
    units: tuple[str, ...]
    played: tuple[str, ...]
    ended: str
    stopped: bool
    stop_ms: float | None
    missed: int
    skipped: int
    cut: int
    wild: int
    cut_by: dict[str, float]
    following: dict[str, float]
    cues: tuple[str, ...]
    ignored: int
    notes: tuple[str, ...]
    tape: Tape = field(repr=False)

    @property
    def figures(self) -> dict[str, float | None]:
        """Punctuality: lateness [ms] (median, 99 %, largest), skew to the clock [ms] (median, 99 % of its size), drift [ms/min]."""
        late, skew, times = 1e3 * self.tape.late, 1e3 * self.tape.skew, self.tape.times
        if not len(late):
            names = ("lateness_median_ms", "lateness_p99_ms", "lateness_max_ms", "skew_median_ms", "skew_p99_ms")
            return dict.fromkeys(names, None)
        figures: dict[str, float | None] = {
            "lateness_median_ms": float(np.median(late)),
            "lateness_p99_ms": float(np.percentile(late, 99)),
            "lateness_max_ms": float(late.max()),
            "skew_median_ms": float(np.median(skew)),
            "skew_p99_ms": float(np.percentile(np.abs(skew), 99)),
            "drift_ms_per_min": None,
        }
        if len(late) >= 100 and times[-1] - times[0] >= 1.0:
            figures["drift_ms_per_min"] = 60.0 * _robust_slope(times, skew)
        return figures

    @property
    def facts(self) -> dict[str, Any]:
        """The record as plain data."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("rate", "tape")}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
        commands = self.tape.ticks
        return plain | {"rate_hz": self.rate, "commands": commands, "duration_s": commands / self.rate} | self.figures

    @property
    def sentences(self) -> list[str]:
        """The record in words."""
        figures = {name: value for name, value in self.figures.items() if value is not None}
        lines = [
            f"{'STOPPED' if self.stopped else 'ended'}: {self.ended}"
            + (f" (machine released {self.stop_ms:.1f} ms later)" if self.stopped and self.stop_ms is not None else ""),
            f"{_counted(self.tape.ticks, 'command')} at {self.rate:g} Hz to {_counted(len(self.outputs), 'output')} of "
            f"{self.device!r} ({self.driver}); time by {self.clock}",
        ]
        if figures:
            lines.append(
                f"late by {figures['lateness_median_ms']:.2f} ms (median), {figures['lateness_p99_ms']:.2f} ms (99 %), "
                f"{figures['lateness_max_ms']:.2f} ms (most); {self.missed} missed, {_counted(self.skipped, 'sample')} skipped; "
                f"{figures['skew_p99_ms']:.2f} ms from the clock (99 %)"
            )
        if self.cut or self.wild:
            by = f", most {self._most(self.cut_by)}" if self.cut_by else ""
            wild = f"{_counted(self.wild, 'value')} {'was no number' if self.wild == 1 else 'were no numbers'}"
            lines.append(f"{_counted(self.cut, 'value')} cut to the limits{by}; {wild}")
        if self.following:
            lines.append(f"largest following error {self._most(self.following)}")
        if self.ignored:
            lines.append(f"ignored {_counted(self.ignored, 'OSC message')} that {'was' if self.ignored == 1 else 'were'} no cue")
        return [*lines, *(f"note: {note}" for note in self.notes)]

    def _most(self, errors: dict[str, float]) -> str:
        worst = max(errors, key=lambda name: errors[name])
        return f"{errors[worst]:.3g} {self.units[self.outputs.index(worst)]} of {worst!r}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _robust_slope(times: Array, values: Array) -> float:
    """Slope of values over times: the line through the medians of the first and of the last third."""
    third = max(len(times) // 3, 1)
    rise = float(np.median(values[-third:]) - np.median(values[:third]))
    return rise / float(np.median(times[-third:]) - np.median(times[:third]))
