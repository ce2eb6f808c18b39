"""Where strings run: a marionette's carriages as bodies of its tree, and the lengths of its strings at home."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, Joint, Pose
from bunraku.mechanics.tree import compile_tree


def with_carriages(character: Character) -> Character:
    """The character with each carriage as a massless body on two slides, ``carriage.x`` and ``carriage.y``, and no strings.

    The slides start at (0, 0, z): the coordinates are the carriage's place in the world [m], at home those of its ``home``.
    """
    bodies, joints, home = list(character.bodies), list(character.joints), dict(character.home)
    for carriage in character.carriages:
        (along_x, along_y), (x, y, z) = carriage.coordinates, carriage.home
        bodies += [Body(name=along_x), Body(name=carriage.name)]
        for name, parent, child, place, axis, span in (
            (along_x, WORLD, along_x, (0.0, 0.0, z), (1.0, 0.0, 0.0), carriage.x_range),
            (along_y, along_x, carriage.name, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), carriage.y_range),
        ):
            pose = Pose(position=place)
            joints.append(Joint(name=name, kind="slide", parent=parent, child=child, pose=pose, axis=axis, range=span))
        home |= {along_x: x, along_y: y}
    changed: Character = character.changed(bodies=tuple(bodies), joints=tuple(joints), home=home, carriages=(), strings=())
    return changed


def home_lengths(character: Character) -> Array:
    """Length (strings,) [m] of each string at home: as stated, or else the distance from carriage to hook in the home pose."""
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    ends = {carriage.name: np.array(carriage.home) for carriage in character.carriages}
    lengths = []
    for string in character.strings:
        R, p = at.pose(string.hook)
        straight = float(np.linalg.norm(ends[string.carriage] - p - R @ np.array(string.point)))
        lengths.append(straight if string.length is None else string.length)
    return np.array(lengths)
