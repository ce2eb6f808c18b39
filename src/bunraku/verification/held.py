"""How long a motion stays at a pose, and how often it passes one."""

from __future__ import annotations

import numpy as np

from bunraku.motion import JointCurves


def longest_hold(curves: JointCurves, name: str, value: float, within: float) -> float:
    """The longest time [s] that a coordinate stays within ``within`` of ``value`` [rad or m]; from first to last sample there."""
    off = np.abs(curves.column(name) - value) > within
    edges = np.flatnonzero(np.concatenate([[True], off, [True]]))
    samples = int(np.diff(edges).max()) - 1
    return max(0, samples - 1) / curves.rate


def crossings(curves: JointCurves, name: str, value: float = 0.0) -> int:
    """How often a coordinate passes ``value`` from one side to the other."""
    sides = np.sign(curves.column(name) - value)
    sides = sides[sides != 0.0]
    return int(np.count_nonzero(sides[1:] != sides[:-1]))
