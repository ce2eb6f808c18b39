"""From a skinned character to files: parts and moulds to print, skin pieces to cast, a bill, notes and pictures, all checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.character import Character, SkinMesh
from bunraku.fabrication.checks import check_settings, written_part
from bunraku.fabrication.kit import Part, PrintedPiece, lie_down
from bunraku.fabrication.mesh import TriangleMesh, read_stl, write_stl
from bunraku.fabrication.notes import bill_text
from bunraku.fabrication.shaping import moved, rod_frame, triangles
from bunraku.fabrication.skinned.blocks import divided
from bunraku.fabrication.skinned.drawing import DrawnPart
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.moulds import Mould, make_mould
from bunraku.fabrication.skinned.notes import notes_of
from bunraku.fabrication.skinned.pieces import SkinPiece, skin_pieces
from bunraku.fabrication.skinned.report import (
    CastPiece,
    SkinnedFabrication,
    WrittenPart,
    backed_glue,
    bill_of_skin,
    clashes,
    free_ranges,
    in_the_skin,
    shut_in,
)
from bunraku.fabrication.skinned.shell import printable, skin_shell
from bunraku.fabrication.skinned.skeleton import make_skeleton
from bunraku.formats.atomic import write_atomically
from bunraku.formats.step_file import write_step
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.system.names import refuse_same_file

TOOL_INFILL = 0.15
"""Share of a mould's volume that is filled: walls of the print hold it, the inside need not."""


def fabricate_skinned(
    character: Character,
    folder: str | Path,
    *,
    printer: tuple[float, float, float],
    infill: float = 1.0,
    mesh: SkinMesh | None = None,
    pictures: bool = True,
) -> SkinnedFabrication:
    """Draw, check and write everything needed to make a skinned character.

    ``folder`` gets parts/*.stl and *.step (bay, brackets, links, bracing units), skin/*.stl (pieces to cast), moulds/*.stl (halves
    and cores), bill-of-materials.csv, assembly.md and pictures. ``printer`` is bed and height [mm], ``infill`` the share of a
    part's volume that is filled. Checks are made on the files, read back. ``mesh`` is the skin's where it was not read with the
    character.
    """
    check_settings(printer, infill)
    layout = Layout(character, skin_of(character) if mesh is None else mesh)
    shell = skin_shell(layout.mesh)
    parted = skin_pieces(layout, shell)
    skeleton = make_skeleton(layout, shell, parted, printer)
    refuse_same_file((piece.file for piece in parted.pieces), "pieces of the skin")
    moulds = [make_mould(piece, [hinge.axis for hinge in layout.hinges]) for piece in parted.pieces]
    folder = Path(folder)
    for name in ("parts", "skin", "moulds"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    written = [_written(part, folder, "parts", printer, True) for part in skeleton.parts]
    tools, dowels = _tools(moulds, folder, printer)
    fabrication = SkinnedFabrication(
        character,
        skeleton,
        written,
        tools,
        [_cast(piece, character, folder) for piece in parted.pieces],
        moulds,
        free_ranges(layout, skeleton),
        clashes(skeleton),
        in_the_skin(skeleton, shell.inner),
        float(shell.rubber.volume()),
        printer,
        infill,
        TOOL_INFILL,
        dowels,
        backed_glue(layout, skeleton),
        shut_in(skeleton),
        list(skeleton.faults),
    )
    write_atomically(folder / "bill-of-materials.csv", bill_text(bill_of_skin(fabrication)).encode())
    write_atomically(folder / "assembly.md", notes_of(fabrication).encode())
    if pictures:
        from bunraku.fabrication.skinned.pictures import write_pictures

        write_pictures(fabrication, layout, shell, folder)
    return fabrication


def _local(part: DrawnPart) -> Part:
    """A part in the axes it is printed along, with holes and cases turned alike."""
    R = part.frame.T
    holes = [replace(hole, center=R @ hole.center, axis=R @ hole.axis) for hole in part.holes]
    cases = [(name, moved(case, R, np.zeros(3))) for name, case in part.cases]
    piece = PrintedPiece(part.body, part.kind, "", part.solid, ())
    return Part(part.name, part.kind, moved(part.solid, R, np.zeros(3)), holes, cases, part.notes, [piece])


def _written(drawn: DrawnPart, folder: Path, where: str, printer: tuple[float, float, float], step: bool) -> WrittenPart:
    part = _local(drawn)
    figures = written_part(part, folder / where / part.file, part.name, lie_down(part.mesh(), printer), printer)
    if not step:
        return WrittenPart(part, figures, f"{where}/{part.file}")
    drawing = part.file.removesuffix(".stl") + ".step"
    mesh = part.solid.to_mesh64()
    corners = np.asarray(mesh.vert_properties, dtype=float)[:, :3]
    write_step(folder / where / drawing, corners, np.asarray(mesh.tri_verts, dtype=np.int64), part.name)
    return WrittenPart(part, figures, f"{where}/{part.file}", f"{where}/{drawing}")


def _tools(moulds: list[Mould], folder: Path, printer: tuple[float, float, float]) -> tuple[list[WrittenPart], int]:
    """The parts of all moulds, in blocks where they must be; and the number of pins between blocks."""
    written, dowels = [], 0
    for mould in moulds:
        frame = rod_frame(mould.parting.normal)
        for name, solid in mould.parts:
            blocks, pins = divided(solid, frame, printer)
            dowels += pins
            for number, block in enumerate(blocks, 1):
                full = f"{mould.piece.name} {name}" + (f" {number}" if len(blocks) > 1 else "")
                kind = "core" if name == "core" else "mould"
                written.append(_written(DrawnPart(full, kind, "", printable(block), frame), folder, "moulds", printer, False))
    return written, dowels


def _cast(piece: SkinPiece, character: Character, folder: Path) -> CastPiece:
    file = f"skin/{piece.file}"
    vertices, numbers = triangles(printable(piece.rubber))
    write_stl(folder / file, TriangleMesh(vertices[numbers]), piece.name)
    back = read_stl(folder / file)
    size = back.size()
    first = character.skin.materials[0] if character.skin is not None else ""
    density = next((material.density for material in character.materials if material.name == first), 1100.0)
    mass = back.volume() * 1e-9 * density
    lengths = (float(size[0]), float(size[1]), float(size[2]))
    return CastPiece(piece.name, file, back.volume(), mass, lengths, back.open_edges() == 0, len(piece.rubber.decompose()))
