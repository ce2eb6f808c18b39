"""The root of a character that hangs or floats free: how its trunk is turned and where it goes.

The trunk of such a character is often one rigid body, a person's is not. Both are told by the same four points, hips and
shoulders. With a the middle of the hips, b that of the shoulders, h and s the unit vectors from the right to the left of each:

    z along b - a        x along (h + s) x z        y = z x x

so the trunk's lean is the line from hips to shoulders, and its twist the mean of both ends. The person is first turned about the
vertical so that the mean heading of the first half second is the character's own at home; then the root's place is

    p_k = p_home + g l / L (a_k - a_0)

with l the length of the character's legs, L of the person's (arms where none are mapped), and g the ``root_motion`` wished.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.euler import turn_about
from bunraku.mechanics.tree import Tree
from bunraku.retargeting.calibration import side_of
from bunraku.retargeting.rig_map import RigMap
from bunraku.retargeting.skeleton import BoneMotion

START = 0.5


@dataclass(frozen=True)
class RigidTrunk:
    """Axes of the person's trunk (m, 3, 3) in the world, and of the character's (3, 3) in the world at home."""

    person: Array
    character: Array


def rigid_trunk(motion: BoneMotion, rig: RigMap, tree: Tree) -> RigidTrunk | None:
    """Both trunks by their hips and shoulders; None when the map lacks a limb on either side of either end."""
    people, own = [], []
    at = tree.configuration(tree.home)
    for end in ("pelvis", "chest"):
        limbs = sorted((limb for limb in rig.limbs if limb.hangs_on == end), key=side_of, reverse=True)
        if [side_of(limb) for limb in limbs] != [1.0, -1.0]:
            return None
        people += [motion.position(limb.bones[0]) for limb in limbs]
        own += [at.pose(limb.frames[0])[1][None] for limb in limbs]
    return RigidTrunk(_axes(*people), _axes(*own)[0])


def _axes(left_hip: Array, right_hip: Array, left_shoulder: Array, right_shoulder: Array) -> Array:
    z = _unit(left_shoulder + right_shoulder - left_hip - right_hip)
    x = _unit(np.cross(_unit(left_hip - right_hip) + _unit(left_shoulder - right_shoulder), z))
    return np.stack([x, np.cross(z, x), z], axis=-1)


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if float(length.min()) < 1e-9:
        raise BadInput("hips and shoulders coincide, so the trunk has no direction; name other bones in the rig map")
    return vectors / length


def to_face(person: Array, character: Array, rate: float) -> Array:
    """The turn (3, 3) about the vertical that makes the mean of ``person`` (m, 3, 3) over the start head as ``character`` (3, 3).

    Headings are told by the left, y: a trunk bent far forward still knows its left.
    """
    angle = _heading(character) - _heading(np.mean(person[: max(1, round(START * rate))], axis=0))
    return turn_about("z", angle)


def turned(motion: BoneMotion, turn: Array) -> BoneMotion:
    """The motion with the world turned by ``turn`` (3, 3)."""
    return replace(motion, positions=motion.positions @ turn.T, rotations=turn @ motion.rotations)


def _heading(axes: Array) -> float:
    if float(np.hypot(axes[0, 1], axes[1, 1])) < 1e-9:
        raise BadInput("the person lies on the side at the start, so a heading cannot be told; begin where the person stands")
    return float(np.arctan2(-axes[0, 1], axes[1, 1]))


def leg_ratio(motion: BoneMotion, rig: RigMap, tree: Tree) -> float:
    """Length of the character's legs over that of the person's, means over limbs and time; of the arms when there are no legs."""
    limbs = [limb for limb in rig.limbs if limb.hangs_on == "pelvis"] or list(rig.limbs)
    if not limbs:
        return 1.0
    at = tree.configuration(tree.home)
    own = person = 0.0
    for limb in limbs:
        a, b, c = (motion.position(bone) for bone in limb.bones)
        person += float(np.mean(np.linalg.norm(b - a, axis=1) + np.linalg.norm(c - b, axis=1)))
        a, b, c = (at.pose(frame)[1] for frame in limb.frames)
        own += float(np.linalg.norm(b - a) + np.linalg.norm(c - b))
    if person < 1e-9:
        raise BadInput("the legs of the captured skeleton have no length; name other bones in the rig map")
    return own / person


def root_path(motion: BoneMotion, rig: RigMap, tree: Tree, scale: float) -> tuple[str, Array, Array]:
    """The frame of the root, the point in it (3,) [m] that is followed, and where it goes (m, 3) [m] in the world.

    The point is the middle of the hips; without legs in the map, the origin of the pelvis or chest.
    """
    trunk = rig.pelvis or rig.chest
    legs = [limb for limb in rig.limbs if limb.hangs_on == "pelvis"]
    at = tree.configuration(tree.home)
    R, origin = at.pose(trunk.frame)
    if legs:
        person = np.mean([motion.position(limb.bones[0]) for limb in legs], axis=0)
        home = np.mean([at.pose(limb.frames[0])[1] for limb in legs], axis=0)
    else:
        person, home = motion.position(trunk.bone), origin
    return trunk.frame, R.T @ (home - origin), home + scale * (person - person[0])
