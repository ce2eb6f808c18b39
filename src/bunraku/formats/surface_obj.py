"""Surfaces in Wavefront OBJ files: vertices and polygons; texture, normals, groups and materials are left out."""

from __future__ import annotations

import numpy as np

from bunraku.formats.mesh_text import MeshText, triangulated, whole_numbers
from bunraku.formats.places import located
from bunraku.geometry.surfaces.surface import Surface

_CURVES = ("cstype", "deg", "bmat", "step", "curv", "curv2", "surf", "parm", "trim", "hole", "scrv", "sp", "end", "con")
_LEFT_OUT = frozenset(("vt", "vn", "vp", "g", "o", "s", "mg", "l", "p", "usemtl", "mtllib", "usemap", "maplib", "lod", *_CURVES))


def read_obj(data: bytes, *, file: str) -> Surface:
    """The surface in the bytes of an OBJ file; polygons become triangles, negative numbers count back from the last vertex."""
    text = MeshText(data, file=file)
    vertices: list[list[float]] = []
    polygons: list[list[int]] = []
    while text.left:
        words = text.line("a line").split("#", 1)[0].split()
        while words and words[-1] == "\\" and text.left:
            words = words[:-1] + text.line("the rest of a line").split()
        if not words or words[0] in _LEFT_OUT:
            continue
        if words[0] == "v":
            if len(words) < 4:
                raise text.wrong(f"a vertex has {len(words) - 1} coordinates; 3 are needed")
            vertices.append(text.decimals(words[1:4], "a vertex"))
        elif words[0] == "f":
            polygons.append(_polygon(words[1:], len(vertices), text))
        else:
            raise text.wrong(f"{words[0][:40]!r} is no keyword of an OBJ file")
    if not polygons:
        raise text.wrong(f"there is no face ({len(vertices)} vertices); a surface needs triangles")
    points = np.array(vertices).reshape(-1, 3)
    with located(file, text.place):
        return Surface(points, triangulated(points, polygons))


def obj_bytes(surface: Surface) -> bytes:
    """The bytes of an OBJ file; every number is written with the digits that bring it back exactly."""
    lines = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in surface.vertices.tolist()]
    lines += [f"f {a} {b} {c}\n" for a, b, c in (surface.faces + 1).tolist()]
    return "".join(lines).encode("ascii")


def _polygon(words: list[str], vertices: int, text: MeshText) -> list[int]:
    if len(words) < 3:
        raise text.wrong(f"a face has {len(words)} corners; 3 or more are needed")
    numbers = whole_numbers([word.split("/", 1)[0] for word in words], text, "a face")
    corners = [number - 1 if number > 0 else vertices + number for number in numbers]
    for number, place in zip(numbers, corners, strict=True):
        if number == 0 or not 0 <= place < vertices:
            raise text.wrong(f"a face names the vertex {number}; {vertices} vertices stand before it, numbered from 1")
    return corners
