"""Binary STL of parts: what every slicer reads. Millimetres, one triangle after the other."""

from __future__ import annotations

from pathlib import Path

from bunraku.fabrication.mesh import TriangleMesh
from bunraku.formats import surface_stl
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes


def stl_bytes(mesh: TriangleMesh, title: str = "") -> bytes:
    """The file's content: 80 bytes of title, the number of triangles, and for each its normal and three corners."""
    return surface_stl.stl_bytes(mesh.corners, f"bunraku part, millimetres: {title}")


def write_stl(path: str | Path, mesh: TriangleMesh, title: str = "") -> None:
    """Write a mesh, all at once."""
    write_atomically(path, stl_bytes(mesh, title))


def read_stl(path: str | Path) -> TriangleMesh:
    """The triangles of an STL file; raises BadInput when its length does not fit its number of triangles."""
    return TriangleMesh(surface_stl.read_stl_corners(read_bytes(path), file=str(path)))
