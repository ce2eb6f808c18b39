"""Skins that were read from files, found again by the digest their character carries: in this process, and on disk for the next.

As `mechanics.flexible.known_meshes` does for flexible parts.
"""

from __future__ import annotations

import numpy as np

from bunraku.character import Character, SkinMesh
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.cache import content_key, load_result, save_result

KIND = "skin"
_ARRAYS = ("nodes", "cells", "region", "glue_node", "glue_body", "sole_node", "sole_patch")
_KNOWN: dict[str, SkinMesh] = {}


def remember_skin(mesh: SkinMesh) -> str:
    """Keep a skin; returns the digest of its content."""
    digest = _digest(mesh)
    if digest not in _KNOWN:
        _KNOWN[digest] = mesh
        save_result(
            KIND, digest, {**{name: getattr(mesh, name) for name in _ARRAYS}, "bodies": np.array(mesh.bodies, dtype=np.str_)}
        )
    return digest


def skin_of(character: Character) -> SkinMesh:
    """The skin that was read with a character."""
    if character.skin is None:
        raise BadInput(f"{character.name!r} has no skin; a skinned character names one (skin: file, materials)")
    found = _known(character.skin.digest)
    if found is None:
        raise BadInput(
            f"the skin {character.skin.file!r} of {character.name!r} was not read here; load the character from its file, with the "
            "skin beside it"
        )
    return found


def _digest(mesh: SkinMesh) -> str:
    return content_key(*(getattr(mesh, name) for name in _ARRAYS), "\n".join(mesh.bodies))[:32]


def _known(digest: str) -> SkinMesh | None:
    if not digest or digest in _KNOWN:
        return _KNOWN.get(digest)
    kept = load_result(KIND, digest)
    if kept is None:
        return None
    try:
        mesh = SkinMesh(bodies=tuple(str(name) for name in kept["bodies"]), **{name: kept[name] for name in _ARRAYS})  # type: ignore[arg-type]
    except (KeyError, ValueError, BadInput):
        return None
    if _digest(mesh) != digest:
        return None
    _KNOWN[digest] = mesh
    return mesh
