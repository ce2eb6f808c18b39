"""Whether a gait goes where it was wished to: the distance and the turn it makes against those asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bunraku.motion import Check

GOAL = 0.02
"""Largest relative miss of the wished distance and turn."""

STRAY = 1e-3
"""What is to stay where it is moves no farther than this [m or rad]."""


class Wished(NamedTuple):
    """What a gait asks of its travel: metres along x and y, the turn [rad]; None: as it comes."""

    x: float | None
    y: float | None
    turn: float | None

    def figures(self) -> dict[str, float]:
        """The same as flat figures of a certificate, what is not asked left out."""
        named = {"wished_distance_x_m": self.x, "wished_distance_y_m": self.y, "wished_turn_rad": self.turn}
        return {name: value for name, value in named.items() if value is not None}

    @classmethod
    def of(cls, figures: Mapping[str, float]) -> Wished:
        """What the figures of a certificate say."""
        return cls(figures.get("wished_distance_x_m"), figures.get("wished_distance_y_m"), figures.get("wished_turn_rad"))


def travel_checks(displacement: tuple[float, float, float], wished: Wished) -> list[Check]:
    """The ``displacement`` (x, y [m], turn [rad]) against what was ``wished``."""
    x, y, turn = displacement
    checks = []
    parts = [(asked, got) for asked, got in ((wished.x, x), (wished.y, y)) if asked is not None]
    if parts:
        length = float(np.sqrt(sum(asked * asked for asked, _ in parts)))
        miss = float(np.sqrt(sum((asked - got) ** 2 for asked, got in parts)))
        if length > 0.0:
            checks.append(Check("missed distance", miss / length, "of the wished one", GOAL, note=f"{np.hypot(x, y):.4f} m"))
        else:
            checks.append(Check("wandered", miss, "m", STRAY))
    if wished.turn is not None:
        note = f"{np.rad2deg(turn):.2f} deg"
        if wished.turn:
            miss = abs(turn - wished.turn) / abs(wished.turn)
            checks.append(Check("missed turn", miss, "of the wished one", GOAL, note=note))
        else:
            checks.append(Check("strayed", abs(turn), "rad", STRAY, note=note))
    return checks
