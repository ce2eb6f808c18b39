"""Text with the ends of lines of Windows is the same text, whatever the format; what is written ends lines in one way."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from bunraku.formats.mjcf_write import write_mjcf
from bunraku.formats.provenance import content_hash
from bunraku.formats.registry import read_character, read_clip, write_character, write_clip
from bunraku.formats.urdf_write import write_urdf

ASSETS = Path(str(files("bunraku.assets")))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("characters/walker.character.yaml", read_character),
        ("clips/not-done-yet.clip.yaml", read_clip),
        ("clips/beetle-lift-quick.clip.yaml", read_clip),
        ("clips/chicken-dance.bvh", read_clip),
    ],
)
def test_a_file_checked_out_on_windows_is_the_same(name: str, read: Callable[[Path], Any], tmp_path: Path) -> None:
    source = ASSETS / name
    read_first = content_hash(read(source))
    for other in source.parent.iterdir():
        if other.suffix == ".wav":
            (tmp_path / other.name).write_bytes(other.read_bytes())
    path = tmp_path / source.name
    path.write_bytes(b"\xef\xbb\xbf" * name.endswith(".yaml") + source.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert content_hash(read(path)) == read_first


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
def test_a_robot_described_on_windows_is_the_same(write: Callable[..., Any], tmp_path: Path) -> None:
    ending = ".urdf" if write is write_urdf else ".xml"
    written = write(read_character("nao"))
    text = (written[0] if isinstance(written, tuple) else written).encode()
    assert b"\r" not in text
    robots = []
    for folder, lines in (("here", b"\n"), ("there", b"\r\n")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / f"nao{ending}"
        path.write_bytes(text.replace(b"\n", lines))
        robots.append(read_character(path))
    assert robots[0] == robots[1]


@pytest.mark.parametrize("ending", [".character.yaml", ".clip.yaml", ".csv"])
def test_lines_end_in_one_way(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"one{ending}"
    if ending == ".character.yaml":
        write_character(path, read_character("nao"))
    else:
        clip = read_clip("not-done-yet")
        write_clip(path, clip.changed(audio=None) if hasattr(clip, "changed") else clip)
    data = path.read_bytes()
    assert b"\n" in data
    assert b"\r" not in data
