"""Pairs of triangles that cross, found on a grid of cells."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def fill_cells(low, high, counts, cells, starts, items, fill):  # pragma: no cover
    """Count (``fill`` 0) or list (1) for every cell the triangles whose boxes, in cells ``low`` to ``high`` (m, 3), reach it."""
    ny, nz = cells[1], cells[2]
    for f in range(low.shape[0]):
        for i in range(low[f, 0], high[f, 0] + 1):
            for j in range(low[f, 1], high[f, 1] + 1):
                for k in range(low[f, 2], high[f, 2] + 1):
                    c = (i * ny + j) * nz + k
                    if fill == 1:
                        items[starts[c] + counts[c]] = f
                    counts[c] += 1


@njit(cache=True)
def _pierces(p, q, t, n, e, strict):  # pragma: no cover
    """Whether the segment p to q passes through the triangle t (3, 3) of unit normal n, to within e."""
    d0 = n[0] * (p[0] - t[0, 0]) + n[1] * (p[1] - t[0, 1]) + n[2] * (p[2] - t[0, 2])
    d1 = n[0] * (q[0] - t[0, 0]) + n[1] * (q[1] - t[0, 1]) + n[2] * (q[2] - t[0, 2])
    if strict == 1:
        if not ((d0 > e and d1 < -e) or (d0 < -e and d1 > e)):
            return False
    else:
        if (d0 > e and d1 > e) or (d0 < -e and d1 < -e) or (abs(d0) <= e and abs(d1) <= e):
            return False
    s = d0 / (d0 - d1) if d0 != d1 else 0.5
    s = min(max(s, 0.0), 1.0)
    x = p[0] + s * (q[0] - p[0])
    y = p[1] + s * (q[1] - p[1])
    z = p[2] + s * (q[2] - p[2])
    limit = e if strict == 1 else -e
    for i in range(3):
        j = (i + 1) % 3
        ux = t[j, 0] - t[i, 0]
        uy = t[j, 1] - t[i, 1]
        uz = t[j, 2] - t[i, 2]
        length = np.sqrt(ux * ux + uy * uy + uz * uz)
        vx, vy, vz = x - t[i, 0], y - t[i, 1], z - t[i, 2]
        side = n[0] * (uy * vz - uz * vy) + n[1] * (uz * vx - ux * vz) + n[2] * (ux * vy - uy * vx)
        if side <= limit * length:
            return False
    return True


@njit(cache=True)
def _overlaps(a, b, n, e):  # pragma: no cover
    """Whether two triangles in one plane of normal n share an area: no side of either has the other wholly beyond it."""
    for turn in range(2):
        s = a if turn == 0 else b
        t = b if turn == 0 else a
        middle = np.zeros(3)
        for i in range(3):
            for c in range(3):
                middle[c] += s[i, c] / 3.0
        for i in range(3):
            j = (i + 1) % 3
            ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
            length = np.sqrt(ux * ux + uy * uy + uz * uz)
            wx, wy, wz = n[1] * uz - n[2] * uy, n[2] * ux - n[0] * uz, n[0] * uy - n[1] * ux
            inward = wx * (middle[0] - s[i, 0]) + wy * (middle[1] - s[i, 1]) + wz * (middle[2] - s[i, 2])
            sign = 1.0 if inward > 0.0 else -1.0
            beyond = True
            for k in range(3):
                d = sign * (wx * (t[k, 0] - s[i, 0]) + wy * (t[k, 1] - s[i, 1]) + wz * (t[k, 2] - s[i, 2]))
                if d > e * length:
                    beyond = False
            if beyond:
                return False
    return True


@njit(cache=True)
def _crosses(a, b, na, nb, fa, fb, e):  # pragma: no cover
    """Whether the triangles a and b cross, other than in the vertices and edges that their numbers fa and fb share."""
    flat = True
    for k in range(3):
        d = nb[0] * (a[k, 0] - b[0, 0]) + nb[1] * (a[k, 1] - b[0, 1]) + nb[2] * (a[k, 2] - b[0, 2])
        if abs(d) > e:
            flat = False
    if flat:
        return _overlaps(a, b, nb, e)
    shared, mine, other = 0, -1, -1
    for i in range(3):
        for j in range(3):
            if fa[i] == fb[j]:
                shared += 1
                mine, other = i, j
    if shared >= 2:
        return False
    if shared == 1:
        return _pierces(a[(mine + 1) % 3], a[(mine + 2) % 3], b, nb, e, 1) or _pierces(
            b[(other + 1) % 3], b[(other + 2) % 3], a, na, e, 1
        )
    crosses = False
    for i in range(3):
        crosses = crosses or _pierces(a[i], a[(i + 1) % 3], b, nb, e, 0) or _pierces(b[i], b[(i + 1) % 3], a, na, e, 0)
    return crosses


@njit(cache=True)
def crossing_pairs(corners, faces, normals, low, cells, starts, items, e, limit):  # pragma: no cover
    """Pairs (k, 2) of faces that cross, at most ``limit``; every pair is tested in the first cell that both boxes reach."""
    pairs = np.empty((limit, 2), dtype=np.int64)
    count = 0
    ny, nz = cells[1], cells[2]
    boxes = np.empty((corners.shape[0], 6))
    for f in range(corners.shape[0]):
        for c in range(3):
            boxes[f, c] = min(corners[f, 0, c], corners[f, 1, c], corners[f, 2, c]) - e
            boxes[f, 3 + c] = max(corners[f, 0, c], corners[f, 1, c], corners[f, 2, c]) + e
    for c in range(starts.shape[0] - 1):
        i, j, k = c // (ny * nz), c // nz % ny, c % nz
        for x in range(starts[c], starts[c + 1]):
            f = items[x]
            for y in range(x + 1, starts[c + 1]):
                g = items[y]
                if max(low[f, 0], low[g, 0]) != i or max(low[f, 1], low[g, 1]) != j or max(low[f, 2], low[g, 2]) != k:
                    continue
                apart = False
                for w in range(3):
                    if boxes[f, w] > boxes[g, 3 + w] or boxes[g, w] > boxes[f, 3 + w]:
                        apart = True
                if apart:
                    continue
                if _crosses(corners[f], corners[g], normals[f], normals[g], faces[f], faces[g], e):
                    pairs[count, 0] = f
                    pairs[count, 1] = g
                    count += 1
                    if count == limit:
                        return pairs
    return pairs[:count]
