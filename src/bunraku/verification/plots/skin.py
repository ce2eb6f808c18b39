"""Pictures of skinned characters in motion: convergence, torques, roll, angles, pressure, and the skin itself.

After Fig. 4, 10, 12, 15 and 16 of the skin paper. Everything comes as plain arrays, so that any log can be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.verification.plots.figure import DONE, LIMIT, OTHERS, WISH, draw_surface, new_figure

LONGEST = 10
"""Steps that a picture of a search shows at least: as many as the paper's."""

RUBBER = np.array([0.80, 0.62, 0.38])


def draw_convergence(frames: Sequence[tuple[str, Sequence[float]]]) -> Any:
    """The cost of some frames over the steps of their search, each over its last (Fig. 4); one axis a frame with its title."""
    figure, axes = new_figure(1, len(frames), height=2.4, width=3.0 * len(frames), share=False)
    for axis, (title, costs) in zip(axes[0], frames, strict=True):
        values = np.array(costs, dtype=np.float64)
        axis.plot(np.arange(len(values)), values / max(abs(values[-1]), 1e-300), color=DONE, lw=1.4, marker=".", ms=5)
        axis.set_title(title, fontsize=8, loc="left")
        axis.set_xlabel("step of the search", fontsize=8)
        axis.set_xlim(-0.3, max(LONGEST, len(values) - 1) + 0.3)
        axis.set_ylim(bottom=0.0)
    axes[0, 0].set_ylabel("cost / cost found", fontsize=8)
    return figure


def draw_torques(times: Array, torques: Mapping[str, Array], limit: float) -> Any:
    """Torques (N,) [N·m] of some motors over the frames' times (N,) [s], and the limit either way (Fig. 10)."""
    figure, axes = new_figure(1, height=2.6)
    axis = axes[0, 0]
    for (name, values), color in zip(torques.items(), (DONE, LIMIT, *OTHERS), strict=False):
        axis.plot(times, values, color=color, lw=1.1, label=name)
    for side in (-limit, limit):
        axis.axhline(side, color=WISH, lw=1.0, ls="--", label=f"limit, {limit:g} N·m" if side > 0 else None)
    _labels(axis, "torque [N·m]")
    axis.legend(fontsize=7, frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return figure


def draw_roll(times: Array, curves: Mapping[str, Array], joint: str, angles: Mapping[str, Array]) -> Any:
    """Roll of the body [rad] above, a joint's angle [rad] below, of several motions at the same times (Fig. 12)."""
    figure, axes = new_figure(2, height=2.0)
    for axis, shown, label in ((axes[0, 0], curves, "roll [deg]"), (axes[1, 0], angles, f"{joint} [deg]")):
        for (name, values), color in zip(shown.items(), (DONE, LIMIT, WISH, *OTHERS), strict=False):
            axis.plot(times[: len(values)], np.degrees(values), color=color, lw=1.2, label=name)
        _labels(axis, label)
    axes[0, 0].legend(fontsize=7, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return figure


def draw_angles(times: Array, without: Array, known: Array, names: Sequence[str], com: tuple[Array, Array]) -> Any:
    """Joint angles (T, k) [rad] and the sideways place of the centre of mass (T,) [m] of two plans (Fig. 15).

    ``without``: a plan that knew the skin's weight alone; ``known``: one that knew how it deforms.
    """
    figure, axes = new_figure(len(names) + 1, height=1.6)
    pairs = [(np.degrees(without[:, k]), np.degrees(known[:, k]), f"{name} [deg]") for k, name in enumerate(names)]
    pairs.append((1e3 * com[0], 1e3 * com[1], "centre of mass\nsideways [mm]"))
    for axis, (before, after, label) in zip(axes[:, 0], pairs, strict=True):
        axis.plot(times, before, color=WISH, lw=2.2, label="with the skin's weight")
        axis.plot(times, after, color=DONE, lw=1.1, label="with the skin's deformation")
        _labels(axis, label)
        if axis is not axes[-1, 0]:
            axis.set_xlabel("")
    axes[0, 0].legend(fontsize=7, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return figure


def draw_pressure(
    margin: Mapping[str, tuple[Array, Array]],
    moments: Sequence[tuple[float, Array, Mapping[str, Array]]],
) -> Any:
    """Centres of pressure against support polygons (Fig. 14, 16).

    ``margin``: name -> times (N,) [s] and how far inside the polygon (N,) [m], negative outside. ``moments``: of some times [s] the
    corners (c, 2) of the polygon in order and the centres of pressure (2,) by name.
    """
    figure, axes = new_figure(1, len(moments) + 1, height=2.6, width=3.4 + 1.9 * len(moments), share=False)
    first = axes[0, 0]
    colors = dict(zip(margin, (DONE, LIMIT, *OTHERS), strict=False))
    for name, (times, inside) in margin.items():
        first.plot(times, 1e3 * inside, color=colors[name], lw=1.0, label=name)
    first.axhline(0.0, color=WISH, lw=0.8, ls="--")
    _labels(first, "pressure inside the polygon [mm]")
    first.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    for axis, (time, polygon, points) in zip(axes[0, 1:], moments, strict=True):
        closed = 1e3 * np.vstack([polygon, polygon[:1]])
        axis.fill(closed[:, 0], closed[:, 1], color="#bfe3e8", lw=0)
        axis.plot(closed[:, 0], closed[:, 1], color="#4aa6b3", lw=0.8)
        for name, point in points.items():
            axis.plot(*(1e3 * point), "o", color=colors.get(name, DONE), ms=5)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_title(f"{time:.2f} s", fontsize=8, loc="left")
        axis.tick_params(labelsize=6)
    return figure


def draw_skin(triangles: NDArray[np.integer], places: Sequence[Array], times: Sequence[float], *, columns: int = 4) -> Any:
    """The skin's outer surface in light and shade at some times; ``places`` (n, 3) [m] of its nodes, seen from the front left."""
    rows = -(-len(places) // columns)
    wide = min(columns, len(places))
    figure, axes = new_figure(rows, wide, height=2.3, width=2.9 * wide, share=False)
    for axis in axes.flat:
        axis.axis("off")
        axis.set_aspect("equal")
    for axis, x, time in zip(axes.flat, places, times, strict=False):
        _shade(axis, triangles, x)
        axis.set_title(f"{time:.2f} s", fontsize=7, loc="left")
    return figure


def _labels(axis: Any, label: str) -> None:
    axis.set_ylabel(label, fontsize=8)
    axis.set_xlabel("time [s]", fontsize=8)


def _shade(axis: Any, triangles: NDArray[np.integer], x: Array) -> None:
    """The surface from the front left, a little above; the ground as a square below the soles."""
    turn, tilt = np.radians(150.0), np.radians(18.0)
    forward = np.array([np.cos(turn) * np.cos(tilt), -np.sin(turn) * np.cos(tilt), -np.sin(tilt)])
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    square = np.array([[-0.45, -0.35, 0], [0.45, -0.35, 0], [0.45, 0.35, 0], [-0.45, 0.35, 0]]) * np.ptp(x[:, 0])
    square[:, :2] += 0.5 * (x.max(axis=0) + x.min(axis=0))[:2]
    axis.fill(square @ right, square @ np.cross(right, forward), color="#eeeeec", lw=0, zorder=0)
    draw_surface(axis, triangles, x, (forward, right), (np.array([0.45, 0.35, 0.82]), 0.35, 0.15), RUBBER)
