"""Self-collision of a character that goes over the ground: it wishes a way, no poses, so home is what its parts are judged by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.mechanics.collision import Proximity, self_collisions
from bunraku.mechanics.measures.self_collision import NAME, unwatched_check
from bunraku.mechanics.tree import Tree
from bunraku.motion import Check

OVERLAP = 1e-3
"""Parts may overlap this much [m] more than at home: shapes are rougher than parts."""


def clearance_check(character: Character, tree: Tree, q: NDArray[np.float64], rate: float) -> Check:
    """The pair of parts that comes nearest along ``q`` (n, nq), against zero, or against how deep it overlaps at home."""
    report = self_collisions(character, tree, q)
    home = {(one.body_a, one.body_b): one.distance for one in self_collisions(character, tree, tree.home[None]).nearest}
    if not report.nearest:
        return unwatched_check(report)[0]

    def threshold(one: Proximity) -> float:
        return min(0.0, home.get((one.body_a, one.body_b), 0.0)) - OVERLAP

    worst = min(report.nearest, key=lambda one: one.distance - threshold(one))
    note = f"{worst.body_a} and {worst.body_b} at {worst.index / rate:.2f} s"
    return Check(NAME, worst.distance, "m", threshold(worst), at_least=True, note=note)
