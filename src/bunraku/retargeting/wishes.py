"""From the motion of bones to the targets of a character: directions kept, lengths the character's own.

Arms and head are seen from the chest, legs from the pelvis, the chest from the pelvis; so turning or moving the whole
person changes nothing for a character that stands on one spot. Where the root can move, it follows the trunk (`root.py`).
With d_1, d_2 the unit directions of upper arm and forearm, seen in the person's chest, s the character's shoulder and L_1, L_2
its lengths (at home, seen in its chest):

    elbow* = s + L_1 d_1        hand* = s + L_1 d_1 + L_2 d_2

The head's aim point, ``lever`` before the head frame, is where it would be if the character's head turned about its neck
joint as the person's head is turned in the chest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.rotations import least_turn, matrix_of_quaternion
from bunraku.mechanics.tree import Tree
from bunraku.retargeting.bends import bend_axes, bend_normals, upper_part
from bunraku.retargeting.calibration import Calibration
from bunraku.retargeting.rig_map import HeadMap, LimbMap, RigMap, TrunkMap
from bunraku.retargeting.root import leg_ratio, rigid_trunk, root_path, to_face, turned
from bunraku.retargeting.skeleton import BoneMotion
from bunraku.retargeting.targets import FrameTarget, TargetSet, branch

DEFAULT_LEVER = 0.1


@dataclass(frozen=True)
class Wishes:
    """Targets on the character's tree with wished places (m, k, 3) [m] and turns (m, k, 3, 3) in their bases, at ``rate``."""

    targets: TargetSet
    places: Array
    turns: Array
    rate: float


@dataclass(frozen=True)
class _Part:
    """A trunk part: the character's body axes on it, and the person's, frame by frame."""

    frame: str
    turn: Array
    person: Array

    def target(self, frame: str, position_weight: float, rotation_weight: float, name: str, **more: Any) -> FrameTarget:
        """A target seen from this part."""
        return FrameTarget(frame, position_weight, rotation_weight, base=self.frame, base_turn=self.turn, name=name, **more)


def make_wishes(
    motion: BoneMotion, rig: RigMap, calibration: Calibration, tree: Tree, moving: tuple[str, ...], root_motion: float = 1.0
) -> Wishes:
    """Targets for all mapped parts that coordinates ``moving`` can move; ``root_motion`` scales the path of a moving root."""
    indices = {tree.index(name) for name in moving}
    indices |= {follower for driver, follower, _, _ in tree.couplings if driver in indices}
    parts = {"chest": _part(motion, rig.chest, calibration, tree)}
    if rig.pelvis is not None:
        parts["pelvis"] = _part(motion, rig.pelvis, calibration, tree)
    waist = rig.pelvis is not None and _moves(tree, rig.chest.frame, rig.pelvis.frame, indices)
    rows: list[tuple[FrameTarget, Array, Array]] = []
    if _moves(tree, (rig.pelvis or rig.chest).frame, "", indices):
        motion, parts = _on_free_root(motion, rig, tree, parts, waist)
        rows += _root(motion, rig, parts["pelvis" if rig.pelvis is not None else "chest"], tree, root_motion)
    if waist and rig.pelvis is not None:
        chest, pelvis = parts["chest"], parts["pelvis"]
        target = pelvis.target(chest.frame, 0.0, rig.chest.weight, "chest", turn=chest.turn)
        rows.append((target, np.zeros((len(chest.person), 3)), np.swapaxes(pelvis.person, 1, 2) @ chest.person))
    elif rig.upright:
        parts["chest"] = _heading(parts["chest"])
    if rig.head is not None and _moves(tree, rig.head.frame, rig.chest.frame, indices):
        rows += _head(motion, rig.head, parts["chest"], calibration, tree, rig, indices)
    for limb in rig.limbs:
        if _moves(tree, limb.frames[2], parts[limb.hangs_on].frame, indices):
            rows += _limb(motion, limb, parts[limb.hangs_on], calibration, tree)
    if not rows:
        raise BadInput("no joint that may move can follow any mapped bone; hold fewer joints, or map more parts")
    return Wishes(
        TargetSet.of(tree, [row[0] for row in rows]),
        np.stack([row[1] for row in rows], axis=1),
        np.stack([row[2] for row in rows], axis=1),
        motion.rate,
    )


def _part(motion: BoneMotion, trunk: TrunkMap, calibration: Calibration, tree: Tree) -> _Part:
    turn, _ = tree.configuration(tree.home).pose(trunk.frame)
    return _Part(
        trunk.frame, turn.T @ matrix_of_quaternion(trunk.offset), motion.rotation(trunk.bone) @ calibration.offsets[trunk.bone]
    )


def _on_free_root(
    motion: BoneMotion, rig: RigMap, tree: Tree, parts: dict[str, _Part], waist: bool
) -> tuple[BoneMotion, dict[str, _Part]]:
    """The motion turned to head as the character does at home, and the trunk's parts in it; rigid unless it has a waist."""
    trunk = None if waist else rigid_trunk(motion, rig, tree)
    at = tree.configuration(tree.home)
    if trunk is not None:
        turn = to_face(trunk.person, trunk.character, motion.rate)
        own = {name: at.pose(part.frame)[0].T @ trunk.character for name, part in parts.items()}
        return turned(motion, turn), {name: _Part(part.frame, own[name], turn @ trunk.person) for name, part in parts.items()}
    first = parts.get("pelvis", parts["chest"])
    turn = to_face(first.person, at.pose(first.frame)[0] @ first.turn, motion.rate)
    return turned(motion, turn), {name: _Part(part.frame, part.turn, turn @ part.person) for name, part in parts.items()}


def _root(motion: BoneMotion, rig: RigMap, part: _Part, tree: Tree, root_motion: float) -> list[tuple[FrameTarget, Array, Array]]:
    """The target of the trunk in the world, errors relative to the length of the legs as a limb's are to its own."""
    ratio = leg_ratio(motion, rig, tree)
    frame, point, path = root_path(motion, rig, tree, root_motion * ratio)
    limbs = [limb for limb in rig.limbs if limb.hangs_on == "pelvis"] or list(rig.limbs)
    at = tree.configuration(tree.home)
    places = [[at.pose(frame)[1] for frame in limb.frames] for limb in limbs]
    length = float(np.mean([np.linalg.norm(np.diff(place, axis=0), axis=1).sum() for place in places])) if places else 1.0
    return [(FrameTarget(frame, 1.0 / length, 1.0, point=point, turn=part.turn, name="root"), path, part.person)]


def _heading(part: _Part) -> _Part:
    """The same part kept upright: z up, x where it heads, told by its left."""
    left = part.person[:, :, 1]
    x = np.stack([left[:, 1], -left[:, 0], np.zeros(len(left))], axis=1)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    up = np.broadcast_to([0.0, 0.0, 1.0], x.shape)
    return _Part(part.frame, part.turn, np.stack([x, np.cross(up, x), up], axis=2))


def _moves(tree: Tree, frame: str, base: str, indices: set[int]) -> bool:
    """Whether a coordinate among ``indices`` lies between ``base`` (empty: the world) and ``frame``."""
    nodes = branch(tree, tree.node(frame)[0])
    if not base:
        return any(int(tree.coordinate[node]) in indices for node in nodes)
    stop = tree.node(base)[0]
    if stop not in nodes:
        raise BadInput(f"the frame {frame!r} does not hang on {base!r}; edit the rig map so that it does")
    return any(int(tree.coordinate[node]) in indices for node in nodes[: nodes.index(stop)])


def _home_place(tree: Tree, part: _Part, frame: str) -> Array:
    """Where a frame's origin is at home, in body axes of ``part``."""
    at = tree.configuration(tree.home)
    turn, origin = at.pose(part.frame)
    place: Array = (turn @ part.turn).T @ (at.pose(frame)[1] - origin)
    return place


def _head(
    motion: BoneMotion, head: HeadMap, chest: _Part, calibration: Calibration, tree: Tree, rig: RigMap, indices: set[int]
) -> list[tuple[FrameTarget, Array, Array]]:
    at = tree.configuration(tree.home)
    roots = [at.pose(limb.frames[0])[1] for limb in rig.limbs if limb.hangs_on == "chest"]
    lever = head.lever or (0.5 * float(np.linalg.norm(roots[0] - roots[1])) if len(roots) == 2 else 0.0) or DEFAULT_LEVER
    turn = at.pose(head.frame)[0].T @ matrix_of_quaternion(head.offset)
    nodes = branch(tree, tree.node(head.frame)[0])
    neck = [n for n in nodes[: nodes.index(tree.node(chest.frame)[0])] if int(tree.coordinate[n]) in indices][-1]
    R_C, p_C = at.pose(chest.frame)
    pivot = (R_C @ chest.turn).T @ (at.position[neck] - p_C)
    arm = _home_place(tree, chest, head.frame) - pivot + [lever, 0.0, 0.0]
    R = np.swapaxes(chest.person, 1, 2) @ (motion.rotation(head.bone) @ calibration.offsets[head.bone])
    point = turn @ np.array([lever, 0.0, 0.0])
    target = chest.target(head.frame, head.aim_weight / lever, head.turn_weight, "head", point=point, turn=turn)
    return [(target, pivot + R @ arm, R)]


def _limb(
    motion: BoneMotion, limb: LimbMap, part: _Part, calibration: Calibration, tree: Tree
) -> list[tuple[FrameTarget, Array, Array]]:
    a, b, c = (motion.position(bone) for bone in limb.bones)
    d1, d2 = (_directions(part, end - start, limb) for start, end in ((a, b), (b, c)))
    s, e, h = (_home_place(tree, part, frame) for frame in limb.frames)
    L1, L2 = limb.scale * float(np.linalg.norm(e - s)), limb.scale * float(np.linalg.norm(h - e))
    if min(L1, L2) < 1e-6:
        raise BadInput(f"two frames of the limb {limb.name!r} coincide on the character; name shoulder, elbow and hand apart")
    still = np.broadcast_to(np.eye(3), (len(a), 3, 3))
    middle = part.target(limb.frames[1], limb.middle_weight / (L1 + L2), 0.0, f"{limb.name} middle")
    turns, turn, weight = still, np.eye(3), 0.0
    if limb.turn in ("twist", "full") and limb.bones[2] in calibration.offsets:
        weight = limb.turn_weight
        body = motion.rotation(limb.bones[2]) @ calibration.offsets[limb.bones[2]]
        turns = np.swapaxes(part.person, 1, 2) @ body
        if limb.turn == "twist":
            turns = least_turn(turns[:, :, 0], d2) @ turns
        if limb.hangs_on == "pelvis":
            turn = tree.configuration(tree.home).pose(limb.frames[2])[0].T
        turn = turn @ matrix_of_quaternion(limb.offset)
    end = part.target(limb.frames[2], limb.end_weight / (L1 + L2), weight, f"{limb.name} end", turn=turn)
    elbow = s + L1 * d1
    return [(middle, elbow, still), (end, elbow + L2 * d2, turns), *_bend(limb, part, tree, d1, d2, motion.rate)]


def _bend(limb: LimbMap, part: _Part, tree: Tree, d1: Array, d2: Array, rate: float) -> list[tuple[FrameTarget, Array, Array]]:
    """The turn of the limb's upper part about itself, by the plane in which the limb bends, when the map asks for it."""
    upper = upper_part(limb, tree) if limb.turn == "bend" else None
    if upper is None:
        return []
    body, axes = upper
    at = tree.configuration(tree.home)
    home = (at.pose(part.frame)[0] @ part.turn).T @ axes[:, 1]
    turns = bend_axes(d1, bend_normals(d1, d2, rate, home))
    target = part.target(body, 0.0, limb.turn_weight, f"{limb.name} bend", turn=at.pose(body)[0].T @ axes)
    return [(target, np.zeros((len(d1), 3)), turns)]


def _directions(part: _Part, between: Array, limb: LimbMap) -> Array:
    length = np.linalg.norm(between, axis=1, keepdims=True)
    if float(length.min()) < 1e-9:
        raise BadInput(f"a part of the limb {limb.name!r} has no length in the captured skeleton; name other bones")
    d: Array = np.einsum("mba,mb->ma", part.person, between / length)
    return d
