"""The door to all formats: suffixes, built-in names, and what is said when neither fits."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint
from bunraku.errors import BadInput
from bunraku.formats import yaml_file
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.registry import (
    built_in,
    formats,
    read_any,
    read_character,
    read_character_with_notes,
    read_clip,
    read_performance,
    write_character,
    write_clip,
)
from bunraku.motion import Clip, JointCurves

CHARACTER = Character(
    name="arm",
    bodies=(Body(name="a", mass=1.5),),
    joints=(Joint(name="j", kind="hinge", parent="world", child="a", range=(-1.0, 1.0)),),
)


def test_every_reader_and_writer_named_in_the_table_exists() -> None:
    for entry in formats():
        for target in (entry.reader, entry.writer):
            if target:
                module, _, function = target.partition(":")
                assert callable(getattr(importlib.import_module(f"bunraku.formats.{module}"), function)), target
    assert {entry.kind for entry in formats()} == {"character", "clip", "performance"}


def test_a_character_goes_out_and_in_by_suffix(tmp_path: Path) -> None:
    write_character(tmp_path / "a.character.yaml", CHARACTER)
    assert read_character(tmp_path / "a.character.yaml") == CHARACTER
    assert read_character(str(tmp_path / "a.character.yaml")) == CHARACTER
    for suffix in (".urdf", ".xml"):
        write_character(tmp_path / f"a{suffix}", CHARACTER)
        back, notes = read_character_with_notes(tmp_path / f"a{suffix}")
        assert "j" in back.coordinates
        assert isinstance(notes, tuple)


def test_a_clip_goes_out_and_in_by_suffix(tmp_path: Path) -> None:
    clip = Clip("c", joints=JointCurves(("j",), 30.0, np.linspace(0, 1, 7)[:, None]))
    for name in ("c.clip.yaml", "c.csv"):
        write_clip(tmp_path / name, clip)
        back = read_clip(tmp_path / name)
        assert back.joints is not None
        np.testing.assert_array_equal(back.joints.values, clip.joints.values if clip.joints else None)


def test_built_in_assets_are_read_by_name() -> None:
    for name in built_in("character"):
        assert read_character(name).name
    for name in built_in("clip"):
        assert read_clip(name).tracks


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda folder: read_character("no-such-robot"), "neither a file nor a built-in character"),
        (lambda folder: read_clip("no-such-clip"), "neither a file nor a built-in clip"),
        (lambda folder: read_clip(folder / "x.bvh"), "no such file"),
        (lambda folder: read_clip(folder / "x.mp3"), "suffix '.mp3'.*\\.bvh"),
        (lambda folder: read_performance("x"), "suffix"),
        (lambda folder: write_clip(folder / "x.bvh", Clip("c")), "cannot be written"),
        (lambda folder: write_clip(folder / "x.csv", Clip("c")), "no joint curves"),
        (lambda folder: write_character(folder / "no" / "x.character.yaml", CHARACTER), "does not exist"),
        (lambda folder: read_character("a\x00b"), "cannot be read|suffix|neither"),
    ],
)
def test_what_does_not_fit_is_said(call: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        call(tmp_path)  # type: ignore[operator]
    assert list(tmp_path.iterdir()) == [], "nothing was written"


def test_read_any_and_the_readers_agree_on_what_a_name_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(read_any(built_in("character")[0])[0], Character)
    assert isinstance(read_any(built_in("clip")[0])[0], Clip)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nao").write_bytes(b"")
    with pytest.raises(BadInput, match="neither a file Bunraku reads"):
        read_any("nao")


def test_the_kind_of_a_yaml_file_is_found_without_reading_it_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    whole = yaml_file.load_yaml
    monkeypatch.setattr(yaml_file, "load_yaml", lambda data, *, file: parsed.append(file) or whole(data, file=file))
    for data, kind in (
        (write_character_yaml(CHARACTER).encode(), "character"),
        (b"# a note\n'bunraku': clip/1\nname: c\nwords: []\n", "clip"),
        (b"name: c\nphrases: [{text: 'bunraku: overlay/1', start_s: 0, end_s: 1}]\nbunraku: clip/1\n", "clip"),
    ):
        path = tmp_path / "x.yaml"
        path.write_bytes(data)
        parsed.clear()
        noun, _ = read_any(path)
        assert type(noun).__name__.lower() == kind
        assert len(parsed) == 1
    path.write_bytes(b"bunraku: overlay/1\n")
    with pytest.raises(BadInput, match="of kind 'overlay' stands by itself nowhere"):
        read_any(path)
    for damaged, said in ((b"name: x\n", "no header"), (b"bunraku: clip\n", "not understood"), (b"a: [\n", "not valid YAML")):
        path.write_bytes(damaged)
        with pytest.raises(BadInput, match=said):
            read_any(path)


def test_a_file_wins_over_a_built_in_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nao").write_bytes(b"")
    with pytest.raises(BadInput, match="suffix"):
        read_character("nao")
