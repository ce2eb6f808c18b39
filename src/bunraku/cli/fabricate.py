"""``bunraku fabricate``: files for the printer, a bill of materials and notes of a robot of components or a skinned character."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, say
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_folder

if TYPE_CHECKING:
    from bunraku.character import Character
    from bunraku.fabrication.fabricate import Fabrication
    from bunraku.fabrication.skinned.report import SkinnedFabrication


def fabricate(
    character: Annotated[
        str, typer.Argument(help="A robot made of components or a skinned character: its built-in name, or its .character.yaml")
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to write to; NAME-parts if not given")] = None,
    printer: Annotated[str | None, typer.Option(help="The printer's bed and height: X,Y,Z in mm; a usual one if not given")] = None,
    infill: Annotated[float, typer.Option(help="Share of a print's volume that is filled, for its mass")] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="The figures as JSON on stdout")] = False,
) -> int:
    """Make printable parts with screw holes that fit the motors, a bill of materials, assembly notes and pictures, and check them.

    Of a skinned character also bracing units, the pieces of its skin and their moulds. Exit 1 when a part does not fit the printer,
    is not sound, parts are in each other's way at home, or a casting does not come out of its mould.
    """
    if output is not None:
        check_folder(output)
    from bunraku.character import Character
    from bunraku.fabrication.fabricate import fabricate as make
    from bunraku.fabrication.subject import subject_of

    who = subject_of(character)
    folder = output or Path(f"{who.name}-parts")
    check_folder(folder)
    if isinstance(who, Character):
        return _skinned(who, folder, _printer(printer), infill, json)
    fabrication = make(who, folder, printer=_printer(printer), infill=infill)
    facts = fabrication.facts()
    for part in facts["parts"]:
        size = " x ".join(f"{length:.0f}" for length in part["size_mm"])
        mark = "+" if part["fits_printer"] and part["watertight"] else "!"
        name, holes = f"{part['count']:2} x {part['name']}", f"{part['screw_holes']} screw holes"
        say(f"  {mark} {name}: {size} mm, {1e3 * part['mass_kg']:.0f} g, {holes}")
    say(f"printed {1e3 * fabrication.printed_mass:.0f} g; the character's bodies count with {1e3 * fabrication.assumed_mass:.0f} g")
    return _conclude(fabrication, facts, [room.joint for room in fabrication.rooms if not room.whole], folder, json)


def _skinned(who: Character, folder: Path, printer: tuple[float, float, float], infill: float, json: bool) -> int:
    """Make a skinned character and say what came of it."""
    from bunraku.fabrication.skinned.fabricate import fabricate_skinned

    fabrication = fabricate_skinned(who, folder, printer=printer, infill=infill)
    facts = fabrication.facts()
    for part in facts["parts"]:
        size = " x ".join(f"{length:.0f}" for length in part["size_mm"])
        mark = "+" if part["fits_printer"] and part["watertight"] else "!"
        say(f"  {mark} {part['name']}: {size} mm, {1e3 * part['mass_kg']:.0f} g, {part['screw_holes']} screw holes")
    for mould in facts["moulds"]:
        hooked = max(half["negative_draft_share"] for half in mould["halves"])
        depth = max(half["undercut_depth_mm"] for half in mould["halves"])
        strain = max(mould["core_stretch"], *(half["peel_strain"] for half in mould["halves"]))
        mark = "+" if mould["comes_out"] else "!"
        say(
            f"  {mark} {mould['piece']}: {100 * hooked:.1f} % negative draft, undercut {depth:.1f} mm, stretch {100 * strain:.0f} %"
        )
    printed, assumed = 1e3 * fabrication.printed_mass, 1e3 * fabrication.assumed_mass
    say(f"printed {printed:.0f} g; the character's bodies without servos count {assumed:.0f} g")
    say(f"rubber {1e3 * facts['rubber_kg']:.0f} g; {len(facts['mould_parts'])} parts of moulds, {facts['mould_mass_kg']:.1f} kg")
    return _conclude(fabrication, facts, [each.joint for each in fabrication.ranges if not each.whole], folder, json)


def _conclude(
    fabrication: Fabrication | SkinnedFabrication, facts: dict[str, Any], bound: list[str], folder: Path, json: bool
) -> int:
    """Say which motors it takes, which joints are ``bound``, what does not hold and where it is; the exit code."""
    say("motors: " + ", ".join(f"{count} x {name}" for name, count in facts["motors"].items()))
    if bound:
        say(f"not free over all of their range: {', '.join(bound)}; see assembly.md")
    for fault in fabrication.faults():
        say(f"  ! {fault}")
    say(f"wrote {folder}" if fabrication.holds else f"wrote {folder}; NOT EVERY CHECK HOLDS")
    if json:
        emit_json(facts)
    return 0 if fabrication.holds else 1


def _printer(text: str | None) -> tuple[float, float, float]:
    """Three lengths [mm] from X,Y,Z."""
    from bunraku.building.tips import PRINTER

    if text is None:
        width, depth, height = PRINTER
        return 1e3 * width, 1e3 * depth, 1e3 * height
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        x = y = z = 0.0
    if not all(0.0 < length < 1e5 for length in (x, y, z)):
        raise BadInput(f"--printer {text!r}: give three lengths above 0 in mm, for example 220,220,250")
    return x, y, z
