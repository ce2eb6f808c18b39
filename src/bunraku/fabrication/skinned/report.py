"""A skinned character as it is made: its parts with their figures, its skin pieces, its moulds; and whether everything holds.

Checked are the joints' free ranges, parts in each other's way, servos in the skin, glue without backing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from bunraku.character import Character
from bunraku.fabrication.checks import PartFigures, by
from bunraku.fabrication.collisions import JointRoom
from bunraku.fabrication.draft import screw_length
from bunraku.fabrication.kit import Part
from bunraku.fabrication.notes import Item
from bunraku.fabrication.shaping import Solid, ball, moved, overlap
from bunraku.fabrication.skinned.blocks import DOWEL
from bunraku.fabrication.skinned.drawing import Skeleton, driver
from bunraku.fabrication.skinned.layout import DrivenHinge, Layout
from bunraku.fabrication.skinned.moulds import Mould
from bunraku.fabrication.skinned.shell import offset
from bunraku.fabrication.skinned.torso_bracing import JOINT
from bunraku.fabrication.skinned.undercut import DRAFT, PEEL_STRAIN
from bunraku.geometry.rotations import axis_angle

TOUCH = 1.0
"""Volume [mm³] that two parts may share: rounding at faces that touch."""
PRESSED = 1.0
"""How deep [mm] the corner of a servo may press into the soft skin."""
BACK = 2.0
"""How near [mm] to a point of glue its bracing unit must come."""
_STEPS = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1)


def free_ranges(layout: Layout, skeleton: Skeleton) -> list[JointRoom]:
    """The free range of every hinge, of the bodies it joins alone, to 2 % of the range on either side."""
    rooms = []
    for hinge in layout.hinges:
        still, turning = skeleton.rigid(hinge.parent), skeleton.rigid(hinge.child)
        low, high = (_free(hinge, limit, still, turning) for limit in hinge.reach)
        rooms.append(JointRoom(hinge.name, (low, high), hinge.reach))
    return rooms


def _free(hinge: DrivenHinge, limit: float, still: list[Solid], turning: list[Solid]) -> float:
    """The free part of a limit: from the largest of some shares that is free, half the way to the next again and again."""

    def clear(share: float) -> bool:
        R = axis_angle(hinge.axis, share * limit)
        there = [moved(solid, R, hinge.place - R @ hinge.place) for solid in turning]
        return all(overlap(one, other) <= TOUCH for one in there for other in still)

    low = next((share for share in _STEPS if clear(share)), 0.0)
    if low == _STEPS[0]:
        return limit
    high = min(share for share in _STEPS if share > low)
    for _ in range(3):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if clear(middle) else (low, middle)
    return low * limit


def clashes(skeleton: Skeleton) -> list[tuple[str, str, float]]:
    """Pairs of printed parts and servos that are in each other at home, with the volume [mm³] they share."""
    things = _things(skeleton)
    shared = [(one, other, overlap(solid, second)) for (one, solid), (other, second) in combinations(things, 2)]
    return [clash for clash in shared if clash[2] > TOUCH]


def in_the_skin(skeleton: Skeleton, inner: Solid) -> list[tuple[str, float]]:
    """Printed parts and servos that are more than PRESSED deep in the skin at home, with the volume [mm³] that is.

    ``inner`` is the room inside the skin.
    """
    room = offset(inner, PRESSED)
    outside = [(name, float((solid - room).volume())) for name, solid in _things(skeleton)]
    return [(name, volume) for name, volume in outside if volume > TOUCH]


def _things(skeleton: Skeleton) -> list[tuple[str, Solid]]:
    """Printed parts and servos, by name."""
    servos = [(f"servo of {name}", servo.body()) for name, servo in skeleton.servos.items()]
    return [*((part.name, part.solid) for part in skeleton.parts), *servos]


def backed_glue(layout: Layout, skeleton: Skeleton) -> tuple[int, int]:
    """How many of the points where the skin is glued on have a bracing unit within BACK of them, and how many there are."""
    backed = 0
    for body, points in layout.glue.items():
        units = [part.solid for part in skeleton.parts if part.body == body and part.kind == "bracing"]
        backed += sum(any(overlap(ball(point, BACK), unit) > 0.1 for unit in units) for point in points)
    return backed, sum(len(points) for points in layout.glue.values())


def shut_in(skeleton: Skeleton) -> list[tuple[str, str]]:
    """Pairs of servos of a body that cannot both be put in: each stands before screws of the other.

    A screw needs room for its head and a driver behind it; when only one is in the other's way, it is put in last.
    """
    before = set()
    for part in skeleton.parts:
        own = {name: servo.body() for name, servo in skeleton.servos.items() if servo.carrier == part.body}
        for hole in part.holes:
            way, name = driver(hole), hole.group.rpartition(" of ")[2]
            if way is not None and name in skeleton.servos:
                before |= {(name, other) for other, case in own.items() if other != name and overlap(way, case) > TOUCH}
    return sorted({(a, b) for a, b in before if a < b and (b, a) in before})


PLASTIC = 1240.0
"""Density [kg/m³] of printed polylactide."""


@dataclass(frozen=True)
class WrittenPart:
    """A part as its file shows it: what kind, its figures, and the files it is in."""

    part: Part
    figures: PartFigures
    file: str
    step: str = ""


@dataclass(frozen=True)
class CastPiece:
    """A piece of skin: its name and file, rubber volume [mm³] and mass [kg], size [mm], whether its file is closed and whole."""

    name: str
    file: str
    volume: float
    mass: float
    size: tuple[float, float, float]
    watertight: bool
    pieces: int


@dataclass
class SkinnedFabrication:
    """Everything made of a skinned character, with its figures."""

    character: Character
    skeleton: Skeleton
    written: list[WrittenPart]
    tools: list[WrittenPart]
    cast: list[CastPiece]
    moulds: list[Mould]
    ranges: list[JointRoom]
    collisions: list[tuple[str, str, float]]
    in_skin: list[tuple[str, float]]
    skin_volume: float
    printer: tuple[float, float, float]
    infill: float
    tool_infill: float
    dowels: int = 0
    glue: tuple[int, int] = (0, 0)
    shut_in: list[tuple[str, str]] = field(default_factory=list)
    faults_of_drawing: list[str] = field(default_factory=list)

    @property
    def printed_mass(self) -> float:
        """Mass [kg] of what is printed and stays in the robot."""
        return sum(each.figures.volume for each in self.written) * 1e-9 * PLASTIC * self.infill

    @property
    def tool_mass(self) -> float:
        """Mass [kg] of moulds and cores."""
        return sum(each.figures.volume for each in self.tools) * 1e-9 * PLASTIC * self.tool_infill

    @property
    def assumed_mass(self) -> float:
        """Mass [kg] that the character's bodies count with for all but servos: prints, battery, controller, screws."""
        servos = sum(servo.case.servo.mass for servo in self.skeleton.servos.values())
        return sum(body.mass for body in self.character.bodies) - servos

    @property
    def holds(self) -> bool:
        """Whether the character can be made as it is drawn."""
        return not self.faults()

    def faults(self) -> list[str]:
        """What is wrong, in sentences."""
        said = list(self.faults_of_drawing)
        for each in (*self.written, *self.tools):
            said += each.figures.faults(each.part.name, self.printer)
        for piece in self.cast:
            if not piece.watertight or piece.pieces != 1:
                said.append(f"{piece.name}: {'closed' if piece.watertight else 'not closed'}, in {piece.pieces} pieces")
        lost = abs(sum(piece.volume for piece in self.cast) - self.skin_volume)
        if lost > 1e-3 * self.skin_volume:
            said.append(f"the skin's pieces differ from the skin by {lost / 1000.0:.1f} cm³")
        for one, other, volume in self.collisions:
            said.append(f"{one} and {other} are in each other at home, {volume / 1000.0:.2f} cm³")
        said += [f"the servos of {a} and {b} stand before each other's screws" for a, b in self.shut_in]
        said += [f"{name} sticks {volume:.0f} mm³ too far into the skin at home" for name, volume in self.in_skin]
        for mould in self.moulds:
            if not mould.comes_out:
                said.append(f"{mould.piece.name}: would have to stretch by {100.0 * mould.strain:.0f} % to come out of its mould")
        return said

    def facts(self) -> dict[str, Any]:
        """The figures as one object for JSON."""
        every = [*self.written, *self.tools]
        largest = max((each.figures.size for each in every), key=max)
        return {
            "character": self.character.name,
            "parts": [_part_facts(each, self.infill) for each in self.written],
            "mould_parts": [_part_facts(each, self.tool_infill) for each in self.tools],
            "skin_pieces": [
                {"name": p.name, "file": p.file, "rubber_cm3": p.volume / 1e3, "mass_kg": p.mass, "watertight": p.watertight}
                for p in self.cast
            ],
            "moulds": [_mould_facts(mould) for mould in self.moulds],
            "printed_parts": len(self.written),
            "printed_mass_kg": self.printed_mass,
            "assumed_printed_mass_kg": self.assumed_mass,
            "mould_mass_kg": self.tool_mass,
            "rubber_kg": sum(piece.mass for piece in self.cast),
            "motors": dict(sorted(Counter(servo.case.servo.name for servo in self.skeleton.servos.values()).items())),
            "screws": screws_of(self),
            "largest_part_mm": list(largest),
            "printer_mm": list(self.printer),
            "fits_printer": all(each.figures.fits for each in every),
            "watertight": all(each.figures.watertight for each in every) and all(piece.watertight for piece in self.cast),
            "screw_holes": sum(each.figures.holes for each in self.written),
            "hole_error_mm": max((each.figures.hole_error for each in self.written), default=0.0),
            "servo_overlap_mm3": max((each.figures.overlap for each in self.written), default=0.0),
            "glue_points": self.glue[1],
            "glue_backed": self.glue[0],
            "joints_free": all(each.whole for each in self.ranges),
            "collisions": [list(pair) for pair in self.collisions],
            "largest_peel_strain": max(mould.strain for mould in self.moulds),
            "peel_strain_allowed": PEEL_STRAIN,
            "sound": self.holds,
        }


def _part_facts(each: WrittenPart, infill: float) -> dict[str, Any]:
    names = {"name": each.part.name, "kind": each.part.kind, "file": each.file, "step": each.step, "count": 1}
    return names | each.figures.facts(each.figures.volume * 1e-9 * PLASTIC * infill)


def _mould_facts(mould: Mould) -> dict[str, Any]:
    return {
        "piece": mould.piece.name,
        "halves": [
            {
                "pull": [round(float(part), 4) for part in draw.direction],
                "area_cm2": draw.area / 100.0,
                "negative_draft_share": draw.hooked,
                f"draft_below_{DRAFT:g}_deg_share": draw.steep,
                "undercut_depth_mm": draw.depth,
                "peel_strain": draw.strain,
            }
            for draw in mould.draws
        ],
        "core_stretch": mould.core_strain,
        "comes_out": mould.comes_out,
    }


def screws_of(fabrication: SkinnedFabrication) -> dict[str, int]:
    """Screws by size, those through servos' ears and through the joints of blocks counted in; nuts under "nut ..."."""
    counts: Counter[str] = Counter()
    for each in fabrication.written:
        for hole in each.part.holes:
            if hole.screw is not None and not hole.pilot:
                counts[f"{hole.screw}x{hole.length or screw_length(hole.screw, hole.seat)}"] += 1
                if hole.group.startswith("bracket"):
                    counts["nut M3"] += 1
        joints = sum(hole.group == JOINT for hole in each.part.holes)
        counts["M3x12"] += joints
    half = counts.pop("M3x12", 0) // 2  # each joint has a hole in both of its blocks
    if half:
        counts["M3x12"] += half
        counts["nut M3"] += half
    for servo in fabrication.skeleton.servos.values():
        if servo.ears:
            pattern = servo.case.servo.flange
            counts[f"{pattern.screw}x12"] += pattern.count
            counts[f"nut {pattern.screw}"] += pattern.count
    return dict(sorted(counts.items()))


def bill_of_skin(fabrication: SkinnedFabrication) -> list[Item]:
    """The bill of materials: motors and screws to buy, rubber to cast, parts to print, then the moulds."""
    motors = Counter(servo.case.servo.name for servo in fabrication.skeleton.servos.values())
    items = [Item("motor", name, count) for name, count in sorted(motors.items())]
    idlers = sum(servo.both for servo in fabrication.skeleton.servos.values())
    items.append(Item("idler", "idler horn opposite the servo's horn", idlers, note="none where the skin leaves no room"))
    for name, count in screws_of(fabrication).items():
        items.append(Item("nut" if name.startswith("nut") else "screw", name.removeprefix("nut "), count))
    if fabrication.dowels:
        items.append(
            Item("pin", f"steel pin {DOWEL[0]:g} x {DOWEL[1]:g} mm", fabrication.dowels, note="between blocks of moulds and cores")
        )
    items.append(Item("payload", "controller and battery", 1, note="in the bay"))
    for piece in fabrication.cast:
        size = by(piece.size, ".1f")
        items.append(Item("rubber", piece.name, 1, 1000.0 * piece.mass, piece.volume / 1000.0, size, "", piece.file, "cast"))
    tools = ("mould", fabrication.tools, fabrication.tool_infill)
    for kind, parts, infill in (("printed", fabrication.written, fabrication.infill), tools):
        for each in parts:
            size = by(each.figures.size, ".1f")
            mass, fits = each.figures.volume * 1e-6 * PLASTIC * infill, "yes" if each.figures.fits else "no"
            note = "; ".join(each.part.notes)
            items.append(Item(kind, each.part.name, 1, mass, each.figures.volume / 1000.0, size, fits, each.file, note))
    return items
