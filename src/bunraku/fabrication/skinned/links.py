"""The printed link of a body: at each hinge a yoke on the servo's horn and idler, or a seat for the servo, and beams between.

What a link must keep clear of, servos and links it turns about, is cut away in all positions of the hinge, so that it turns freely.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.draft import PLATE, Draft, Hole
from bunraku.fabrication.mounts import Horn
from bunraku.fabrication.shaping import MM, Solid, box, cylinder, hull, middle_of, moved, overlap, triangles, union
from bunraku.fabrication.skinned.servos import BEAM, PlacedServo, servo_seat
from bunraku.fabrication.skinned.shell import offset
from bunraku.geometry.rotations import axis_angle

LINK_WIDTH = BEAM
"""Width [mm] of a beam."""
YOKE_WIDTH = 22.0
"""Width [mm] of a yoke's bridge."""
PLAY = 1.0
"""Least gap [mm] between a link and the servo it turns about."""
FOOT_SCREWS = (15.5, 6.0)
"""Where [mm] the screws of a foot's plate are, from its middle."""
_BRIDGE = 4.0
_UP = np.array([0.0, 0.0, 1.0])


@dataclass
class SkeletonLink:
    """A link while it is drawn: its body and draft, the ``blocks`` at its ends, ``kept_free`` what turns beside it."""

    body: str
    draft: Draft
    seats: tuple[PlacedServo, ...]
    yokes: tuple[PlacedServo, ...]
    blocks: list[Solid]
    kept_free: list[Solid] = field(default_factory=list)

    def outline(self) -> Solid:
        """What it takes in space, its holes and cuts not counted."""
        return union(self.draft.add)

    @property
    def beam(self) -> tuple[Array, Array]:
        """Two ends (3,) [mm] of the middle line of its longest beam."""
        middles = [middle_of(block) for block in self.blocks]
        far = max(range(len(middles)), key=lambda k: float(np.linalg.norm(middles[k] - middles[0])))
        return middles[0], middles[far]


def draw_link(
    body: str,
    seats: tuple[PlacedServo, ...],
    yokes: tuple[PlacedServo, ...],
    toward: Array,
    past: Solid | None = None,
    *,
    width: float = LINK_WIDTH,
) -> SkeletonLink:
    """The link of a body that carries the servos ``seats`` and holds the horns of ``yokes``; ``toward`` (3,) [mm] is its middle.

    ``past`` is what it must turn past, in all positions. ``width`` [mm] is that of its beams. Holes come from the servos alone: no
    edit of lengths and widths changes them.
    """
    draft = Draft(body)
    link = SkeletonLink(body, draft, seats, yokes, [])
    for servo in yokes:
        others = [each.hinge.place for each in (*seats, *yokes) if each is not servo]
        far_end = np.mean(others, axis=0) if others else toward
        out = servo.case.axes[:, 2]
        w = far_end - servo.hinge.place
        w = w - out * float(w @ out)
        if np.linalg.norm(w) < 1e-6:
            w = -servo.case.axes[:, 1]
        link.blocks.append(_yoke(draft, servo, w / np.linalg.norm(w), width))
    link.blocks += [servo_seat(draft, servo) for servo in seats]
    draft.add += [hull([link.blocks[0], block]) for block in link.blocks[1:]]
    for servo in yokes:
        link.kept_free.append(turning_room(servo))
        draft.cases.append((f"servo of {servo.hinge.name}", servo.body()))
    if past is not None:
        link.kept_free.append(past)
    draft.cut += link.kept_free + [_horn_room(servo) for servo in seats]
    return link


def draw_foot(
    body: str, servo: PlacedServo, held: bool, sole: Array, floor: float, past: Solid | None
) -> tuple[SkeletonLink, list[Hole]]:
    """The link of a foot: a yoke (or a seat where it carries the servo: ``held``) and a plate on the cup that braces the foot.

    The cup's top is at the height ``floor`` [mm]. Returns the link with the pilot holes that the cup gets. The plate lies level at
    home, over the middle ``sole`` (3,) of the sole.
    """
    link = draw_link(body, (servo,) if held else (), () if held else (servo,), sole, past)
    out = servo.case.axes[:, 2] - _UP * float(servo.case.axes[2, 2])
    out = out / np.linalg.norm(out) if np.linalg.norm(out) > 1e-6 else np.array([1.0, 0.0, 0.0])
    across = np.cross(_UP, out)
    axes = np.stack([across, out, _UP], axis=1)
    center = np.array([sole[0], sole[1], floor])
    plate = box(center + _UP * PLATE / 2.0, (2.0 * FOOT_SCREWS[0] + 8.0, 2.0 * FOOT_SCREWS[1] + 8.0, PLATE), axes)
    rest = box(center + _UP * PLATE / 2.0, (LINK_WIDTH, 16.0, PLATE), axes)
    top = link.blocks[0]
    link.draft.add += [plate, hull([top ^ box(middle_of(top), (60.0, 60.0, 60.0)), rest])]
    link.blocks.append(rest)
    pilots = []
    for a in (FOOT_SCREWS[0], -FOOT_SCREWS[0]):
        for b in (FOOT_SCREWS[1], -FOOT_SCREWS[1]):
            place = center + a * across + b * out
            link.draft.drill([Hole(place, _UP, 3.4, PLATE, "M3", "foot", length=10)], thickness=80.0)
            pilots.append(Hole(place, -_UP, 2.5, 6.0, "M3", "foot", pilot=True))
    return link, pilots


def clearance(servo: PlacedServo) -> float:
    """How far [mm] from its axis the end of a servo and of its seat reaches, on the side away from its lean; with play."""
    size = MM * np.array(servo.case.servo.size)
    front, side = size[1] / 2.0, size[0] / 2.0
    if servo.ears:
        spacing = servo.case.servo.flange.spacing or (0.0, 0.0)
        front = MM * (spacing[0] + servo.case.servo.flange.hole_diameter) / 2.0 + 3.0
        side += 3.6
    return float(np.hypot(front - MM * servo.case.servo.shaft_offset, side)) + PLAY


def turning_room(servo: PlacedServo) -> Solid:
    """What a link that holds on to a servo's horns must leave free: all that the servo takes when it is turned about its axis."""
    size = MM * np.array(servo.case.servo.size)
    out, shaft = servo.case.axes[:, 2], MM * servo.case.servo.shaft_offset
    middle = MM * (servo.case.center - servo.case.axes[:, 1] * servo.case.servo.shaft_offset)
    deep = (size[2] / 2.0 + PLAY) * out
    near = cylinder(middle - deep, middle + deep, float(np.hypot(size[1] / 2.0 - shaft, size[0] / 2.0)) + PLAY)
    if not servo.ears:
        return near
    level = float((servo.ear_level() - middle) @ out)
    below, over = middle + (level - 13.0) * out, middle + (level + 2.5 + 4.0) * out
    return near + cylinder(below, over, clearance(servo) - 0.2)


def swept(fixed: Solid, servo: PlacedServo, steps: int = 7, grow: float = 0.0, sign: float = 1.0, share: float = 1.0) -> Solid:
    """What stands still at a hinge, as the link that turns sees it over the whole range; near the hinge, ``grow`` [mm] larger.

    With ``sign`` -1 it is the other way round: what turns, as it is seen by what stands still. ``share``: of the range.
    """
    hinge = servo.hinge
    near = fixed ^ cylinder(hinge.place - 80.0 * hinge.axis, hinge.place + 80.0 * hinge.axis, clearance(servo) + 45.0)
    if grow > 0.0 and not near.is_empty():
        near = offset(near, grow)
    poses = []
    for angle in np.linspace(*hinge.reach, steps):
        R = axis_angle(hinge.axis, -sign * share * float(angle))
        poses.append(moved(near, R, hinge.place - R @ hinge.place))
    return union(poses)


def passing_room(servo: PlacedServo, toward: Array) -> Solid:
    """What the link at a servo's horns takes about its axis as it turns, roughly: its yoke and the beam ``toward`` (3,) [mm]."""
    hinge, out = servo.hinge, servo.case.axes[:, 2]
    half = MM * (servo.case.servo.size[2] / 2.0 + servo.case.servo.horn_height) + PLATE + PLAY
    middle = MM * (servo.case.center - servo.case.axes[:, 1] * servo.case.servo.shaft_offset)
    w = toward - hinge.place
    w = w - out * float(w @ out)
    w = w / max(float(np.linalg.norm(w)), 1e-9)
    axes = np.stack([np.cross(out, w), out, w], axis=1)
    beam = box(middle + 35.0 * w, (YOKE_WIDTH + 2.0 * PLAY, 2.0 * half, 70.0), axes)
    return swept(beam, servo, 9, 0.0, -1.0)


def _yoke(draft: Draft, servo: PlacedServo, w: Array, width: float) -> Solid:
    """Discs on horn and idler, arms past the servo's end, the bridge between them; returned is what of it a beam begins at."""
    horns = servo.horns
    out = servo.case.axes[:, 2]
    axes = np.stack([np.cross(out, w), out, w], axis=1)
    half = MM * (servo.case.servo.size[2] / 2.0 + servo.case.servo.horn_height)
    middle = MM * servo.case.horn - half * out
    high = 1.24 * half if servo.ears else 2.0 * (half + PLATE)
    center = middle + (clearance(servo) + _BRIDGE / 2.0) * w
    broad = max(width, YOKE_WIDTH)
    bridge = box(center, (width, high, _BRIDGE), axes)
    draft.add.append(box(center, (broad, high, _BRIDGE), axes))
    for horn in horns:
        edge = box(center + horn.axis * (high / 2.0 - PLATE / 2.0), (broad, PLATE, _BRIDGE), axes)
        draft.add.append(hull([horn.disc(), edge]))
        draft.drill(horn.holes())
        draft.cut.append(horn.middle_hole())
    return bridge


def _horn_room(servo: PlacedServo) -> Solid:
    """Room for the horn and idler discs of the next link: all round, as that link turns."""

    def room(horn: Horn) -> Solid:
        return cylinder(horn.center - horn.axis * 3.0, horn.center + (PLATE + 2.0) * horn.axis, horn.radius + PLAY)

    return union([room(horn) for horn in servo.horns])


def lighten_beam(link: SkeletonLink, solid: Solid, avoid: list[Solid]) -> list[Solid]:
    """Round holes through the beams, from two sides, where nothing is in the way and the link stays whole.

    A hole is as wide as leaves a fifth of the beam on both of its sides.
    """
    pockets: list[Solid] = []
    out = (*link.seats, *link.yokes)[0].case.axes[:, 2]
    for block in link.blocks[1:]:
        start, end = middle_of(link.blocks[0]), middle_of(block)
        length = float(np.linalg.norm(end - start))
        way = (end - start) / max(length, 1e-9)
        across = np.cross(out, way)
        if np.linalg.norm(across) < 1e-3:
            continue
        across /= np.linalg.norm(across)
        other = np.cross(way, across)
        for d, e in ((across, other), (other, across)):
            radius = float(np.clip(0.3 * min(_width(link.blocks[0], e), _width(block, e)), 3.5, 9.0))
            for s in np.arange(radius + 3.0, length - radius - 2.0, 2.0 * radius + 3.5):
                place = start + way * s
                hole, wide = (cylinder(place - 40.0 * d, place + 40.0 * d, r) for r in (radius, radius + 2.0))
                if all(overlap(wide, each) < 1.0 for each in avoid):
                    lighter = solid - hole
                    if len(lighter.decompose()) == 1:
                        solid = lighter
                        pockets.append(hole)
    return pockets


def _width(block: Solid, direction: Array) -> float:
    """Length [mm] of a block along a direction."""
    along = triangles(block)[0] @ direction
    return float(along.max() - along.min())
