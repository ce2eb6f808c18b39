"""Motors that carry nothing: where the bodies that a motor moves have no mass, no replay tells torque, heat or following."""

from __future__ import annotations

import numpy as np

from bunraku.character import Character, free_base
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Check
from bunraku.verification.servos.heat import some

NEED_WEIGHT = ("fell", "tracking", "largest tracking", "torque saturation", "peak torque", "winding heat")
"""How checks begin that say nothing of bodies that weigh nothing."""


def idle_motors(character: Character) -> tuple[str, ...]:
    """The motors of which no moved body has a mass; who stands on feet or is free moves all of itself with each."""
    tree = compile_tree(character)
    carried = np.where(tree.mass > 0.0, 1.0, 0.0)
    if free_base(character) is not None or character.feet:
        return () if carried.any() else tuple(motor.name for motor in character.motors)
    for node in range(len(tree.parent) - 1, 0, -1):
        if tree.parent[node] >= 0:
            carried[tree.parent[node]] += carried[node]
    by_name = {name: carried[np.flatnonzero(tree.coordinate == k)].sum() for k, name in enumerate(tree.names)}
    for driven, follower, *_ in tree.couplings:
        by_name[tree.names[driven]] += by_name[tree.names[follower]]
        by_name[tree.names[follower]] = by_name[tree.names[driven]]
    return tuple(motor.name for motor in character.motors if by_name.get(motor.coordinate, 1.0) == 0.0)


def weighed(character: Character, checks: list[Check]) -> list[Check]:
    """The checks of a replay, those not checked that need weight where motors move none."""
    idle = idle_motors(character)
    if not idle:
        return checks
    missing = f"add the masses of the bodies that {some(idle)} {'moves' if len(idle) == 1 else 'move'} to the character"
    if len(idle) < len(character.motors):
        return [*checks, Check.not_checked("torque saturation of motors that move no mass", missing)]
    return [Check.not_checked(c.name, missing) if c.applies and c.name.startswith(NEED_WEIGHT) else c for c in checks]
