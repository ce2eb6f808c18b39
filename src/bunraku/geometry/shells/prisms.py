"""A layer of prisms between two surfaces, each split into three tetrahedra so that neighbours share their diagonals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices
from bunraku.geometry.shells.quality import cell_merits

Flags = NDArray[np.bool_]


def first_diagonals(faces: Indices) -> Flags:
    """Diagonals (m, 3) of the sides of prisms: True where that of side (k, k + 1) goes from corner k inside to k + 1 outside.

    Here every diagonal runs from the smaller vertex number inside to the larger outside, so that no prism has all three turning the
    same way round, which could not be split.
    """
    return np.asarray(faces < np.roll(faces, -1, axis=1))


def prism_cells(faces: Indices, count: int, forward: Flags) -> Indices:
    """Tetrahedra (3 m, 4) of the layer over ``faces`` (m, 3) of a surface seen from outside; cells 3 f + 0, 1, 2 belong to face f.

    Nodes 0 to count - 1 are the outer vertices, count to 2 count - 1 the inner ones. With i, j, k the corners of a face, ordered so
    that the diagonals ``forward`` run from i to j, j to k and i to k, and 0, 1 for inside, outside, the cells are (i0 j0 k0 k1),
    (i0 j0 j1 k1) and (i0 i1 j1 k1). Volumes are positive when the prism is.
    """
    starts = forward.astype(np.int64) + ~np.roll(forward, 1, axis=1)
    order = np.argsort(-starts, axis=1, kind="stable")
    i, j, k = np.take_along_axis(faces, order, axis=1).T
    even = ((order[:, 1] - order[:, 0]) % 3 == 1)[:, None]
    cells = np.empty((len(faces), 3, 4), dtype=np.int64)
    for c, (corners, turned) in enumerate(
        (
            ((i + count, j + count, k + count, k), False),
            ((i + count, j + count, j, k), True),
            ((i + count, i, j, k), False),
        )
    ):
        p, q, r, s = corners
        straight, swapped = np.column_stack([p, q, r, s]), np.column_stack([p, r, q, s])
        cells[:, c] = np.where(even != turned, straight, swapped)
    return cells.reshape(-1, 4)


def better_diagonals(X: Array, faces: Indices, forward: Flags, target: float) -> Flags:
    """Diagonals (m, 3) turned, one or two sides of a prism at a time, where that raises dihedral angles below ``target`` [rad].

    ``X`` (2 n, 3) holds the outer vertices, then the inner ones. The merit of a prism is the least angle of its cells, that of a
    change the least merit of the prisms it touches.
    """
    n = len(X) // 2
    codes = np.arange(8)
    table = np.full((len(faces), 8), -np.inf)
    for code in codes[1:7].tolist():
        flags = np.tile(np.array([code & 1, code >> 1 & 1, code >> 2 & 1], dtype=bool), (len(faces), 1))
        table[:, code] = cell_merits(X[prism_cells(faces, n, flags)]).reshape(-1, 3).min(axis=1)
    owner = {
        (a, b): (f, k)
        for f, face in enumerate(faces.tolist())
        for k, (a, b) in enumerate(zip(face, face[1:] + face[:1], strict=True))
    }
    mate = [[owner[face[(k + 1) % 3], face[k]] for k in range(3)] for face in faces.tolist()]
    merit: list[list[float]] = table.tolist()
    code = (forward @ np.array([1, 2, 4])).tolist()
    for _ in range(6):
        bad = [f for f, c in enumerate(code) if merit[f][c] < target]
        turned = 0
        for f in sorted(bad, key=lambda f: merit[f][code[f]]):
            best, choice = merit[f][code[f]], dict[int, int]()
            for sides in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2)):
                touched = {f: code[f]}
                for k in sides:
                    g, j = mate[f][k]
                    touched[f] ^= 1 << k
                    touched[g] = touched.get(g, code[g]) ^ 1 << j
                before = min(merit[g][code[g]] for g in touched)
                after = min(merit[g][c] for g, c in touched.items())
                if after > max(before, best) + 1e-9:
                    best, choice = after, touched
            for g, c in choice.items():
                code[g] = c
            turned += bool(choice)
        if not turned:
            break
    final = np.array(code)
    return np.column_stack([final & 1, final >> 1 & 1, final >> 2 & 1]).astype(bool)
