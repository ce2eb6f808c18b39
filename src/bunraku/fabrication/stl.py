"""Binary STL: what every slicer reads. Millimetres, one triangle after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.errors import BadInput
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.formats.atomic import write_atomically

__all__ = ["read_stl", "stl_bytes", "write_stl"]

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def stl_bytes(mesh: TriangleMesh, title: str = "") -> bytes:
    """The file's content: 80 bytes of title, the number of triangles, and for each its normal and three corners."""
    corners = mesh.corners.astype("<f4")
    normals = np.cross(mesh.corners[:, 1] - mesh.corners[:, 0], mesh.corners[:, 2] - mesh.corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    records = np.zeros(len(corners), dtype=_RECORD)
    records["normal"] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    records["corners"] = corners
    head = f"bunraku part, millimetres: {title}".encode("ascii", "replace")[:80].ljust(80, b" ")
    return head + np.uint32(len(corners)).astype("<u4").tobytes() + records.tobytes()


def write_stl(path: str | Path, mesh: TriangleMesh, title: str = "") -> None:
    """Write a mesh, all at once."""
    write_atomically(path, stl_bytes(mesh, title))


def read_stl(path: str | Path) -> TriangleMesh:
    """The triangles of a binary STL file; raises BadInput when its length does not fit its number of triangles."""
    data = Path(path).read_bytes()
    count = int(np.frombuffer(data, "<u4", 1, 80)[0]) if len(data) >= 84 else -1
    if len(data) != 84 + _RECORD.itemsize * count:
        raise BadInput("no binary STL: its length does not fit its number of triangles; export it again as binary", file=str(path))
    return TriangleMesh(np.frombuffer(data, _RECORD, count, 84)["corners"].astype(float))
