"""Meshes that were read from files, found again by their content: in this process, and on disk for the next ones.

A character is data in plain text; of a part's mesh it holds the file's name and the ``digest`` of its content, with which whoever
computes with the character finds the mesh that was read with it.
"""

from __future__ import annotations

import numpy as np

from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.cache import Arrays, KnownValues, content_key


def _digest(mesh: TetMesh) -> str:
    return content_key(mesh.nodes, mesh.cells, dict(mesh.patches))[:32]


def _packed(mesh: TetMesh) -> Arrays:
    faces = {f"patch{i}": mesh.patches[name] for i, name in enumerate(sorted(mesh.patches))}
    return {"nodes": mesh.nodes, "cells": mesh.cells, "names": np.array(sorted(mesh.patches), dtype=np.str_), **faces}


def _unpacked(kept: Arrays) -> TetMesh:
    patches = {str(name): np.asarray(kept[f"patch{i}"], dtype=np.int64) for i, name in enumerate(kept["names"])}
    return TetMesh(np.asarray(kept["nodes"], dtype=np.float64), np.asarray(kept["cells"], dtype=np.int64), patches)


KNOWN_MESHES = KnownValues("mesh", _digest, _packed, _unpacked)
