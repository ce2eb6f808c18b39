"""The printed links of a robot: one part for every joint, from the horn that turns it to all that it carries.

Ends that do not roll are drawn here too: ball feet on a screw, discs printed with the limb, and plates for a head.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import Case, PlacedLimb, PlacedStage, PlacedTip
from bunraku.building.servos import rectangle
from bunraku.fabrication.arms import connect
from bunraku.fabrication.draft import PLATE, Draft, Hole, holes_of
from bunraku.fabrication.forks import AxleSeat, fork, wheel_solid
from bunraku.fabrication.mounts import Horn, case_solid, flange_of, horn_of, idler_of, screw_on
from bunraku.fabrication.shaping import MM, box, cylinder, hull


@dataclass
class PrintedLink:
    """A printed part of a body: the draft, the axles in it, and what it is, for names and notes, and where on the body."""

    body: str
    kind: str
    draft: Draft
    axles: list[AxleSeat] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    where: str = ""


def link_of(limb: PlacedLimb, index: int) -> PrintedLink:
    """The part that the servo of stage ``index`` turns, in that body's frame [mm]."""
    stage = limb.stages[index]
    case = stage.case.moved(-stage.position)
    link = PrintedLink(stage.body, f"{stage.joint.split('.', 1)[1]} link", Draft(stage.body))
    horns = _horns(limb, case, stage.joint)
    link.joins = [horn.group for horn in horns]
    tips = [tip for tip in limb.tips if tip.parent == stage.body]
    last = index + 1 == len(limb.stages)
    if not last:
        _next_servo(link, horns, limb.stages[index + 1])
    _tips(link, horns, tips)
    if last and limb.limb.end_mass > 0.0:
        place = MM * np.array(limb.limb.end_offset) * np.array([1.0, limb.side, 1.0])
        end_plate(link.draft, horns[0], place, MM * np.array(limb.limb.end_size), f"end of {limb.name}")
        link.joins.append(f"end of {limb.name}")
    for horn in horns:
        link.draft.add.append(horn.disc())
        link.draft.drill(horn.holes())
        link.draft.cut.append(horn.middle_hole())
    link.draft.cases.append((f"servo of {stage.joint}", case_solid(case)))
    return link


def _horns(limb: PlacedLimb, case: Case, joint: str) -> list[Horn]:
    """Where a link is held: at the horn; in the middle plane, with an axis across it, at the idler too."""
    horns = [horn_of(case, joint)]
    if not limb.limb.mirror and abs(case.axes[1, 2]) > 0.5 and abs(case.horn[1]) > 1e-9:
        horns.append(idler_of(case, joint))
    return horns


def _next_servo(link: PrintedLink, horns: list[Horn], stage: PlacedStage) -> None:
    flange = flange_of(stage.case, stage.joint)
    for horn in horns:
        connect(link.draft, horn, flange)
    screw_on(link.draft, flange)
    link.joins.append(flange.group)


def _tips(link: PrintedLink, horns: list[Horn], tips: list[PlacedTip]) -> None:
    horn = horns[0]
    rolling = [tip for tip in tips if tip.model.kind == "passive"]
    if rolling:
        link.axles += fork(link.draft, horn.center, horn.axis, rolling, horn)
        link.joins += [f"axle of {tip.name}" for tip in rolling]
    for tip in tips:
        if tip.case is not None:
            flange = flange_of(tip.case, tip.axle)
            connect(link.draft, horn, flange)
            screw_on(link.draft, flange)
            link.draft.cut.append(wheel_solid(tip, MM * tip.center, 1.5))
            link.draft.cases.append((f"wheel {tip.name}", wheel_solid(tip, MM * tip.center)))
            link.joins.append(flange.group)
        elif tip.model.kind == "ball":
            for each in horns:
                ball_foot(link.draft, each, tip)
            link.joins.append(f"foot {tip.name}")
        elif tip.model.kind == "welded":
            printed_disc(link.draft, horn, tip)


_PAD = 4.0
_SCREW = "M4"


def ball_foot(draft: Draft, horn: Horn, tip: PlacedTip) -> None:
    """An arm in the plane of the horn, and at its end a pad to which the ball is screwed from above."""
    s = horn.axis
    center = MM * tip.center
    way = center - horn.center
    way = way - s * float(way @ s)
    w = way / np.linalg.norm(way)
    m = np.cross(s, w)
    radius = MM * tip.radius
    pad = center - w * (radius - 1.0)
    axes = np.stack([s, w, m], axis=1)
    half = min(8.0, radius - 3.0)
    middle = float(horn.center @ s) + PLATE / 2.0
    flat = pad - w * 7.0 + s * (middle - float(pad @ s))
    block = box(flat, (PLATE, 14.0, 2.0 * half), axes)
    rest = cylinder(pad - w * _PAD, pad, half)
    draft.add += [hull([horn.disc(), block]), hull([rest, box(flat + w * 5.0, (PLATE, 4.0, 2.0 * half), axes)])]
    if any(hole.group == f"foot {tip.name}" for hole in draft.holes):
        return  # the arm of the idler leads to the same pad
    draft.drill([Hole(pad, -w, 4.4, _PAD - 1.4, _SCREW, f"foot {tip.name}")], thickness=14.0)
    ball = cylinder(center - w * (radius - 1.0), center + w * radius, 0.6 * radius)
    draft.cases.append((f"foot {tip.name}", ball))


def printed_disc(draft: Draft, horn: Horn, tip: PlacedTip) -> None:
    """A disc printed with the limb."""
    half = MM * tip.model.width / 2.0
    disc = cylinder(MM * tip.center - half * tip.axis, MM * tip.center + half * tip.axis, MM * tip.radius)
    draft.add += [disc, hull([horn.disc(), cylinder(MM * tip.center - half * tip.axis, MM * tip.center + half * tip.axis, 8.0)])]


def end_plate(draft: Draft, horn: Horn, center: Array, size: Array, group: str) -> None:
    """A post to a plate with four screws M3, on the side of a box (``center``, full lengths ``size`` [mm]) that faces the horn."""
    s = horn.axis
    near = center - s * float(np.abs(s) @ size) / 2.0
    axes = np.stack([horn.u, horn.v, s], axis=1)
    lengths = np.abs(axes.T) @ size
    plate = np.array([min(lengths[0], 50.0), min(lengths[1], 50.0), PLATE])
    draft.add += [box(near - s * PLATE / 2.0, plate, axes)]
    draft.add += [hull([horn.disc(), cylinder(near - s * PLATE, near - s, horn.radius)])]
    pattern = rectangle((plate[0] - 10.0) / MM, (plate[1] - 10.0) / MM, 0.0034, "M3", "ours")
    draft.drill(holes_of(pattern, near, horn.u, horn.v, -s, group), thickness=20.0)
