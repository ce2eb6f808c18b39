"""Moving nodes as a binary glTF 2.0 file (``.glb``), as Blender and others read it.

Lengths are metres, axes y up and z forward, rotations quaternions (x, y, z, w), numbers of 32 bits; every sample is a key, LINEAR
between them. What does not move has its pose and no key.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.poses import rotations_y_up, vectors_y_up
from bunraku.geometry.rotations import quaternion_of_matrix

Color = tuple[float, float, float, float]

_FLOAT, _INDEX = 5126, 5125
_STILL = 1e-9


@dataclass(frozen=True, eq=False)
class NodeMesh:
    """Triangles in the frame of their node: ``vertices`` (v, 3) [m], ``faces`` (f, 3), ``color`` red, green, blue, opacity."""

    vertices: Array
    faces: NDArray[np.int64]
    color: Color


@dataclass(frozen=True, eq=False)
class MovingNode:
    """A node under ``parent`` (its place in the list, -1: none): ``translations`` (n, 3) [m] and ``rotations`` (n, 3, 3) in it."""

    name: str
    parent: int
    translations: Array
    rotations: Array
    meshes: tuple[NodeMesh, ...] = ()


def animation_glb(nodes: Sequence[MovingNode], rate: float, *, name: str, extras: Mapping[str, Any] | None = None) -> bytes:
    """The file; sample k is at the time k / ``rate`` [s]. ``name`` is that of the animation, ``extras`` what goes with it."""
    if not nodes:
        raise BadInput("there is no body to move; glTF needs a node")
    file = _Buffer()
    times = file.add(np.arange(len(nodes[0].translations)) / rate, "SCALAR", bounds=True)
    written: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    meshes: list[dict[str, Any]] = []
    colors: list[Color] = []
    for index, node in enumerate(nodes):
        places = vectors_y_up(node.translations)
        turns = _continuous(quaternion_of_matrix(rotations_y_up(node.rotations)))[:, [1, 2, 3, 0]]
        entry: dict[str, Any] = {"name": node.name, "translation": places[0].tolist(), "rotation": turns[0].tolist()}
        below = [child for child, other in enumerate(nodes) if other.parent == index]
        entry |= {"children": below} if below else {}
        for path, values, form in (("translation", places, "VEC3"), ("rotation", turns, "VEC4")):
            if np.abs(values - values[0]).max() > _STILL:
                channels.append({"sampler": len(samplers), "target": {"node": index, "path": path}})
                samplers.append({"input": times, "output": file.add(values, form), "interpolation": "LINEAR"})
        if node.meshes:
            entry["mesh"] = len(meshes)
            meshes.append({"name": node.name, "primitives": [_primitive(file, mesh, colors) for mesh in node.meshes]})
        written.append(entry)
    if not channels:
        channels.append({"sampler": 0, "target": {"node": 0, "path": "translation"}})
        still = np.repeat(np.array([written[0]["translation"]]), len(nodes[0].translations), axis=0)
        samplers.append({"input": times, "output": file.add(still, "VEC3"), "interpolation": "LINEAR"})
    animation = {"name": name, "channels": channels, "samplers": samplers} | ({"extras": dict(extras)} if extras else {})
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "bunraku"},
        "scene": 0,
        "scenes": [{"name": name, "nodes": [index for index, node in enumerate(nodes) if node.parent < 0]}],
        "nodes": written,
        "animations": [animation],
    }
    if meshes:
        document |= {"meshes": meshes, "materials": [_material(color) for color in colors]}
    return file.glb(document)


class _Buffer:
    """The binary part of the file, with its views and accessors."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._views: list[dict[str, int]] = []
        self._accessors: list[dict[str, Any]] = []

    def add(self, values: NDArray[Any], form: str, *, kind: int = _FLOAT, bounds: bool = False) -> int:
        """Write numbers and return the index of their accessor."""
        small = np.ascontiguousarray(values, dtype="<f4" if kind == _FLOAT else "<u4")
        self._views.append({"buffer": 0, "byteOffset": len(self._data), "byteLength": small.nbytes})
        accessor = {"bufferView": len(self._views) - 1, "componentType": kind, "count": len(small), "type": form}
        if bounds:
            rows = small.reshape(len(small), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self._accessors.append(accessor)
        self._data += small.tobytes()
        return len(self._accessors) - 1

    def glb(self, document: dict[str, Any]) -> bytes:
        """The whole file of a ``document`` without its buffer."""
        document |= {"accessors": self._accessors, "bufferViews": self._views, "buffers": [{"byteLength": len(self._data)}]}
        return glb(document, bytes(self._data))


def glb(document: dict[str, Any], binary: bytes) -> bytes:
    """The bytes of a binary glTF file: head, JSON part, binary part."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(binary))
    parts = [head, struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", len(binary), b"BIN\0"), binary]
    return b"".join(parts)


def _continuous(quaternions: Array) -> Array:
    """The same rotations with signs such that neighbours are near each other: readers go the short way between keys anyway."""
    flips = np.where(np.einsum("ni,ni->n", quaternions[1:], quaternions[:-1]) < 0.0, -1.0, 1.0)
    return quaternions * np.concatenate([[1.0], np.cumprod(flips)])[:, None]


def _primitive(file: _Buffer, mesh: NodeMesh, colors: list[Color]) -> dict[str, Any]:
    if mesh.color not in colors:
        colors.append(mesh.color)
    points = file.add(vectors_y_up(mesh.vertices), "VEC3", bounds=True)
    corners = file.add(mesh.faces.ravel(), "SCALAR", kind=_INDEX)
    return {"attributes": {"POSITION": points}, "indices": corners, "material": colors.index(mesh.color)}


def _material(color: Color) -> dict[str, Any]:
    surface = {"baseColorFactor": list(color), "metallicFactor": 0.0, "roughnessFactor": 0.8}
    return {"pbrMetallicRoughness": surface} | ({"alphaMode": "BLEND"} if color[3] < 1.0 else {})
