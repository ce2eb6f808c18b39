"""The rig map: which bones of a captured skeleton drive which frames of a character, and how strongly.

A map is a small YAML file that a person can edit (``bunraku: rig/1``)::

    bunraku: rig/1
    chest: {bone: Spine1, frame: torso}
    head: {bone: Head, frame: head}
    limbs:
    - name: left arm
      hangs_on: chest
      bones: [LeftArm, LeftForeArm, LeftHand]
      frames: [l_shoulder, l_elbow, l_hand]
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from bunraku.character.description import Description, Name, Quaternion, quantity
from bunraku.errors import BadInput
from bunraku.formats.units import build, from_si
from bunraku.formats.yaml_file import dump_yaml, read_yaml

NO_TURN: Quaternion = (1.0, 0.0, 0.0, 0.0)


class TrunkMap(Description):
    """A part of the trunk, chest or pelvis. ``weight`` counts when joints of the character lie between pelvis and chest."""

    bone: Name
    frame: Name
    weight: float = Field(1.0, ge=0.0, le=1e6)
    offset: Quaternion = NO_TURN


class HeadMap(Description):
    """The head: where the face points (``aim_weight``) and how it is turned (``turn_weight``), relative to the chest.

    ``lever`` [m] is the distance of the aimed point before the head's frame, where errors of aim are measured; by default half
    the distance between the character's shoulders. ``offset`` turns the head's axes (x forward, z up) after calibration.
    """

    bone: Name
    frame: Name
    aim_weight: float = Field(1.0, ge=0.0, le=1e6)
    turn_weight: float = Field(0.2, ge=0.0, le=1e6)
    lever: float | None = quantity("length", None, gt=0.0, le=10.0)
    offset: Quaternion = NO_TURN


class LimbMap(Description):
    """An arm or a leg of three points (shoulder, elbow, hand; hip, knee, foot), hanging on chest or pelvis.

    The directions of its two parts are kept and their lengths are the character's times ``scale``: a straight arm stays
    straight. ``turn`` says how the end is oriented: "twist" about the last part only, "full", or "none"; "bend" turns the upper
    part instead, so that the limb bends in the plane and to the side of the person's (`bends.py`). Weights are relative
    to the limb's length: an error of 1 is a hand off by a whole arm, or turned wrong by a radian. Hand frames have x along the
    fingers and z out of the back of the hand, else ``offset`` turns them so; feet need nothing, they are level at home.
    """

    name: str = Field(min_length=1, max_length=60)
    hangs_on: Literal["chest", "pelvis"]
    bones: tuple[Name, Name, Name]
    frames: tuple[Name, Name, Name]
    scale: float = Field(1.0, gt=0.0, le=10.0)
    middle_weight: float = Field(0.3, ge=0.0, le=1e6)
    end_weight: float = Field(1.0, ge=0.0, le=1e6)
    turn: Literal["none", "twist", "full", "bend"] = "none"
    turn_weight: float = Field(0.15, ge=0.0, le=1e6)
    offset: Quaternion = NO_TURN


class RigMap(Description):
    """From skeleton to character. ``calibration``: the pose at which bones and frames are taken to correspond.

    "rest" is the skeleton's rest pose (its artificial first frame when there is one, else all rotations zero), in which it stands
    upright; "average" the mean over the clip, for files whose rest pose is no pose; "auto" takes rest when it can be stood in.
    ``upright`` expresses arms and head relative to the chest's heading instead of the whole chest, when no joint lies
    between the character's pelvis and chest: then a bow does not lift the arms, but nothing is left of it.
    """

    chest: TrunkMap
    pelvis: TrunkMap | None = None
    head: HeadMap | None = None
    limbs: tuple[LimbMap, ...] = Field((), max_length=16)
    calibration: Literal["auto", "rest", "average"] = "auto"
    upright: bool = False

    @field_validator("limbs")
    @classmethod
    def _names_differ(cls, limbs: tuple[LimbMap, ...]) -> tuple[LimbMap, ...]:
        names = [limb.name for limb in limbs]
        if len(set(names)) < len(names):
            raise ValueError("two limbs share a name; names must differ")
        return limbs

    @model_validator(mode="after")
    def _check(self) -> RigMap:
        for limb in self.limbs:
            if limb.hangs_on == "pelvis" and self.pelvis is None:
                raise ValueError(f"the limb {limb.name!r} hangs on the pelvis, which is not mapped; add a pelvis")
        if self.head is None and not self.limbs:
            raise ValueError("neither head nor limbs are mapped, so nothing would move; map at least one")
        return self

    @property
    def bones(self) -> tuple[str, ...]:
        """The bones used, each once."""
        single = [part.bone for part in (self.chest, self.pelvis, self.head) if part is not None]
        return tuple(dict.fromkeys(single + [bone for limb in self.limbs for bone in limb.bones]))

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames used, each once."""
        single = [part.frame for part in (self.chest, self.pelvis, self.head) if part is not None]
        return tuple(dict.fromkeys(single + [frame for limb in self.limbs for frame in limb.frames]))


def read_rig_map(data: bytes, *, file: str) -> RigMap:
    """The rig map of a YAML file's bytes; complaints name file, line and field."""
    content = read_yaml(data, file=file, kind="rig")
    return build(RigMap, content.data, file=file, lines=content.lines)


def write_rig_map(rig: RigMap) -> bytes:
    """The bytes of a YAML file that reads back as the same map."""
    return dump_yaml("rig", from_si(rig))


def check_names(rig: RigMap, bones: tuple[str, ...], frames: tuple[str, ...]) -> None:
    """Raise when the map names a bone or frame that is not there."""
    for kind, names, known in (("bone", rig.bones, bones), ("frame", rig.frames, frames)):
        for name in names:
            if name not in known:
                listed = ", ".join(known[:20]) + (" ..." if len(known) > 20 else "")
                raise BadInput(f"the rig map names the {kind} {name!r}, which is not there; there are {listed}; edit the map")
