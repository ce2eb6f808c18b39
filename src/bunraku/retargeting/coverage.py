"""Which limbs of a captured skeleton a character follows, how much of the motion each carries, and which it leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.geometry.rotations import angle_between
from bunraku.mechanics.measures.coverage import FOLLOWS, HELD, MISSING, NO_JOINT, NOT_ASKED, CapturedLimb
from bunraku.mechanics.tree import Tree
from bunraku.motion import SkeletonMotion
from bunraku.retargeting.guess import LIMBS
from bunraku.retargeting.names import find_role
from bunraku.retargeting.rig_map import RigMap
from bunraku.retargeting.targets import TargetSet, branch
from bunraku.retargeting.wished import wished_coordinates

LIMB_JOINTS = 3
"""Joints in a row that nothing drives and that hang on no limb which is driven are a limb left out."""


def limb_energies(skeleton: SkeletonMotion, rig: RigMap) -> dict[str, float]:
    """The motion of each limb of the skeleton, as parts of their sum; see `mechanics.measures.coverage`."""
    part = _part_of(skeleton, rig)
    reach = _reaches(skeleton, part)
    turns = angle_between(skeleton.rotations[:-1], skeleton.rotations[1:]) * skeleton.rate
    energy: dict[str, float] = {}
    for bone, name in enumerate(part):
        if skeleton.parents[bone] >= 0:
            energy[name] = energy.get(name, 0.0) + float((turns[:, bone] ** 2).mean()) * reach[bone] ** 2
    total = sum(energy.values())
    return {name: value / total if total > 0.0 else 0.0 for name, value in sorted(energy.items())}


def covered_limbs(
    energies: Mapping[str, float],
    full: RigMap,
    rig: RigMap,
    character: Character,
    targets: TargetSet,
    q: Array,
    places: Array,
    turns: Array,
    held: Collection[str],
) -> tuple[CapturedLimb, ...]:
    """What became of each limb: ``full`` is the whole rig map, ``rig`` the part of it that was asked for.

    ``q`` (m, nq) is the motion of the character, ``places`` (m, k, 3) and ``turns`` (m, k, 3, 3) what its ``targets`` were to do.
    """
    tree, indices = targets.tree, _by_limb(targets)
    reached, turned = targets.poses(q)
    driven = {tree.names[c] for k in range(len(targets.targets)) for c in targets.between(k)}
    spare = _spare_limbs(character, tree, driven, held, indices, targets)
    mapped, asked = _limb_names(full), _limb_names(rig)
    limbs = []
    for name, captured in energies.items():
        rows = indices.get(name, [])
        joints = tuple(sorted({tree.names[c] for k in rows for c in targets.between(k)}))
        if rows:
            limbs.append(CapturedLimb(name, captured, _share(reached, turned, places, turns, rows), FOLLOWS, joints))
        elif name in mapped and name not in asked:
            limbs.append(CapturedLimb(name, captured, 0.0, NOT_ASKED))
        elif name in mapped or name == "trunk":
            limbs.append(CapturedLimb(name, captured, 0.0, HELD if held and name in mapped else NO_JOINT))
        elif "leg" in name and set(character.groups.get("legs", ())) & set(held):
            limbs.append(CapturedLimb(name, captured, 0.0, HELD))
        else:
            limbs.append(CapturedLimb(name, captured, 0.0, MISSING if spare else NO_JOINT))
    return tuple(limbs)


def _limb_names(rig: RigMap) -> set[str]:
    return {*(limb.name for limb in rig.limbs), *(["head"] if rig.head is not None else [])}


def _by_limb(targets: TargetSet) -> dict[str, list[int]]:
    """The targets of each limb, told from their titles: "left arm end" is one of the left arm, "chest" one of the trunk."""
    rows: dict[str, list[int]] = {}
    for k, target in enumerate(targets.targets):
        name = target.title
        for ending in (" middle", " end", " bend"):
            name = name.removesuffix(ending)
        rows.setdefault({"chest": "trunk"}.get(name, name), []).append(k)
    return rows


def _share(reached: Array, turned: Array, places: Array, turns: Array, rows: list[int]) -> float:
    """How much of the wished motion of some targets is reached, both about their means: of places, of turns where these stand."""
    for wished, done in ((places[:, rows], reached[:, rows]), (turns[:, rows], turned[:, rows])):
        about = wished - wished.mean(axis=0)
        own = float((about**2).sum())
        if own > 1e-9:
            return max(0.0, 1.0 - float(((done - done.mean(axis=0) - about) ** 2).sum()) / own)
    return 1.0


def _spare_limbs(
    character: Character,
    tree: Tree,
    driven: Collection[str],
    held: Collection[str],
    rows: Mapping[str, list[int]],
    targets: TargetSet,
) -> bool:
    """Whether joints in a row are free, driven by nothing, and hang on no limb or head that is driven (fingers do)."""
    limb_joints = {
        tree.names[c] for name, ks in rows.items() if name not in ("trunk", "root") for k in ks for c in targets.between(k)
    }
    followers = {tree.names[f] for _, f, _, _ in tree.couplings}
    free = set(wished_coordinates(character)) - set(driven) - set(held) - followers
    for node in tree.nodes.values():
        way = [tree.names[int(tree.coordinate[n])] for n in branch(tree, node) if int(tree.coordinate[n]) >= 0]
        if not limb_joints & set(way) and sum(name in free for name in way) >= LIMB_JOINTS:
            return True
    return False


def _part_of(skeleton: SkeletonMotion, rig: RigMap) -> list[str]:
    """The limb of each bone: the one whose first bone it is or hangs on; what leads to the head alone is of the head."""
    roots: dict[str, str] = {}
    for limb, _, roles in LIMBS:
        for side in ("left", "right"):
            bone = find_role(roles[0], side, skeleton.names)
            if bone is not None:
                roots[bone] = f"{side} {limb}"
    roots |= {limb.bones[0]: limb.name for limb in rig.limbs}
    head = rig.head.bone if rig.head is not None else find_role("head", "", skeleton.names)
    ways = {bone: _way(skeleton, skeleton.names.index(bone)) for bone in roots}
    if head is not None:
        common = {b for way in ways.values() for b in way}
        for index in _way(skeleton, skeleton.names.index(head)):
            if index not in common and skeleton.parents[index] >= 0:
                roots.setdefault(skeleton.names[index], "head")
    parts: list[str] = []
    for name, parent in zip(skeleton.names, skeleton.parents, strict=True):
        parts.append(roots.get(name) or (parts[parent] if parent >= 0 else "trunk"))
    return parts


def _way(skeleton: SkeletonMotion, bone: int) -> list[int]:
    """The bones from one to the root, itself first."""
    way = []
    while bone >= 0:
        way.append(bone)
        bone = skeleton.parents[bone]
    return way


def _reaches(skeleton: SkeletonMotion, part: list[str]) -> Array:
    """How far (b,) [m] a limb reaches beyond each of its bones, along its bones."""
    reach = np.zeros(len(part))
    for bone in reversed(range(len(part))):
        tip = skeleton.tips.get(skeleton.names[bone])
        if tip is not None:
            reach[bone] = max(reach[bone], float(np.linalg.norm(tip)))
        parent = skeleton.parents[bone]
        if parent >= 0 and part[parent] == part[bone]:
            reach[parent] = max(reach[parent], float(np.linalg.norm(skeleton.offsets[bone])) + reach[bone])
    return reach
