"""The full-order model of a character: bodies fixed to each other become one, joints and loops links, flexible parts pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, Joint, Pose
from bunraku.errors import BadInput
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.elastic.coarse_part import coarse_part
from bunraku.mechanics.full_order.description import GROUND, ElasticPiece, Freedom, Held, Link, RigidBody
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.systems.loops import close_loops
from bunraku.mechanics.tree import Tree, compile_tree, rotation_of


@dataclass(frozen=True)
class _Merged:
    """For each body of the character: the rigid body it is part of (the ground too) and its pose there."""

    place: dict[str, tuple[str, Rigid]]

    def stand(self, body: str, pose: Rigid) -> tuple[str, Rigid]:
        """Where a frame that stands at ``pose`` in a body stands in its rigid body."""
        root, X = self.place[body]
        return root, compose(X, pose)


def full_model(
    character: Character,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    meshes: Mapping[str, TetMesh] | None = None,
    coarser: float = 1.0,
) -> FullOrderModel:
    """The full-order model of a character; its motors are ``character.driven``, in that order, and rigid.

    ``gravity`` [m/s^2]; ``meshes`` of parts whose shape is a file, by the part's name; ``coarser``: how many times longer than
    usual the cells of rods and tubes are, their numbers set so that they bend, twist and weigh as the fine ones do
    (:mod:`bunraku.mechanics.elastic.coarse_part`); other parts keep their mesh. Bodies that are fixed to each
    other are one rigid body, named after the one nearest to the world; the others, and the
    character's frames, are frames of the model. Friction of joints is left out.
    """
    if character.strings or character.tendons or character.carriages:
        raise BadInput(f"{character.name!r} has strings, carriages or tendons, which the full-order model does not take")
    soft = next((motor.name for motor in character.motors if motor.torsional_stiffness is not None), None)
    if soft is not None:
        raise BadInput(f"the motor {soft!r} states a torsional stiffness; the full-order model takes rigid motors only")
    tree = compile_tree(character)
    merged = _merge(character)
    home = _home(character, tree)
    at_home = _poses(tree, home)
    bodies = _bodies(character, merged, at_home)
    names = [body.name for body in bodies]
    driven = {name: k for k, name in enumerate(character.driven)}
    carried = {child.body for part in character.flexibles for child in part.children}
    links = [_link(joint, merged, driven, character, closing=False) for joint in character.joints if joint.child not in carried]
    links += [_link(loop, merged, driven, character, closing=True) for loop in character.loops]
    pieces = [_piece(character, k, merged, at_home, meshes, coarser) for k in range(len(character.flexibles))]
    frames = [(name, root, X) for name, (root, X) in merged.place.items() if name not in names and name != WORLD]
    taken = {*names, *(name for name, _, _ in frames)}
    frames += [(f.name, *merged.stand(f.body, _rigid(f.pose))) for f in character.frames if f.name not in taken]

    def posing(motors: Array) -> list[Rigid]:
        q = tree.expand(character.driven, motors[None], home)[0]
        there = _poses(tree, q)
        return [there[name] for name in names]

    return FullOrderModel(
        bodies,
        [link for link in links if link is not None],
        pieces,
        motors=character.driven,
        gravity=gravity,
        frames=frames,
        home=[home[tree.index(name)] for name in character.driven],
        posing=None if character.loops else posing,
    )


def _rigid(pose: Pose) -> Rigid:
    return rotation_of(pose), np.array(pose.position)


def _home(character: Character, tree: Tree) -> Array:
    """The configuration at home, loops closed if that can be done without bending anything."""
    if not character.loops:
        return tree.home.copy()
    try:
        return close_loops(character, tree, kinematic=character.driven).q
    except BadInput:
        return tree.home.copy()


def _poses(tree: Tree, q: Array) -> dict[str, Rigid]:
    at = tree.configuration(q)
    return {name: at.pose(name) for name in tree.nodes} | {WORLD: NO_MOVE}


def _merge(character: Character) -> _Merged:
    """Follow the tree from the world; a fixed joint that no flexible part replaces adds the child to its parent's rigid body."""
    carried = {child.body for part in character.flexibles for child in part.children}
    place: dict[str, tuple[str, Rigid]] = {WORLD: (GROUND, NO_MOVE)}
    waiting = list(character.joints)
    while waiting:
        later: list[Joint] = []
        for joint in waiting:
            if joint.parent not in place:
                later.append(joint)
            elif joint.kind == "fixed" and joint.child not in carried:
                root, X = place[joint.parent]
                place[joint.child] = root, compose(X, _rigid(joint.pose), inverse(_rigid(joint.child_pose)))
            else:
                place[joint.child] = joint.child, NO_MOVE
        if len(later) == len(waiting):
            raise BadInput(f"the joint {later[0].name!r} hangs on nothing that reaches the world")
        waiting = later
    return _Merged(place)


def _bodies(character: Character, merged: _Merged, at_home: dict[str, Rigid]) -> list[RigidBody]:
    """One rigid body for each group, with the mass properties of all of it."""
    groups: dict[str, list[tuple[Body, Rigid]]] = {}
    for body in character.bodies:
        root, X = merged.place[body.name]
        if root != GROUND:
            groups.setdefault(root, []).append((body, X))
    rigid = []
    for root, members in groups.items():
        mass = sum(body.mass for body, _ in members)
        centers = [X[0] @ np.array(body.center_of_mass) + X[1] for body, X in members]
        center = (
            sum((body.mass * c for (body, _), c in zip(members, centers, strict=True)), np.zeros(3)) / mass if mass else np.zeros(3)
        )
        inertia = np.zeros((3, 3))
        for (body, X), c in zip(members, centers, strict=True):
            xx, yy, zz, xy, xz, yz = body.inertia
            d = c - center
            local = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            inertia += X[0] @ local @ X[0].T + body.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
        rigid.append(RigidBody(root, float(mass), inertia, center, at_home[root]))
    return rigid


def _link(joint: Joint, merged: _Merged, driven: dict[str, int], character: Character, *, closing: bool) -> Link | None:
    """A joint as a link between rigid bodies; None where its ends are one rigid body already."""
    if joint.kind == "fixed" and not closing:
        return None
    parent, X_PF = merged.stand(joint.parent, _rigid(joint.pose))
    child, X_CG = merged.stand(joint.child, _rigid(joint.child_pose))
    if joint.kind == "free":
        return None
    followers = {c.follower: c for c in character.couplings}
    freedoms = []
    for axis in joint.axes:
        motor, ratio, offset = driven.get(axis.name, -1), 1.0, 0.0
        if axis.name in followers:
            coupling = followers[axis.name]
            if coupling.driver not in driven:
                raise BadInput(
                    f"{axis.name!r} follows {coupling.driver!r}, which no motor drives; the full-order model needs a motor"
                )
            motor, ratio, offset = driven[coupling.driver], coupling.ratio, coupling.offset
        if motor < 0 and (joint.armature or joint.stiffness or (joint.damping and axis.kind == "slide")):
            raise BadInput(
                f"the joint {joint.name!r} has a rotor, spring or damped slide but no motor; the full-order model lacks that"
            )
        freedoms.append(Freedom(axis.kind, axis.direction, motor, ratio, offset, joint.damping))
    return Link(joint.name, parent, child, tuple(freedoms), X_PF, X_CG, closing)


def _piece(
    character: Character, k: int, merged: _Merged, at_home: dict[str, Rigid], meshes: Mapping[str, TetMesh] | None, coarser: float
) -> ElasticPiece:
    """A flexible part as a piece: its frame in each of its bodies as at home, unbent."""
    part = character.flexibles[k]
    solid = coarse_part(character, part, coarser, meshes=meshes)
    X_WP = compose(at_home[part.base], _rigid(part.pose))
    held = []
    for body, interface in zip([part.base, *(child.body for child in part.children)], [solid.base, *solid.children], strict=True):
        root, X = merged.place[body]
        held.append(Held(interface, root, compose(X, inverse(at_home[body]), X_WP)))
    return ElasticPiece(part.name, solid.solid, tuple(held))
