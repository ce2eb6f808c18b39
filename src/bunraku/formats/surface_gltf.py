"""Surfaces in glTF 2.0 files (``.gltf`` and ``.glb``): the triangles of all meshes of the scene, each where its node puts it.

Axes (y up, z forward) become z up, x forward. Lengths are metres by the standard, coordinates have 32 bits. Skins and morph targets
are not applied: the surface is that of the rest pose as stored.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.formats.files import check_size
from bunraku.formats.gltf_accessors import GltfFile, GltfNode, GltfPrimitive
from bunraku.formats.gltf_animation import glb
from bunraku.formats.places import located
from bunraku.formats.poses import vectors_z_up
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.geometry.surfaces.surface import Surface

_MAX_FACES = 10_000_000


def read_gltf_surface(data: bytes, *, file: str, folder: Path | None = None) -> Surface:
    """The triangles of the scene as one surface, z up; mirrored nodes keep their normals outwards."""
    check_size(data, file=file)
    gltf = GltfFile(data, file=file, folder=folder)
    if gltf.document.extensionsRequired:
        name = gltf.document.extensionsRequired[0][:60]
        raise gltf.wrong(f"needs the extension {name!r}, which is not read; export it without compression", "extensionsRequired")
    vertices: list[Array] = []
    faces: list[Indices] = []
    start, total = 0, 0
    for node, pose in _placed(gltf):
        mesh = gltf.document.nodes[node].mesh
        if mesh is None:
            continue
        if mesh >= len(gltf.document.meshes):
            raise gltf.wrong(f"the mesh {mesh} does not exist", f"nodes[{node}].mesh")
        for number, primitive in enumerate(gltf.document.meshes[mesh].primitives):
            points, triangles = _primitive(gltf, primitive, f"meshes[{mesh}].primitives[{number}]")
            if np.linalg.det(pose[:3, :3]) < 0.0:
                triangles = triangles[:, ::-1]
            vertices.append(points @ pose[:3, :3].T + pose[:3, 3])
            faces.append(triangles + start)
            start, total = start + len(points), total + len(triangles)
            if max(start, total) > _MAX_FACES:
                raise gltf.wrong(f"the scene has more than {_MAX_FACES} triangles", f"nodes[{node}].mesh")
    if not total:
        raise gltf.wrong("the scene holds no triangle; a surface needs some", "meshes")
    with located(file, "meshes"):
        return Surface(vectors_z_up(np.concatenate(vertices)), np.concatenate(faces))


def glb_bytes(surface: Surface) -> bytes:
    """A binary glTF file of the surface, its axes turned to y up, z forward."""
    document, binary = _document(surface)
    return glb(document, binary)


def gltf_text(surface: Surface) -> bytes:
    """A glTF file in text with its numbers inside."""
    document, binary = _document(surface)
    document["buffers"] = [
        {"byteLength": len(binary), "uri": "data:application/octet-stream;base64," + base64.b64encode(binary).decode()}
    ]
    return json.dumps(document, indent=1).encode("ascii")


def _document(surface: Surface) -> tuple[dict[str, object], bytes]:
    points = surface.vertices[:, [1, 2, 0]].astype("<f4")
    indices = surface.faces.astype("<u4").ravel()
    accessors = [
        {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"},
        {"bufferView": 1, "componentType": 5125, "count": len(indices), "type": "SCALAR"},
    ]
    accessors[0] |= {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()}
    first, second = points.tobytes(), indices.tobytes()
    document: dict[str, object] = {
        "asset": {"version": "2.0", "generator": "bunraku"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": accessors,
        "bufferViews": [
            {"buffer": 0, "byteLength": len(first), "target": 34962},
            {"buffer": 0, "byteOffset": len(first), "byteLength": len(second), "target": 34963},
        ],
        "buffers": [{"byteLength": len(first) + len(second)}],
    }
    return document, first + second


def _placed(gltf: GltfFile) -> list[tuple[int, Array]]:
    """The nodes of the scene (or all, when there is none) with their poses (4, 4) in the world, scale included."""
    nodes = gltf.document.nodes
    child = {index for node in nodes for index in node.children}
    roots = [index for index in range(len(nodes)) if index not in child]
    if gltf.document.scenes:
        number = gltf.document.scene or 0
        if number >= len(gltf.document.scenes):
            raise gltf.wrong(f"the scene {number} does not exist", "scene")
        roots = gltf.document.scenes[number].nodes
    placed: list[tuple[int, Array]] = []
    seen: set[int] = set()
    stack = [(index, np.eye(4)) for index in reversed(roots)]
    while stack:
        index, above = stack.pop()
        if index >= len(nodes) or index in seen:
            raise gltf.wrong(f"the node {index} does not exist or stands in two places; a tree is needed", "nodes")
        seen.add(index)
        pose = above @ _pose(nodes[index])
        if not np.abs(pose).max() < 1e12:
            raise gltf.wrong("the node is too far away or too large", f"nodes[{index}]")
        placed.append((index, pose))
        stack += [(number, pose) for number in reversed(nodes[index].children)]
    return placed


def _pose(node: GltfNode) -> Array:
    if node.matrix is not None:
        return np.array(node.matrix).reshape(4, 4).T
    quaternion = np.array(node.rotation)[[3, 0, 1, 2]]
    length = float(np.linalg.norm(quaternion))
    pose = np.eye(4)
    pose[:3, :3] = (matrix_of_quaternion(quaternion / length) if length > 1e-6 else np.eye(3)) * np.array(node.scale)
    pose[:3, 3] = node.translation
    return pose


def _primitive(gltf: GltfFile, primitive: GltfPrimitive, place: str) -> tuple[Array, Indices]:
    """The points (n, 3) and triangles (m, 3) of a primitive; points and lines have none."""
    if primitive.mode < 4:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    if "POSITION" not in primitive.attributes:
        raise gltf.wrong("has no POSITION", place)
    points = gltf.numbers(primitive.attributes["POSITION"], place)
    if points.shape[1] != 3:
        raise gltf.wrong(f"its positions have {points.shape[1]} parts; 3 are needed", place)
    order = np.arange(len(points)) if primitive.indices is None else gltf.indices(primitive.indices, place)
    if order.size and order.max() >= len(points):
        raise gltf.wrong(f"names the vertex {order.max()}; there are {len(points)}", place)
    if primitive.mode == 4:
        if len(order) % 3:
            raise gltf.wrong(f"{len(order)} corners are no whole number of triangles", place)
        return points, order.reshape(-1, 3)
    if len(order) < 3:
        return points, np.zeros((0, 3), dtype=np.int64)
    if primitive.mode == 6:
        return points, np.stack([np.full(len(order) - 2, order[0]), order[1:-1], order[2:]], axis=1)
    strip = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
    strip[1::2] = strip[1::2][:, [1, 0, 2]]
    return points, strip
