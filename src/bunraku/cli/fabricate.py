"""``bunraku fabricate``: files for the printer, a bill of materials and assembly notes of a robot made of components."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bunraku.building.robot import Robot

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fabricate")(fabricate)


def fabricate(
    character: Annotated[str, typer.Argument(help="A robot made of components: its built-in name, or its .character.yaml")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to write to; NAME-parts if not given")] = None,
    printer: Annotated[str, typer.Option(help="The printer's bed and height: X,Y,Z in mm")] = "220,220,250",
    infill: Annotated[float, typer.Option(help="Share of a print's volume that is filled, for its mass")] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="The figures as JSON on stdout")] = False,
) -> int:
    """Make printable parts with screw holes that fit the motors, a bill of materials, assembly notes and pictures, and check them.

    Exit 1 when a part does not fit the printer, is not sound, or the robot's parts are in each other's way at home.
    """
    from bunraku.cli.console import emit_json, say
    from bunraku.fabrication.fabricate import fabricate as make

    robot = _robot(character)
    folder = output or Path(f"{robot.name}-parts")
    made = make(robot, folder, printer=_printer(printer), infill=infill)
    facts = made.facts()
    for part in facts["parts"]:
        size = " x ".join(f"{length:.0f}" for length in part["size_mm"])
        mark = "+" if part["fits_printer"] and part["watertight"] else "!"
        name, holes = f"{part['count']:2} x {part['name']}", f"{part['screw_holes']} screw holes"
        say(f"  {mark} {name}: {size} mm, {1e3 * part['mass_kg']:.0f} g, {holes}")
    say(f"printed {1e3 * made.printed_mass:.0f} g; the character's bodies count with {1e3 * made.assumed_mass:.0f} g")
    say("motors: " + ", ".join(f"{count} x {name}" for name, count in facts["motors"].items()))
    bound = [room.joint for room in made.rooms if not room.whole]
    if bound:
        say(f"not free over all of their range: {', '.join(bound)}; see assembly.md")
    for fault in made.faults():
        say(f"  ! {fault}")
    say(f"wrote {folder}" if made.holds else f"wrote {folder}; NOT EVERY CHECK HOLDS")
    if json:
        emit_json(facts)
    return 0 if made.holds else 1


def _printer(text: str) -> tuple[float, float, float]:
    """Three lengths from X,Y,Z."""
    from bunraku.errors import BadInput

    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        x = y = z = 0.0
    if not all(0.0 < length < 1e5 for length in (x, y, z)):
        raise BadInput(f"--printer {text!r}: give three lengths above 0 in mm, for example 220,220,250")
    return x, y, z


def _robot(source: str) -> Robot:
    """The robot of a name, or of the file of a character made of one's components."""
    from bunraku.building.robots.builtin import ROBOTS, built_in_robot
    from bunraku.errors import BadInput
    from bunraku.fabrication.edited import robot_as
    from bunraku.formats.registry import read_character

    if source in ROBOTS:
        return built_in_robot(source)
    who = read_character(source)
    if who.name not in ROBOTS:
        raise BadInput(
            f"{who.name!r} is not made of components, so nobody knows its motors' screws; accepted are {', '.join(ROBOTS)}, or a "
            "character file of one of them with joints and wheels moved",
            file=source,
        )
    try:
        return robot_as(who, built_in_robot(who.name))
    except BadInput as error:
        raise BadInput(str(error), file=source) from error
