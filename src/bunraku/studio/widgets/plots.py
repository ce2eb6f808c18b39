"""Numbers for plots: one axis of times and named series with their role; the page draws them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.decimate import decimated_together
from bunraku.motion import MotionLimits, Performance
from bunraku.verification.body_errors import BodyErrors

MOST_POINTS = 1500

Role = Literal["before", "after", "lower", "upper", "cost"]


@dataclass(frozen=True)
class Series:
    """One line: its ``label``, which joint or body it ``belongs`` to, its ``role`` and values (n,)."""

    label: str
    belongs: str
    role: Role
    values: Array


@dataclass(frozen=True)
class PlotData:
    """The axis ``x`` (n,), at most 1500 points, and series as long; ``unit`` of all of them; ``note``: what a reader must know.

    No series is without a finite number: one such line would blank the whole plot.
    """

    x: Array
    series: tuple[Series, ...]
    unit: str = ""
    note: str = ""

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The axis and all series, as a plot takes them."""
        return (self.x, *(one.values for one in self.series))


def motor_names(performance: Performance, count: int = 6) -> tuple[str, ...]:
    """The driven coordinates whose performed motion differs most from the wish, else those that move most."""
    asked = performance.wish
    done = performance.followed() if asked is not None and asked.names else performance.motion
    wish = asked.values if asked is not None and asked.names == done.names else np.zeros(done.values.shape)
    off = np.abs(done.values - wish).max(axis=0) + 1e-6 * np.ptp(done.values, axis=0)
    return tuple(done.names[int(j)] for j in np.argsort(-off, kind="stable")[:count])


def motors(performance: Performance, names: Sequence[str] = ()) -> PlotData:
    """For each of the driven coordinates the wish ("before"), the plan ("after"), and finite limits as bands.

    Limits that depend on another coordinate are those of the plan. Names that are neither wished nor moved are left out.
    """
    chosen = tuple(names) or motor_names(performance)
    done = {name: performance.motion.column(name) for name in performance.motion.names}
    limits = _limits(performance, chosen)
    lines: list[Series] = []
    for name in chosen:
        if performance.wish is not None and name in performance.wish.names:
            lines.append(Series(f"{name} wished", name, "before", performance.wish.column(name)))
        if name in done:
            lines.append(Series(f"{name} performed", name, "after", done[name]))
        if name in limits:
            low, high = limits[name]
            lines += [Series(f"{name} least", name, "lower", low), Series(f"{name} most", name, "upper", high)]
    units = sorted({performance.unit_of(name) for name in chosen})
    return _plot(performance.motion.times, lines, " or ".join(units))


def errors(of: BodyErrors, names: Sequence[str] = ()) -> PlotData:
    """For each tracked body its distance [m] from where it was wished, before (where that is known) and after."""
    lines = []
    for j, name in enumerate(of.names):
        if names and name not in names:
            continue
        if of.before is not None:
            lines.append(Series(f"{name} before", name, "before", of.before[:, j]))
        lines.append(Series(f"{name} after", name, "after", of.after[:, j]))
    return _plot(of.times, lines, "m", of.note)


def convergence(history: Sequence[Mapping[str, float]]) -> PlotData:
    """Figures that a solver reported, one mapping an iteration: a series for each that was reported more than once.

    x counts the reports. A report without a name, or with no number, repeats the one before it.
    """
    seen = Counter(name for report in history for name, value in report.items() if math.isfinite(value))
    names = [name for name in dict.fromkeys(name for report in history for name in report) if seen[name] > 1]
    lines = [Series(name, name, "cost", _held([report.get(name, math.nan) for report in history])) for name in names]
    return _plot(np.arange(len(history), dtype=np.float64), lines, "")


def _held(column: Sequence[float]) -> Array:
    """Numbers that are none are those before them; at the beginning the first one that is."""
    last = next((value for value in column if math.isfinite(value)), math.nan)
    return np.array([last := value if math.isfinite(value) else last for value in column], dtype=np.float64)


def _limits(performance: Performance, names: Sequence[str]) -> dict[str, tuple[Array, Array]]:
    """Lower and upper limit (n,) of the coordinates that have any."""
    count = len(performance.motion.values)
    ranges = {
        axis.name: (np.full(count, axis.range[0]), np.full(count, axis.range[1]))
        for axis in performance.character.axes
        if axis.range is not None and axis.name in names
    }
    sent = {channel.name for channel in performance.channels if channel.kind == "position"}
    driven = tuple(name for name in performance.character.driven if name in sent)
    if performance.dynamic or not driven:
        return ranges
    limits = MotionLimits.of(performance.character)
    lower, upper = limits.bounds(limits.completed(driven, performance.motion.chosen(driven).values))
    return ranges | {name: (lower[:, j], upper[:, j]) for j, name in enumerate(limits.names) if name in names}


def _plot(x: Array, lines: Sequence[Series], unit: str, note: str = "") -> PlotData:
    """At most 1500 points; infinite numbers are gaps; lines without any number are left out."""
    kept = [line for line in lines if np.isfinite(line.values).any()]
    if not kept:
        return PlotData(np.zeros(0), (), unit, note or "there is nothing to plot")
    values = np.column_stack([np.where(np.isfinite(line.values), line.values, np.nan) for line in kept])
    at, drawn = decimated_together(x, values, MOST_POINTS)
    series = tuple(replace(line, values=np.ascontiguousarray(drawn[:, j])) for j, line in enumerate(kept))
    return PlotData(at, series, unit, note)
