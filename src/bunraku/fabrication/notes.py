"""What goes with the files of a robot: the bill of materials, and notes on which part goes where, held by what, in what order."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees

from bunraku.building.placement import connectors
from bunraku.building.solids import box_shell, capsule_shell
from bunraku.fabrication.checks import PartFigures, by
from bunraku.fabrication.collisions import JointRoom
from bunraku.fabrication.draft import BEARING, screw_length
from bunraku.fabrication.forks import RUBBER, AxleSeat, axle_length
from bunraku.fabrication.kit import Part, PartsKit
from bunraku.fabrication.shaping import MM


@dataclass(frozen=True)
class Item:
    """One line of the bill: what kind of thing, its name, how many; of printed parts mass and volume of one, size, fit."""

    kind: str
    name: str
    count: int
    mass_g: float | None = None
    volume_cm3: float | None = None
    size_mm: str = ""
    fits: str = ""
    file: str = ""
    note: str = ""


def motors(kit: PartsKit) -> dict[str, int]:
    """Servos and motors by model."""
    names = [stage.case.servo.name for limb in kit.limbs for stage in limb.stages]
    names += [tip.case.servo.name for limb in kit.limbs for tip in limb.tips if tip.case is not None]
    return dict(sorted(Counter(names).items()))


def screws(kit: PartsKit) -> dict[str, int]:
    """Screws by size, those of axles included; nuts apart."""
    counts: Counter[str] = Counter()
    for part in kit.parts:
        for hole in part.holes:
            if hole.screw is not None and not hole.pilot:
                length = hole.length or screw_length(hole.screw, hole.seat)
                counts[f"{hole.screw}x{length}"] += part.count
    for seat in _axles(kit):
        counts[f"M3x{screw_length('M3', axle_length(seat) + 1.0)}"] += 1
    return dict(sorted(counts.items()))


def _axles(kit: PartsKit) -> list[AxleSeat]:
    return [seat for piece in kit.pieces for seat in piece.axles]


def part_mass(volume: float, kit: PartsKit, infill: float) -> float:
    """The mass [kg] of a print of ``volume`` [mm³], of which ``infill`` is filled."""
    return volume * 1e-9 * kit.robot.material.density * infill


def assumed_printed_mass(kit: PartsKit) -> float:
    """The mass [kg] that the character's bodies count with for what is printed: chassis shell, tubes for connectors, driven wheels.

    The last are printed but for their rubber rings.
    """
    material, chassis = kit.robot.material, kit.robot.chassis
    mass = box_shell(material.density, material.wall, chassis.center, chassis.size).mass
    for link in connectors(kit.robot, kit.limbs):
        for start, end in zip(link.corners, link.corners[1:], strict=False):
            mass += capsule_shell(material.density, material.wall, start, end, link.radius).mass
    return mass + sum(tip.mass for limb in kit.limbs for tip in limb.tips if tip.case is not None)


def bill_of_materials(kit: PartsKit, figures: Sequence[PartFigures], infill: float) -> list[Item]:
    """All lines, bought things first."""
    items = [Item("motor", name, count) for name, count in motors(kit).items()]
    tips = [tip for limb in kit.limbs for tip in limb.tips]
    rolling = [tip for tip in tips if tip.case is None]
    items += [Item("wheel or foot", name, count) for name, count in sorted(Counter(tip.model.name for tip in rolling).items())]
    for (outer, width), count in sorted(
        Counter((2.0 * MM * tip.radius, MM * tip.model.width) for tip in tips if tip.case is not None).items()
    ):
        ring = f"rubber ring {outer:.0f} mm outside, {width:.0f} mm wide, {RUBBER:.0f} mm thick"
        items.append(Item("wheel or foot", ring, count, note="on a printed rim"))
    axles = len(_axles(kit))
    idlers = sum(1 for piece in kit.pieces for join in piece.joins if join.startswith("idler"))
    nuts = axles + sum(part.count for part in kit.parts for hole in part.holes if hole.group in ("strap", "strut") and hole.screw)
    shafts = sum(1 for limb in kit.limbs for tip in limb.tips if tip.case is not None and tip.case.servo.flange_in_front)
    bought = [("bearing", BEARING.name, 2 * axles, "two an axle"), ("idler", "idler horn of the servo", idlers, "")]
    bought += [("screw", name, count, "") for name, count in screws(kit).items()]
    bought += [("screw", "M3x4 set screw", shafts, "hub on the motor's shaft"), ("nut", "M3", nuts, "axles, straps and struts")]
    bought += [("payload", carried.model, 1, "") for carried in kit.robot.chassis.carries]
    items += [Item(kind, name, count, note=note) for kind, name, count, note in _merged(bought) if count]
    for part, figure in zip(kit.parts, figures, strict=True):
        mass, size, fits = 1000.0 * part_mass(figure.volume, kit, infill), by(figure.size, ".1f"), "yes" if figure.fits else "no"
        file, note = f"parts/{part.file}", "; ".join(part.notes)
        items.append(Item("printed", part.name, part.count, mass, figure.volume / 1000.0, size, fits, file, note))
    return items


def _merged(bought: list[tuple[str, str, int, str]]) -> list[tuple[str, str, int, str]]:
    """Lines of the same thing as one."""
    total: dict[tuple[str, str, str], int] = {}
    for kind, name, count, note in bought:
        total[kind, name, note] = total.get((kind, name, note), 0) + count
    return [(kind, name, count, note) for (kind, name, note), count in total.items()]


def bill_text(items: Sequence[Item]) -> str:
    """The bill as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["kind", "item", "count", "mass_g_each", "volume_cm3_each", "size_mm", "fits_printer", "file", "note"])
    for item in items:
        mass = "" if item.mass_g is None else f"{item.mass_g:.1f}"
        volume = "" if item.volume_cm3 is None else f"{item.volume_cm3:.2f}"
        writer.writerow([item.kind, item.name, item.count, mass, volume, item.size_mm, item.fits, item.file, item.note])
    return stream.getvalue()


PACKAGED = (
    "Screws of the maker's package are those for the maker's own frames, and say which threads the servo has. Through printed "
    "plates go those that are named with each part and in the bill."
)
"""Why screws of two lengths are named."""


def assembly_notes(
    kit: PartsKit, figures: Sequence[PartFigures], rooms: Sequence[JointRoom], clashes: Sequence[tuple[str, str, float]]
) -> str:
    """The notes as Markdown."""
    lines = [
        f"# Assembling {kit.robot.name}",
        "",
        "Print every part as it lies in its file, in the counts of `bill-of-materials.csv`.",
        "",
    ]
    lines += ["## Before printing", "", *(f"- {line}" for line in _sources(kit)), ""]
    lines += ["## Where each part goes", ""]
    for part, figure in zip(kit.parts, figures, strict=True):
        lines += _part(part, figure)
    lines += ["## Order", "", *(f"{number}. {line}" for number, line in enumerate(_order(kit), 1)), ""]
    lines += [*range_table(rooms), "", "The right side is the mirror image of the left.", ""]
    if clashes:
        lines += ["## In each other's way at home", ""]
        lines += [f"- {one} and {other} share {volume / 1000.0:.2f} cm³" for one, other, volume in clashes] + [""]
    return "\n".join(lines)


def range_table(rooms: Sequence[JointRoom]) -> list[str]:
    """How far joints may turn and how far they are free, with its heading."""
    lines = ["## How far the joints turn", "", "| joint | may turn [deg] | is free [deg] |", "|---|---|---|"]
    for room in rooms:
        limits, free = (f"{degrees(low):.0f} to {degrees(high):.0f}" for low, high in (room.limits, room.free))
        lines.append(f"| {room.joint} | {limits} | {'all of it' if room.whole else free} |")
    return lines


def _sources(kit: PartsKit) -> list[str]:
    """Where the hole patterns come from, servo by servo."""
    cases = [stage.case for limb in kit.limbs for stage in limb.stages] + [
        tip.case for limb in kit.limbs for tip in limb.tips if tip.case
    ]
    models = {case.servo.name: case.servo for case in cases}
    lines = [f"{name}: case: {servo.flange.source}. Horn: {servo.horn.source}." for name, servo in sorted(models.items())]
    return [*lines, PACKAGED] if any("of the maker's package" in line for line in lines) else lines


def _part(part: Part, figure: PartFigures) -> list[str]:
    lines = [f"### {part.name} (`parts/{part.file}`, {part.count} times, {by(figure.size)} mm)", ""]
    for piece in part.pieces if part.kind != "axle spacer" else part.pieces[:0]:
        lines.append(f"- {piece.body}: " + (" -> ".join(piece.joins) if piece.joins else "screwed to the deck"))
    if part.kind == "axle spacer":
        wheels = sorted({join for piece in part.pieces for join in piece.joins})
        lines.append(f"- one on each side of the wheel, inside the fork: {', '.join(wheels)}")
    held: Counter[tuple[str, str]] = Counter()
    for hole in part.holes:
        if hole.screw and not hole.pilot:
            held[hole.group, f"{hole.screw}x{hole.length or screw_length(hole.screw, hole.seat)}"] += 1
    named: dict[tuple[str, str], int] = {}
    for (group, size), count in held.items():  # all horns and all cases of a part take the same
        named[group.split(" of ")[0], size] = count
    lines += [f"- screws, each {word}: {count} of {size}" for (word, size), count in named.items()]
    return [*lines, *(f"- {note}" for note in part.notes), ""]


def _order(kit: PartsKit) -> list[str]:
    """The steps, those that this robot needs."""
    axles = any(piece.axles for piece in kit.pieces)
    driven = any(tip.case is not None for limb in kit.limbs for tip in limb.tips)
    steps = ["Screw the servos of the body into the deck from above; join halves with their straps, heads outside, nuts inside."]
    steps.append(
        "Limb by limb from the body outwards: turn the servo to its middle, screw the link on its horn (the heads of the screws "
        "sink into the plate), then put the next servo between the link's cheeks and screw it on through the plate at its end."
    )
    steps.append(
        "Where horn and next servo share one plate, the screws of the case come from the side of the horn: turn the link until "
        "each in turn stands beyond the short end of the servo behind it."
    )
    if axles:
        steps.append(
            f"Press a bearing {BEARING.name} into the outside of each leg of a fork. Screw the fork on its horn. Put the axle "
            "through leg, spacer, wheel, spacer, leg, and tighten the nut until the wheel has no play and still runs freely."
        )
    if driven:
        steps.append("Screw the wheel motors to their plates, glue the rubber rings on the rims, put the rims on the shafts.")
    steps.append(
        "Strap the battery to the floor of the tray, lay the controller on it, and screw the deck on the posts of the tray."
    )
    return steps
