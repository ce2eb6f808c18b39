"""Pictures of a table: every figure against everything that varies, and maps over two numbers that vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.batch.plan import BatchPlan
from bunraku.batch.table import Table
from bunraku.verification.plots.figure import DONE, LIMIT, OTHERS, WISH, new_figure, save_figure

MOST_MEASURES = 24
A_PAGE = 6
MOST_FACTORS = 5
COLOURS = (DONE, LIMIT, "#d99a2b", *OTHERS)


@dataclass(frozen=True)
class VariedColumn:
    """One column that varies: as numbers, or as the places of its ``labels``."""

    name: str
    x: Array
    labels: tuple[str, ...] = ()

    @property
    def levels(self) -> Array:
        """The different values."""
        return np.unique(self.x[np.isfinite(self.x)])


def draw_batch(plan: BatchPlan, table: Table, folder: Path) -> list[Path]:
    """Write ``plots/*.png``: an overview, six figures a page, and maps where exactly two numbers vary. Returns the files."""
    factors = [_factor(name, table.column(name)) for name in plan.varied]
    factors = [factor for factor in factors if len(factor.levels) > 1]
    measures = _measures(table)
    if not factors or not measures:
        return []
    plots = folder / "plots"
    plots.mkdir(exist_ok=True)
    numeric = [factor for factor in factors if not factor.labels]
    written = []
    for page, start in enumerate(range(0, len(measures), A_PAGE)):
        part = measures[start : start + A_PAGE]
        end = "" if page == 0 else f"-{page + 1}"
        figure = draw_overview(plan.name, factors[:MOST_FACTORS], part)
        written.append(plots / f"overview{end}.png")
        save_figure(figure, written[-1])
        if len(numeric) == 2:
            written.append(plots / f"map{end}.png")
            save_figure(draw_maps(plan.name, (numeric[0], numeric[1]), part), written[-1])
    return written


def draw_overview(title: str, factors: Sequence[VariedColumn], measures: Sequence[tuple[str, Array]]) -> Any:
    """Small multiples: a row for each figure, a column for each thing that varies; colours tell a second one apart."""
    width = max(4.6, 3.4 * len(factors) + 1.2)
    figure, axes = new_figure(len(measures), len(factors), height=2.2, width=width)
    for column, factor in enumerate(factors):
        hue = _hue(factor, factors)
        for row, (name, values) in enumerate(measures):
            axis = axes[row, column]
            _panel(axis, factor, values, hue)
            if column == 0:
                axis.set_ylabel(_words(name), fontsize=8)
        axes[-1, column].set_xlabel(_words(factor.name), fontsize=9)
        if hue is not None:
            _legend(axes[0, column], hue)
    figure.suptitle(f"{title}: {len(measures[0][1])} runs", fontsize=10, x=0.02, ha="left")
    return figure


def draw_maps(title: str, pair: tuple[VariedColumn, VariedColumn], measures: Sequence[tuple[str, Array]]) -> Any:
    """Each figure over two numbers: cells of a grid (the mean of the runs in one; hatched where none is), or coloured points."""
    columns = min(3, len(measures))
    rows = math.ceil(len(measures) / columns)
    figure, axes = new_figure(rows, columns, height=2.9, width=max(4.8, 3.6 * columns), share=False)
    for axis, (name, values) in zip(axes.flat, measures, strict=False):
        _map(axis, figure, pair, values)
        axis.set_title(_words(name), fontsize=9)
        axis.set_xlabel(_words(pair[0].name), fontsize=8)
        axis.set_ylabel(_words(pair[1].name), fontsize=8)
    for axis in list(axes.flat)[len(measures) :]:
        axis.set_visible(False)
    figure.suptitle(title, fontsize=10, x=0.02, ha="left")
    return figure


def _legend(axis: Any, hue: VariedColumn) -> None:
    """What the colours of a column mean, above its first panel."""
    axis.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=4,
        fontsize=7,
        title=_words(hue.name),
        title_fontsize=7,
        alignment="left",
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.0,
        borderaxespad=0.2,
    )


def _panel(axis: Any, factor: VariedColumn, values: Array, hue: VariedColumn | None) -> None:
    """One figure against one thing that varies."""
    known = np.isfinite(values) & np.isfinite(factor.x)
    axis.grid(True, color="#e8e8e8", linewidth=0.6)
    axis.set_axisbelow(True)
    groups = [(None, known)] if hue is None else [(level, known & (hue.x == level)) for level in hue.levels]
    shift = 0.12 * (np.arange(len(groups)) - 0.5 * (len(groups) - 1)) * (bool(factor.labels) and len(groups) <= 6)
    for place, (level, chosen) in enumerate(groups):
        colour = COLOURS[place % len(COLOURS)]
        label = None if level is None or hue is None else _level(hue, level)
        x, y = factor.x[chosen] + shift[place], values[chosen]
        levels = np.unique(x)
        many = len(levels) < len(x)
        size, alpha = (3.0, 0.45) if many else (3.5, 0.9)
        axis.plot(x, y, "o", color=colour, markersize=size, alpha=alpha, markeredgewidth=0, label=label)
        if not factor.labels and 1 < len(levels) <= 60 and len(levels) <= 0.7 * len(factor.x):
            axis.plot(levels, [np.median(y[x == level]) for level in levels], "-", color=colour, linewidth=1.2)
        elif factor.labels:
            for level in levels:
                axis.plot([level - 0.05, level + 0.05], 2 * [np.median(y[x == level])], "-", color=colour, linewidth=2.0)
    if not known.any():
        axis.text(0.5, 0.5, "no run has it", ha="center", va="center", transform=axis.transAxes, fontsize=8, color=WISH)
    if factor.labels:
        axis.set_xticks(range(len(factor.labels)), [_short(label) for label in factor.labels], rotation=30, ha="right", fontsize=7)
        axis.set_xlim(-0.5, len(factor.labels) - 0.5)


def _map(axis: Any, figure: Any, pair: tuple[VariedColumn, VariedColumn], values: Array) -> None:
    first, second = pair
    xs, ys = first.levels, second.levels
    known = np.isfinite(values)
    if len(xs) * len(ys) > max(4, 2 * len(values)):  # no grid: points
        drawn = axis.scatter(first.x[known], second.x[known], c=values[known], cmap="viridis", s=22, linewidths=0)
        axis.plot(first.x[~known], second.x[~known], "x", color=WISH, markersize=4)
        figure.colorbar(drawn, ax=axis, shrink=0.9).ax.tick_params(labelsize=7)
        return
    cells = np.full((len(ys), len(xs)), np.nan)
    for row, y in enumerate(ys):
        for column, x in enumerate(xs):
            chosen = known & (first.x == x) & (second.x == y)
            if chosen.any():
                cells[row, column] = values[chosen].mean()
    axis.set_facecolor("#eeeeee")
    drawn = axis.pcolormesh(np.arange(len(xs)), np.arange(len(ys)), np.ma.masked_invalid(cells), cmap="viridis", shading="nearest")
    for row, column in np.argwhere(~np.isfinite(cells)):
        axis.text(column, row, "×", ha="center", va="center", color=WISH, fontsize=9)
    every_x, every_y = max(1, len(xs) // 6), max(1, len(ys) // 8)
    axis.set_xticks(range(0, len(xs), every_x), [f"{x:.4g}" for x in xs[::every_x]], fontsize=7)
    axis.set_yticks(range(0, len(ys), every_y), [f"{y:.4g}" for y in ys[::every_y]], fontsize=7)
    figure.colorbar(drawn, ax=axis, shrink=0.9).ax.tick_params(labelsize=7)


def _hue(factor: VariedColumn, factors: Sequence[VariedColumn]) -> VariedColumn | None:
    """The other thing that varies with the fewest values, if these can be told apart by colour."""
    others = [one for one in factors if one is not factor and 1 < len(one.levels) <= len(COLOURS)]
    return min(others, key=lambda one: len(one.levels), default=None)


def _factor(name: str, values: list[Any]) -> VariedColumn:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return VariedColumn(name, np.array(values, dtype=np.float64))
    labels = tuple(dict.fromkeys(str(value) or "chosen" for value in values))
    return VariedColumn(name, np.array([labels.index(str(value) or "chosen") for value in values], dtype=np.float64), labels)


def _measures(table: Table) -> list[tuple[str, Array]]:
    """The figures that are numbers or truths and not the same everywhere."""
    measures = []
    for name in table.measures:
        values = np.array([_number(value) for value in table.column(name)])
        finite = values[np.isfinite(values)]
        if len(finite) and np.ptp(finite) > 1e-12 * max(1.0, float(np.abs(finite).max())):
            measures.append((name, values))
    return measures[:MOST_MEASURES]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _level(factor: VariedColumn, level: float) -> str:
    return _short(factor.labels[int(level)]) if factor.labels else f"{level:.4g}"


def _words(name: str) -> str:
    """A column's name in words, its unit in brackets."""
    for unit in ("m/s", "rad/s", "rad", "deg", "m", "s", "N"):
        suffix = f"_{unit.lower().replace('/', '_')}"
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ').replace('.', ': ')} [{unit}]"
    return name.replace("_", " ").replace(".", ": ")


def _short(text: str) -> str:
    return text if len(text) <= 22 else f"{text[:10]}…{text[-10:]}"
