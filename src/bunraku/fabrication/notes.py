"""Assembly notes: which part goes where, what screws hold it, in what order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import degrees

from bunraku.fabrication.checks import PartFigures, by
from bunraku.fabrication.collisions import JointRoom
from bunraku.fabrication.draft import BEARING, screw_length
from bunraku.fabrication.kit import Part, PartsKit

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
    for part, found in zip(kit.parts, figures, strict=True):
        lines += _part(part, found)
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


def _part(part: Part, found: PartFigures) -> list[str]:
    lines = [f"### {part.name} (`parts/{part.file}`, {part.count} times, {by(found.size)} mm)", ""]
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
