"""Skins in files: ``NAME.skin.npz`` beside the character, plain arrays, the names of bodies as text in bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.character import Character, SkinMesh
from bunraku.errors import BadInput
from bunraku.formats.archive import pack, unpack
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_reference
from bunraku.formats.places import Where
from bunraku.mechanics.coupled.known_skins import KNOWN_SKINS

_ARRAYS = ("nodes", "cells", "region", "glue_node", "glue_body", "sole_node", "sole_patch")
MAX_SKIN_BYTES = 256 * 1024 * 1024


def skin_bytes(mesh: SkinMesh) -> bytes:
    """The bytes of a skin's file; they depend on the mesh alone."""
    arrays = {name: getattr(mesh, name) for name in _ARRAYS}
    small = {name: array.astype(np.int32) for name, array in arrays.items() if name != "nodes"}
    return pack({**arrays, **small, "bodies": np.frombuffer("\n".join(mesh.bodies).encode(), dtype=np.uint8)})


def write_skin(mesh: SkinMesh, path: Path) -> None:
    """Write a skin, whole or not at all."""
    write_atomically(path, skin_bytes(mesh))


def read_skin(data: bytes, *, file: str) -> SkinMesh:
    """The skin in the bytes of a file."""
    arrays = unpack(data, file=file)
    missing = [name for name in (*_ARRAYS, "bodies") if name not in arrays]
    if missing:
        raise BadInput(f"lacks the array {missing[0]!r}; a skin has {', '.join((*_ARRAYS, 'bodies'))}", file=file)
    try:
        bodies = tuple(arrays["bodies"].astype(np.uint8).tobytes().decode().split("\n"))
        return SkinMesh(bodies=bodies, **{name: arrays[name] for name in _ARRAYS})  # type: ignore[arg-type]
    except (UnicodeDecodeError, ValueError) as error:
        raise BadInput(f"holds no skin: {error}", file=file) from error


def with_skin(character: Character, folder: Path, *, where: Where | None = None) -> Character:
    """The character with its skin read from ``folder`` and the ``digest`` of it noted, so that it is found again by that."""
    if character.skin is None:
        return character
    top = (Where(character.name) if where is None else where).at("skin", "file")
    mesh = read_skin(read_reference(character.skin.file, folder, top, limit=MAX_SKIN_BYTES), file=character.skin.file)
    bodies = {body.name for body in character.bodies}
    strange = [name for name in mesh.bodies if name not in bodies]
    regions = int(mesh.region.max(initial=-1)) + 1
    if strange or mesh.soles != len(character.end_effectors) or regions > len(character.skin.materials):
        what = f"is glued to {strange[0]!r}, which is no body" if strange else "has other soles or regions than the character"
        raise top.wrong(f"the skin {character.skin.file!r} {what}; make it again for this character")
    return character.changed(skin=character.skin.changed(digest=KNOWN_SKINS.remember(mesh)))
