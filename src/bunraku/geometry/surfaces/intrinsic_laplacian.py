"""The cotangent Laplacian of a closed surface over its intrinsic Delaunay triangulation, where no weight is negative.

Sides are flipped, without moving the surface, until the angles opposite each side add up to no more than π; then cot α + cot β is
not negative. On surfaces with faces of almost no area, flips are few because sums equal to π within 1e-6 are left alone, and
bounded in any case.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, diags

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.intrinsic_laplacian_kernels import cotangents, flipped

_LARGEST = 1e6
_TOLERANCE = 1e-6


def intrinsic_laplacian(vertices: Array, faces: Indices) -> csc_matrix:
    """L (n, n), negative semidefinite: L_ij = cot α + cot β, the angles opposite the side ij, within 0 and 1e6; rows sum to 0."""
    m, n = len(faces), len(vertices)
    start = faces.ravel().copy()
    end = np.ascontiguousarray(np.roll(faces, -1, axis=1).ravel())
    length = np.linalg.norm(vertices[end] - vertices[start], axis=1)
    twin = _twins(start, end, n)
    flipped(start, twin, length, _TOLERANCE, 30 * m)
    weight = cotangents(length)
    weight = np.clip(np.clip(weight, -_LARGEST, _LARGEST) + np.clip(weight[twin], -_LARGEST, _LARGEST), 0.0, _LARGEST)
    end = np.ascontiguousarray(np.roll(start.reshape(-1, 3), -1, axis=1).ravel())
    apart = start != end
    W = coo_matrix((weight[apart], (start[apart], end[apart])), shape=(n, n)).tocsc()
    return csc_matrix(W - diags(np.asarray(W.sum(axis=1)).ravel()))


def _twins(start: Indices, end: Indices, n: int) -> Indices:
    """For each side the one of the neighbouring face that runs back along it."""
    forth, back = start * n + end, end * n + start
    order = np.argsort(forth, kind="stable")
    place = np.minimum(np.searchsorted(forth[order], back), len(order) - 1)
    twin: Indices = order[place]
    if not np.array_equal(forth[twin], back) or not np.array_equal(twin[twin], np.arange(len(twin))):
        raise BadInput("the surface is not closed; repair it first")
    return twin
