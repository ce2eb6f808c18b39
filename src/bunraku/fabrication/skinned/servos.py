"""Where the servos of a character are, and the printed seat that holds each: a frame under its ears, or a plate on its end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.building.character_geometry import home_frames
from bunraku.building.placement import Case
from bunraku.building.servos import SERVOS, HolePattern
from bunraku.building.shapes import DARK
from bunraku.character import Shape
from bunraku.errors import BadInput
from bunraku.fabrication.draft import CLEARANCE, PLATE, Draft, Hole, holes_of
from bunraku.fabrication.mounts import Horn, flange_of, horn_of, idler_of, screw_on
from bunraku.fabrication.shaping import MM, Solid, box, cylinder
from bunraku.fabrication.skinned.layout import DrivenHinge, Layout
from bunraku.geometry.rotations import matrix_of_quaternion

EAR_DEPTH = 9.5
"""From the front of a standard servo to the underside of its ears [mm]; ours: measure the servo in hand before printing."""
EAR_THICKNESS = 2.5
RIM = 2.0
"""Material [mm] outside the holes of a horn's plate: as little as holds, for the skin is close."""
MISSING = 0.01
"""The share of a horn's plate that may lie in the skin and is cut off; more, and that side of the servo is not used."""
RAIL = 3.4
"""Width [mm] of the frame beside the case."""
_SLIDES = tuple(side * by for by in (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0) for side in (-1.0, 1.0))
BEAM = 17.0
"""Width [mm] of the beam that leads away from the seat of a servo with ears."""
CHEEK_EDGE = 2.4
"""Material [mm] outside the holes of a cheek."""
BACK = 4.0
"""Thickness [mm] of the wall behind the case, to which the rest of the link leads."""


@dataclass(frozen=True)
class PlacedServo:
    """A servo in its place, world frame of the home pose: its ``hinge`` and its ``case`` [m], fixed to the body ``carrier``.

    ``both``: whether there is room for an idler opposite to the horn, so that what it turns is held at both ends of the shaft.
    """

    hinge: DrivenHinge
    case: Case
    carrier: str
    both: bool = True

    @property
    def horns(self) -> list[Horn]:
        """Where the link that it turns holds on to it: horn, and idler if there is room."""
        pattern = self.case.servo.horn
        radius = MM * (pattern.radius + pattern.hole_diameter / 2.0) + RIM
        horns = [horn_of(self.case, self.hinge.name), idler_of(self.case, self.hinge.name)]
        return [replace(horn, radius=radius) for horn in (horns if self.both else horns[:1])]

    @property
    def ears(self) -> bool:
        """Whether it is held by ears that stand out at both ends of its long side."""
        spacing = self.case.servo.flange.spacing
        return spacing is not None and spacing[0] > self.case.servo.size[1]

    def body(self, grow: float = 0.0) -> Solid:
        """Its case, ears and horns [mm], ``grow`` larger all round."""
        size = MM * np.array(self.case.servo.size) + 2.0 * grow
        whole = box(MM * self.case.center, size, self.case.axes)
        if not self.ears:
            return whole
        spacing = self.case.servo.flange.spacing or (0.0, 0.0)
        ears = np.array([size[0], MM * spacing[0] + 5.0 + 2.0 * grow, EAR_THICKNESS + 2.0 * grow])
        return whole + box(self.ear_level() + self.case.axes[:, 2] * EAR_THICKNESS / 2.0, ears, self.case.axes)

    def ear_level(self) -> Array:
        """The middle of the plane under the ears."""
        up = MM * self.case.servo.size[2] / 2.0 - EAR_DEPTH
        return MM * self.case.center + self.case.axes[:, 2] * up


def place_servos(layout: Layout, room: Solid | None = None) -> dict[str, PlacedServo]:
    """The servo of every hinge: from the dark boxes of the hinge's bodies, which show its case, or else where it fits a limb.

    Without such a box the case leans back from the hinge into its parent, the middle of its depth on the hinge. Where the ``room``
    [mm] inside the skin has none for the idler, or for the horn, only one side is used, and that is the horn's.
    """
    frames = home_frames(layout.character)
    shapes = {body.name: body.shapes for body in layout.character.bodies}
    servos = {}
    for hinge in layout.hinges:
        if hinge.model not in SERVOS:
            raise BadInput(
                f"the motor of {hinge.name!r} is a {hinge.model or 'model without a name'!r}, whose screws nobody knows; "
                f"the component library holds {', '.join(SERVOS)}"
            )
        known = [
            PlacedServo(hinge, case, body)
            for body in (hinge.parent, hinge.child)
            for case in (_seen(hinge, shape, *frames[body]) for shape in shapes[body])
            if case is not None
        ]
        known.sort(key=lambda each, hinge=hinge: float(np.linalg.norm(MM * each.case.center - hinge.place)))  # type: ignore[misc]
        servo = known[0] if known else PlacedServo(hinge, _leaning(hinge, frames[hinge.parent][1]), hinge.parent)
        servos[hinge.name] = servo if room is None else _fitted(servo, room)
    return servos


def _fitted(servo: PlacedServo, room: Solid) -> PlacedServo:
    """The servo slid along its shaft to where it fits best, turned so that its horn has room; an idler where that has too."""
    servo = min((_slid(servo, by) for by in _SLIDES), key=lambda each: round(float((each.body() - room).volume()), 1))
    missing = []
    for side in servo.horns:
        disc = side.disc()
        missing.append(float((disc - room).volume()) / float(disc.volume()))
    if max(missing) < MISSING:
        return servo
    if missing[0] <= missing[1]:
        return replace(servo, both=False)
    case = servo.case
    axes = np.stack([-case.axes[:, 0], case.axes[:, 1], -case.axes[:, 2]], axis=1)
    horn = case.horn - case.axes[:, 2] * (case.servo.size[2] + 2.0 * case.servo.horn_height)
    return replace(servo, case=Case(case.servo, case.center, axes, horn, case.flange), both=False)


def _slid(servo: PlacedServo, by: float) -> PlacedServo:
    """The servo moved by ``by`` [mm] along its shaft: the hinge stays where it is."""
    return replace(servo, case=servo.case.moved(servo.case.axes[:, 2] * by / MM))


def _seen(hinge: DrivenHinge, shape: Shape, R: Array, p: Array) -> Case | None:
    """The case that a box shows, when its shaft is the hinge's axis."""
    servo = SERVOS[hinge.model]
    if shape.kind != "box" or shape.color[:3] != DARK[:3] or np.abs(2.0 * np.array(shape.size) - servo.size).max() > 1e-4:
        return None
    axes = R @ matrix_of_quaternion(shape.pose.quaternion)
    center = p + R @ np.array(shape.pose.position)
    shaft = center - servo.shaft_offset * axes[:, 1] - hinge.place / MM
    off = shaft - hinge.axis * float(shaft @ hinge.axis)
    if abs(abs(float(axes[:, 2] @ hinge.axis)) - 1.0) > 1e-4 or np.linalg.norm(off) > 5e-4:
        return None
    return _case(hinge, center, axes[:, 1])


def _leaning(hinge: DrivenHinge, parent: Array) -> Case:
    back = parent - hinge.place / MM
    back = back - hinge.axis * float(back @ hinge.axis)
    if np.linalg.norm(back) < 1e-6:
        raise BadInput(f"the servo of {hinge.name!r} has no side to lean to: its hinge goes through the middle of {hinge.parent!r}")
    lean = back / np.linalg.norm(back)
    return _case(hinge, hinge.place / MM + SERVOS[hinge.model].shaft_offset * lean, lean)


def _case(hinge: DrivenHinge, center: Array, lean: Array) -> Case:
    """A case whose horn is on the side of the hinge's place where it stands beside it, else on that of the axis."""
    servo = SERVOS[hinge.model]
    beside = float((center - hinge.place / MM) @ hinge.axis)
    out = hinge.axis * (-np.sign(beside) if abs(beside) > 0.5 * servo.size[2] else 1.0)
    axes = np.stack([np.cross(lean, out), lean, out], axis=1)
    horn = center - servo.shaft_offset * lean + (servo.size[2] / 2.0 + servo.horn_height) * out
    return Case(servo, center, axes, horn, center + lean * servo.size[1] / 2.0)


def servo_seat(draft: Draft, placed: PlacedServo, wall: float = BACK) -> Solid:
    """Add the seat of a servo to a draft: returns a block behind the case, for the rest of the link to lead to [mm].

    A servo with ears is held by them, one with holes in its sides between two cheeks, any other by its flange.
    """
    case = placed.case
    servo, axes = case.servo, case.axes
    size = MM * np.array(servo.size)
    draft.cases.append((f"servo of {placed.hinge.name}", placed.body()))
    if not placed.ears:
        if servo.sides is not None:
            return _clasp(draft, placed, servo.sides, wall)
        flange = flange_of(case, placed.hinge.name)
        plate = flange.plate()
        draft.add += [plate, *flange.cheeks()]
        screw_on(draft, flange)
        return plate
    spacing = servo.flange.spacing or (0.0, 0.0)
    width = max(size[0] + 2.0 * (RAIL + CLEARANCE), MM * (spacing[1] + servo.flange.hole_diameter) + 5.0)
    half = MM * (spacing[0] + servo.flange.hole_diameter) / 2.0 + 3.0
    level, deep = placed.ear_level(), size[2] - EAR_DEPTH
    back = box(level + axes[:, 1] * (half + wall / 2.0) - axes[:, 2] * deep / 2.0, (width, wall, deep), axes)
    frame = box(level + axes[:, 1] * wall / 2.0 - axes[:, 2] * PLATE / 2.0, (width, 2.0 * half + wall, PLATE), axes)
    draft.add += [frame, back]
    back = box(level + axes[:, 1] * (half + wall / 2.0) - axes[:, 2] * deep / 2.0, (min(width, BEAM), wall, deep), axes)
    for side in (1.0, -1.0):  # rails down both sides of the case stiffen the frame
        middle = level + axes[:, 1] * wall / 2.0 + side * axes[:, 0] * (width - 2.0) / 2.0 - axes[:, 2] * 6.0
        draft.add.append(box(middle, (2.0, 2.0 * half + wall, 12.0), axes))
    draft.cut.append(box(MM * case.center, size + 2.0 * CLEARANCE, axes))
    for a, b in servo.flange.places():
        place = level + MM * (a * axes[:, 1] + b * axes[:, 0])
        group = f"ears of {placed.hinge.name}"
        draft.drill([Hole(place, -axes[:, 2], MM * servo.flange.hole_diameter, PLATE, None, group, servo.flange)])
        draft.cut.append(
            cylinder(place - PLATE * axes[:, 2], place - (PLATE + 10.0) * axes[:, 2], 1.05 * MM * servo.flange.hole_diameter)
        )
    return back


def _clasp(draft: Draft, placed: PlacedServo, pattern: HolePattern, wall: float) -> Solid:
    """Two cheeks, screwed to the sides of a case from outside, and a wall behind it that joins them, which is returned."""
    case = placed.case
    axes = case.axes
    size, spread = MM * np.array(case.servo.size), MM * np.array(pattern.spacing or (0.0, 0.0))
    across, edge = size[0] / 2.0 + CLEARANCE, MM * pattern.hole_diameter / 2.0 + CHEEK_EDGE
    deep = spread[1] + 2.0 * edge
    end = MM * case.center + axes[:, 1] * (size[1] / 2.0 + CLEARANCE)
    back = box(end + axes[:, 1] * wall / 2.0, (2.0 * (across + PLATE), wall, deep), axes)
    draft.add.append(back)
    length = size[1] / 2.0 + CLEARANCE + wall + spread[0] / 2.0 + edge
    for side in (1.0, -1.0):
        out = side * axes[:, 0]
        middle = end + axes[:, 1] * (wall - length / 2.0) + out * (across + PLATE / 2.0)
        draft.add.append(box(middle, (PLATE, length, deep), axes))
        face = MM * case.center + out * across
        draft.drill(holes_of(pattern, face, axes[:, 1], axes[:, 2], out, f"side of {placed.hinge.name}"))
    draft.cut.append(box(MM * case.center, size + 2.0 * CLEARANCE, axes))
    return back
