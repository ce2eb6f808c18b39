"""What a bone or frame is, told from its name: the habits of several programs, left and right, in English.

Understood are CMU / MotionBuilder (LeftUpLeg), Mixamo (mixamorig:LeftArm), Unity (LeftUpperArm), Unreal (upperarm_l), 3ds Max
(Bip01 L UpperArm), Poser (lShldr), Blender (upper_arm.L), plain English (left_elbow) and robots' usual links (l_wrist).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ROLES: dict[str, tuple[str, ...]] = {
    "pelvis": ("hips", "pelvis", "hip", "root", "waist", "lowerbody", "base"),
    "chest": ("upperchest", "chest", "torso", "thorax", "trunk", "upperbody", "spine", "body", "base"),
    "head": ("head", "skull", "face"),
    "shoulder": ("upperarm", "uparm", "arm", "shldr", "shoulder", "shoulderpitch", "bicep", "humerus"),
    "elbow": ("forearm", "lowerarm", "loarm", "elbow", "radius", "elbowyaw"),
    "hand": ("hand", "wrist", "gripper", "palm"),
    "hip": ("upleg", "upperleg", "thigh", "hip", "femur", "hippitch"),
    "knee": ("leg", "lowerleg", "loleg", "shin", "calf", "knee", "tibia"),
    "foot": ("foot", "ankle", "sole"),
}
"""Roles and the plain names that mean them, the surest first. A shoulder is where the upper arm starts, not the clavicle."""

_FILLERS = {"joint", "jnt", "bone", "bip", "frame", "link", "mixamorig", "character", "def", "b", "j", "bn", "reference"}
_SIDES = {"l": "left", "left": "left", "lft": "left", "r": "right", "right": "right", "rgt": "right"}


def _tokens(name: str) -> list[str]:
    bare = re.split(r"[:|]", name)[-1]
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", bare))
    return [token for token in re.split(r"[^a-z]+", spaced.lower()) if token]


def find_side(name: str) -> str:
    """``left``, ``right``, or nothing."""
    return next((_SIDES[token] for token in _tokens(name) if token in _SIDES), "")


def plain_name(name: str) -> str:
    """The name without side, number, prefix and separators, in small letters: ``mixamorig:LeftForeArm`` is forearm."""
    return "".join(token for token in _tokens(name) if token not in _SIDES and token not in _FILLERS)


def find_role(role: str, side: str, names: Iterable[str]) -> str | None:
    """The name among ``names`` that most surely means ``role`` on ``side``; of equally sure ones the first."""
    candidates = [(plain_name(name), name) for name in names if find_side(name) == side]
    for word in ROLES[role]:
        for plain, name in candidates:
            if plain == word:
                return name
    return None
