"""The two faces of a servo that printed parts are screwed to: the horn that it turns, and the flange of its case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import Case
from bunraku.fabrication.draft import CLEARANCE, LEAST_WALL, PLATE, Draft, Hole, holes_of
from bunraku.fabrication.shaping import MM, Solid, box, cylinder

CHEEK = 2.0
"""Thickness [mm] of the walls that hold a servo between them."""
CHEEK_LENGTH = 12.0
EDGE = 2.2


def case_solid(case: Case) -> Solid:
    """The box of a servo's case [mm]."""
    return box(MM * case.center, MM * np.array(case.servo.size), case.axes)


def grown_case(case: Case, grow: float = CLEARANCE) -> Solid:
    """The case with play on all sides but the one that is screwed on, where the print touches it; and room for its horn."""
    size = MM * np.array(case.servo.size)
    n = 2 if case.servo.flange_in_front else 1
    size = size + 2.0 * grow
    size[n] -= grow
    center = MM * case.center - case.axes[:, n] * (grow / 2.0)
    return box(center, size, case.axes)


@dataclass(frozen=True)
class Horn:
    """A horn's face: ``center``, ``axis`` out of the servo, directions ``u``, ``v`` of its holes, ``radius`` of its plate [mm]."""

    center: Array
    axis: Array
    u: Array
    v: Array
    radius: float
    case: Case
    group: str

    def disc(self, thickness: float = PLATE) -> Solid:
        """The round plate on the horn."""
        return cylinder(self.center, self.center + thickness * self.axis, self.radius)

    def holes(self) -> list[Hole]:
        """The screws into the horn."""
        return holes_of(self.case.servo.horn, self.center, self.u, self.v, self.axis, self.group)

    def middle_hole(self) -> Solid:
        """The hole over the horn's middle, for the boss or screw that it has there."""
        pattern = self.case.servo.horn
        radius = min(3.5, MM * (pattern.radius - pattern.hole_diameter / 2.0) - LEAST_WALL)
        return cylinder(self.center - self.axis, self.center + 2.0 * PLATE * self.axis, max(radius, 0.8))


def horn_of(case: Case, joint: str) -> Horn:
    """The horn of a servo."""
    return _horn(case, MM * case.horn, case.axes[:, 2], f"horn of {joint}")


def idler_of(case: Case, joint: str) -> Horn:
    """The idler on the back of a servo, as high as its horn and with the same holes."""
    deep = MM * (case.servo.size[2] + 2.0 * case.servo.horn_height)
    return _horn(case, MM * case.horn - case.axes[:, 2] * deep, -case.axes[:, 2], f"idler of {joint}")


def _horn(case: Case, center: Array, axis: Array, group: str) -> Horn:
    pattern = case.servo.horn
    radius = MM * max(case.servo.horn_radius, pattern.radius + pattern.hole_diameter / 2.0) + EDGE - 1.0
    radius = max(radius, MM * (pattern.radius + pattern.hole_diameter / 2.0) + EDGE)
    return Horn(center, axis, case.axes[:, 0], case.axes[:, 1], radius, case, group)


@dataclass(frozen=True)
class Flange:
    """The face of a case that takes screws: ``center``, ``normal``, directions ``u``, ``v``, half lengths of its plate [mm]."""

    center: Array
    normal: Array
    u: Array
    v: Array
    half_u: float
    half_v: float
    case: Case
    group: str
    middle: Array
    """Where the pattern of holes has its middle; the shaft, on a front face."""

    def plate(self, thickness: float = PLATE) -> Solid:
        """The plate on the face."""
        axes = np.stack([self.u, self.v, self.normal], axis=1)
        return box(self.center + self.normal * thickness / 2.0, (2.0 * self.half_u, 2.0 * self.half_v, thickness), axes)

    def half(self, direction: Array) -> float:
        """Half the length of the plate along a direction of its plane."""
        return abs(float(self.u @ direction)) * self.half_u + abs(float(self.v @ direction)) * self.half_v

    def holes(self) -> list[Hole]:
        """The screws into the case."""
        return holes_of(self.case.servo.flange, self.middle, self.u, self.v, self.normal, self.group)

    def cheeks(self, length: float = CHEEK_LENGTH) -> list[Solid]:
        """Walls on both sides of the case, from the plate ``length`` along it; none beside a motor held by its front."""
        if self.case.servo.flange_in_front:
            return []
        axes = np.stack([self.u, self.v, self.normal], axis=1)
        out = self.half_u - CHEEK / 2.0
        size = (CHEEK, 2.0 * self.half_v, length + PLATE)
        down = self.center + self.normal * (PLATE - length) / 2.0
        return [box(down + side * out * self.u, size, axes) for side in (1.0, -1.0)]


def flange_of(case: Case, joint: str) -> Flange:
    """The flange of a servo: at the end of its long side, or its front around the shaft."""
    size = MM * np.array(case.servo.size)
    group = f"case of {joint}"
    if case.servo.flange_in_front:
        center = MM * case.center + case.axes[:, 2] * size[2] / 2.0
        shaft = center - case.axes[:, 1] * MM * case.servo.shaft_offset
        return Flange(center, case.axes[:, 2], case.axes[:, 0], case.axes[:, 1], size[0] / 2.0, size[1] / 2.0, case, group, shaft)
    center = MM * case.center + case.axes[:, 1] * size[1] / 2.0
    half = size[0] / 2.0 + CLEARANCE + CHEEK
    return Flange(center, case.axes[:, 1], case.axes[:, 0], case.axes[:, 2], half, size[2] / 2.0, case, group, center)


def screw_on(draft: Draft, flange: Flange) -> None:
    """Drill the flange's screws into a draft and keep the case free."""
    draft.drill(flange.holes())
    draft.cut.append(grown_case(flange.case))
    draft.cases.append((flange.group, case_solid(flange.case)))
    if flange.case.servo.flange_in_front:
        boss = MM * 0.5 * (flange.case.servo.horn.hole_diameter + 0.004)
        draft.cut.append(cylinder(flange.middle - flange.normal, flange.middle + 2.0 * PLATE * flange.normal, boss))
