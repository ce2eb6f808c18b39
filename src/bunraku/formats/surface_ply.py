"""Surfaces in PLY files: text, binary little endian and binary big endian; all but x, y, z and the faces is left out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.files import check_size
from bunraku.formats.mesh_text import MAX_MESH_BYTES, MeshText, triangulated, whole_numbers
from bunraku.formats.places import located
from bunraku.geometry.surfaces.surface import Surface

Rows = list[list[int]] | NDArray[np.int64]
_KINDS = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_LISTS = ("vertex_indices", "vertex_index")


@dataclass
class _Property:
    name: str
    kind: str
    count: str = ""


@dataclass
class _Element:
    name: str
    rows: int
    properties: list[_Property] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        return not any(item.count for item in self.properties)


def read_ply(data: bytes, *, file: str) -> Surface:
    """The surface in the bytes of a PLY file; polygons become triangles."""
    check_size(data, file=file, limit=MAX_MESH_BYTES)
    form, elements, start = _header(data, file)
    vertices: Array = np.zeros((0, 3))
    polygons: Rows = []
    if form == "ascii":
        text = MeshText(data, file=file)
        for _ in range(data.count(b"\n", 0, start)):
            text.line("the header")
        for element in elements:
            vertices, polygons = _kept(element, _text_rows(element, text), vertices, polygons)
    else:
        order = "<" if form == "binary_little_endian" else ">"
        for element in elements:
            rows, start = _binary_rows(element, data, start, order, file)
            vertices, polygons = _kept(element, rows, vertices, polygons)
    if not len(polygons):
        raise BadInput(f"holds no face ({len(vertices)} vertices); a surface needs triangles", file=file, place="line 1")
    return _surface(vertices, polygons, file)


def ply_bytes(surface: Surface) -> bytes:
    """A binary little-endian PLY file with 64-bit coordinates, which come back exactly."""
    rows = np.zeros(len(surface.faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    rows["count"] = 3
    rows["corners"] = surface.faces
    return _head(surface, "binary_little_endian") + surface.vertices.astype("<f8").tobytes() + rows.tobytes()


def _head(surface: Surface, form: str) -> bytes:
    return (
        f"ply\nformat {form} 1.0\nelement vertex {len(surface.vertices)}\nproperty double x\nproperty double y\nproperty double z\n"
        f"element face {len(surface.faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    ).encode("ascii")


def _header(data: bytes, file: str) -> tuple[str, list[_Element], int]:
    """The form, the elements, and the byte where the numbers begin."""
    end = data.find(b"end_header")
    start = data.find(b"\n", end) + 1 if 0 <= end < 100_000 else 0
    if not data.startswith(b"ply") or not start:
        raise BadInput("is no PLY file: it does not begin with 'ply' and a header up to 'end_header'", file=file, place="line 1")
    form, elements = "", []
    for number, line in enumerate(data[:end].decode("latin-1").splitlines(), start=1):
        words = line.split()
        try:
            if not words or words[0] in ("ply", "comment", "obj_info"):
                continue
            if words[0] == "format" and words[1] in ("ascii", "binary_little_endian", "binary_big_endian"):
                form = words[1]
            elif words[0] == "element" and 0 <= int(words[2]) <= len(data):
                elements.append(_Element(words[1], int(words[2])))
            elif words[0] == "property" and words[1] == "list":
                elements[-1].properties.append(_Property(words[4], _KINDS[words[3]], _KINDS[words[2]]))
            elif words[0] == "property":
                elements[-1].properties.append(_Property(words[2], _KINDS[words[1]]))
            else:
                raise ValueError
        except (ValueError, IndexError, KeyError) as error:
            raise BadInput(f"{line[:60]!r} is no line of a PLY header", file=file, place=f"line {number}") from error
    if not form:
        raise BadInput("the header names no format", file=file, place="line 1")
    return form, elements, start


def _kept(element: _Element, rows: dict[str, object], vertices: Array, polygons: Rows) -> tuple[Array, Rows]:
    """The vertices and polygons, with those of this element when it has them."""
    if element.name == "vertex" and all(axis in rows for axis in "xyz"):
        vertices = np.stack([np.asarray(rows[axis], dtype=np.float64) for axis in "xyz"], axis=1)
    elif element.name == "face":
        for name in _LISTS:
            if name in rows:
                polygons = rows[name]  # type: ignore[assignment]
    return vertices, polygons


def _text_rows(element: _Element, text: MeshText) -> dict[str, object]:
    columns: dict[str, list[object]] = {item.name: [] for item in element.properties}
    for _ in range(text.announced(element.rows, f"rows of {element.name}")):
        words = text.filled(element.name).split()
        for item in element.properties:
            take = 1
            if item.count:
                take = whole_numbers(words[:1], text, item.name)[0] if words else -1
                words = words[1:]
            if not 0 <= take <= len(words):
                raise text.wrong(f"a row of {element.name} is too short: {item.name} is missing")
            if item.count:
                columns[item.name].append(whole_numbers(words[:take], text, item.name) if item.name in _LISTS else None)
            else:
                columns[item.name].append(text.decimals(words[:1], item.name)[0])
            words = words[take:]
    return dict(columns)


def _binary_rows(element: _Element, data: bytes, start: int, order: str, file: str) -> tuple[dict[str, object], int]:
    """The columns of an element, and the byte after it. Lists that all have three entries are read at once."""
    if not element.properties or not element.rows:
        return {}, start
    fields: list[tuple[str, object]] = []
    for number, item in enumerate(element.properties):
        if item.count:
            fields += [(f"n{number}", order + item.count), (f"p{number}", (order + item.kind, (3,)))]
        else:
            fields.append((f"p{number}", order + item.kind))
    kind = np.dtype(fields)  # type: ignore[call-overload]
    if start + kind.itemsize * element.rows <= len(data):
        table = np.frombuffer(data, kind, element.rows, start)
        if all((table[f"n{number}"] == 3).all() for number, item in enumerate(element.properties) if item.count):
            with np.errstate(all="ignore"):
                columns = {
                    item.name: table[f"p{number}"].astype(np.int64 if item.count else np.float64)
                    for number, item in enumerate(element.properties)
                    if not item.count or item.name in _LISTS
                }
            return dict(columns), start + kind.itemsize * element.rows
    if element.plain:
        raise BadInput(f"the file ends inside {element.name}; it has been cut short", file=file, place=f"byte {len(data)}")
    return _ragged_rows(element, data, start, order, file)


def _ragged_rows(element: _Element, data: bytes, start: int, order: str, file: str) -> tuple[dict[str, object], int]:
    """The lists of an element whose rows differ in length, one row after the other."""
    lists: dict[str, list[list[int]]] = {item.name: [] for item in element.properties if item.name in _LISTS and item.count}
    for _ in range(element.rows):
        for item in element.properties:
            take = 1
            if item.count:
                kind = np.dtype(order + item.count)
                if start + kind.itemsize > len(data):
                    raise BadInput(f"the file ends inside {element.name}; it has been cut short", file=file, place=f"byte {start}")
                take = int(np.frombuffer(data, kind, 1, start)[0])
                start += kind.itemsize
            kind = np.dtype(order + item.kind)
            if take < 0 or start + take * kind.itemsize > len(data):
                raise BadInput(f"the file ends inside {element.name}; it has been cut short", file=file, place=f"byte {start}")
            if item.name in lists and item.count:
                lists[item.name].append([int(number) for number in np.frombuffer(data, kind, take, start)])
            start += take * kind.itemsize
    return dict(lists), start


def _surface(vertices: Array, polygons: Rows, file: str) -> Surface:
    if not (np.abs(vertices) < 1e12).all():
        row = int(np.argmin((np.abs(vertices) < 1e12).all(axis=1)))
        raise BadInput("has a coordinate that is not finite", file=file, place=f"vertex {row}")
    if isinstance(polygons, list):
        for row, polygon in enumerate(polygons):
            if len(polygon) < 3 or min(polygon) < 0 or max(polygon) >= len(vertices):
                raise BadInput(
                    f"names the vertices {polygon[:8]}; there are 0 to {len(vertices) - 1}", file=file, place=f"face {row}"
                )
        polygons = triangulated(vertices, polygons)
    with located(file, "faces"):
        return Surface(vertices, polygons)
