"""Torques of the motors against their torque-speed lines, along a motion and to first order about it.

What a motor must give at a node is the discrete inverse dynamics at its own, prescribed coordinate (`driven/torque.py`).
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.flexible.torque_lines import TorqueLines
from bunraku.mechanics.integrators.driven.curves import Curves
from bunraku.mechanics.integrators.driven.linearization import Linearization

NEAR = 0.9
"""Rows are made where more than this share of a torque-speed line is used."""

APART = 0.008
"""Seconds between the nodes of a motor at which rows are made, at least."""

MOST_ROWS = 60


def torque_rows(
    line: Linearization, curves: Curves, lines: TorqueLines, torque: Array, speed: Array, limit: float
) -> tuple[Array, Array]:
    """Rows (r, parameters) and upper limits (r,) that keep a motion to first order within ``limit`` of the torque-speed lines.

    ``torque``, ``speed`` (N, nk) along the motion that ``line`` is about. With s, t the signs of torque and speed at a node, a row
    is s torque / stall + t speed / free_speed <= limit; there is one at each place where more than ``NEAR`` is used.
    """
    share = lines.use(torque, speed)
    picked = _near(share, max(1, round(APART / line.dt)))
    if not picked:
        return np.zeros((0, curves.count(line.system.nk))), np.zeros(0)
    steps = np.unique([m for m, _ in picked])
    slopes = line.force_slopes(curves, steps)
    rows, upper = [], []
    for m, j in picked:
        turn = np.zeros((line.steps + 1, line.system.nk))
        turn[m + 1, j] = np.sign(speed[m, j]) / lines.free_speed[j] / (2.0 * line.dt)
        turn[m - 1, j] = -turn[m + 1, j]
        force = np.sign(torque[m, j]) / lines.stall[j] * slopes[int(np.searchsorted(steps, m)), j]
        rows.append(force + curves.gather(turn))
        upper.append(limit - share[m, j])
    return np.array(rows), np.array(upper)


def _near(share: Array, apart: int) -> list[tuple[int, int]]:
    """Nodes and motors above NEAR, worst first, no two of a motor closer than ``apart``."""
    picked: list[tuple[int, int]] = []
    worst = np.argsort(-share, axis=None)
    taken = np.zeros(share.shape, dtype=bool)
    for flat in worst[: np.count_nonzero(share > NEAR)]:
        m, j = (int(i) for i in np.unravel_index(int(flat), share.shape))
        if taken[m, j] or m < 1 or m >= len(share) - 1:
            continue
        picked.append((m, j))
        taken[max(0, m - apart + 1) : m + apart, j] = True
        if len(picked) == MOST_ROWS:
            break
    return picked
