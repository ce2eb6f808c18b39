"""Make a skinned creature from a surface in a file: OBJ, STL, PLY, glTF; closed or nearly so, four legs, z up, facing x.

    python scripts/skin_a_surface.py SURFACE TEMPLATE -o DIR     # TEMPLATE: monster, beetle, lizard

Writes NAME.character.yaml, NAME.skin.npz, and the two sides of the skin to mould it from: NAME.outer.stl and NAME.inner.stl [m].
The surface is repaired first, or refused with the reason.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.building.creatures.mechanism import TEMPLATES
from bunraku.building.creatures.pipeline import DesignedCreature, design_creature
from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.errors import BunrakuError
from bunraku.formats.atomic import write_atomically
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.skin_file import write_skin
from bunraku.formats.surface_file import read_surface, write_surface
from bunraku.geometry.shells.shell import shell_quality
from bunraku.geometry.surfaces.repair import repaired
from bunraku.geometry.surfaces.surface import Surface


def write(made: DesignedCreature, folder: Path) -> list[Path]:
    """The files of a creature."""
    name, shell = made.character.name, made.shell
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}{end}" for end in (".character.yaml", ".skin.npz", ".outer.stl", ".inner.stl")]
    write_skin(made.mesh, files[1])
    write_atomically(files[0], write_character_yaml(made.character).encode())
    for file, points in zip(files[2:], (shell.outer, shell.inner), strict=True):
        write_surface(file, Surface(points, shell.faces))
    return files


def figures(made: DesignedCreature, notes: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """What came out, in numbers."""
    quality = shell_quality(made.shell)
    return {
        "name": made.character.name,
        "repairs": list(notes),
        "size_m": np.ptp(made.mesh.nodes, axis=0).round(4).tolist(),
        "joints": len(made.character.motors),
        "nodes": len(made.mesh.nodes),
        "glue": len(made.mesh.glue_node),
        "genus": quality.genus,
        "crossings": quality.crossings,
        "least_thickness": quality.thinnest,
        "thinned_vertices": quality.thinned,
        "least_dihedral_deg": float(np.degrees(quality.least_angle)),
        "through_the_skin": [f"{part.part} of {part.body}: {-1e3 * part.room:.1f} mm" for part in made.collisions],
        "cpu_s": seconds,
    }


def main() -> int:
    """Make one creature; 1 when the surface is refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("surface", type=Path)
    parser.add_argument("template", choices=list(TEMPLATES))
    parser.add_argument("-o", "--output", type=Path, default=Path())
    parser.add_argument("--name", help="of the creature; that of the file if left out")
    parser.add_argument("--scale", type=float, default=1.0, help="metres a unit of the file has")
    parser.add_argument("--thickness", type=float, default=0.004, help="of the skin [m]")
    parser.add_argument("--glue", type=int, default=160, help="nodes of the skin that are glued to the mechanism")
    parser.add_argument("--mass", type=float, help="of the whole [kg]")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    started = time.process_time()
    try:
        mended = repaired(read_surface(given.surface, scale=given.scale))
        name = given.name or given.surface.stem
        recipe = SkinRecipe(given.template, name, given.thickness, given.glue, given.mass or 0.0)
        made = design_creature(mended.surface, recipe)
    except BunrakuError as error:
        print(f"{given.surface.name} is refused: {error}", file=sys.stderr)
        return 1
    found = figures(made, mended.notes, time.process_time() - started)
    files = write(made, given.output)
    if given.json:
        print(json.dumps(found))
        return 0
    for key, value in found.items():
        print(f"{key:20} {'; '.join(map(str, value)) or 'none' if isinstance(value, list) else value}")
    print("written:", *(file.name for file in files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
