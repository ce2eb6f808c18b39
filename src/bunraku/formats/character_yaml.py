"""Characters as YAML, ``bunraku: character/1``: every number with its unit in the key, and back again exactly."""

from __future__ import annotations

from pathlib import Path

from bunraku.character import Character
from bunraku.character.description import misfit_of
from bunraku.errors import BadInput
from bunraku.formats.units import build, from_si
from bunraku.formats.yaml_file import dump_yaml, read_yaml


def read_character_yaml(data: bytes, *, file: str, folder: Path | None = None) -> Character:
    """A character from YAML; its skin and the meshes of its flexible parts are read from ``folder``, not those of rigid shapes."""
    content = read_yaml(data, file=file, kind="character")
    try:
        character = build(Character, content.data, file=file, lines=content.lines)
    except BadInput as error:
        misfit = misfit_of(error)
        if misfit is None or not misfit.steps:
            raise
        first, *others = misfit.steps
        keys = [key for key in content.data if key == first or key.startswith(f"{first}_")]  # home is written home_deg, or in part
        places = [content.where.at(key, *others) for key in keys]
        place = next((one for one in places if one.steps in content.lines), content.where.at(first, *others))
        raise place.wrong(str(misfit)) from error
    if folder is not None and any(part.shape.kind == "mesh" for part in character.flexibles):
        from bunraku.formats.part_meshes import with_meshes

        character = with_meshes(character, folder, where=content.where)
    if folder is not None and character.skin is not None:
        from bunraku.formats.skin_file import with_skin

        character = with_skin(character, folder, where=content.where)
    return character


def write_character_yaml(character: Character) -> str:
    """The character as YAML text in SI units, fields in a fixed order, defaults left out; reading it gives the same character."""
    return dump_yaml("character", from_si(character)).decode()
