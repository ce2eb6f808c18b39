"""A skinned character as it is made: its parts with their figures, its skin pieces, its moulds; and whether everything holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bunraku.character import Character
from bunraku.fabrication.bill import Item
from bunraku.fabrication.checks import PartFigures, by
from bunraku.fabrication.collisions import JointRoom
from bunraku.fabrication.draft import screw_length
from bunraku.fabrication.kit import Part
from bunraku.fabrication.skinned.blocks import DOWEL
from bunraku.fabrication.skinned.drawing import Skeleton
from bunraku.fabrication.skinned.moulds import Mould
from bunraku.fabrication.skinned.torso_bracing import JOINT
from bunraku.fabrication.skinned.undercut import DRAFT, PEEL_STRAIN

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


def screws_of(made: SkinnedFabrication) -> dict[str, int]:
    """Screws by size, those through servos' ears and through the joints of blocks counted in; nuts under "nut ..."."""
    found: Counter[str] = Counter()
    for each in made.written:
        for hole in each.part.holes:
            if hole.screw is not None and not hole.pilot:
                found[f"{hole.screw}x{hole.length or screw_length(hole.screw, hole.seat)}"] += 1
                if hole.group.startswith("bracket"):
                    found["nut M3"] += 1
        joints = sum(hole.group == JOINT for hole in each.part.holes)
        found["M3x12"] += joints
    half = found.pop("M3x12", 0) // 2  # each joint has a hole in both of its blocks
    if half:
        found["M3x12"] += half
        found["nut M3"] += half
    for servo in made.skeleton.servos.values():
        if servo.ears:
            pattern = servo.case.servo.flange
            found[f"{pattern.screw}x12"] += pattern.count
            found[f"nut {pattern.screw}"] += pattern.count
    return dict(sorted(found.items()))


def bill_of_skin(made: SkinnedFabrication) -> list[Item]:
    """The bill of materials: motors and screws to buy, rubber to cast, parts to print, then the moulds."""
    motors = Counter(servo.case.servo.name for servo in made.skeleton.servos.values())
    items = [Item("motor", name, count) for name, count in sorted(motors.items())]
    idlers = sum(servo.both for servo in made.skeleton.servos.values())
    items.append(Item("idler", "idler horn opposite the servo's horn", idlers, note="none where the skin leaves no room"))
    for name, count in screws_of(made).items():
        items.append(Item("nut" if name.startswith("nut") else "screw", name.removeprefix("nut "), count))
    if made.dowels:
        items.append(
            Item("pin", f"steel pin {DOWEL[0]:g} x {DOWEL[1]:g} mm", made.dowels, note="between blocks of moulds and cores")
        )
    items.append(Item("payload", "controller and battery", 1, note="in the bay"))
    for piece in made.cast:
        size = by(piece.size, ".1f")
        items.append(Item("rubber", piece.name, 1, 1000.0 * piece.mass, piece.volume / 1000.0, size, "", piece.file, "cast"))
    for kind, parts, infill in (("printed", made.written, made.infill), ("mould", made.tools, made.tool_infill)):
        for each in parts:
            size = by(each.figures.size, ".1f")
            mass, fits = each.figures.volume * 1e-6 * PLASTIC * infill, "yes" if each.figures.fits else "no"
            note = "; ".join(each.part.notes)
            items.append(Item(kind, each.part.name, 1, mass, each.figures.volume / 1000.0, size, fits, each.file, note))
    return items
