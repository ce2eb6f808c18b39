"""Closed chains and tendons in MJCF: joints that close loops as ``<equality>`` connect and weld, tendons as ``<fixed>``.

A ball is one connect, a hinge two on its axis, a fixed joint a weld, between sites, so that the loop need not be closed at MuJoCo's
zero. MuJoCo keeps equalities softly; their stiffness here is the highest that its step allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, Frame, Joint
from bunraku.formats.poses import as_pose, of_pose
from bunraku.formats.xml_tree import Element, Notes, element, numbers
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.geometry.rotations import least_turn, matrix_of_quaternion, quaternion_of_matrix

_APART = 0.05
_WRITTEN = ("ball", "hinge", "fixed")
_CLOSING = ("connect", "weld")


def loop_sites(character: Character) -> list[Frame]:
    """The sites that the equalities of loops need: ``NAME.parent``, ``NAME.child``, and for a hinge a second pair on its axis."""
    sites = []
    for loop in character.loops:
        if loop.kind not in _WRITTEN:
            continue
        for end, body, pose in (("parent", loop.parent, loop.pose), ("child", loop.child, loop.child_pose)):
            sites.append(Frame(name=f"{loop.name}.{end}", body=body, pose=pose))
            if loop.kind == "hinge":
                ahead = (np.eye(3), _APART * np.array(loop.axes[0].direction))
                sites.append(Frame(name=f"{loop.name}.{end}.axis", body=body, pose=as_pose(compose(of_pose(pose), ahead))))
    return sites


def write_loops(character: Character, timestep: float, notes: list[str]) -> list[str]:
    """The equalities of a character's loops; kinds that MuJoCo has none for are noted."""
    stiff = {"solref": numbers([2.0 * timestep, 1.0]), "solimp": "0.99 0.999 0.001"}
    lines = []
    for loop in character.loops:
        if loop.kind not in _WRITTEN:
            notes.append(f"joint {loop.name}: a {loop.kind} that closes a loop is not written; MuJoCo has no equality for it")
            continue
        tag = "weld" if loop.kind == "fixed" else "connect"
        for suffix in ("", ".axis") if loop.kind == "hinge" else ("",):
            ends = {"site1": f"{loop.name}.parent{suffix}", "site2": f"{loop.name}.child{suffix}"}
            lines.append(element(2, tag, name=loop.name + suffix, **ends, **stiff))
        if loop.range or any(loop.ranges) or loop.damping or loop.friction or loop.armature:
            notes.append(f"joint {loop.name}: closes a loop; its range, damping, friction and rotor are not written")
    return lines


def write_tendons(character: Character) -> list[str]:
    """Tendons over pulleys as fixed tendons: length = sum of moment arm times coordinate."""
    lines = []
    for tendon in character.tendons:
        lines.append(element(2, "fixed", name=tendon.name).replace("/>", ">"))
        lines += [element(3, "joint", joint=name, coef=numbers([arm])) for name, arm in tendon.moment_arms.items()]
        lines.append("    </fixed>")
    return lines


@dataclass(frozen=True)
class _Closing:
    name: str
    kind: str
    parent: str
    child: str
    X_PF: Rigid
    X_CG: Rigid


def read_loops(
    root: Element, bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame], home: dict[str, float], notes: Notes
) -> tuple[tuple[Joint, ...], tuple[Frame, ...]]:
    """Joints that close loops from connect and weld, and the frames that are left when those made for loops are taken out.

    Two connects between the same bodies are a hinge on the line through their anchors. Without sites the anchor on the second body
    is where it stands at MuJoCo's zero, which is ``home``.
    """
    entries = [part for section in root.all("equality") for part in section.children if part.tag in _CLOSING]
    if not entries:
        return (), tuple(frames)
    where = _Poses(bodies, joints, home)
    sites = {frame.name: frame for frame in frames}
    taken = {joint.name for joint in joints}
    closings = []
    for index, entry in enumerate(entries):
        if entry.get("active") == "false":
            notes.add(f"an equality ({entry.tag}) that is not active dropped")
            continue
        name = entry.get("name") or f"loop_{index}"
        while name in taken:
            name += "_"
        taken.add(name)
        closing = _between_sites(entry, name, sites) if entry.get("site1") else _between_bodies(entry, name, where)
        if closing is None:
            notes.add(f"an equality ({entry.tag}) between things that are not in the file dropped")
        else:
            closings.append(closing)
    used = {entry.get(key) for entry in entries for key in ("site1", "site2")}
    ours = {f"{c.name}.{end}" for c in closings for end in ("parent", "child")}
    ours |= {f"{name.removesuffix('.axis')}.{end}.axis" for name in (c.name for c in closings) for end in ("parent", "child")}
    return tuple(_merged(closings)), tuple(frame for frame in frames if not (frame.name in used and frame.name in ours))


class _Poses:
    """World poses of bodies at MuJoCo's zero, computed when first asked for."""

    def __init__(self, bodies: Sequence[Body], joints: Sequence[Joint], home: dict[str, float]) -> None:
        self.names = {body.name for body in bodies}
        self._parts = tuple(bodies), tuple(joints), home
        self._at: Any = None

    def __call__(self, body: str) -> Rigid:
        from bunraku.mechanics.tree import compile_tree

        if body == WORLD:
            return NO_MOVE
        if self._at is None:
            bodies, joints, home = self._parts
            tree = compile_tree(Character(name="at zero", bodies=bodies, joints=joints, home=home))
            self._at = tree.configuration(tree.home)
        return self._at.pose(body)


def _between_sites(entry: Element, name: str, sites: dict[str, Frame]) -> _Closing | None:
    first, second = sites.get(entry.get("site1")), sites.get(entry.get("site2"))
    if first is None or second is None or first.body == second.body:
        return None
    return _Closing(name, entry.tag, first.body, second.body, of_pose(first.pose), of_pose(second.pose))


def _between_bodies(entry: Element, name: str, where: _Poses) -> _Closing | None:
    first, second = entry.get("body1"), entry.get("body2") or WORLD
    if first not in where.names or (second not in where.names and second != WORLD) or first == second:
        return None
    anchor = entry.numbers("anchor", 3)
    point = np.zeros(3) if anchor is None else anchor
    X_12 = compose(inverse(where(first)), where(second))
    if entry.tag == "connect":
        X_1F: Rigid = (np.eye(3), point)
        return _Closing(name, "connect", first, second, X_1F, (X_12[0].T, inverse(X_12)[0] @ point + inverse(X_12)[1]))
    given = entry.numbers("relpose", 7)
    if given is not None and np.any(given[3:]):
        X_12 = (matrix_of_quaternion(given[3:]), given[:3])
    return _Closing(name, "weld", first, second, compose(X_12, (np.eye(3), point)), (np.eye(3), point))


def _merged(closings: list[_Closing]) -> list[Joint]:
    """The joints: two connects of the same bodies, equally far apart on both, as one hinge; each other by itself."""
    pairs: dict[tuple[str, str], list[_Closing]] = defaultdict(list)
    for closing in closings:
        if closing.kind == "connect":
            pairs[closing.parent, closing.child].append(closing)
    second: dict[str, str] = {}
    paired = []
    for one, two in (pair for pair in pairs.values() if len(pair) == 2):
        there, here = two.X_PF[1] - one.X_PF[1], two.X_CG[1] - one.X_CG[1]
        far = float(np.linalg.norm(there))
        if far > 1e-6 and abs(float(np.linalg.norm(here)) - far) < 1e-6 * far:
            second |= {one.name: "", two.name: one.name}
            paired.append((one, there / far, here / far))
    joints = []
    hinges = {one.name: (a, b) for one, a, b in paired}
    for closing in closings:
        if closing.name in hinges:
            joints.append(_hinge(closing, *hinges[closing.name]))
        elif closing.name not in second:
            kind = "fixed" if closing.kind == "weld" else "ball"
            ends = {"pose": as_pose(closing.X_PF), "child_pose": as_pose(closing.X_CG)}
            joints.append(Joint(name=closing.name, kind=kind, parent=closing.parent, child=closing.child, **ends))
    return joints


def _hinge(closing: _Closing, a: Array, b: Array) -> Joint:
    """A hinge about ``a`` in the parent's axes, which is ``b`` in the child's."""
    R_PF = closing.X_PF[0]
    axis = R_PF.T @ a
    turn = least_turn(tuple(axis), tuple(b))
    w, x, y, z = (float(part) for part in quaternion_of_matrix(turn))
    return Joint(
        name=closing.name,
        kind="hinge",
        parent=closing.parent,
        child=closing.child,
        pose=as_pose(closing.X_PF),
        child_pose={"position": tuple(closing.X_CG[1].tolist()), "quaternion": (w, x, y, z)},  # type: ignore[arg-type]
        axis=(float(axis[0]), float(axis[1]), float(axis[2])),
    )
