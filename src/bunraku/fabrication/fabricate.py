"""From a robot made of components to files for the printer, a bill of materials, notes and pictures, all checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.building import tips
from bunraku.building.robot import Robot
from bunraku.fabrication.checks import PartFigures, by, check_settings, written_part
from bunraku.fabrication.collisions import JointRoom, collisions, rooms
from bunraku.fabrication.kit import Lying, PartsKit, lie_down, make_kit
from bunraku.fabrication.notes import assembly_notes, assumed_printed_mass, bill_of_materials, bill_text, motors, part_mass, screws
from bunraku.fabrication.shaping import moved
from bunraku.formats.atomic import write_atomically
from bunraku.system.names import refuse_same_file

PRINTER = (1e3 * tips.PRINTER[0], 1e3 * tips.PRINTER[1], 1e3 * tips.PRINTER[2])
"""Bed (x, y) and height of a usual printer [mm]."""


@dataclass(frozen=True)
class Fabrication:
    """A robot made: its kit, the figures of every part as read back from its file, free ranges, collisions at home."""

    kit: PartsKit
    figures: tuple[PartFigures, ...]
    rooms: tuple[JointRoom, ...]
    collisions: tuple[tuple[str, str, float], ...]
    masses: tuple[float, ...]
    assumed_mass: float
    printer: tuple[float, float, float]

    @property
    def printed_mass(self) -> float:
        """The mass [kg] of everything printed; ``masses`` are those of one of each part."""
        return sum(mass * part.count for mass, part in zip(self.masses, self.kit.parts, strict=True))

    @property
    def fits(self) -> bool:
        """Whether every part fits the printer."""
        return all(figure.fits for figure in self.figures)

    @property
    def holds(self) -> bool:
        """Whether the robot can be made: parts closed, sound and printable, nothing in each other's way at home."""
        return self.fits and all(figure.sound for figure in self.figures) and not self.collisions

    def faults(self) -> list[str]:
        """What is wrong, in sentences."""
        parts = zip(self.kit.parts, self.figures, strict=True)
        return [fault for part, figures in parts for fault in figures.faults(part.name, self.printer)] + [
            f"{one} and {other} are in each other at home, {volume / 1000.0:.2f} cm³; move them apart in its description"
            for one, other, volume in self.collisions
        ]

    def facts(self) -> dict[str, Any]:
        """The figures as one object for JSON."""
        largest = max((figure.size for figure in self.figures), key=lambda size: float(np.max(size)))
        return {
            "character": self.kit.robot.name,
            "parts": [
                {"name": part.name, "file": f"parts/{part.file}", "count": part.count, "mirrored": part.mirrored}
                | figures.facts(mass)
                for part, figures, mass in zip(self.kit.parts, self.figures, self.masses, strict=True)
            ],
            "printed_parts": sum(part.count for part in self.kit.parts),
            "printed_mass_kg": self.printed_mass,
            "assumed_printed_mass_kg": self.assumed_mass,
            "motors": motors(self.kit),
            "screws": screws(self.kit),
            "largest_part_mm": list(largest),
            "printer_mm": list(self.printer),
            "fits_printer": self.fits,
            "watertight": all(figure.watertight for figure in self.figures),
            "screw_holes": sum(figure.holes * part.count for figure, part in zip(self.figures, self.kit.parts, strict=True)),
            "hole_error_mm": max((figure.hole_error for figure in self.figures), default=0.0),
            "servo_overlap_mm3": max((figure.overlap for figure in self.figures), default=0.0),
            "joints_free": all(room.whole for room in self.rooms),
            "collisions": [list(pair) for pair in self.collisions],
            "sound": self.holds,
        }


def fabricate(
    robot: Robot, folder: str | Path, *, printer: tuple[float, float, float] = PRINTER, infill: float = 1.0
) -> Fabrication:
    """Draw, check and write everything needed to make a robot.

    ``folder`` gets parts/*.stl, bill-of-materials.csv, assembly.md, parts.png and robot.png. ``printer`` is the bed and height
    [mm], ``infill`` the share of a print's volume that is filled. Checks are made on the files, read back.
    """
    check_settings(printer, infill)
    kit = make_kit(robot, max(printer[:2]))
    refuse_same_file((part.file for part in kit.parts), "parts")
    folder = Path(folder)
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    lying = [lie_down(part.mesh(), printer) for part in kit.parts]
    figures = tuple(
        written_part(part, folder / "parts" / part.file, f"{robot.name}, {part.name}", pose, printer)
        for part, pose in zip(kit.parts, lying, strict=True)
    )
    masses = tuple(part_mass(figure.volume, kit, infill) for figure in figures)
    fabrication = Fabrication(kit, figures, tuple(rooms(kit)), tuple(collisions(kit)), masses, assumed_printed_mass(kit), printer)
    _write(fabrication, lying, folder, infill)
    return fabrication


def _write(fabrication: Fabrication, lying: list[Lying], folder: Path, infill: float) -> None:
    from bunraku.fabrication.pictures import picture_of_parts, picture_of_robot

    kit = fabrication.kit
    write_atomically(folder / "bill-of-materials.csv", bill_text(bill_of_materials(kit, fabrication.figures, infill)).encode())
    notes = assembly_notes(kit, fabrication.figures, fabrication.rooms, fabrication.collisions)
    write_atomically(folder / "assembly.md", notes.encode())
    sheet = []
    for part, pose, figure in zip(kit.parts, lying, fabrication.figures, strict=True):
        solid = moved(part.solid, pose.turn, pose.shift)
        sheet.append((f"{part.count} x {part.name}\n{by(figure.size)} mm", pose.put(part.mesh()), solid))
    write_atomically(folder / "parts.png", picture_of_parts(sheet))
    write_atomically(folder / "robot.png", picture_of_robot(kit))
