"""The printed links of a robot: one part for every joint, from the horn that turns it to all that it carries.

The way from a horn to the flange of the next servo goes round what is between, as plates that meet at right angles. With s the axis
of the horn and n the normal of the flange there are three ways. Where they are perpendicular, a flat arm leaves the horn in its own
plane and meets the flange's plate in an elbow. Where they are opposed and the flange is in front of the horn, one plate serves
both. Otherwise the case itself is between, and the arm runs along both sides of it.

Ends that do not roll are drawn here too: ball feet on a screw, discs printed with the limb, and plates for a head.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import Case, PlacedLimb, PlacedStage, PlacedTip
from bunraku.building.servos import rectangle
from bunraku.fabrication.draft import CLEARANCE, LEAST_WALL, PLATE, Draft, Hole, holes_of
from bunraku.fabrication.forks import AxleSeat, fork, wheel_solid
from bunraku.fabrication.mounts import Flange, Horn, case_solid, flange_of, horn_of, idler_of, screw_on
from bunraku.fabrication.shaping import MM, Solid, box, cylinder, hull

GUSSET = 9.0
_ROOM = 16.0
_SHOULDER = 3.5


def connect(draft: Draft, horn: Horn, flange: Flange) -> None:
    """Add what joins a horn to a flange, plate and cheeks included."""
    s, n = horn.axis, flange.normal
    ahead = float((flange.center - horn.center) @ s)
    if abs(float(s @ n)) < 0.3:
        _elbow(draft, horn, flange)
    elif float(s @ n) < 0.0 and ahead > 2.0:
        draft.add += [hull([horn.disc(ahead), flange.plate(ahead)]), *flange.cheeks()]
    else:
        _sleeve(draft, horn, flange)


def _block(axes: Array, ranges: list[tuple[float, float]]) -> Solid:
    """A box given by its ranges along the columns of ``axes``."""
    low, high = (np.array(part) for part in zip(*ranges, strict=True))
    return box(axes @ ((low + high) / 2.0), high - low, axes)


def _elbow(draft: Draft, horn: Horn, flange: Flange) -> None:
    s = horn.axis
    n = flange.normal - s * float(flange.normal @ s)
    n = n / np.linalg.norm(n)
    m = np.cross(s, n)
    axes = np.stack([s, n, m], axis=1)
    along_s = (float(horn.center @ s), float(horn.center @ s) + PLATE)
    along_n = (float(flange.center @ n), float(flange.center @ n) + PLATE)
    middle, half = float(flange.center @ m), flange.half(m)
    along_m = (middle - half, middle + half)
    size = MM * np.abs(flange.case.axes.T @ axes).T @ np.array(flange.case.servo.size)
    center = MM * axes.T @ flange.case.center
    within = center[0] - size[0] / 2.0 < along_s[1] and along_s[0] < center[0] + size[0] / 2.0
    start = float(horn.center @ m)
    if within and abs(start - center[2]) > size[2] / 2.0:  # the arm's plane cuts the case: come from beside it
        edge = center[2] + np.sign(start - center[2]) * (size[2] / 2.0)
        reach = edge + np.sign(start - edge) * min(_ROOM, abs(start - edge))
        along_m = (min(along_m[0], reach), max(along_m[1], reach))
        _shoulder(draft, axes, (along_s, along_n, (edge, reach)), flange)
    elbow = _block(axes, [along_s, along_n, along_m])
    draft.add += [hull([horn.disc(), elbow]), flange.plate(), *flange.cheeks()]
    behind, front = float(flange.center @ s) - flange.half(s), float(flange.center @ s) + flange.half(s)
    if front < along_s[1] or behind > along_s[0]:
        draft.add.append(hull([flange.plate(), _block(axes, [along_s, along_n, (middle - half, middle + half)])]))
        _ribs(draft, axes, (along_s, along_n, (middle - half, middle + half)), (behind, front))
    _gusset(draft, horn, axes, (along_s, along_n, (middle - half, middle + half)), behind, front)


def _shoulder(draft: Draft, axes: Array, ranges: tuple[tuple[float, float], ...], flange: Flange) -> None:
    """A web in the plane of the flange's plate, from its whole edge to the strip where the arm comes down beside the case."""
    along_s, along_n, (edge, reach) = ranges
    inner = edge - np.sign(reach - edge) * PLATE
    across_s = float(flange.center @ axes[:, 0])
    half = flange.half(axes[:, 0])
    strip = _block(axes, [along_s, along_n, (min(edge, reach), max(edge, reach))])
    rim = _block(axes, [(across_s - half, across_s + half), along_n, (min(edge, inner), max(edge, inner))])
    draft.add.append(hull([strip, rim]))


def _gusset(draft: Draft, horn: Horn, axes: Array, ranges: tuple[tuple[float, float], ...], behind: float, front: float) -> None:
    """Wedges in the corner of the elbow, at its edges, where the horn's own servo leaves room as it turns."""
    along_s, along_n, along_m = ranges
    case = horn.case.servo
    sweep = MM * float(np.hypot(case.size[1] / 2.0 + case.shaft_offset, case.size[0] / 2.0)) + 2.0 + PLATE
    room = abs(along_n[1] - float(horn.center @ axes[:, 1])) - sweep
    height = min(GUSSET, room)
    inward = along_s[0] - behind > front - along_s[1]
    if height < 2.0:
        return
    edge = along_s[0] if inward else along_s[1]
    near = (edge, edge + 1.0) if inward else (edge - 1.0, edge)
    far = (edge - height, edge + 1.0) if inward else (edge - 1.0, edge + height)
    for part in ((along_m[0], along_m[0] + 4.0), (along_m[1] - 4.0, along_m[1])):
        wall = _block(axes, [near, (along_n[0], along_n[1] + height), part])
        draft.add.append(hull([wall, _block(axes, [far, along_n, part])]))


def _ribs(draft: Draft, axes: Array, ranges: tuple[tuple[float, float], ...], plate: tuple[float, float]) -> None:
    """Ribs under a long bridge between arm and plate, at its edges, away from the servo above."""
    along_s, along_n, along_m = ranges
    free = (plate[1], along_s[1]) if plate[1] < along_s[1] else (along_s[0], plate[0])
    if free[1] - free[0] < 12.0:
        return
    for low in (along_m[0], along_m[1] - 3.0):
        draft.add.append(_block(axes, [(free[0] - 0.5, free[1]), (along_n[0] - 5.0, along_n[1]), (low, low + 3.0)]))


def _sleeve(draft: Draft, horn: Horn, flange: Flange) -> None:
    """Cheeks along the whole case to its flange plate, held at the horn's plane by shoulders."""
    s = horn.axis
    ahead = float((flange.center - horn.center) @ s)
    length = abs(ahead) + PLATE
    u, v = flange.u, flange.v
    draft.add += [flange.plate(), *flange.cheeks(length)]
    axes = np.stack([s, u, v], axis=1)
    start, servo = float(horn.center @ s), flange.case.servo
    front = ahead + start + MM * servo.size[1] * (-1.0 if float(flange.normal @ s) > 0.0 else 1.0)
    stop = start + 2.0 * PLATE
    along = (start, front + CLEARANCE if start < front + CLEARANCE < stop + LEAST_WALL else stop)  # no thin wall before the case
    u_mid, v_mid = float(flange.center @ u), float(flange.center @ v)
    half = flange.half_u + _SHOULDER
    shoulder = _block(axes, [along, (u_mid - half, u_mid + half), (v_mid - flange.half_v, v_mid + flange.half_v)])
    draft.add.append(hull([horn.disc(), shoulder]))


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
