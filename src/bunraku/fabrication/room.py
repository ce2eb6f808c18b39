"""Whether a link can turn as far as its joint may: it and what it carries, against what it turns beside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.building.placement import PlacedLimb, PlacedStage
from bunraku.fabrication.forks import wheel_solid
from bunraku.fabrication.kit import PartsKit
from bunraku.fabrication.mounts import case_solid
from bunraku.fabrication.shaping import MM, Solid, moved, overlap, union
from bunraku.geometry.rotations import axis_angle

_TOUCH = 1.0
"""Shared volume [mm³] below which parts touch and no more."""
STEPS = 8


@dataclass(frozen=True)
class JointRoom:
    """How far a joint turns ``free`` before what turns meets what stands still [rad], and the ``limits`` its motion may use."""

    joint: str
    free: tuple[float, float]
    limits: tuple[float, float]

    @property
    def whole(self) -> bool:
        """Whether all of the range is free."""
        return self.free[0] <= self.limits[0] + 1e-9 and self.free[1] >= self.limits[1] - 1e-9


def rooms(kit: PartsKit) -> list[JointRoom]:
    """The free range of every joint of the limbs on the left and in the middle; the right is their mirror image."""
    pieces: dict[str, list[Solid]] = {}
    for piece in kit.pieces:
        if piece.kind != "axle spacer":
            pieces.setdefault(piece.body, []).append(piece.solid)
    found = []
    for limb in kit.limbs:
        if limb.side > 0.0:
            found += [_room(limb, index, pieces) for index in range(len(limb.stages))]
    return found


def _room(limb: PlacedLimb, index: int, pieces: dict[str, list[Solid]]) -> JointRoom:
    stage = limb.stages[index]
    still = union([*pieces.get(stage.parent, []), case_solid(stage.case)])
    turning = union([*pieces[stage.body], *_carried(limb, index)])
    low = _free(stage, still, turning, stage.limits[0])
    high = _free(stage, still, turning, stage.limits[1])
    return JointRoom(stage.joint, (low, high), stage.limits)


def _carried(limb: PlacedLimb, index: int) -> list[Solid]:
    """The servo, motors and wheels that a link carries, in its frame."""
    stage = limb.stages[index]
    found = [case_solid(limb.stages[index + 1].case)] if index + 1 < len(limb.stages) else []
    for tip in limb.tips:
        if tip.parent == stage.body and tip.model.kind in ("passive", "active"):
            found.append(wheel_solid(tip, MM * tip.center))
            found += [case_solid(tip.case)] if tip.case is not None else []
    return found


def _free(stage: PlacedStage, still: Solid, turning: Solid, limit: float) -> float:
    """The last angle on the way from rest to a limit that is free of collisions; rest itself where none is."""
    last = stage.rest
    for angle in stage.rest + (limit - stage.rest) * np.arange(0, STEPS + 1) / STEPS:
        placed = moved(turning, axis_angle(stage.axis, angle), MM * stage.position)
        if overlap(still, placed) > _TOUCH:
            return float(last)
        last = float(angle)
    return float(last)
