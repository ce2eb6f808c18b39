"""glTF animations: interpolations in closed form, axes, scale, skins, and honest refusals."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats import files, gltf_accessors
from bunraku.formats.gltf import read_gltf
from bunraku.motion import SkeletonMotion


def document(tracks: list[dict[str, Any]], nodes: list[dict[str, Any]], **more: Any) -> tuple[dict[str, Any], bytes]:
    """A glTF document with its buffer; each track has node, path, times, values and perhaps kind and dtype."""
    blob, views, accessors, samplers, channels = b"", [], [], [], []
    for track in tracks:
        for values, dtype in ((track["times"], "<f4"), (track["values"], track.get("dtype", "<f4"))):
            array = np.asarray(values, dtype)
            views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
            kind = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[1 if array.ndim == 1 else array.shape[1]]
            code = {"<f4": 5126, "<i2": 5122}[dtype]
            accessors.append(
                {"bufferView": len(views) - 1, "componentType": code, "count": len(array), "type": kind, "normalized": code != 5126}
            )
            blob += array.tobytes()
        samplers.append({"input": len(accessors) - 2, "output": len(accessors) - 1, "interpolation": track.get("kind", "LINEAR")})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": track["node"], "path": track["path"]}})
    made = {
        "asset": {"version": "2.0"}, "nodes": nodes, "buffers": [{"byteLength": len(blob)}], "bufferViews": views,
        "accessors": accessors, "animations": [{"samplers": samplers, "channels": channels}], **more,
    }  # fmt: skip
    return made, blob


def embedded(made: dict[str, Any], blob: bytes) -> bytes:
    made["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(blob).decode()
    return json.dumps(made).encode()


def binary(made: dict[str, Any], blob: bytes) -> bytes:
    text = json.dumps(made).encode()
    text += b" " * (-len(text) % 4)
    blob += b"\x00" * (-len(blob) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(blob), b"BIN\x00") + blob
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def motion(data: bytes, **options: Any) -> SkeletonMotion:
    skeleton = read_gltf(data, file="f.gltf", **options).skeleton
    assert skeleton is not None
    return skeleton


def about_z(angle: float) -> list[float]:
    return [0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)]


NODES: list[dict[str, Any]] = [{"name": "root", "children": [1]}, {"name": "arm", "translation": [0.0, 2.0, 0.0]}]
TURN = {"node": 1, "path": "rotation", "times": [0.0, 1.0], "values": [about_z(0.0), about_z(2.0)]}
MOVE = {"node": 0, "path": "translation", "times": [0.0, 0.5], "values": [[0.0, 0, 0], [1.0, 2, 3]]}


def test_linear_turns_at_constant_speed_and_moves_straight() -> None:
    skeleton = motion(embedded(*document([TURN, MOVE], NODES)), rate=10.0)
    assert (skeleton.names, skeleton.parents, skeleton.rate, skeleton.scaled) == (("root", "arm"), (-1, 0), 10.0, True)
    assert len(skeleton.translations) == 11
    np.testing.assert_allclose(skeleton.offsets[1], [0.0, 0.0, 2.0])
    for frame, R in enumerate(skeleton.rotations[:, 1]):
        c, s = np.cos(0.2 * frame), np.sin(0.2 * frame)  # about the file's z, which is our x
        np.testing.assert_allclose(R, [[1, 0, 0], [0, c, -s], [0, s, c]], atol=1e-7)
    expected = np.minimum(np.arange(11) / 5.0, 1.0)[:, None] * np.array([3.0, 1.0, 2.0])  # held after the last key
    np.testing.assert_allclose(skeleton.translations[:, 0], expected, atol=1e-7)


def test_linear_takes_the_short_way_round() -> None:
    flipped = TURN | {"values": [about_z(0.0), [-x for x in about_z(1.0)]]}
    skeleton = motion(embedded(*document([flipped], NODES)), rate=2.0)
    np.testing.assert_allclose(skeleton.rotations[1, 1, 2, 1], np.sin(0.5), atol=1e-7)


def test_step_holds_and_cubic_is_hermite() -> None:
    step = MOVE | {"kind": "STEP", "times": [0.0, 1.0], "values": [[1.0, 0, 0], [2.0, 0, 0]]}
    np.testing.assert_array_equal(motion(embedded(*document([step], NODES)), rate=4.0).translations[:, 0, 1], [1, 1, 1, 1, 2])
    # keys of t^3 - t on [0, 2] with the right tangents: a cubic is reproduced exactly
    f, g = (lambda t: t**3 - t), (lambda t: 3 * t**2 - 1)
    keys = [[row, 0.0, 0.0] for t in (0.0, 0.5, 2.0) for row in (g(t), f(t), g(t))]
    cubic = MOVE | {"kind": "CUBICSPLINE", "times": [0.0, 0.5, 2.0], "values": keys}
    skeleton = motion(embedded(*document([cubic], NODES)), rate=10.0)
    t = np.arange(21) / 10
    np.testing.assert_allclose(skeleton.translations[:, 0, 1], f(t), atol=1e-6)


def test_normalized_integers_strides_glb_and_files_mean_the_same(tmp_path: Path) -> None:
    expected = motion(embedded(*document([TURN, MOVE], NODES)))
    for found in (motion(binary(*document([TURN, MOVE], NODES))),):
        np.testing.assert_array_equal(found.rotations, expected.rotations)
    made, blob = document([TURN, MOVE], NODES)
    made["buffers"][0]["uri"] = "take%201.bin"
    (tmp_path / "take 1.bin").write_bytes(blob)
    np.testing.assert_array_equal(motion(json.dumps(made).encode(), folder=tmp_path).translations, expected.translations)
    made["buffers"][0]["uri"] = "../secret.bin"
    with pytest.raises(BadInput, match="leads out of the folder"):
        motion(json.dumps(made).encode(), folder=tmp_path)
    small = TURN | {"dtype": "<i2", "values": np.round(np.array(TURN["values"]) * 32767)}
    np.testing.assert_allclose(
        motion(embedded(*document([small], NODES))).rotations, motion(embedded(*document([TURN], NODES))).rotations, atol=1e-4
    )


def test_scale_above_reaches_the_lengths_below_and_a_matrix_is_a_pose() -> None:
    turned = np.array([[0.0, -2, 0, 5], [2, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]])  # twice the size, a quarter turn about z
    nodes: list[dict[str, Any]] = [
        {"matrix": turned.T.ravel().tolist(), "children": [1]},
        {"name": "arm", "translation": [0.0, 2.0, 0.0]},
    ]
    skeleton = motion(embedded(*document([TURN], nodes)))
    np.testing.assert_allclose(skeleton.translations[0], [[0.0, 5.0, 0.0], [0.0, 0.0, 4.0]], atol=1e-12)
    np.testing.assert_allclose(skeleton.rotations[0, 0] @ [0, 1.0, 0], [0, 0, 1.0], atol=1e-12)
    nodes[0] = {"scale": [1.0, 2.0, 1.0], "children": [1]}
    with pytest.raises(BadInput, match="not the same along all axes") as caught:
        motion(embedded(*document([TURN], nodes)))
    assert caught.value.place == "nodes[0]"


def test_a_skin_chooses_the_bones_and_their_ancestors() -> None:
    nodes = [{"name": "mesh"}, {"name": "armature", "children": [2, 3]}, {"name": "bone"}, {"name": "other"}]
    turn = TURN | {"node": 2}
    assert motion(embedded(*document([turn], nodes, skins=[{"joints": [2]}]))).names == ("armature", "bone")
    assert motion(embedded(*document([turn], nodes))).names == ("mesh", "armature", "bone", "other")


def test_refusals() -> None:
    def refused(said: str, data: bytes) -> None:
        with pytest.raises(BadInput, match=said) as caught:
            read_gltf(data, file="f.gltf")
        assert caught.value.file == "f.gltf"
        assert caught.value.place

    made, blob = document([TURN], NODES)
    refused("not valid JSON", b"{")
    refused("not valid JSON", b"[" * 200_000)
    refused("asset", b"{}")
    refused("version 2", b'{"asset": {"version": "1.0"}}')
    refused("no animation", json.dumps({"asset": {"version": "2.0"}, "nodes": [{}]}).encode())
    refused("cut short", binary(made, blob)[:-8])
    refused("beyond the end", embedded(made | {"bufferViews": [{"buffer": 0, "byteLength": 8, "byteOffset": 10**9}] * 2}, blob))
    refused("two parents", embedded(made | {"nodes": [{"children": [2]}, {"children": [2]}, {}]}, blob))
    refused("own ancestors", embedded(made | {"nodes": [{}, {"children": [2]}, {"children": [1]}]}, blob))
    refused("folder to look in is not known", json.dumps(made | {"buffers": [{"byteLength": 8, "uri": "x.bin"}]}).encode())
    refused("more than can be read", embedded(*document([TURN | {"times": [0.0, 1e8]}], NODES)))
    refused("must rise", embedded(*document([TURN | {"times": [1.0, 0.5]}], NODES)))
    refused("length zero", embedded(*document([TURN | {"values": [[0.0] * 4] * 2}], NODES)))
    refused("do not fit", embedded(*document([TURN | {"kind": "CUBICSPLINE"}], NODES)))


def test_a_file_named_by_many_buffers_is_loaded_once_and_all_together_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, blob = document([TURN, MOVE], NODES)
    (tmp_path / "a.bin").write_bytes(blob)
    names = ["a.bin", "./a.bin", "b/../a.bin", "a.bin"]
    (tmp_path / "b").mkdir()
    made["buffers"] = [{"byteLength": len(blob), "uri": name} for name in names]
    for view, number in zip(made["bufferViews"], range(4), strict=True):
        view["buffer"] = number
    loaded: list[str] = []
    whole = files.read_bytes
    monkeypatch.setattr(files, "read_bytes", lambda path, **options: loaded.append(str(path)) or whole(path, **options))
    expected = motion(embedded(*document([TURN, MOVE], NODES)))
    np.testing.assert_array_equal(motion(json.dumps(made).encode(), folder=tmp_path).translations, expected.translations)
    assert len(loaded) == 1
    monkeypatch.setattr(gltf_accessors, "MAX_BYTES", int(2.5 * len(blob)))
    for number, buffer in enumerate(made["buffers"]):
        (tmp_path / f"{number}.bin").write_bytes(blob)
        buffer["uri"] = f"{number}.bin"
    with pytest.raises(BadInput, match=r"buffers\[2\].*at most"):
        motion(json.dumps(made).encode(), folder=tmp_path)
