"""How near a character that physics moves comes to a wished pose: at the points it tracks, and at every other point.

A puppet on six strings tracks hands, knees and head; its elbows and feet go where they may. Whoever watches sees them too, so all
points of the body are measured: the origins of its frames and the centres of mass of its bodies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Check, JointCurves

ALL_POINTS = 0.1
"""All points of a puppet are off by no more than this part of its size, RMS: dances of the built-in one have 0.004 to 0.05."""

WORST_POINT = 1.0 / 3.0
"""No point is ever off by more than this part of its size: a whole arm or leg is about half of it."""


def body_points(character: Character, tree: Tree) -> tuple[str, ...]:
    """The names of all points that are measured: frames, then bodies that have no frame."""
    framed = {frame.body for frame in character.frames}
    return (*(frame.name for frame in character.frames), *(body.name for body in character.bodies if body.name not in framed))


def places_of(character: Character, tree: Tree, names: Sequence[str], q: Array) -> Array:
    """Where those points are (n, k, 3) [m] at configurations ``q`` (n, nq): a body by its centre of mass."""
    bodies = {body.name: body for body in character.bodies}
    rotation, position = tree.poses(q)
    places = []
    for name in names:
        node, local, _ = tree.node(name)
        point = np.array(bodies[name].center_of_mass) if name in bodies and name not in tree.frames else local
        places.append(position[:, node] + rotation[:, node] @ point)
    return np.stack(places, axis=1)


def point_checks(character: Character, wish: JointCurves, motion: JointCurves) -> list[Check]:
    """The errors of all points as parts of the character's size, promises for puppets on strings, else information.

    The size is the largest distance of two points at home. Whoever swings up has to leave the wished pose on the way.
    """
    tree = compile_tree(character)
    names = body_points(character, tree)
    q = tree.expand(character.coordinates, motion.values[:, : len(character.coordinates)])
    wished = q.copy()
    for name in wish.names:
        if name in tree.names:
            wished[:, tree.index(name)] = wish.column(name)
    apart = np.linalg.norm(places_of(character, tree, names, q) - places_of(character, tree, names, wished), axis=2)
    home = places_of(character, tree, names, tree.home[None])[0]
    size = float(np.linalg.norm(home[:, None] - home[None], axis=2).max())
    if size <= 0.0:
        return []
    k, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
    where = f"{names[j]}, {100.0 * apart[k, j]:.1f} cm off at {k / motion.rate:.2f} s"
    rms = float(np.sqrt((apart**2).mean())) / size
    promised = bool(character.strings)
    off = apart.max(axis=0)
    far = ", ".join(f"{names[i]} {100.0 * off[i]:.0f} cm" for i in np.argsort(-off)[:4].tolist())
    return [
        Check("imitation of all points", rms, "of its size, RMS", ALL_POINTS if promised else None, note=f"farthest: {far}"),
        Check(
            "imitation of the worst point",
            float(apart[k, j]) / size,
            "of its size",
            WORST_POINT if promised else None,
            note=where,
        ),
    ]
