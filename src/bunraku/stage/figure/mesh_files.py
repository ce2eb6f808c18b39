"""Meshes of shapes that are files, as far as they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.files import read_reference
from bunraku.formats.places import Where
from bunraku.formats.surface_file import SURFACE_SUFFIXES, read_surface

MeshArrays = tuple[NDArray[np.float32], NDArray[np.int32]]

MAX_MESH_BYTES = 64 * 1024 * 1024
"""The largest mesh that is read to be drawn."""


def meshes_of(character: Character, folder: Path | None) -> tuple[dict[str, MeshArrays], tuple[str, ...]]:
    """Vertices (v, 3) and faces (f, 3) by file, and a note on each file that cannot be drawn.

    Files are looked for below ``folder``; a leading ``package://`` or ``file://`` is taken as naming that folder.
    """
    found: dict[str, MeshArrays] = {}
    notes = []
    files = dict.fromkeys(shape.file or "" for body in character.bodies for shape in body.shapes if shape.kind == "mesh")
    for file in files:
        try:
            found[file] = _read(character, file, folder)
        except BadInput as error:
            notes.append(f"the mesh {file[:80]!r} is not drawn: {error}")
    return found, tuple(notes)


def _read(character: Character, file: str, folder: Path | None) -> MeshArrays:
    if folder is None:
        raise BadInput("its folder is not known")
    if Path(file).suffix.lower() not in SURFACE_SUFFIXES:
        raise BadInput(f"only {', '.join(SURFACE_SUFFIXES)} are read")
    name = file.removeprefix("package://").removeprefix("file://")
    data = read_reference(name, folder, Where(character.name), limit=MAX_MESH_BYTES)
    surface = read_surface(data, file=name)
    return surface.vertices.astype(np.float32), surface.faces.astype(np.int32)
