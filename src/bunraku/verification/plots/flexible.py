"""Pictures of a flexible character: where its frames go, how far off they are, what the motors do, how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bunraku.mechanics.flexible.judge import Judged
from bunraku.motion import Performance
from bunraku.verification.plots.figure import DONE, LIMIT, WISH, new_figure

TARGET, BEFORE, AFTER = WISH, LIMIT, DONE
AXES = "xyz"


def draw_frames(judged: Judged) -> Any:
    """Each tracked frame's coordinates that move most: target, wish played as it is, performance."""
    names, targets = judged.after.names, judged.targets.positions
    shown = [(k, _busiest(judged, k)) for k in range(len(names))]
    rows = [(k, axis) for k, axes in shown for axis in axes]
    figure, axes = new_figure(len(rows))
    for at, (axis, (k, i)) in enumerate(zip(axes[:, 0], rows, strict=True)):
        t = judged.after.times
        if judged.before is not None:
            axis.plot(t, 100 * judged.before.seen.positions[:, k, i], color=BEFORE, lw=0.9, label="before")
        axis.plot(t, 100 * targets[:, k, i], color=TARGET, lw=2.2, label="target")
        axis.plot(t, 100 * judged.after.seen.positions[:, k, i], color=AFTER, lw=1.1, label="after")
        axis.set_ylabel(f"{names[k]} {AXES[i]} [cm]", fontsize=8)
        if at == 0:
            _legend(axis)
    return _timed(figure, axes)


def draw_errors(judged: Judged) -> Any:
    """How far each tracked frame is from its target over time, before and after."""
    names = judged.after.names
    figure, axes = new_figure(len(names))
    for k, axis in enumerate(axes[:, 0]):
        for error, color, label in ((judged.before, BEFORE, "before"), (judged.after, AFTER, "after")):
            if error is not None:
                peak, rms = 1e3 * error.distance[:, k].max(), 1e3 * float(np.sqrt((error.distance[:, k] ** 2).mean()))
                words = f"{label}: peak {peak:.1f} mm, RMS {rms:.2f} mm"
                axis.plot(error.times, 1e3 * error.distance[:, k], color=color, lw=1.0, label=words)
        axis.set_ylabel(f"{names[k]} off [mm]", fontsize=8)
        axis.set_ylim(bottom=0.0)
        _legend(axis)
    return _timed(figure, axes)


def draw_profiles(performance: Performance) -> Any:
    """Every motor's curve: the wish and what is played instead."""
    played, wish = performance.positions(), performance.wish
    names = played.names
    t = np.arange(len(played.values)) / played.rate
    columns = 1 if len(names) < 5 else 2
    rows = -(-len(names) // columns)
    figure, grid = new_figure(rows, columns, height=1.6)
    for j, axis in enumerate(grid.T.ravel()):
        if j >= len(names):
            axis.set_axis_off()
            grid[rows - 2, columns - 1].tick_params(labelbottom=True)
            grid[rows - 2, columns - 1].set_xlabel("time [s]", fontsize=8)
            continue
        turns = performance.unit_of(names[j]) == "rad"
        scale, unit = (180.0 / np.pi, "deg") if turns else (1e3, "mm")
        if wish is not None:
            axis.plot(t, scale * wish.column(names[j]), color=TARGET, lw=2.0, label="wish")
        axis.plot(t, scale * played.column(names[j]), color=AFTER, lw=1.0, label="played")
        axis.set_ylabel(f"{names[j]} [{unit}]", fontsize=7)
        if j == 0:
            _legend(axis)
    return _timed(figure, grid)


def cost_history(performance: Performance) -> list[float]:
    """The objective of the wish and after each iteration, as the performer reports it; empty when it does not."""
    figures = performance.certificate.figures
    costs: list[float] = []
    while f"cost {len(costs)}" in figures:
        costs.append(figures[f"cost {len(costs)}"])
    return costs


def draw_cost(costs: Sequence[float]) -> Any:
    """The objective by iteration, from the input's."""
    figure, axes = new_figure(1, height=3.0, width=6.0)
    axis = axes[0, 0]
    axis.semilogy(range(len(costs)), costs, "o-", color=AFTER, lw=1.2, ms=4)
    axis.set_xlabel("iteration", fontsize=8)
    axis.set_ylabel("objective", fontsize=8)
    axis.grid(alpha=0.3, which="both")
    axis.xaxis.get_major_locator().set_params(integer=True)
    return figure


def _busiest(judged: Judged, k: int) -> list[int]:
    """The one or two coordinates of frame k in which target or input move most."""
    paths = [judged.targets.positions] + ([judged.before.seen.positions] if judged.before is not None else [])
    span = np.max([np.ptp(path[:, k], axis=0) for path in paths], axis=0)
    order = np.argsort(-span)
    return sorted(int(i) for i in order[:2] if span[i] > 0.25 * span[order[0]])


def _legend(axis: Any) -> None:
    """The legend above the axis, out of the way of curves."""
    axis.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0, fontsize=7, ncols=3, frameon=False)


def _timed(figure: Any, axes: Any) -> Any:
    for axis in axes[-1]:
        axis.set_xlabel("time [s]", fontsize=8)
    return figure
