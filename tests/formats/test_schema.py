"""JSON Schemas: valid drafts that accept what the readers accept and refuse common mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from bunraku.errors import BadInput
from bunraku.formats.schema import json_schema
from bunraku.formats.yaml_file import load_yaml

jsonschema = pytest.importorskip("jsonschema")

CHARACTER = b"""bunraku: character/1
name: arm
bodies: [{name: a, mass_g: 5, shapes: [{kind: box, size_mm: [1, 2, 3], pose: {rpy_deg: [0, 0, 90]}}]}]
joints: [{name: j, kind: hinge, parent: world, child: a, range_deg: [-90, 90]}]
motors: [{name: m, coordinate: j, velocity_rpm: 60, delay_ms: 20}]
feet: [{name: f, body: a, points_m: [[0, 0, 0]]}]
home_deg: {j: 10}
"""
CLIP = b"""bunraku: clip/1
name: c
joints: {keys_deg: {j: [[0, 1], [1, 2]]}, duration_s: 2}
words: [{text: No, start_s: 0.1, end_ms: 300}]
audio: {file: a.wav}
"""


def valid(kind: str, text: bytes) -> bool:
    data: Any = load_yaml(text, file="f")[0]
    return bool(jsonschema.Draft202012Validator(json_schema(kind)).is_valid(data))


@pytest.mark.parametrize("kind", ["character", "clip", "performance"])
def test_schemas_are_valid_drafts(kind: str) -> None:
    schema = json_schema(kind)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_what_the_readers_accept_is_valid() -> None:
    assert valid("character", CHARACTER)
    assert valid("clip", CLIP)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("character", CHARACTER.replace(b"mass_g", b"mass")),
        ("character", CHARACTER.replace(b"delay_ms: 20", b"delay_ms: 2000")),  # more than the second allowed
        ("character", CHARACTER.replace(b"kind: box", b"kind: bax")),
        ("character", CHARACTER.replace(b", points_m: [[0, 0, 0]]", b"")),
        ("character", CHARACTER.replace(b"character/1", b"clip/1")),
        ("clip", CLIP.replace(b"start_s: 0.1, ", b"")),
        ("clip", CLIP.replace(b"name: c\n", b"")),
        ("clip", CLIP + b"colour: red\n"),
    ],
)
def test_mistakes_are_invalid(kind: str, text: bytes) -> None:
    assert not valid(kind, text)


def test_an_unknown_kind_is_said() -> None:
    with pytest.raises(BadInput, match="did you mean character"):
        json_schema("charakter")
