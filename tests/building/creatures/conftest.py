"""The built-in creatures as they are on disk, with their skins."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

import bunraku.assets
from bunraku.character import Character, SkinMesh
from bunraku.formats.character_yaml import read_character_yaml
from bunraku.formats.skin_file import read_skin

sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))  # where the built-in creatures are made
FOLDER = Path(bunraku.assets.__file__).parent / "characters"


@cache
def _read(name: str) -> tuple[Character, SkinMesh]:
    file = FOLDER / f"{name}.character.yaml"
    character = read_character_yaml(file.read_bytes(), file=file.name, folder=FOLDER)
    assert character.skin is not None
    skin = FOLDER / character.skin.file
    return character, read_skin(skin.read_bytes(), file=skin.name)


@pytest.fixture(scope="session")
def creature():  # type: ignore[no-untyped-def]
    """Reads a creature: its character and its skin."""
    return _read
