"""Pictures of bent skins: the torque over the angle, the walls in cross-section, the surface in light and shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.verification.plots.figure import DONE, LIMIT, OTHERS, draw_surface, new_figure

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class BentSkin:
    """A skin bent in steps: triangles (f, 3), node positions ``x`` (k, n, 3) [m], ``angle`` (k,) [rad], ``torque`` (k,) [N·m]."""

    name: str
    triangles: Indices
    x: Array
    angle: Array
    torque: Array


def draw_torques(skins: Sequence[BentSkin], limit: float) -> Any:
    """Torque over angle of each skin, and the motor's limit [N·m] on both sides."""
    figure, axes = new_figure(1, 1, height=3.6, width=6.5)
    axis = axes[0, 0]
    for skin, color in zip(skins, (DONE, *OTHERS), strict=False):
        axis.plot(np.degrees(skin.angle), skin.torque, color=color, lw=1.6, marker=".", ms=4, label=skin.name)
    for side in (-limit, limit):
        axis.axhline(side, color=LIMIT, lw=1.0, ls="--", label=f"motor, {limit:g} N·m" if side > 0 else None)
    axis.set_xlabel("angle of the joint [deg]", fontsize=8)
    axis.set_ylabel("torque to hold the skin [N·m]", fontsize=8)
    axis.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.93))
    return figure


def draw_bent(skins: Sequence[BentSkin], shown: Sequence[Sequence[int]]) -> Any:
    """One row a skin: the surface and, beside it, its section by the plane y = 0, at the listed steps."""
    columns = 2 * max(len(steps) for steps in shown)
    figure, axes = new_figure(len(skins), columns, height=2.6, width=2.3 * columns, share=False)
    for row, (skin, steps) in enumerate(zip(skins, shown, strict=True)):
        for axis in axes[row]:
            axis.axis("off")
            axis.set_aspect("equal")
        for i, step in enumerate(steps):
            _shade(axes[row, 2 * i], skin.triangles, skin.x[step])
            _section(axes[row, 2 * i + 1], skin.triangles, skin.x[step])
            title = f"{skin.name}, {np.degrees(skin.angle[step]):.0f} deg, {skin.torque[step]:.2f} N·m"
            axes[row, 2 * i].set_title(title, fontsize=7, loc="left")
    return figure


def plane_section(triangles: Indices, x: Array) -> Array:
    """Where a surface crosses the plane y = 0: segments (m, 2, 2) of x and z [m]."""
    y = x[:, 1] + 1e-9
    pieces = []
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        corner = triangles[:, [a, b, c]]
        ya, yb, yc = y[corner[:, 0]], y[corner[:, 1]], y[corner[:, 2]]
        alone = (ya > 0.0) & (yb <= 0.0) & (yc <= 0.0) | (ya <= 0.0) & (yb > 0.0) & (yc > 0.0)
        t = corner[alone]
        ends = []
        for other in (1, 2):
            share = y[t[:, 0]] / (y[t[:, 0]] - y[t[:, other]])
            ends.append(x[t[:, 0]] + share[:, None] * (x[t[:, other]] - x[t[:, 0]]))
        pieces.append(np.stack(ends, axis=1)[:, :, [0, 2]])
    return np.concatenate(pieces)


def _section(axis: Any, triangles: Indices, x: Array) -> None:
    from matplotlib.collections import LineCollection

    axis.add_collection(LineCollection(list(plane_section(triangles, x)), colors=DONE, linewidths=1.0))
    axis.autoscale()


def _shade(axis: Any, triangles: Indices, x: Array) -> None:
    """The surface seen along y from a little above, lit from the upper left."""
    tilt, turn = 0.35, 0.5
    forward = np.array([np.sin(turn) * np.cos(tilt), np.cos(turn) * np.cos(tilt), -np.sin(tilt)])
    right = np.array([np.cos(turn), -np.sin(turn), 0.0])
    draw_surface(axis, triangles, x, (forward, right), (np.array([-0.5, -0.6, 0.62]), 0.30, 0.12), np.array([0.86, 0.63, 0.42]))
