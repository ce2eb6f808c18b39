"""Which part of a skin lies over which body: the pieces that are left of it when the folds are taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from bunraku.arrays import Indices
from bunraku.building.creatures.mechanism import TORSO
from bunraku.errors import BadInput
from bunraku.geometry.shells.shell import Shell
from bunraku.geometry.tetrahedra import EDGES

SOLE = "sole "
"""Mark of the underside of a foot: ``sole 0`` and so on."""


@dataclass(frozen=True)
class Zones:
    """``inner`` and ``outer``: nodes of the inner and outer surface over each body or sole; ``area`` [m²] of its outside.

    ``faces`` (F,) numbers the zone of each face of the shell, -1 in folds and soles, in the order of ``names``; ``folded`` lists
    the faces of the folds at joints. Nodes below ``corner_count`` are corners.
    """

    inner: dict[str, Indices]
    outer: dict[str, Indices]
    area: dict[str, float]
    names: tuple[str, ...]
    faces: Indices
    folded: Indices
    corner_count: int


def skin_zones(shell: Shell, bodies: Sequence[str]) -> Zones:
    """The zones of a shell whose fold r has ``bodies[r]`` below it, in the direction of its axis.

    A zone is a connected piece of the surface without the faces between the rings of folds and without the soles' undersides. It
    belongs to the body below the fold whose last ring borders on it; the one that is below no fold is the torso.
    """
    F, V = shell.faces, len(shell.outer)
    folded = np.zeros(len(F), dtype=bool)
    for ring in shell.rings:
        ends = np.isin(F, ring[0]).all(axis=1) | np.isin(F, ring[-1]).all(axis=1)
        folded |= np.isin(F, ring).all(axis=1) & ~ends
    under = [np.isin(F, sole).all(axis=1) for sole in shell.soles]
    piece = _pieces(F, ~(folded | np.any(under, axis=0)) if under else ~folded)
    owner = _owners(shell, bodies, piece)
    middles = _middles(shell)
    corners = shell.outer[F]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    chosen = {name: piece == k for k, name in owner.items()} | {f"{SOLE}{k}": faces for k, faces in enumerate(under)}
    soles = np.concatenate([np.zeros(0, dtype=np.int64), *(_nodes_over(F[faces] + V, middles) for faces in under)])
    inner = {name: _nodes_over(F[faces] + V, middles) for name, faces in chosen.items()}
    inner |= {name: np.setdiff1d(nodes, soles) for name, nodes in inner.items() if not name.startswith(SOLE)}
    outer = {name: _nodes_over(F[faces], middles) for name, faces in chosen.items()}
    size = {name: float(area[faces].sum()) for name, faces in chosen.items()}
    names = tuple(owner[k] for k in range(len(owner)))
    return Zones(inner, outer, size, names, piece, np.flatnonzero(folded), 2 * V)


def _owners(shell: Shell, bodies: Sequence[str], piece: Indices) -> dict[int, str]:
    """The body of each piece of the surface."""
    owner: dict[int, str] = {}
    for ring, body in zip(shell.rings, bodies, strict=True):
        touching = np.unique(piece[(piece >= 0) & np.isin(shell.faces, ring[-1]).any(axis=1)])
        if len(touching) != 1:
            raise BadInput(f"the skin below the fold above {body!r} is in {len(touching)} pieces; move the folds apart")
        if int(touching[0]) in owner:
            raise BadInput(
                f"the skin below {body!r} is also that below {owner[int(touching[0])]!r}; let every fold go round one limb"
            )
        owner[int(touching[0])] = body
    left = sorted(set(range(int(piece.max()) + 1)) - set(owner))
    if len(left) != 1:
        raise BadInput(f"the skin has {len(left)} pieces that are below no fold; the torso is one: let folds point away from it")
    owner[left[0]] = TORSO
    return owner


def _pieces(faces: Indices, kept: NDArray[np.bool_]) -> Indices:
    """The connected piece (F,) of each kept face, -1 for the others."""
    chosen = np.flatnonzero(kept)
    sides = np.sort(faces[chosen][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    key = sides[:, 0] * (int(faces.max()) + 1) + sides[:, 1]
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    a, b = order[same] // 3, order[same + 1] // 3
    n = len(chosen)
    label = connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)[1]
    found = np.full(len(faces), -1, dtype=np.int64)
    found[chosen] = label
    return found


def _middles(shell: Shell) -> dict[tuple[int, int], int]:
    """The node in the middle of each edge, by its corners."""
    cells = shell.mesh.cells
    found: dict[tuple[int, int], int] = {}
    for column, (a, b) in enumerate(EDGES, start=4):
        pairs = np.sort(cells[:, [a, b]], axis=1)
        found.update(zip(map(tuple, pairs.tolist()), cells[:, column].tolist(), strict=True))
    return found


def _nodes_over(faces: Indices, middles: dict[tuple[int, int], int]) -> Indices:
    sides = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    between = np.array([middles[a, b] for a, b in sides.tolist()], dtype=np.int64)
    return np.concatenate([np.unique(faces), np.sort(between)])
