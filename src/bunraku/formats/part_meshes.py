"""The meshes of a character's flexible parts: read beside the character file, quadratic, with the patches its parts name.

gmsh (.msh) and VTK (.vtk, .vtu) files hold tetrahedra. Linear ones become quadratic with straight edges: linear cells are far too
stiff in bending.
"""

from __future__ import annotations

from pathlib import Path

from bunraku.character import Character, FlexiblePart
from bunraku.errors import BadInput
from bunraku.formats.files import read_reference
from bunraku.formats.gmsh_mesh import read_gmsh
from bunraku.formats.mesh_text import MAX_MESH_BYTES
from bunraku.formats.places import Where, known_names
from bunraku.formats.vtk_mesh import read_vtk, read_vtu
from bunraku.geometry.tet_mesh import TetMesh, quadratic
from bunraku.mechanics.elastic.known_meshes import KNOWN_MESHES

MESH_READERS = {".msh": read_gmsh, ".vtk": read_vtk, ".vtu": read_vtu}
SURFACES = (".stl", ".obj", ".ply", ".off", ".3mf")


def read_part_meshes(character: Character, folder: Path, *, where: Where | None = None) -> dict[str, TetMesh]:
    """The mesh of every flexible part whose shape is a file, by the part's name.

    Files are read from ``folder`` and nowhere else.
    """
    top = Where(character.name) if where is None else where
    ready = [(i, part) for i, part in enumerate(character.flexibles) if part.shape.kind == "mesh"]
    return {part.name: _mesh(part, folder, top.at("flexibles", i, "shape", "file")) for i, part in ready}


def with_meshes(character: Character, folder: Path, *, where: Where | None = None) -> Character:
    """The character with its meshes read and the ``digest`` of each noted, so that they are found wherever it is computed with."""
    meshes = read_part_meshes(character, folder, where=where)
    if not meshes:
        return character
    digests = {name: KNOWN_MESHES.remember(mesh) for name, mesh in meshes.items()}
    parts = [
        part.changed(shape=part.shape.changed(digest=digests[part.name])) if part.name in digests else part
        for part in character.flexibles
    ]
    return character.changed(flexibles=tuple(parts))


def _mesh(part: FlexiblePart, folder: Path, where: Where) -> TetMesh:
    name = part.shape.file or ""
    suffix = Path(name).suffix.lower()
    if suffix in SURFACES:
        raise where.wrong(
            f"the mesh of the flexible part {part.name!r} is {name!r}, a surface; tetrahedra are needed: fill it, for example with "
            f"gmsh -3 {Path(name).name} -order 2 -o {Path(name).stem}.msh, and name the interfaces as physical surfaces"
        )
    if suffix not in MESH_READERS:
        raise where.wrong(f"a mesh of kind {suffix!r} is not read; these are: {', '.join(sorted(MESH_READERS))}")
    data = read_reference(name, folder, where, limit=MAX_MESH_BYTES)
    try:
        mesh = quadratic(MESH_READERS[suffix](data, file=name))
    except BadInput as error:
        raise where.wrong(f"the flexible part {part.name!r}: {error}") from error
    for patch in (part.base_patch, *(child.patch for child in part.children)):
        if patch not in mesh.patches:
            raise where.wrong(
                f"the mesh {name!r} of the flexible part {part.name!r} has no patch {patch!r}; {known_names(patch, mesh.patches)}"
            )
    return mesh
