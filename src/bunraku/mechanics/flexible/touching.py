"""Do the interfaces of flexible parts touch the bodies they are fixed to?

A body may stand anywhere about its interface, but not far from it: some point of it that the description names (its origin,
centre of mass, shapes, frames, joints) must lie within half the part's length of the interface's centroid, or within 5 cm. A mesh
in millimetres, or a forgotten pose, does not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Character
from bunraku.errors import BadInput
from bunraku.geometry.poses import Rigid, compose, inverse, move
from bunraku.mechanics.elastic.part import PartSolid
from bunraku.mechanics.tree import Tree, rotation_of

NEAR = 0.05


def check_touching(character: Character, tree: Tree, solids: Mapping[str, PartSolid]) -> None:
    """Raise BadInput, naming part, patch, body and distance, when an interface is far from its body at home."""
    at = tree.configuration(tree.home)
    points = {body.name: _points(character, body.name) for body in character.bodies}
    for name, solid in solids.items():
        part = solid.part
        stand: Rigid = (rotation_of(part.pose), np.array(part.pose.position))
        if part.base != WORLD:
            stand = compose(at.pose(part.base), stand)
        ends = [child.centroid for child in solid.children]
        length = max(float(np.linalg.norm(end - solid.base.centroid)) for end in ends)
        pairs = [(part.base, solid.base), *((child.body, face) for child, face in zip(part.children, solid.children, strict=True))]
        for body, face in pairs:
            if body == WORLD:
                continue
            local = move(compose(inverse(at.pose(body)), stand), face.centroid)
            gap = float(np.linalg.norm(points[body] - local, axis=1).min())
            if gap > max(0.5 * length, NEAR):
                raise BadInput(
                    f"the flexible part {name!r} does not touch the body {body!r}: its patch {face.name!r} is {gap:.3g} m away "
                    "from it when nothing bends; check the part's pose, the fixed joint and, of a mesh, the unit (metres)"
                )


def _points(character: Character, body: str) -> Array:
    """The points of a body that the description names, in its frame."""
    own = next(part for part in character.bodies if part.name == body)
    points = [(0.0, 0.0, 0.0), own.center_of_mass, *(shape.pose.position for shape in own.shapes)]
    points += [frame.pose.position for frame in character.frames if frame.body == body]
    points += [joint.pose.position for joint in (*character.joints, *character.loops) if joint.parent == body]
    points += [loop.child_pose.position for loop in character.loops if loop.child == body]
    points += [part.pose.position for part in character.flexibles if part.base == body]
    return np.array(points)
