"""The surface where a sampled function passes a level: marching cubes on a regular grid, always closed inside the grid.

In every cube the function is below the level (inside) at some corners and above at others. On each side of the cube, vertices on
its cut edges are linked around the outside corners one by one, whatever cube looks at that side; so neighbours always agree. The
loops that arise in a cube are filled by triangles whose diagonals never lie in a side. A vertex is placed on its edge by linear
interpolation.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.surface import Surface

_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
# An edge leaves a corner along an axis: (corner, axis).
_EDGES = [(corner, axis) for axis in range(3) for corner in range(8) if not _CORNERS[corner, axis]]
# The corners of each side, counter-clockwise seen from outside the cube.
_SIDES = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
_NEAREST = 1e-3


def isosurface(values: Array, *, origin: Array, spacing: float, level: float = 0.0) -> Surface:
    """The surface around the region where ``values`` (nx, ny, nz) are below ``level``.

    The sample (i, j, k) is at ``origin`` (3,) + ``spacing`` (i, j, k) [m]. Normals point to higher values. The region must not
    reach the border of the grid: BadInput says where it does. No vertex is nearer than a thousandth of an edge to a grid point.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 3 or min(values.shape) < 2:
        raise BadInput(f"values of shape {values.shape} are no grid; (nx, ny, nz) with at least 2 samples a side is needed")
    inside = values < level
    if not inside.any():
        raise BadInput(
            f"no sample is below the level {level:g} (the lowest is {values.min():g}); a finer grid or another level is needed"
        )
    for axis in range(3):
        for end in (0, -1):
            if np.take(inside, end, axis=axis).any():
                name = ("lowest", "highest")[end] + " " + "xyz"[axis]
                raise BadInput(f"the region below {level:g} reaches the {name} of the grid; make the grid larger by some cells")
    nx, ny, nz = values.shape
    case = np.zeros((nx - 1, ny - 1, nz - 1), dtype=np.uint8)
    for corner, (i, j, k) in enumerate(_CORNERS):
        case |= inside[i : nx - 1 + i, j : ny - 1 + j, k : nz - 1 + k].astype(np.uint8) << np.uint8(corner)
    cells = np.flatnonzero((case != 0) & (case != 255))
    kinds = case.ravel()[cells]
    first = np.stack(np.unravel_index(cells, case.shape), axis=1) @ np.array([ny * nz, nz, 1])
    step = np.array([ny * nz, nz, 1])
    table, count = _triangles()
    edge_key = np.array([3 * (int(_CORNERS[corner] @ step)) + axis for corner, axis in _EDGES])
    keys = []
    for number in range(table.shape[1]):
        rows = count[kinds] > number
        keys.append(3 * first[rows, None] + edge_key[table[kinds[rows], number]])
    used, numbers = np.unique(np.concatenate(keys), return_inverse=True)
    node, along = used // 3, used % 3
    flat = values.ravel()
    low, high = flat[node], flat[node + step[along]]
    at = np.stack(np.unravel_index(node, values.shape), axis=1).astype(np.float64)
    at[np.arange(len(node)), along] += np.clip((level - low) / (high - low), _NEAREST, 1.0 - _NEAREST)
    return Surface(np.asarray(origin, dtype=np.float64) + spacing * at, np.asarray(numbers).reshape(-1, 3))


@cache
def _triangles() -> tuple[Indices, Indices]:
    """For each of 256 cases the triangles (256, 5 or more, 3) by numbers of edges, and how many there are."""
    cases = [_filled(_loops(case)) for case in range(256)]
    count = np.array([len(triangles) for triangles in cases])
    table = np.zeros((256, int(count.max()), 3), dtype=np.int64)
    for case, triangles in enumerate(cases):
        if triangles:
            table[case, : len(triangles)] = triangles
    return table, count


def _loops(case: int) -> list[list[int]]:
    """The loops of cut edges of a case, where bit c says that corner c is inside, counter-clockwise seen from outside."""
    number = {edge: index for index, edge in enumerate(_EDGES)}

    def edge_between(a: int, b: int) -> int:
        axis = int(np.argmax(_CORNERS[a] != _CORNERS[b]))
        return number[min(a, b), axis]

    follow: dict[int, int] = {}
    for side in _SIDES:
        inside = [case >> corner & 1 for corner in side]
        for i in range(4):
            # A run of outside corners ends at i: from the edge after the run to the edge before it.
            if inside[i] or not inside[(i + 1) % 4]:
                continue
            start = i
            while not inside[(start - 1) % 4] and (start - 1) % 4 != i:
                start -= 1
            after = edge_between(side[i], side[(i + 1) % 4])
            before = edge_between(side[start % 4], side[(start - 1) % 4])
            follow[after] = before
    loops = []
    while follow:
        first = next(iter(follow))
        loop, edge = [first], follow.pop(first)
        while edge != first:
            loop.append(edge)
            edge = follow.pop(edge)
        loops.append(loop)
    return loops


def _filled(loops: list[list[int]]) -> list[tuple[int, int, int]]:
    """Triangles that fill loops by a fan from the vertex whose diagonals do not lie in a side of the cube."""
    sides_of = [
        {index for index, side in enumerate(_SIDES) if {corner, corner + (1, 2, 4)[axis]} <= set(side)} for corner, axis in _EDGES
    ]
    triangles: list[tuple[int, int, int]] = []
    for loop in loops:
        turns = [loop[i:] + loop[:i] for i in range(len(loop))]
        flat = [sum(bool(sides_of[turn[0]] & sides_of[other]) for other in turn[2:-1]) for turn in turns]
        best = turns[int(np.argmin(flat))]
        if min(flat):
            raise AssertionError("a loop of marching cubes has no fan without a diagonal in a side")
        triangles += [(best[0], best[i], best[i + 1]) for i in range(1, len(best) - 1)]
    return triangles
