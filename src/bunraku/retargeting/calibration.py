"""Calibration: the turn from each bone's own axes to the axes of the body part it carries.

Body axes are x forward, y left, z up in a person standing upright; a hand's are x along the fingers, z out of the back of the
hand. Bone axes are whatever the file's author chose. The two are related in one pose that is known to be upright.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.rotations import least_turn, nearest_rotation
from bunraku.motion import SkeletonMotion
from bunraku.retargeting.names import find_side
from bunraku.retargeting.rig_map import LimbMap, RigMap
from bunraku.retargeting.skeleton import BoneMotion, bone_motion, rest_pose

LEAST_UPRIGHT = 0.8


@dataclass(frozen=True)
class Calibration:
    """``offsets[bone]`` (3, 3) turns bone axes into body axes; ``pose`` says which pose they come from; bones may be missing."""

    pose: str
    offsets: dict[str, Array]


def side_of(limb: LimbMap) -> float:
    """+1 for a left limb, -1 for a right one, told from its name or its first bone's."""
    side = find_side(limb.name) or find_side(limb.bones[0])
    if not side:
        raise BadInput(f"whether the limb {limb.name!r} is left or right cannot be told; call it 'left ...' or 'right ...'")
    return 1.0 if side == "left" else -1.0


def calibrate(skeleton: SkeletonMotion, rig: RigMap, motion: BoneMotion, first: bool) -> Calibration:
    """Find the offsets; ``first`` says that frame 0 of ``skeleton`` is an artificial rest pose. ``motion`` is without it."""
    if rig.calibration != "average":
        if first:
            start = bone_motion(skeleton, rig.bones)
            pose = BoneMotion(start.names, start.rate, start.positions[:1], start.rotations[:1])
            upright = _upright(pose, rig, "its first frame")
            if upright is not None:
                return upright
        upright = _upright(rest_pose(skeleton), rig, "its rest pose")
        if upright is not None:
            return upright
        if rig.calibration == "rest":
            raise BadInput("the skeleton's rest pose does not stand upright; set the rig map's calibration to average")
    return _average(motion, rig)


def hand_axes(body: Array, side: float, forearm: Array) -> Array:
    """Axes of a hand (x along the fingers, z out of its back) on an arm that came to rest by the least turn from a T-pose.

    ``body`` (3, 3) are the axes of the body, ``side`` is +1 left and -1 right, ``forearm`` (3,) its unit direction. In the T-pose
    the palms look down; so hanging arms have palms inward, arms stretched forward palms down.
    """
    out = side * body[:, 1]
    return least_turn(out, forearm) @ np.stack([out, np.cross(body[:, 2], out), body[:, 2]], axis=1)


def _axes(motion: BoneMotion, rig: RigMap) -> tuple[Array, Array]:
    """Up along the trunk (m, 3), unit, and left (m, 3), not yet square to it; zero when the map has nothing to tell it by."""
    top = motion.position((rig.head or rig.chest).bone)
    up = np.zeros_like(top) if rig.pelvis is None else top - motion.position(rig.pelvis.bone)
    length = np.linalg.norm(up, axis=1, keepdims=True)
    up = np.where(length > 1e-6, up / np.maximum(length, 1e-12), [0.0, 0.0, 1.0])
    left = np.zeros_like(up)
    for limb in rig.limbs:
        trunk = rig.chest if limb.hangs_on == "chest" or rig.pelvis is None else rig.pelvis
        left += side_of(limb) * (motion.position(limb.bones[0]) - motion.position(trunk.bone))
    return up, left


def _frame(left: Array, up: Array) -> Array:
    """Axes (m, 3, 3) with z along ``up`` and y as near to ``left`` as can be."""
    x = np.cross(left, up)
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    return np.stack([x, np.cross(up, x), up], axis=-1)


def _upright(pose: BoneMotion, rig: RigMap, words: str) -> Calibration | None:
    """Offsets from one upright pose, or None if it is not upright: trunk within 37 degrees of z, left level to 45."""
    trunk, left = _axes(pose, rig)
    size = float(np.linalg.norm(left))
    if not rig.limbs:
        left, size = np.array([[0.0, 1.0, 0.0]]), 1.0
    if trunk[0, 2] < LEAST_UPRIGHT or size < 1e-9 or abs(left[0, 2]) > 0.7 * size:
        return None
    A = _frame(left, np.array([[0.0, 0.0, 1.0]]))[0]
    singles = [part.bone for part in (rig.chest, rig.pelvis, rig.head) if part is not None]
    offsets = {bone: pose.rotation(bone)[0].T @ A for bone in singles}
    for limb in rig.limbs:
        body = A
        if limb.hangs_on == "chest":
            forearm = pose.position(limb.bones[2])[0] - pose.position(limb.bones[1])[0]
            body = hand_axes(A, side_of(limb), forearm / max(float(np.linalg.norm(forearm)), 1e-12))
        offsets[limb.bones[2]] = pose.rotation(limb.bones[2])[0].T @ body
    return Calibration(words, offsets)


def _average(motion: BoneMotion, rig: RigMap) -> Calibration:
    """Offsets as means over the clip: over time, head and feet point where the trunk does. Hands cannot be told so."""
    up, left = _axes(motion, rig)
    left -= np.sum(left * up, axis=1, keepdims=True) * up
    if float(np.linalg.norm(left, axis=1).min()) < 1e-6:
        raise BadInput("left and right of the skeleton cannot be told apart; map limbs of both sides in the rig map")
    A = _frame(left, up)
    feet = [limb.bones[2] for limb in rig.limbs if limb.hangs_on == "pelvis"]
    singles = [part.bone for part in (rig.chest, rig.pelvis, rig.head) if part is not None]
    return Calibration(
        "the mean of the clip",
        {bone: nearest_rotation(np.mean(np.swapaxes(motion.rotation(bone), 1, 2) @ A, axis=0)) for bone in singles + feet},
    )
