"""JSON Schemas: valid drafts that accept what the readers accept and refuse common mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from bunraku.errors import BadInput
from bunraku.formats.project_yaml import read_project_yaml
from bunraku.formats.schema import json_schema
from bunraku.formats.yaml_file import load_yaml, read_yaml
from bunraku.retargeting.rig_map import read_rig_map

jsonschema = pytest.importorskip("jsonschema")

CHARACTER = b"""bunraku: character/1
name: arm
bodies: [{name: a, mass_g: 5, shapes: [{kind: box, size_mm: [1, 2, 3], pose: {rpy_deg: [0, 0, 90]}}]}]
joints: [{name: j, kind: hinge, parent: world, child: a, range_deg: [-90, 90]}]
motors: [{name: m, coordinate: j, velocity_rpm: 60, delay_ms: 20}]
feet: [{name: f, body: a, points_m: [[0, 0, 0]]}]
home_deg: {j: 10}
carriages: [{name: c, home_m: [0, 0, 2], velocity_cm_s: 50, winch_range_cm: [50, 150]}]
strings: [{name: s, carriage: c, hook: a, length_mm: 900}]
"""
CLIP = b"""bunraku: clip/1
name: c
joints: {keys_deg: {j: [[0, 1], [1, 2]]}, duration_s: 2}
words: [{text: No, start_s: 0.1, end_ms: 300}]
audio: {file: a.wav}
"""
OVERLAY = b"""bunraku: overlay/1
base: free
motors: [{match: "*", velocity_rpm: 60, delay_ms: 20, torque_fraction: 0.5}]
couplings: [{driver: a, follower: b, ratio: -1}]
feet: [{name: f, body: a, points_mm: [[0, 0, 0]]}]
home_deg: {j: 10}
"""
RIG = b"""bunraku: rig/1
chest: {bone: Spine1, frame: torso}
head: {bone: Head, frame: head, lever_cm: 8}
limbs: [{name: left arm, hangs_on: chest, bones: [a, b, c], frames: [d, e, f], turn: twist}]
"""
PROJECT = b"""bunraku: project/1
character: swizzlebot
clip: clips/mine.clip.yaml
performer: locomotion
options: {posture: 0.01}
dimensions_m: {"LF.tip z": 0.04}
muted: [HeadYaw]
mode: semi-automatic
"""


def valid(kind: str, text: bytes) -> bool:
    data: Any = load_yaml(text, file="f")[0]
    return bool(jsonschema.Draft202012Validator(json_schema(kind)).is_valid(data))


@pytest.mark.parametrize("kind", ["batch", "character", "clip", "overlay", "performance", "project", "rig", "study"])
def test_schemas_are_valid_drafts(kind: str) -> None:
    schema = json_schema(kind)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_what_the_readers_accept_is_valid() -> None:
    assert valid("character", CHARACTER)
    assert valid("clip", CLIP)
    assert valid("overlay", OVERLAY)
    assert valid("rig", RIG)
    assert valid("project", PROJECT)
    assert read_rig_map(RIG, file="f").limbs[0].turn == "twist"
    read_yaml(OVERLAY, file="f", kind="overlay")
    assert read_project_yaml(PROJECT, file="f").dimensions_m == {"LF.tip z": 0.04}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("character", CHARACTER.replace(b"mass_g", b"mass")),
        ("character", CHARACTER.replace(b"delay_ms: 20", b"delay_ms: 2000")),  # more than the second allowed
        ("character", CHARACTER.replace(b"kind: box", b"kind: bax")),
        ("character", CHARACTER.replace(b", points_m: [[0, 0, 0]]", b"")),
        ("character", CHARACTER.replace(b"character/1", b"clip/1")),
        ("character", CHARACTER.replace(b"velocity_cm_s", b"velocity_deg_s")),
        ("character", CHARACTER.replace(b"length_mm: 900", b"length_mm: -900")),
        ("clip", CLIP.replace(b"start_s: 0.1, ", b"")),
        ("clip", CLIP.replace(b"name: c\n", b"")),
        ("clip", CLIP + b"colour: red\n"),
        ("overlay", OVERLAY.replace(b"delay_ms: 20", b"delay_ms: 2000")),
        ("overlay", OVERLAY.replace(b"torque_fraction: 0.5", b"torque_fraction: 1.5")),
        ("overlay", OVERLAY.replace(b'match: "*", ', b"")),
        ("overlay", OVERLAY.replace(b"match:", b"name: m, match:")),
        ("overlay", OVERLAY.replace(b"overlay/1", b"character/1")),
        ("rig", RIG.replace(b"bone: Spine1, ", b"")),
        ("rig", RIG.replace(b"turn: twist", b"turn: round")),
        ("rig", RIG.replace(b"lever_cm: 8", b"lever: 0.08")),
        ("project", PROJECT.replace(b"mode: semi-automatic", b"mode: by-magic")),
        ("project", PROJECT.replace(b"dimensions_m:", b"dimensions:")),
        ("project", PROJECT.replace(b"0.04", b"long")),
    ],
)
def test_mistakes_are_invalid(kind: str, text: bytes) -> None:
    assert not valid(kind, text)


def test_an_unknown_kind_is_said() -> None:
    with pytest.raises(BadInput, match="did you mean character"):
        json_schema("charakter")
