"""Before performing: a captured skeleton becomes joint curves of the character."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.character import Character
from bunraku.formats.checkpoint import Checkpoint
from bunraku.motion import Clip, JointCurves
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.retargeting.retarget import retarget
from bunraku.retargeting.rig_map import RigMap, read_rig_map

__all__ = ["prepare", "read_rig"]


def read_rig(path: Path) -> RigMap:
    """The rig map in a YAML file."""
    return read_rig_map(path.read_bytes(), file=str(path))


def prepare(
    character: Character, clip: Clip, *, rig: RigMap | None = None, checkpoint: Checkpoint | None = None, monitor: Monitor = SILENT
) -> tuple[Clip, tuple[str, ...]]:
    """The clip with joint curves, and what was done, in sentences. A clip that has joint curves comes back as it is."""
    if clip.joints is not None or clip.skeleton is None:
        return clip, ()
    saved = checkpoint.load() if checkpoint is not None else None
    if saved is not None and {"values", "rate", "held"} <= set(saved) and saved["values"].shape[1:] == (len(character.driven),):
        joints = JointCurves(character.driven, float(saved["rate"]), np.asarray(saved["values"], dtype=np.float64))
        held = tuple(character.coordinates[int(i)] for i in saved["held"])
        return clip.changed(joints=joints, skeleton=None, held=held), ("retargeted before the interruption; going on from there",)
    result = retarget(clip, character, rig=rig, monitor=monitor)
    joints = result.clip.need_joints("the performer")
    if checkpoint is not None and joints.names == character.driven:
        still = np.array([character.coordinates.index(name) for name in result.clip.held], dtype=np.int64)
        checkpoint.save({"values": joints.values, "rate": np.array(joints.rate), "held": still})
    return result.clip, result.report.sentences
