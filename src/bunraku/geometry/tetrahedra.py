"""Tetrahedra and triangles of first and second order: shape functions, quadrature, the numbering of edges and faces.

The reference tetrahedron has the corners (0,0,0), (1,0,0), (0,1,0), (0,0,1); with L_0 = 1 - x - y - z, L_1 = x, L_2 = y, L_3 = z
the shape functions are N_a = L_a (order 1), and N_a = L_a (2 L_a - 1) at corners, N_ab = 4 L_a L_b in the middle of edges
(order 2). A second-order cell whose middle nodes do not lie half-way between the corners is curved: x(xi) = sum_a x_a N_a(xi).
Nodes within a cell are numbered as VTK does: corners, then the middles of ``EDGES``. Triangles likewise.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput

EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
"""Corners of the six edges; the middle of edge e is node 4 + e of a second-order cell."""

FACES = ((0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6))
"""Nodes of the four faces of a second-order cell, corners first and seen counter-clockwise from outside."""

NODES_OF_ORDER = {1: 4, 2: 10}
_TRIANGLE_EDGES = ((0, 1), (1, 2), (2, 0))


def shape_values(order: int, points: ArrayLike) -> Array:
    """Shape functions (m, 4 or 10) of a tetrahedron at reference ``points`` (m, 3)."""
    return _values(order, _barycentric(points, 3), EDGES)


def shape_gradients(order: int, points: ArrayLike) -> Array:
    """Derivatives (m, 4 or 10, 3) of a tetrahedron's shape functions with respect to the reference coordinates."""
    return _gradients(order, _barycentric(points, 3), EDGES)


def triangle_values(order: int, points: ArrayLike) -> Array:
    """Shape functions (m, 3 or 6) of a triangle at reference ``points`` (m, 2)."""
    return _values(order, _barycentric(points, 2), _TRIANGLE_EDGES)


def triangle_gradients(order: int, points: ArrayLike) -> Array:
    """Derivatives (m, 3 or 6, 2) of a triangle's shape functions with respect to the reference coordinates."""
    return _gradients(order, _barycentric(points, 2), _TRIANGLE_EDGES)


@lru_cache(maxsize=32)
def tetrahedron_rule(degree: int) -> tuple[Array, Array]:
    """Points (m, 3) and positive weights (m,), summing to 1/6, exact for polynomials up to ``degree``.

    One point for degree 1, four for degree 2, above that the conical product of Gauss-Jacobi rules with ceil((degree + 1) / 2)
    points a direction.
    """
    if degree <= 1:
        return _frozen(np.full((1, 3), 0.25), np.array([1.0 / 6.0]))
    if degree == 2:
        a = (5.0 - np.sqrt(5.0)) / 20.0
        points = np.full((4, 3), a)
        points[1:] += (1.0 - 4.0 * a) * np.eye(3)
        return _frozen(points, np.full(4, 1.0 / 24.0))
    count = _points_a_direction(degree)
    (x, wx), (y, wy), (z, wz) = (_jacobi(count, power) for power in (2, 1, 0))
    X, Y, Z = np.meshgrid(x, y, z, indexing="ij")
    points = np.stack([X, Y * (1.0 - X), Z * (1.0 - X) * (1.0 - Y)], axis=-1).reshape(-1, 3)
    return _frozen(points, np.einsum("i,j,k->ijk", wx, wy, wz).ravel())


@lru_cache(maxsize=32)
def triangle_rule(degree: int) -> tuple[Array, Array]:
    """Points (m, 2) and positive weights (m,), summing to 1/2, exact for polynomials up to ``degree``."""
    count = _points_a_direction(degree)
    (x, wx), (y, wy) = (_jacobi(count, power) for power in (1, 0))
    X, Y = np.meshgrid(x, y, indexing="ij")
    return _frozen(np.stack([X, Y * (1.0 - X)], axis=-1).reshape(-1, 2), np.einsum("i,j->ij", wx, wy).ravel())


def lattice(degree: int) -> Array:
    """Reference points (m, 3) with coordinates that are multiples of 1 / ``degree``; 20 of them for degree 3."""
    ticks = range(degree + 1)
    points = [(i, j, k) for k in ticks for j in ticks for i in ticks if i + j + k <= degree]
    return np.array(points, dtype=np.float64) / degree


def _points_a_direction(degree: int) -> int:
    if not 0 <= degree <= 30:
        raise BadInput(f"a quadrature rule of degree {degree} was asked for; degrees 0 to 30 exist")
    return max(1, (degree + 2) // 2)


def _jacobi(count: int, power: int) -> tuple[Array, Array]:
    """Gauss rule on (0, 1) for the weight (1 - x)^power."""
    from scipy.special import roots_jacobi  # half a second to import, and a mesh that is only read needs no rule

    nodes, weights = roots_jacobi(count, power, 0)
    return 0.5 * (1.0 + nodes), weights / 2.0 ** (power + 1)


def _frozen(points: Array, weights: Array) -> tuple[Array, Array]:
    points.flags.writeable = weights.flags.writeable = False
    return points, weights


def _barycentric(points: ArrayLike, dimension: int) -> Array:
    at = np.asarray(points, dtype=np.float64)
    if at.ndim != 2 or at.shape[1] != dimension:
        raise BadInput(f"reference points have shape {at.shape}; (m, {dimension}) is needed")
    return np.column_stack([1.0 - at.sum(axis=1), at])


def _values(order: int, L: Array, edges: tuple[tuple[int, int], ...]) -> Array:
    if order == 1:
        return L
    _check_order(order)
    return np.column_stack([L * (2.0 * L - 1.0), *(4.0 * L[:, a] * L[:, b] for a, b in edges)])


def _gradients(order: int, L: Array, edges: tuple[tuple[int, int], ...]) -> Array:
    corners = L.shape[1]
    dL = np.vstack([-np.ones(corners - 1), np.eye(corners - 1)])
    if order == 1:
        return np.broadcast_to(dL, (len(L), *dL.shape)).copy()
    _check_order(order)
    at_corners = (4.0 * L - 1.0)[:, :, None] * dL
    at_edges = [4.0 * (L[:, a, None] * dL[b] + L[:, b, None] * dL[a]) for a, b in edges]
    return np.concatenate([at_corners, np.stack(at_edges, axis=1)], axis=1)


def _check_order(order: int) -> None:
    if order not in NODES_OF_ORDER:
        raise BadInput(f"cells of order {order} were asked for; there are order 1 (linear) and 2 (quadratic)")
