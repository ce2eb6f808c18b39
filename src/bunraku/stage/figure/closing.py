"""Closed chains kept closed: joints that curves leave open move so that the loops of a character stay together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.loops import loop_gaps
from bunraku.mechanics.tree import compile_tree

OPEN = 1e-4
"""A loop whose ends are farther apart than this [m] is open."""


def closed(character: Character, names: Sequence[str], q: Array, held: Sequence[str]) -> tuple[Array, str]:
    """Configurations ``q`` (m, nq) of coordinates ``names``, moved where loops are open; ``held`` coordinates stay.

    Each frame starts from what the last one changed. Frames that cannot be closed stay as near as they come; the sentence says how
    many they are, empty when all are closed to `OPEN`.
    """
    followers = {coupling.follower for coupling in character.couplings}
    kept = [name for name in held if name not in followers]
    try:
        system = character_system(character, kinematic=kept)
    except BadInput as error:
        return q, f"the loops of the character are not closed: {error}"
    found, lost = q.copy(), 0
    joints = [names.index(name) for name in character.coordinates]
    tree = compile_tree(character)
    place = [names.index(name) if name in names else -1 for name in system.names]
    inside = [i for i, j in enumerate(place) if j >= 0]
    there = [place[i] for i in inside]
    start, more = system.home.copy(), np.zeros(len(inside))
    for k in range(len(q)):
        start[inside] = q[k, there] + more
        settled = make_consistent(system, start, tolerance=1e-9)
        if settled.status.good:
            found[k, there] = settled.q[inside]
            more = found[k, there] - q[k, there]
        lost += max((gap for gap, _ in loop_gaps(character, tree, found[k, joints]).values()), default=0.0) > OPEN
    return found, f"the loops of the character stay open in {lost} of {len(q)} frames" if lost else ""
