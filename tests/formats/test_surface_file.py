"""Surfaces in files: exact round trips, forms written by others, refusals with their place."""

from __future__ import annotations

import base64
import json
import random
import struct
from pathlib import Path

import numpy as np
import pytest

from _surfaces import box, torus
from bunraku.errors import BadInput
from bunraku.formats.surface_file import SURFACE_SUFFIXES, read_surface, surface_bytes, write_surface
from bunraku.formats.surface_stl import stl_bytes
from bunraku.geometry.surfaces.surface import Surface

RING = torus(0.3, 0.1, 14, 7).moved(lambda points: points + np.array([1 / 3, -2 / 7, 0.1]))
CUBE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"


def ply_text(surface: Surface) -> bytes:
    head = f"ply\nformat ascii 1.0\nelement vertex {len(surface.vertices)}\n" + "".join(f"property double {c}\n" for c in "xyz")
    head += f"element face {len(surface.faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = [f"{x!r} {y!r} {z!r}\n" for x, y, z in surface.vertices.tolist()]
    return (head + "".join([*rows, *(f"3 {a} {b} {c}\n" for a, b, c in surface.faces.tolist())])).encode()


def stl_text(corners: np.ndarray) -> bytes:
    facets = ("".join("vertex {:.9g} {:.9g} {:.9g}\n".format(*corner) for corner in face) for face in corners.astype(np.float32))
    body = "".join(f"facet normal 0 0 1\nouter loop\n{facet}endloop\nendfacet\n" for facet in facets)
    return f"solid x\n{body}endsolid x\n".encode()


def test_text_forms_equal_binary_ones() -> None:
    np.testing.assert_array_equal(read_surface(ply_text(RING), file="a.ply").corners, RING.corners)
    np.testing.assert_array_equal(
        read_surface(stl_text(RING.corners), file="a.stl").corners.astype(np.float32),
        read_surface(stl_bytes(RING.corners, "x"), file="b.stl").corners,
    )


@pytest.mark.parametrize("suffix", [".obj", ".ply"])
def test_formats_with_all_digits_come_back_exactly(suffix: str, tmp_path: Path) -> None:
    write_surface(tmp_path / f"ring{suffix}", RING)
    found = read_surface(tmp_path / f"ring{suffix}")
    np.testing.assert_array_equal(found.vertices, RING.vertices)
    np.testing.assert_array_equal(found.faces, RING.faces)
    assert surface_bytes(found, f"x{suffix}") == (tmp_path / f"ring{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", [".stl", ".glb", ".gltf"])
def test_formats_with_32_bits_come_back_to_32_bits_and_then_exactly(suffix: str) -> None:
    data = surface_bytes(RING, f"a{suffix}")
    found = read_surface(data, file=f"a{suffix}")
    np.testing.assert_array_equal(found.corners, RING.corners.astype(np.float32))
    assert len(found.vertices) == len(RING.vertices)
    assert surface_bytes(found, f"a{suffix}") == data


def test_lengths_are_scaled() -> None:
    small = box([0.02, 0.03, 0.04])
    data = surface_bytes(small, "a.stl", scale=0.001)
    assert read_surface(data, file="a.stl").volume() == pytest.approx(20 * 30 * 40, rel=1e-6)
    assert read_surface(data, file="a.stl", scale=0.001).volume() == pytest.approx(small.volume(), rel=1e-6)


def test_obj_polygons_groups_and_numbers_from_the_end() -> None:
    faces = "f 1/1/1 4/2/1 3//2 2\ng top\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nusemtl red\nf -8 -4 -1 -5 # the last side\n"
    cube = read_surface(("# a cube\no cube\n" + CUBE + "vt 0 0\nvn 0 0 1\n" + faces).encode(), file="a.obj")
    assert (len(cube.vertices), len(cube.faces)) == (8, 12)
    assert cube.volume() == pytest.approx(1.0)
    assert cube.area() == pytest.approx(6.0)


def test_polygons_that_bend_inwards_are_filled_without_overlap() -> None:
    outline = np.array([[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]])
    lines = "".join(f"v {x} {y} 0.5\n" for x, y in outline) + "f 1 2 3 4 5 6 7 8\n"
    found = read_surface(lines.encode(), file="u.obj")
    np.testing.assert_allclose(found.face_normals(), [[0, 0, 1]] * 6)
    assert found.area() == pytest.approx(7.0)


@pytest.mark.parametrize("order", ["<", ">"])
def test_ply_with_other_properties_and_mixed_polygons(order: str) -> None:
    form = {"<": "little", ">": "big"}[order]
    head = (
        f"ply\nformat binary_{form}_endian 1.0\ncomment made by hand\nelement vertex 5\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nelement face 2\nproperty uchar flags\nproperty list uchar int vertex_index\n"
        "element edge 1\nproperty int vertex1\nend_header\n"
    ).encode()
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 2, 0)]
    body = b"".join(struct.pack(order + "fffB", *point, 7) for point in points)
    body += struct.pack(order + "BB4i", 1, 4, 0, 1, 2, 3) + struct.pack(order + "BB3i", 1, 3, 3, 2, 4) + struct.pack(order + "i", 0)
    found = read_surface(head + body, file="a.ply")
    assert len(found.faces) == 3
    assert found.area() == pytest.approx(1.5)
    np.testing.assert_allclose(found.face_normals()[:, 2], 1.0)
    with pytest.raises(BadInput, match=r"a\.ply, byte \d+: the file ends inside face"):
        read_surface(head + body[:-10], file="a.ply")


def gltf(nodes: list[dict[str, object]], mode: int = 4, indices: tuple[int, ...] = (0, 1, 2), **more: object) -> bytes:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4").tobytes()
    data = points + np.array(indices, dtype="<u2").tobytes()
    document = {
        "asset": {"version": "2.0"}, "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": mode}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": len(indices), "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 2 * len(indices)}],
        "buffers": [{"byteLength": len(data), "uri": "data:a/b;base64," + base64.b64encode(data).decode()}], **more,
    }  # fmt: skip
    return json.dumps(document).encode()


def test_gltf_nodes_place_their_meshes() -> None:
    turn = [0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)]
    found = read_surface(
        gltf([{"children": [1], "translation": [0, 0, 5]}, {"mesh": 0, "rotation": turn, "scale": [2, 2, 2]}]), file="a.gltf"
    )
    # (x, y, z) of the file, turned by 90 degrees about its z, doubled and moved, is (z, x, y) of ours.
    np.testing.assert_allclose(found.vertices, [[5, 0, 0], [5, 0, 2], [5, -2, 0], [7, 0, 0]], atol=1e-6)
    assert read_surface(gltf([{"mesh": 0}, {"mesh": 0}], scenes=[{"nodes": [1]}]), file="a.gltf").faces.tolist() == [[0, 1, 2]]
    mirrored = read_surface(gltf([{"mesh": 0, "scale": [1, 1, -1]}]), file="a.gltf")
    assert mirrored.faces.tolist() == [[2, 1, 0]]


def test_gltf_strips_and_fans() -> None:
    assert read_surface(gltf([{"mesh": 0}], 5, (0, 1, 2, 3)), file="a.gltf").faces.tolist() == [[0, 1, 2], [2, 1, 3]]
    assert read_surface(gltf([{"mesh": 0}], 6, (0, 1, 2, 3)), file="a.gltf").faces.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.obj", b"v 0 0 0\nv 1 0\n", r"a\.obj, line 2: a vertex has 2 coordinates"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", r"line 2: a face names the vertex 2; 1 vertices stand before"),
        ("a.obj", b"v 0 0 0\nv x 0 0\n", r"line 2: a vertex: .* no number"),
        ("a.obj", b"v 0 0 nan\n", "line 1: .* not finite"),
        ("a.obj", b"hello\n", "line 1: 'hello' is no keyword"),
        ("a.obj", b"v 0 0 0\n", "there is no face"),
        ("a.stl", b"\0" * 90, r"a\.stl, byte 80: no binary STL"),
        ("a.stl", b"solid\nfacet\nouter loop\nvertex 0 0 0\nendloop\n", "line 5: a facet has 1 vertices"),
        (
            "a.stl",
            stl_bytes(np.zeros((1, 3, 3)), "x")[:96] + struct.pack("<f", np.inf) + b"\0" * 34,
            "byte 84: triangle 0 has a coordinate that is not finite",
        ),
        ("a.stl", stl_bytes(np.zeros((0, 3, 3)), "x"), "holds no triangle"),
        ("a.ply", b"plx", "line 1: is no PLY file"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex x\nend_header\n", "line 3: .* no line of a PLY header"),
        ("a.ply", ply_text(RING).replace(b"\n3 0 ", b"\n3 9999 ", 1), r"names the vertices \[9999"),
        ("a.glb", b"{}", "no 'asset'"),
        ("a.gltf", gltf([{"mesh": 0}], indices=(0, 1, 4)), "names the vertex 4; there are 4"),
        ("a.gltf", gltf([{"mesh": 3}]), "mesh 3 does not exist"),
        ("a.gltf", gltf([{"mesh": 0}], extensionsRequired=["KHR_draco_mesh_compression"]), "KHR_draco.*without compression"),
        ("a.gltf", gltf([{}]), "holds no triangle"),
        ("a.xyz", b"", r"'\.xyz' are not read or written; these are: \.obj"),
    ],
)
def test_refusals_name_the_place(name: str, data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_surface(data, file=name)


def test_a_scale_must_be_positive() -> None:
    with pytest.raises(BadInput, match=r"0\.001 for millimetres"):
        read_surface(b"", file="a.obj", scale=0.0)


def outcome(data: bytes, file: str) -> str:
    try:
        return "surface" if isinstance(read_surface(data, file=file), Surface) else "nothing"
    except BadInput as error:
        return "refused" if file in str(error) else f"without the file's name: {error}"


@pytest.mark.parametrize("suffix", SURFACE_SUFFIXES)
def test_damaged_files_end_in_a_surface_or_a_refusal(suffix: str) -> None:
    data = surface_bytes(torus(0.3, 0.1, 4, 3), f"a{suffix}")
    rng = random.Random(f"surface {suffix}")
    for _ in range(400):
        damaged = bytearray(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
        for _ in range(rng.randrange(1, 5)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.choice([0, 10, 32, 45, 48, 57, 255, rng.randrange(256)])
        assert outcome(bytes(damaged), f"a{suffix}") in ("surface", "refused")
