"""Skins that were read from files, found again by the digest their character carries: in this process, and on disk for the next.

As `mechanics.elastic.known_meshes` does for flexible parts.
"""

from __future__ import annotations

import numpy as np

from bunraku.character import Character, SkinMesh
from bunraku.errors import BadInput
from bunraku.mechanics.cache import Arrays, KnownValues, content_key

_ARRAYS = ("nodes", "cells", "region", "glue_node", "glue_body", "sole_node", "sole_patch")


def skin_of(character: Character) -> SkinMesh:
    """The skin that was read with a character."""
    if character.skin is None:
        raise BadInput(f"{character.name!r} has no skin; a skinned character names one (skin: file, materials)")
    mesh = KNOWN_SKINS.find(character.skin.digest)
    if mesh is None:
        raise BadInput(
            f"the skin {character.skin.file!r} of {character.name!r} was not read here; load the character from its file, with the "
            "skin beside it"
        )
    return mesh


def _digest(mesh: SkinMesh) -> str:
    return content_key(*(getattr(mesh, name) for name in _ARRAYS), "\n".join(mesh.bodies))[:32]


def _packed(mesh: SkinMesh) -> Arrays:
    return {**{name: getattr(mesh, name) for name in _ARRAYS}, "bodies": np.array(mesh.bodies, dtype=np.str_)}


def _unpacked(kept: Arrays) -> SkinMesh:
    return SkinMesh(bodies=tuple(str(name) for name in kept["bodies"]), **{name: kept[name] for name in _ARRAYS})  # type: ignore[arg-type]


KNOWN_SKINS = KnownValues("skin", _digest, _packed, _unpacked)
