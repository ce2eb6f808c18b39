"""Whether the finished robot stands at home with nothing in its way: printed pieces, servos, motors and wheels of all bodies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bunraku.arrays import Array
from bunraku.building.printing import payload
from bunraku.fabrication.forks import wheel_solid
from bunraku.fabrication.kit import PartsKit
from bunraku.fabrication.mounts import case_solid
from bunraku.fabrication.shaping import MM, Solid, box, moved, overlap
from bunraku.geometry.rotations import axis_angle

_TOUCH = 1.0


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
    found = [PlacedThing(piece.kind, piece.body, "printed", moved(piece.solid, *poses[piece.body])) for piece in kit.pieces]
    for carried in kit.robot.chassis.carries:
        thing = payload(carried.model)
        place = MM * (np.array(kit.robot.chassis.center) + np.array(carried.place))
        found.append(PlacedThing(thing.name, "body", "payload", box(place, MM * np.array(thing.size))))
    for limb in kit.limbs:
        for stage in limb.stages:
            servo = moved(case_solid(stage.case), *poses[stage.parent])
            found.append(PlacedThing(f"servo of {stage.joint}", stage.parent, "servo", servo))
        for tip in limb.tips:
            if tip.case is not None:
                motor = moved(case_solid(tip.case), *poses[tip.parent])
                found.append(PlacedThing(f"motor of {tip.axle}", tip.parent, "servo", motor))
            elif tip.model.kind == "passive":
                wheel = moved(wheel_solid(tip, np.zeros(3)), *poses[tip.name])
                found.append(PlacedThing(f"wheel {tip.name}", tip.name, "wheel", wheel))
    return found


def collisions(kit: PartsKit) -> list[tuple[str, str, float]]:
    """Pairs of things that share more than 1 mm³ at home, and how much [mm³]."""
    things = [thing for thing in assembled(kit) if thing.name != "axle spacer"]
    found = []
    for one, other in combinations(things, 2):
        if one.role == other.role == "payload":
            continue  # they are packed, not built
        volume = overlap(one.solid, other.solid)
        if volume > _TOUCH:
            found.append((_name(one), _name(other), volume))
    return found


def _name(thing: PlacedThing) -> str:
    return thing.name if thing.role != "printed" else f"{thing.name} of {thing.body}"
