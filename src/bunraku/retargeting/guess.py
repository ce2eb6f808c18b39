"""A first rig map, guessed from the names of bones and frames and from how they hang together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.character import Character
from bunraku.character.description import Quaternion
from bunraku.errors import BadInput
from bunraku.geometry.rotations import quaternion_of_matrix
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import SkeletonMotion
from bunraku.retargeting.calibration import hand_axes
from bunraku.retargeting.names import find_role
from bunraku.retargeting.rig_map import NO_TURN, HeadMap, LimbMap, RigMap, TrunkMap
from bunraku.retargeting.targets import branch
from bunraku.retargeting.wished import is_wished_whole

LIMBS = (("arm", "chest", ("shoulder", "elbow", "hand")), ("leg", "pelvis", ("hip", "knee", "foot")))
ALONG = 0.9
POINTS_TELL = 4


@dataclass(frozen=True)
class RigGuess:
    """A guessed map, and what could not be found, each as words for a report."""

    rig: RigMap
    missing: tuple[str, ...]


def guess_rig(skeleton: SkeletonMotion, character: Character) -> RigGuess:
    """The rig map that the names suggest; limbs that are not found on either side are left out and reported."""
    tree = compile_tree(character)
    missing: list[str] = []
    limbs: list[LimbMap] = []
    for limb, trunk, roles in LIMBS:
        for side in ("left", "right"):
            bones = [find_role(role, side, skeleton.names) for role in roles]
            frames = [_frame(tree, role, side) for role in roles]
            lost = [f"bone of the {side} {role}" for role, bone in zip(roles, bones, strict=True) if bone is None]
            lost += [f"frame of the {side} {role}" for role, frame in zip(roles, frames, strict=True) if frame is None]
            if lost or None in bones or None in frames:
                missing += lost
                continue
            full_bones, full_frames = [str(b) for b in bones], [str(f) for f in frames]
            limbs.append(
                LimbMap(
                    name=f"{side} {limb}",
                    hangs_on=trunk,  # type: ignore[arg-type]
                    bones=(full_bones[0], full_bones[1], full_bones[2]),
                    frames=(full_frames[0], full_frames[1], full_frames[2]),
                    turn="full" if limb == "leg" else "twist",
                    offset=NO_TURN if limb == "leg" else _hand_offset(tree, full_frames, 1.0 if side == "left" else -1.0),
                )
            )
    arms = [part for part in limbs if part.hangs_on == "chest"]
    legs = [part for part in limbs if part.hangs_on == "pelvis"]
    chest = _trunk("chest", skeleton, tree, arms)
    pelvis = _trunk("pelvis", skeleton, tree, legs)
    if chest is None:
        raise BadInput(
            "no chest was found by name or as the place where two arms meet; write a rig map and name its bone and frame "
            f"(bones: {', '.join(skeleton.names[:12])}...; frames: {', '.join(sorted(tree.frames)[:12])})"
        )
    if pelvis is None:
        missing.append("pelvis")
        limbs = arms
    if is_wished_whole(character):
        trunks = {"chest": chest, "pelvis": pelvis}
        limbs = [_told_by_points(limb, trunks[limb.hangs_on], tree) for limb in limbs]
    head_bone, head_frame = find_role("head", "", skeleton.names), _frame(tree, "head", "")
    head = None if head_bone is None or head_frame is None else HeadMap(bone=head_bone, frame=head_frame)
    if head is None:
        missing.append("bone of the head" if head_bone is None else "frame of the head")
    if head is None and not limbs:
        raise BadInput(f"neither head nor limbs were found by name ({', '.join(missing[:6])}...); write a rig map")
    return RigGuess(RigMap(chest=chest, pelvis=pelvis, head=head, limbs=tuple(limbs)), tuple(missing))


def _told_by_points(limb: LimbMap, trunk: TrunkMap | None, tree: Tree) -> LimbMap:
    """A limb that no joint turns about its last part, as carved ones are, follows its two points, both as strongly.

    Two points on a sphere each are four numbers: so are a ball and a hinge. Where it is straight, the plane of its bends counts.
    """
    stop = -1 if trunk is None else tree.node(trunk.frame)[0]
    nodes = branch(tree, tree.node(limb.frames[2])[0])
    between = nodes[: nodes.index(stop)] if stop in nodes else nodes
    if sum(int(tree.coordinate[node]) >= 0 for node in between) > POINTS_TELL:
        return limb
    return limb.changed(turn="bend", middle_weight=limb.end_weight)


def _frame(tree: Tree, role: str, side: str) -> str | None:
    return find_role(role, side, tree.frames) or find_role(role, side, tree.nodes)


def _trunk(role: str, skeleton: SkeletonMotion, tree: Tree, limbs: list[LimbMap]) -> TrunkMap | None:
    """Where the limbs meet, else what is called so; on the character what is called so first, if the limbs hang on it."""
    bone = _meeting_bone(skeleton, [limb.bones[0] for limb in limbs]) or find_role(role, "", skeleton.names)
    roots = [tree.node(limb.frames[0])[0] for limb in limbs]
    frame = _frame(tree, role, "")
    if frame is None or any(tree.node(frame)[0] not in branch(tree, root) for root in roots):
        names = {node: name for name, node in tree.nodes.items()}
        common = [node for node in (branch(tree, roots[0]) if roots else []) if all(node in branch(tree, root) for root in roots)]
        frame = next((names[node] for node in common if node in names and node not in roots), frame if not roots else None)
    return None if bone is None or frame is None else TrunkMap(bone=bone, frame=frame)


def _meeting_bone(skeleton: SkeletonMotion, bones: list[str]) -> str | None:
    """The bone nearest to all of ``bones`` that all of them hang on; None for less than two."""
    if len(bones) < 2:
        return None
    paths = []
    for bone in bones:
        path, at = [], skeleton.parents[skeleton.names.index(bone)]
        while at >= 0:
            path.append(at)
            at = skeleton.parents[at]
        paths.append(path)
    return next((skeleton.names[at] for at in paths[0] if all(at in path for path in paths)), None)


def _hand_offset(tree: Tree, frames: list[str], side: float) -> Quaternion:
    """The turn from the hand frame's axes to a hand's (x along the fingers, z out of its back).

    None when the frame's x points along the forearm at home, as it should. Otherwise the hand is taken to be at home as a
    person's would be who came there from a T-pose with palms down by the least turn.
    """
    at = tree.configuration(tree.home)
    R, hand = at.pose(frames[2])
    forearm = hand - at.pose(frames[1])[1]
    length = float(np.linalg.norm(forearm))
    if length < 1e-9 or float(R[:, 0] @ forearm) > ALONG * length:
        return NO_TURN
    w, x, y, z = quaternion_of_matrix(R.T @ hand_axes(np.eye(3), side, forearm / length)).tolist()
    return (w, x, y, z)
