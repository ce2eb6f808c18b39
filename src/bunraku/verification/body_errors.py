"""How far bodies are from where they were wished to be, over time: before (the wish played as it is) and after optimization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.driven_motion import tracked_frames
from bunraku.mechanics.measures.motion import wish_at
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import JointCurves, Performance
from bunraku.verification.fits import goes_over_ground
from bunraku.verification.flexible.judge import judged_again


@dataclass(frozen=True)
class BodyErrors:
    """Distances [m] of the places ``names`` from their targets at ``times`` (n,) [s]: ``after`` (n, k), ``before`` (n, k) if known.

    ``note``: what they are distances from, or why there are none.
    """

    times: Array
    names: tuple[str, ...]
    before: Array | None
    after: Array
    note: str


def body_errors(performance: Performance) -> BodyErrors:
    """The errors of a performance.

    Flexible characters: targets are the poses of the wish at rest; before and after are simulated with the reduced model (seconds
    of work). Puppets on strings and characters on servos: the tracked frames in the motion against those in the wished pose; what
    would have happened before is not known. A gait wishes no path of bodies: no places.
    """
    character = performance.character
    if not performance.dynamic and character.flexibles:
        judged = judged_again(performance)[1]
        before = judged.before.distance if judged.before is not None else None
        note = judged.note or "distance from the pose of the wish at rest"
        return BodyErrors(judged.after.times, judged.after.names, before, judged.after.distance, note)
    if not performance.dynamic and (goes_over_ground(performance) or character.skin is not None):
        nothing = np.zeros((len(performance.motion.values), 0))
        return BodyErrors(performance.motion.times, (), None, nothing, "a gait wishes no path of bodies; see distance and turn")
    tree = compile_tree(character)
    names = _places(character)
    done = performance.moved() if performance.dynamic else performance.motion
    q = tree.expand(done.names, done.values)
    if performance.dynamic:
        wished_q = q.copy()
        wish = performance.wish_or_plan()
        for name in wish.names:
            wished_q[:, tree.index(name)] = wish.column(name)
    else:
        positions = performance.positions()
        wished = JointCurves(positions.names, positions.rate, wish_at(character, performance.wish_or_plan(), positions))
        wished_q = predicted_motion(character, wished, tree).values
    apart = np.linalg.norm(_positions(tree, names, q) - _positions(tree, names, wished_q), axis=2)
    return BodyErrors(performance.motion.times, names, None, apart, "distance from the wished pose")


def _places(character: Character) -> tuple[str, ...]:
    """The tracked frames; the bodies themselves where there are none."""
    return tuple(name.removesuffix(".center") for name in tracked_frames(character))[:12]


def _positions(tree: Tree, names: Sequence[str], q: Array) -> Array:
    """World positions (n, names, 3) [m] of frames or bodies."""
    rotation, position = tree.poses(q)
    places = []
    for name in names:
        node, local, _ = tree.node(name)
        places.append(position[:, node] + rotation[:, node] @ local)
    return np.stack(places, axis=1)
