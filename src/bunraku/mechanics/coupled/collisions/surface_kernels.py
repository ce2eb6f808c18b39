"""Nearest opposing triangle of every node of a surface, by a hashed grid of the nodes. Arrays in, arrays out.

Work grows with the number of triangles as long as they are of similar size: each looks only into the cells of the grid that its
own box (grown by the reach) covers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.arrays import Array


class SurfaceTriangles(NamedTuple):
    """The surface as triangles (f, 3) with their unit ``normal`` (f, 3), and those of the nodes, ``node_normal`` (n, 3)."""

    corners: NDArray[np.int64]
    normal: Array
    node_normal: Array


class NodeGrid(NamedTuple):
    """Query nodes by cell of edge ``cell`` [m]: those of bucket b are order[start[b]:start[b + 1]], see `sort_nodes`."""

    cell: float
    start: NDArray[np.int64]
    order: NDArray[np.int64]


class Excluded(NamedTuple):
    """Sorted triangles triangle[first[q]:first[q + 1]] that query node q never collides with."""

    first: NDArray[np.int64]
    triangle: NDArray[np.int64]


class NearestTriangles(NamedTuple):
    """Of every query node: the ``triangle`` (m,), -1 none, its squared ``distance2`` (m,) and ``weights`` (m, 3) of its corners."""

    distance2: Array
    triangle: NDArray[np.int64]
    weights: Array


@njit(cache=True)
def normals(x, faces, of_face, of_node):
    """Unit normals of faces (f, 3) and area-weighted ones of nodes (n, 3); zero for flat faces and inner nodes."""
    of_node[:] = 0.0
    for t in range(faces.shape[0]):
        a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for k in range(3):
            i = faces[t, k]
            of_node[i, 0] += nx
            of_node[i, 1] += ny
            of_node[i, 2] += nz
        size = np.sqrt(nx * nx + ny * ny + nz * nz)
        scale = 1.0 / size if size > 0.0 else 0.0
        of_face[t, 0], of_face[t, 1], of_face[t, 2] = nx * scale, ny * scale, nz * scale
    for i in range(of_node.shape[0]):
        size = np.sqrt(of_node[i, 0] ** 2 + of_node[i, 1] ** 2 + of_node[i, 2] ** 2)
        if size > 0.0:
            for k in range(3):
                of_node[i, k] /= size


@njit(cache=True)
def bucket(i, j, k, mask):
    """Place of a cell of the grid in a table of mask + 1 (a power of two) entries."""
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask


@njit(cache=True)
def sort_nodes(x, query, cell, start, order):
    """Nodes by bucket: those of bucket b are order[start[b]:start[b + 1]] (places in query). len(start) - 1 is a power of two."""
    mask = start.shape[0] - 2
    start[:] = 0
    place = np.empty(query.shape[0], np.int64)
    for q in range(query.shape[0]):
        i = query[q]
        b = bucket(np.int64(np.floor(x[i, 0] / cell)), np.int64(np.floor(x[i, 1] / cell)), np.int64(np.floor(x[i, 2] / cell)), mask)
        place[q] = b
        start[b + 1] += 1
    for b in range(mask + 1):
        start[b + 1] += start[b]
    fill = start[:-1].copy()
    for q in range(query.shape[0]):
        order[fill[place[q]]] = q
        fill[place[q]] += 1


@njit(cache=True)
def closest(px, py, pz, x, a, b, c, weights):
    """Weights (3,) of the point of triangle a, b, c nearest to p (Ericson's regions); returns the squared distance."""
    abx, aby, abz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    acx, acy, acz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    apx, apy, apz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
    d1, d2 = abx * apx + aby * apy + abz * apz, acx * apx + acy * apy + acz * apz
    aa, bb, ab = abx * abx + aby * aby + abz * abz, acx * acx + acy * acy + acz * acz, abx * acx + aby * acy + abz * acz
    d3, d4, d5, d6 = d1 - aa, d2 - ab, d1 - ab, d2 - bb
    v, w = 0.0, 0.0
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if d1 <= 0.0 and d2 <= 0.0:
        v, w = 0.0, 0.0
    elif d3 >= 0.0 and d4 <= d3:
        v, w = 1.0, 0.0
    elif d6 >= 0.0 and d5 <= d6:
        v, w = 0.0, 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        total = va + vb + vc
        v, w = vb / total, vc / total
    weights[0], weights[1], weights[2] = 1.0 - v - w, v, w
    rx, ry, rz = apx - v * abx - w * acx, apy - v * aby - w * acy, apz - v * abz - w * acz
    return rx * rx + ry * ry + rz * rz


@njit(cache=True)
def is_excluded(excluded, q, t):
    """Whether triangle t is among those that query node q never collides with."""
    first, index = excluded.first, excluded.triangle
    low, high = first[q], first[q + 1]
    while low < high:
        middle = (low + high) // 2
        if index[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low < first[q + 1] and index[low] == t


@njit(cache=True)
def nearest(x, query, triangles, grid, reach, facing, excluded, out):
    """For every query node the nearest triangle within reach whose normal opposes the node's, into ``out``.

    A pair counts when the cosine between the two normals is below ``facing`` and the triangle is not excluded for the node.
    """
    faces, of_face, of_node = triangles.corners, triangles.normal, triangles.node_normal
    cell, start, order = grid.cell, grid.start, grid.order
    best, triangle, weights = out.distance2, out.triangle, out.weights
    mask = start.shape[0] - 2
    w = np.empty(3)
    best[:] = reach * reach
    triangle[:] = -1
    low, high = np.empty(3), np.empty(3)
    i0, i1 = np.empty(3, np.int64), np.empty(3, np.int64)
    for t in range(faces.shape[0]):
        a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
        for k in range(3):
            low[k] = min(x[a, k], x[b, k], x[c, k]) - reach
            high[k] = max(x[a, k], x[b, k], x[c, k]) + reach
            i0[k], i1[k] = np.int64(np.floor(low[k] / cell)), np.int64(np.floor(high[k] / cell))
        for i in range(i0[0], i1[0] + 1):
            for j in range(i0[1], i1[1] + 1):
                for k in range(i0[2], i1[2] + 1):
                    at = bucket(i, j, k, mask)
                    for s in range(start[at], start[at + 1]):
                        q = order[s]
                        n = query[q]
                        px, py, pz = x[n, 0], x[n, 1], x[n, 2]
                        if px < low[0] or px > high[0] or py < low[1] or py > high[1] or pz < low[2] or pz > high[2]:
                            continue
                        turn = of_node[n, 0] * of_face[t, 0] + of_node[n, 1] * of_face[t, 1] + of_node[n, 2] * of_face[t, 2]
                        if turn >= facing:
                            continue
                        away = (px - x[a, 0]) * of_face[t, 0] + (py - x[a, 1]) * of_face[t, 1] + (pz - x[a, 2]) * of_face[t, 2]
                        if away * away >= best[q]:
                            continue
                        d = closest(px, py, pz, x, a, b, c, w)
                        if d < best[q] and not is_excluded(excluded, q, t):
                            best[q] = d
                            triangle[q] = t
                            weights[q, 0], weights[q, 1], weights[q, 2] = w[0], w[1], w[2]
