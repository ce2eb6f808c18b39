"""What hangs beyond the interfaces of a flexible part, lumped into one rigid body each, at home.

Mode shapes depend on what a part carries. Beyond an interface are all bodies reached from its child along joints (and the joints
that close loops) without passing the part itself, its base or what that stands on, down to the world; joints stand at home, other
flexible parts are unbent and count with their mass. In a loop the bodies of the far side are counted at both ends: shapes of a
heavy end are what a held end needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Character
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.geometry.tetrahedra import shape_gradients, shape_values, tetrahedron_rule
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.part import PartSolid
from bunraku.mechanics.tree import Tree, rotation_of


@dataclass(frozen=True)
class Lump:
    """A rigid body: mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m^2] about it, in some frame."""

    mass: float
    center: Array
    inertia: Array

    def moved(self, pose: Rigid) -> Lump:
        """The same body seen from a frame in which its own stands at ``pose``."""
        R, p = pose
        return Lump(self.mass, p + R @ self.center, R @ self.inertia @ R.T)


def together(lumps: list[Lump]) -> Lump:
    """All bodies as one."""
    mass = sum(lump.mass for lump in lumps)
    if mass <= 0.0:
        return Lump(0.0, np.zeros(3), np.sum([lump.inertia for lump in lumps], axis=0) if lumps else np.zeros((3, 3)))
    center = np.sum([lump.mass * lump.center for lump in lumps], axis=0) / mass
    inertia = np.zeros((3, 3))
    for lump in lumps:
        d = lump.center - center
        inertia += lump.inertia + lump.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Lump(mass, center, inertia)


def lump_of_solid(part: PartSolid) -> Lump:
    """A part as a rigid body, in its own frame: exact integrals over its cells."""
    mesh = part.solid.mesh
    points, weights = tetrahedron_rule(7)
    X = mesh.nodes[mesh.cells]
    det = np.linalg.det(np.einsum("eai,qaj->eqij", X, shape_gradients(mesh.order, points)))
    x = np.einsum("eai,qa->eqi", X, shape_values(mesh.order, points))
    dm = part.solid.material.density * det * weights
    mass = float(dm.sum())
    center = np.einsum("eq,eqi->i", dm, x) / mass
    d = x - center
    S = np.einsum("eq,eqi,eqj->ij", dm, d, d)
    return Lump(mass, center, np.trace(S) * np.eye(3) - S)


def lumps_of_bodies(character: Character, tree: Tree) -> dict[str, Lump]:
    """The bodies at home, in the world."""
    at = tree.configuration(tree.home)
    lumps = {}
    for name, node in tree.nodes.items():
        lumps[name] = Lump(float(tree.mass[node]), tree.center_of_mass[node], tree.inertia[node]).moved(at.pose(name))
    return lumps


def carried_by(
    character: Character, tree: Tree, solid: PartSolid, solids: Mapping[str, PartSolid], lumps: Mapping[str, Lump]
) -> tuple[CarriedBody, ...]:
    """What each child interface of a part carries, in the order of its children; ``lumps``: of :func:`lumps_of_bodies`."""
    at = tree.configuration(tree.home)

    def pose(body: str) -> Rigid:
        return NO_MOVE if body == WORLD else at.pose(body)

    def stand(part: PartSolid) -> Rigid:
        return compose(pose(part.part.base), (rotation_of(part.part.pose), np.array(part.part.pose.position)))

    back = inverse(stand(solid))
    children = {child.body for child in solid.part.children}
    above = {joint.child: joint.parent for joint in character.joints}
    below, body = {WORLD}, solid.part.base
    while body != WORLD:
        below.add(body)
        body = above[body]
    standing = defaultdict(list)
    for name, other in solids.items():
        if name != solid.part.name:
            standing[other.part.base].append(other)
    carried = []
    for child, interface in zip(solid.part.children, solid.children, strict=True):
        bodies = _beyond(character, child.body, (below | children) - {child.body}, solid.part.name)
        pieces = [lumps[body] for body in bodies]
        pieces += [lump_of_solid(other).moved(stand(other)) for body in bodies for other in standing[body]]
        whole = together(pieces).moved(back)
        carried.append(
            CarriedBody(interface, whole.mass, whole.inertia, whole.center - interface.centroid if whole.mass else np.zeros(3))
        )
    return tuple(carried)


def _beyond(character: Character, start: str, closed: set[str], part: str) -> list[str]:
    """The bodies reached from ``start`` without entering ``closed`` ones or passing the flexible ``part``."""
    carried = {child.body: (other.name, other.base) for other in character.flexibles for child in other.children}
    beside = defaultdict(set)
    for joint in (*character.joints, *character.loops):
        ends = joint.parent, joint.child
        if joint in character.joints and carried.get(joint.child, ("", ""))[0] == part:
            continue
        if joint in character.joints and joint.child in carried:
            ends = carried[joint.child][1], joint.child
        beside[ends[0]].add(ends[1])
        beside[ends[1]].add(ends[0])
    reached, waiting = [start], [start]
    while waiting:
        for body in sorted(beside[waiting.pop()]):
            if body not in closed and body not in reached:
                reached.append(body)
                waiting.append(body)
    return reached
