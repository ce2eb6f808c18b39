"""Surfaces by the name of their file: OBJ, STL, PLY, glTF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes
from bunraku.formats.surface_gltf import glb_bytes, gltf_text, read_gltf_surface
from bunraku.formats.surface_obj import obj_bytes, read_obj
from bunraku.formats.surface_ply import ply_bytes, read_ply
from bunraku.formats.surface_stl import read_stl_surface, stl_bytes
from bunraku.geometry.surfaces.surface import Surface

_WRITERS: dict[str, Callable[[Surface], bytes]] = {
    ".obj": obj_bytes,
    ".stl": lambda surface: stl_bytes(surface.corners, "bunraku surface"),
    ".ply": ply_bytes,
    ".glb": glb_bytes,
    ".gltf": gltf_text,
}
SURFACE_SUFFIXES = tuple(_WRITERS)


def read_surface(source: str | Path | bytes, *, file: str = "", scale: float = 1.0) -> Surface:
    """The surface in a file, or in the bytes of one whose name is ``file``; as it stands, not repaired.

    ``scale`` is how many metres a unit of the file has: 0.001 for a file in millimetres.
    """
    if not np.isfinite(scale) or scale <= 0.0:
        raise BadInput(f"the scale {scale:g} is not a positive number; 1 for metres, 0.001 for millimetres")
    name = file or (str(source) if not isinstance(source, bytes) else "surface")
    suffix = _suffix(name)
    data = source if isinstance(source, bytes) else read_bytes(source)
    if suffix == ".obj":
        surface = read_obj(data, file=name)
    elif suffix == ".stl":
        surface = read_stl_surface(data, file=name)
    elif suffix == ".ply":
        surface = read_ply(data, file=name)
    else:
        surface = read_gltf_surface(data, file=name, folder=None if isinstance(source, bytes) else Path(source).parent)
    return surface if scale == 1.0 else surface.moved(lambda points: points * scale)


def surface_bytes(surface: Surface, file: str, *, scale: float = 1.0) -> bytes:
    """The bytes of a file named ``file``; a unit of the file has ``scale`` metres (0.001: millimetres)."""
    suffix = _suffix(file)
    return _WRITERS[suffix](surface if scale == 1.0 else surface.moved(lambda points: points / scale))


def write_surface(path: str | Path, surface: Surface, *, scale: float = 1.0) -> None:
    """Write a surface, whole or not at all; the suffix names the format."""
    write_atomically(path, surface_bytes(surface, str(path), scale=scale))


def _suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix not in _WRITERS:
        raise BadInput(f"surfaces of kind {suffix!r} are not read or written; these are: {', '.join(_WRITERS)}", file=name or None)
    return suffix
