"""Notes for whoever makes a skinned character: what goes where, in what order, how to cast the skin, and what the checks found."""

from __future__ import annotations

from bunraku.fabrication.notes import PACKAGED, range_table
from bunraku.fabrication.skinned.report import PRESSED, SkinnedFabrication
from bunraku.fabrication.skinned.servos import EAR_DEPTH
from bunraku.fabrication.skinned.undercut import DRAFT, PEEL_STRAIN


def notes_of(fabrication: SkinnedFabrication) -> str:
    """The notes as Markdown."""
    lines = [f"# Making {fabrication.character.name}", ""]
    counts = "Counts, sizes and masses are in `bill-of-materials.csv`. Parts lie in their STL files as they are printed; the STEP"
    lines += [f"{counts} files beside them are for CAD: closed solids in millimetres, round walls as flat facets.", ""]
    for section in (_checks, _before, _order, _casting, _moulds, _ranges):
        lines += section(fabrication)
    return "\n".join(lines)


def _checks(fabrication: SkinnedFabrication) -> list[str]:
    faults = fabrication.faults()
    if not faults:
        said = (
            "All hold: every part closed, one piece, printable, screw holes in place, servos free, nothing in each other's way at "
        )
        said += f"home or in the skin by more than {PRESSED:g} mm, every casting comes out of its mould."
        return ["## Checks", "", said, ""]
    return ["## Checks that do not hold", "", *(f"- {fault}" for fault in faults), ""]


def _before(fabrication: SkinnedFabrication) -> list[str]:
    servos = {servo.case.servo.name: servo.case.servo for servo in fabrication.skeleton.servos.values()}
    lines = ["## Before printing", ""]
    for name, servo in sorted(servos.items()):
        lines.append(f"- {name}: case: {(servo.sides or servo.flange).source}. Horn: {servo.horn.source}.")
    if any("of the maker's package" in line for line in lines):
        lines.append(f"- {PACKAGED}")
    if any(servo.ears for servo in fabrication.skeleton.servos.values()):
        lines.append(f"- How far below the front of the case the ears are is ours ({EAR_DEPTH:g} mm): measure the servo in hand.")
    one = sorted(name for name, servo in fabrication.skeleton.servos.items() if not servo.both)
    if one:
        lines.append(f"- Held at the horn alone, as the skin leaves no room for an idler: {', '.join(one)}.")
    mass = (
        f"- Prints weigh {1e3 * fabrication.printed_mass:.0f} g at {100 * fabrication.infill:.0f} % infill; the character's bodies "
    )
    lines.append(
        mass + f"count with {1e3 * fabrication.assumed_mass:.0f} g for all but its servos (prints, battery, controller, screws)."
    )
    backed, points = fabrication.glue
    if backed < points:
        lines.append(f"- {points - backed} of the {points} points at which the skin is glued on have no bracing unit under them.")
    return [*lines, ""]


def _order(fabrication: SkinnedFabrication) -> list[str]:
    steps = [
        "Screw the brackets to the walls of the bay, nuts inside. Put a servo into each bracket: " + _seat(fabrication),
        "Limb by limb from the torso outwards: turn the servo to its middle, screw the link on its horn (and idler), then the next "
        "servo into the link.",
        "Screw the foot's plate into its cup, from above.",
        "Put the halves of each bracing unit on the link from both sides, screws from outside through the bosses.",
        "Controller on the floor of the bay, battery under a strap through the slots; lead the cables along the links.",
        "Screw the blocks of the torso's bracing together at their lugs, then on the bay's columns.",
        "Pull the limbs' skins on from the feet, lay the torso's halves on, and glue the seams with a rubber adhesive. The "
        "skin is glued to the bracing where the bracing units are.",
    ]
    return ["## Order", "", *(f"{number}. {step}" for number, step in enumerate(steps, 1)), ""]


def _seat(fabrication: SkinnedFabrication) -> str:
    ears = {servo.ears for servo in fabrication.skeleton.servos.values()}
    said = []
    if True in ears:
        said.append("its ears lie on the frame, screws through both, nuts below")
    if False in ears:
        said.append("between the cheeks, screws from both sides into its case")
    return "; or ".join(said) + "."


def _casting(fabrication: SkinnedFabrication) -> list[str]:
    lines = ["## Casting the skin", "", "| piece | rubber [cm³] | mass [g] |", "|---|---|---|"]
    lines += [f"| {piece.name} | {piece.volume / 1e3:.0f} | {1e3 * piece.mass:.0f} |" for piece in fabrication.cast]
    total = sum(piece.mass for piece in fabrication.cast)
    skin = fabrication.character.skin
    names = skin.materials if skin is not None else ()
    lines += ["", f"All pieces {1e3 * total:.0f} g; mix a tenth more. Materials of the skin: {', '.join(names)}."]
    if len(names) > 1:
        lines.append("Where a piece has more than one material, cast the softer first and the other on it before it is cured.")
    return [*lines, ""]


def _moulds(fabrication: SkinnedFabrication) -> list[str]:
    lines = [
        "## Moulds",
        "",
        f"A half is drawn along its pull. Hooked: share of its surface with negative draft; steep: with less than {DRAFT:g} deg. "
        "Undercut: how far across the pull the rubber must give way, stretch: that over half the width there; core: how far "
        f"the rubber is stretched off the core (or the core pulled through it). Up to {100 * PEEL_STRAIN:.0f} % are accepted: draw "
        "the core first, then press the hollow skin inwards. The folds across a limb open along the parting plane; what of them "
        "hooks is in these figures.",
        "",
        "| piece | half | hooked | steep | undercut [mm] | stretch | core | comes out |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for mould in fabrication.moulds:
        for number, draw in enumerate(mould.draws, 1):
            lines.append(
                f"| {mould.piece.name} | {number} | {100 * draw.hooked:.1f} % | {100 * draw.steep:.1f} % | {draw.depth:.1f} | "
                f"{100 * draw.strain:.0f} % | {100 * mould.core_strain:.0f} % | {'yes' if mould.comes_out else 'NO'} |"
            )
    lines += [""] + [f"- {mould.piece.name}: {note}" for mould in fabrication.moulds for note in mould.notes]
    if fabrication.dowels:
        lines.append(
            "- Moulds and cores larger than the printer come in blocks: glue them with steel pins in the holes, fill the seams."
        )
    return [*lines, ""]


def _ranges(fabrication: SkinnedFabrication) -> list[str]:
    said = "From its home pose; of the two bodies at a joint alone, without the skin."
    return [*range_table(fabrication.ranges), "", said, ""]
