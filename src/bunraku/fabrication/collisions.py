"""Whether the finished robot stands at home with nothing in its way, and whether its links can turn as far as their joints may."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedLimb, PlacedStage
from bunraku.building.tips import payload
from bunraku.fabrication.forks import wheel_solid
from bunraku.fabrication.kit import PartsKit
from bunraku.fabrication.mounts import case_solid
from bunraku.fabrication.shaping import MM, Solid, box, moved, overlap, union
from bunraku.geometry.rotations import axis_angle

_TOUCH = 1.0
"""Shared volume [mm³] below which parts touch and no more."""


@dataclass(frozen=True)
class PlacedThing:
    """A thing of the finished robot at home: what it is, its body, its solid in the chassis's frame [mm]."""

    name: str
    body: str
    role: str
    solid: Solid


def body_poses(kit: PartsKit) -> dict[str, tuple[Array, Array]]:
    """Rotation and place [mm] of every body in the frame of the chassis, joints at rest, wheels unturned."""
    poses = {"body": (np.eye(3), np.zeros(3))}
    for limb in kit.limbs:
        for stage in limb.stages:
            R, p = poses[stage.parent]
            poses[stage.body] = (R @ axis_angle(stage.axis, stage.rest), p + R @ (MM * stage.position))
        for tip in limb.tips:
            R, p = poses[tip.parent]
            poses[tip.name] = (R, p + R @ (MM * tip.center))
    return poses


def assembled(kit: PartsKit) -> list[PlacedThing]:
    """Everything of the robot, at home."""
    poses = body_poses(kit)
    things = [PlacedThing(piece.kind, piece.body, "printed", moved(piece.solid, *poses[piece.body])) for piece in kit.pieces]
    for carried in kit.robot.chassis.carries:
        thing = payload(carried.model)
        place = MM * (np.array(kit.robot.chassis.center) + np.array(carried.place))
        things.append(PlacedThing(thing.name, "body", "payload", box(place, MM * np.array(thing.size))))
    for limb in kit.limbs:
        for stage in limb.stages:
            servo = moved(case_solid(stage.case), *poses[stage.parent])
            things.append(PlacedThing(f"servo of {stage.joint}", stage.parent, "servo", servo))
        for tip in limb.tips:
            if tip.case is not None:
                motor = moved(case_solid(tip.case), *poses[tip.parent])
                things.append(PlacedThing(f"motor of {tip.axle}", tip.parent, "servo", motor))
            elif tip.model.kind == "passive":
                wheel = moved(wheel_solid(tip, np.zeros(3)), *poses[tip.name])
                things.append(PlacedThing(f"wheel {tip.name}", tip.name, "wheel", wheel))
    return things


def collisions(kit: PartsKit) -> list[tuple[str, str, float]]:
    """Pairs of things that share more than 1 mm³ at home, and how much [mm³]."""
    things = [thing for thing in assembled(kit) if thing.name != "axle spacer"]
    pairs = [pair for pair in combinations(things, 2) if not pair[0].role == pair[1].role == "payload"]  # packed, not built
    shared = [(_name(one), _name(other), overlap(one.solid, other.solid)) for one, other in pairs]
    return [clash for clash in shared if clash[2] > _TOUCH]


def _name(thing: PlacedThing) -> str:
    return thing.name if thing.role != "printed" else f"{thing.name} of {thing.body}"


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
    return [_room(limb, k, pieces) for limb in kit.limbs if limb.side > 0.0 for k in range(len(limb.stages))]


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
    solids = [case_solid(limb.stages[index + 1].case)] if index + 1 < len(limb.stages) else []
    for tip in limb.tips:
        if tip.parent == stage.body and tip.spins:
            solids.append(wheel_solid(tip, MM * tip.center))
            solids += [case_solid(tip.case)] if tip.case is not None else []
    return solids


def _free(stage: PlacedStage, still: Solid, turning: Solid, limit: float) -> float:
    """The last angle on the way from rest to a limit that is free of collisions; rest itself where none is."""
    last = stage.rest
    for angle in stage.rest + (limit - stage.rest) * np.arange(0, STEPS + 1) / STEPS:
        placed = moved(turning, axis_angle(stage.axis, angle), MM * stage.position)
        if overlap(still, placed) > _TOUCH:
            return float(last)
        last = float(angle)
    return float(last)
