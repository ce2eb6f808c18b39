"""Pictures of a design: its variants from the side, and the energy after each design step (Fig. 8 of Geilinger et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.verification.plots.figure import DONE, LIMIT, WISH, new_figure


def draw_design(variants: Sequence[tuple[str, CentroidalModel, Array]], energies: Sequence[float] = ()) -> Any:
    """Variants (name, model, configuration (nq,)) from the side, one over the other, and the energies of design steps if any."""
    columns = 2 if energies else 1
    figure, axes = new_figure(1, columns, height=3.2, width=4.5 * columns, share=False)
    side = axes[0, 0]
    for (name, model, q), color, width in zip(variants, (WISH, DONE, LIMIT), (3.0, 1.4, 1.4), strict=False):
        _from_the_side(side, name, model, q, color, width)
    side.axhline(0.0, color="#404040", lw=0.8)
    side.set_aspect("equal", adjustable="datalim")
    side.set_xlabel("x [m]", fontsize=8)
    side.set_ylabel("z [m]", fontsize=8)
    side.legend(fontsize=7, frameon=False, loc="upper right")
    if energies:
        _convergence(axes[0, 1], energies)
    return figure


def _convergence(axis: Any, energies: Sequence[float]) -> None:
    axis.plot(range(len(energies)), energies, color=DONE, marker="o", ms=4, lw=1.4)
    axis.set_xlabel("design step", fontsize=8)
    axis.set_ylabel("energy of the motion", fontsize=8)
    axis.set_xticks(range(len(energies)))
    axis.set_ylim(0.0, 1.08 * max(energies))


def _from_the_side(axis: Any, name: str, model: CentroidalModel, q: Array, color: str, width: float) -> None:
    """Links as lines from joint to joint, wheels as circles as they are seen, base at x = 0."""
    seen = kinematics(model, q[None])
    P, centers = seen.arrays[1][0], seen.arrays[11][0]
    axles = seen.arrays[0][0]
    x0 = q[0]
    parent, base = model.tree[0], int(model.nodes[5])
    label: str | None = name
    for tip in range(model.n_tips):
        path, node = [centers[tip]], int(model.tips[0][tip])
        while node > base:
            path.append(P[node])
            node = int(parent[node])
        places = np.array([*path, P[base]])
        axis.plot(places[:, 0] - x0, places[:, 2], color=color, lw=width, marker=".", ms=4, label=label)
        label = None
        t = np.linspace(0.0, 2.0 * np.pi, 60)
        a = axles[int(model.tips[0][tip])] @ model.tips[2][tip]
        across = np.cross(a, [0.0, 0.0, 1.0]) if np.linalg.norm(a) > 0.0 else np.array([1.0, 0.0, 0.0])
        across = across / np.linalg.norm(across)
        up = np.cross(across, a) if np.linalg.norm(a) > 0.0 else np.array([0.0, 0.0, 1.0])
        rim = centers[tip] + model.tips[4][tip] * (np.outer(np.cos(t), across) + np.outer(np.sin(t), up))
        axis.plot(rim[:, 0] - x0, rim[:, 2], color=color, lw=0.7 * width)
