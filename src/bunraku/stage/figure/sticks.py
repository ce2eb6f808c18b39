"""Sticks: what is drawn of bodies that no shape shows, from where they start to where what they carry starts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Body, Character, Pose, Shape
from bunraku.formats.poses import as_pose
from bunraku.geometry.rotations import least_turn
from bunraku.mechanics.tree import compile_tree

STICK_COLOR = (0.62, 0.64, 0.68, 1.0)
THICK = 0.012
"""Radius of a stick over the size of the character."""


def home_size(character: Character) -> float:
    """The diagonal [m] of the box around the origins of all bodies at home, carriages apart; 0.1 m if that is a point."""
    tree = compile_tree(character)
    places = tree.configuration(tree.home).position[[tree.nodes[body.name] for body in character.bodies]]
    size = float(np.linalg.norm(np.ptp(places, axis=0)))
    return size if size > 1e-6 else 0.1


def sticks_of(character: Character, seen: Collection[str], size: float) -> list[tuple[str, Shape]]:
    """Capsules, in the frames of their bodies, for every body that is not ``seen``.

    They run from the body's origin to where its joints are (those that a flexible part takes the place of left out), or to its
    farthest frame or centre of mass when it carries nothing; a body all at one point is a ball. Massless bodies that only stand
    between two coordinates at one place are left out. ``size`` [m] of the character gives their thickness.
    """
    bent = {(part.base, child.body) for part in character.flexibles for child in part.children}
    found = []
    for body in character.bodies:
        if body.name in seen:
            continue
        joints = [joint for joint in character.joints if joint.parent == body.name]
        ends = [np.array(joint.pose.position) for joint in joints if (body.name, joint.child) not in bent]
        ends = [end for end in ends if np.linalg.norm(end) > 1e-3 * size]
        if not ends and not joints:
            ends = _farthest(character, body)
        for end in ends:
            found.append((body.name, _stick(end, THICK * size)))
        if not ends and (body.mass > 0.0 or not joints):
            ball = Shape(kind="sphere", size=(1.5 * THICK * size,), pose=Pose(position=body.center_of_mass), color=STICK_COLOR)
            found.append((body.name, ball))
    return found


def _farthest(character: Character, body: Body) -> list[Array]:
    """The farthest frame of a body or its centre of mass, if that is away from its origin."""
    places = [np.array(frame.pose.position) for frame in character.frames if frame.body == body.name]
    far = max([*places, np.array(body.center_of_mass)], key=lambda at: float(np.linalg.norm(at)))
    return [far] if np.linalg.norm(far) > 1e-6 else []


def _stick(end: Array, radius: float) -> Shape:
    """A capsule from the origin to ``end`` (3,)."""
    length = float(np.linalg.norm(end))
    pose = as_pose((least_turn((0.0, 0.0, 1.0), end), 0.5 * end))
    return Shape(kind="capsule", size=(min(radius, 0.25 * length), 0.5 * length), pose=pose, color=STICK_COLOR)
