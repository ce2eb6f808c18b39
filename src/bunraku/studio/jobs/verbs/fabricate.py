"""Fabricating: parts, bill of materials and notes into a folder, as ``bunraku fabricate`` makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.building.robots.builtin import ROBOTS
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.fabrication.fabricate import PRINTER, Fabrication
from bunraku.fabrication.fabricate import fabricate as make
from bunraku.fabrication.skinned.fabricate import fabricate_skinned
from bunraku.fabrication.skinned.report import SkinnedFabrication
from bunraku.fabrication.subject import subject_of
from bunraku.optimization.monitor import Event, Monitor
from bunraku.studio.jobs.exchange import read_who
from bunraku.studio.jobs.verbs.arguments import Arguments


def fabricate(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{character, folder, printer: [x, y, z] mm, infill} -> the folder, whether every check holds, faults, the figures."""
    given = Arguments(arguments, "fabricate")
    source = given.text("character")
    target = given.path("folder", folder / "parts")
    sizes = [float(size) for size in given.sequence("printer")] or list(PRINTER)
    infill = given.number("infill", 1.0)
    given.finish()
    if len(sizes) != 3 or not all(0.0 < size < 1e5 for size in sizes):
        raise BadInput(f"a printer of {sizes} arrived; give three lengths above 0 in mm")
    who = subject_of(source if source in ROBOTS else read_who(source, folder))
    monitor.report(Event("fabricate", None, f"the parts of {who.name}"))
    printer = (sizes[0], sizes[1], sizes[2])
    fabrication: Fabrication | SkinnedFabrication
    if isinstance(who, Character):
        fabrication = fabricate_skinned(who, target, printer=printer, infill=infill)
    else:
        fabrication = make(who, target, printer=printer, infill=infill)
    return {
        "path": str(target),
        "holds": fabrication.holds,
        "faults": list(fabrication.faults()),
        "facts": fabrication.facts(),
    }, False
