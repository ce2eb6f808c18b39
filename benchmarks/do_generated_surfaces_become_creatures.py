"""Do surfaces nobody tuned for become skinned creatures, with no hand on them?

    python benchmarks/do_generated_surfaces_become_creatures.py [SEED ...] [--template NAME] [--length METRES] [-o DIR] [--json]

Four-legged creatures by seed (`_surfaces.random_quadruped`) are written to STL, OBJ, PLY and glTF files, one with a
hole and one with faces turned over, and each file goes through scripts/skin_a_surface.py: repair, skeleton line, mechanism, folds,
soles, skin, character. Then the files that were written are read back. Bars: both sides of the skin watertight, in one piece, of
genus 0 and without crossings; thickness at least 85 % of nominal; least dihedral angle of the cells in the skin's file at least
8 deg; the character reads with its skin. "inside" is the least distance from a vertex of the inner side to the outer side [mm].
Two surfaces that cannot be used, one with a large hole and one with three legs, are to be refused by name.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from _surfaces import limb_surface, quadruped_limbs, random_quadruped
from bunraku.formats.character_yaml import read_character_yaml
from bunraku.formats.skin_file import read_skin
from bunraku.formats.surface_file import read_surface, write_surface
from bunraku.geometry.shells.quality import dihedral_angles
from bunraku.geometry.surfaces.checks import check_surface
from bunraku.geometry.surfaces.distance import closest_points, inside
from bunraku.geometry.surfaces.mending import merged
from bunraku.geometry.surfaces.surface import Surface

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "skin_a_surface.py"
SEEDS = (2001, 2002, 2003, 2004, 2005)
SUFFIXES = (".stl", ".obj", ".ply", ".glb", ".obj")
THICKNESS = 0.004


def holed(surface: Surface, radius: float, at: int) -> Surface:
    """Without the faces within ``radius`` [m] of vertex ``at``."""
    away = np.linalg.norm(surface.corners.mean(axis=1) - surface.vertices[at], axis=1)
    return surface.part(away > radius)


def turned(surface: Surface, every: int) -> Surface:
    """With every so many-th face turned over."""
    faces = surface.faces.copy()
    faces[::every] = faces[::every, ::-1]
    return Surface(surface.vertices, faces)


def damaged(surface: Surface, number: int) -> tuple[Surface, str]:
    """The surface of that number in the row as it is written: the third has a hole, the fifth some faces turned over."""
    if number == 2:
        return holed(surface, 0.012, int(np.argmax(surface.vertices[:, 2]))), "hole of 24 mm"
    if number == 4:
        return turned(surface, 997), "faces turned over"
    return surface, "sound"


def through(file: Path, template: str, folder: Path) -> tuple[dict[str, Any], str]:
    """The figures of a file put through the script, or none and the reason why it was refused."""
    command = [sys.executable, str(SCRIPT), str(file), template, "-o", str(folder), "--thickness", str(THICKNESS), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {}, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), ""


def read_back(name: str, folder: Path) -> dict[str, Any]:
    """What the written files show, measured apart from what made them."""
    character = read_character_yaml((folder / f"{name}.character.yaml").read_bytes(), file=name, folder=folder)
    mesh = read_skin((folder / f"{name}.skin.npz").read_bytes(), file=name)
    outer, inner = (merged(read_surface(folder / f"{name}.{side}.stl"), 1e-8)[0] for side in ("outer", "inner"))
    reports = [check_surface(side) for side in (outer, inner)]
    return {
        "sound": all(report.sound and report.components == 1 and report.genus == (0,) for report in reports),
        "faults": "; ".join(filter(None, (report.faults() for report in reports))),
        "dihedral_in_file_deg": float(np.degrees(dihedral_angles(mesh.nodes[mesh.cells[:, :4]]).min())),
        "nested": bool(inside(outer, inner.vertices).all()),
        "inside_mm": 1e3 * float(closest_points(outer, inner.vertices)[0].min()),
        "reads": character.skin is not None and bool(character.skin.digest),
    }


def missed(row: dict[str, Any]) -> list[str]:
    """The bars a row misses."""
    told = (
        [] if row["sound"] and row["nested"] and row["genus"] == 0 else [f"the sides of the skin: {row['faults'] or 'not nested'}"]
    )
    told += [] if row["least_thickness"] >= 0.85 else [f"thickness {row['least_thickness']:.2f} of nominal, bar 0.85"]
    least = min(row["least_dihedral_deg"], row["dihedral_in_file_deg"])
    told += [] if least >= 8.0 else [f"dihedral angle {least:.2f} deg, bar 8"]
    return told + ([] if row["reads"] else ["the character does not read with its skin"])


def refusals(folder: Path, template: str, length: float) -> list[tuple[str, str]]:
    """What is said of a surface with a large hole and of one with three legs; empty when it went through."""
    whole = random_quadruped(SEEDS[0], length=length)
    limbs = quadruped_limbs(SEEDS[0], length=length)
    del limbs["fl"]
    rows = {
        "large hole": holed(whole, 0.12 * length, int(np.argmax(whole.vertices[:, 2]))),
        "three legs": limb_surface(list(limbs.values()), spacing=0.01, blend=0.06 * length, ground=True),
    }
    found = []
    for name, surface in rows.items():
        file = folder / f"{name.replace(' ', '_')}.stl"
        write_surface(file, surface)
        found.append((name, through(file, template, folder)[1]))
    return found


def show(row: dict[str, Any]) -> str:
    """A row of the table."""
    size = " x ".join(f"{x:.2f}" for x in row["size_m"])
    return (
        f"{row['name']:6} {row['file']:5} {row['damage']:18} {size:19} {row['joints']:3d} {row['nodes']:7,d} "
        f"{row['least_thickness']:6.3f} {row['thinned_vertices']:5d} {row['inside_mm']:6.2f} {row['least_dihedral_deg']:6.2f} "
        f"{'yes' if row['sound'] and row['nested'] else 'NO':>5} {len(row['through_the_skin']):5d} {row['cpu_s']:6.0f}"
    )


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--template", default="monster")
    parser.add_argument("--length", type=float, default=0.9, help="of torso and head [m]")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows, told = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.output or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print("seed   file  damage             size [m]            dof   nodes  thick  thin inside   dihedral sound through CPU s")
        for seed in given.seeds:
            number = SEEDS.index(seed) if seed in SEEDS else 0
            surface, damage = damaged(random_quadruped(seed, length=given.length), number)
            file = folder / f"q{seed}{SUFFIXES[number]}"
            write_surface(file, surface)
            row, reason = through(file, given.template, folder)
            if not row:
                told.append(f"{seed}: {reason}")
                print(f"q{seed}: {reason}", flush=True)
                continue
            rows.append({**row, "file": file.suffix[1:], "damage": damage, **read_back(f"q{seed}", folder)})
            told += [f"{seed}: {reason}" for reason in missed(rows[-1])]
            print(show(rows[-1]), flush=True)
        refused = refusals(folder, given.template, given.length)
    told += [f"the surface with a {name} was not refused" for name, reason in refused if not reason]
    for name, reason in refused:
        print(f"{name}: {reason or 'went through'}")
    if given.json:
        print(json.dumps({"rows": rows, "refused": refused, "missed": told}))
    print("\n".join(f"MISSED {reason}" for reason in told) or "every bar is met")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
