"""Meshes that were read from files, found again by their content: in this process, and on disk for the next ones.

A character is data in plain text; of a part's mesh it holds the file's name and the ``digest`` of its content, with which whoever
computes with the character finds the mesh that was read with it.
"""

from __future__ import annotations

import numpy as np

from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.flexible.cache import content_key, load_result, save_result

KIND = "mesh"
_KNOWN: dict[str, TetMesh] = {}


def remember_mesh(mesh: TetMesh) -> str:
    """Keep a mesh; returns the digest of its content."""
    digest = content_key(mesh.nodes, mesh.cells, dict(mesh.patches))[:32]
    if digest not in _KNOWN:
        _KNOWN[digest] = mesh
        faces = {f"patch{i}": mesh.patches[name] for i, name in enumerate(sorted(mesh.patches))}
        names = np.array(sorted(mesh.patches), dtype=np.str_)
        save_result(KIND, digest, {"nodes": mesh.nodes, "cells": mesh.cells, "names": names, **faces})
    return digest


def known_mesh(digest: str) -> TetMesh | None:
    """The mesh with this digest, if it was read here before."""
    if not digest or digest in _KNOWN:
        return _KNOWN.get(digest)
    kept = load_result(KIND, digest)
    if kept is None:
        return None
    try:
        patches = {str(name): np.asarray(kept[f"patch{i}"], dtype=np.int64) for i, name in enumerate(kept["names"])}
        mesh = TetMesh(np.asarray(kept["nodes"], dtype=np.float64), np.asarray(kept["cells"], dtype=np.int64), patches)
    except (KeyError, ValueError, BadInput):
        return None
    if content_key(mesh.nodes, mesh.cells, dict(mesh.patches))[:32] != digest:
        return None
    _KNOWN[digest] = mesh
    return mesh
