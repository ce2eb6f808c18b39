"""Surfaces in STL files, binary and text: triangles one after the other, each with its own three corners."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.files import check_size
from bunraku.formats.mesh_text import MAX_MESH_BYTES, MeshText
from bunraku.geometry.surfaces.surface import Surface

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl_surface(data: bytes, *, file: str) -> Surface:
    """The surface in the bytes of an STL file; corners with the same 32-bit coordinates are one vertex."""
    corners = read_stl_corners(data, file=file)
    if not len(corners):
        raise BadInput("holds no triangle; a surface needs some", file=file, place="byte 80")
    flat = corners.reshape(-1, 3) + 0.0
    _, first, numbers = np.unique(flat.astype(np.float32), axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return Surface(flat[np.sort(first)], order[np.asarray(numbers).reshape(-1, 3)])


def read_stl_corners(data: bytes, *, file: str) -> Array:
    """The corners (m, 3, 3) of the triangles of an STL file, binary or text; BadInput when it is neither."""
    check_size(data, file=file, limit=MAX_MESH_BYTES)
    count = int(np.frombuffer(data, "<u4", 1, 80)[0]) if len(data) >= 84 else -1
    if count >= 0 and len(data) == 84 + _RECORD.itemsize * count:
        with np.errstate(all="ignore"):
            corners = np.frombuffer(data, _RECORD, count, 84)["corners"].astype(np.float64)
        wrong = ~(np.abs(corners) < 1e12).all(axis=(1, 2))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise BadInput(f"triangle {row} has a coordinate that is not finite", file=file, place=f"byte {84 + 50 * row}")
        return corners
    if data.lstrip()[:5].lower() == b"solid":
        return _text_corners(MeshText(data, file=file))
    raise BadInput("no binary STL: its length does not fit its number of triangles; export it again", file=file, place="byte 80")


def stl_bytes(corners: Array, head: str) -> bytes:
    """A binary STL file: 80 bytes of title, the number of triangles, and for each its normal and three corners (m, 3, 3).

    The title must not begin with "solid", which some readers take for the text form.
    """
    corners = corners.astype(np.float32).astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    records = np.zeros(len(corners), dtype=_RECORD)
    records["normal"] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    records["corners"] = corners
    title = head.encode("ascii", "replace")[:80].ljust(80, b" ")
    return title + np.uint32(len(corners)).astype("<u4").tobytes() + records.tobytes()


def _text_corners(text: MeshText) -> Array:
    text.line("solid")
    corners: list[list[float]] = []
    before = 0
    while text.left:
        words = text.line("a line").lower().split()
        if not words or words[0] in ("solid", "endsolid", "outer"):
            continue
        if words[0] == "facet":
            before = len(corners)
        elif words[0] == "vertex":
            if len(words) != 4:
                raise text.wrong(f"a vertex has {len(words) - 1} coordinates; 3 are needed")
            corners.append(text.decimals(words[1:], "a vertex"))
        elif words[0] in ("endloop", "endfacet"):
            if len(corners) != before + 3:
                raise text.wrong(f"a facet has {len(corners) - before} vertices; 3 are needed")
        else:
            raise text.wrong(f"{words[0][:40]!r} is no keyword of a text STL file, and its length does not fit a binary one")
    if len(corners) % 3:
        raise text.wrong("the file ends inside a facet; it has been cut short")
    return np.array(corners).reshape(-1, 3, 3)
