r"""The exact reduced strain of a St. Venant-Kirchhoff part: s(u) = L1 u + Q(u, u)/2 with V = s.s/2.

At a quadrature point the displacement gradient is H = sum_a u_a H_a, and Green's strain is a polynomial of second degree,

    E = sum_a u_a sym(H_a) + 1/2 sum_ab u_a u_b sym(H_a' H_b)

Six numbers y(E), linear in E, with y.y = 2 W = lam (tr E)^2 + 2 mu E:E are

    y_i = (2 mu)^1/2 E_ii + kappa tr E,    kappa = ((2 mu + 3 lam)^1/2 - (2 mu)^1/2) / 3,    y_ij = 2 mu^1/2 E_ij  (i < j)

The stack of all w^1/2 y (thousands of rows, a column for every u_a and every u_a u_b) is reduced to its triangular QR factor,
block by block. That loses nothing: |s|^2 is kept for every u. Nothing is cut from the factor: its smallest rows carry the
bending.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.solid import ElasticSolid

BLOCK = 8192
"""Rows of one block, about."""


def strain_pairs(count: int) -> Indices:
    """All pairs (m, 2) of modes a <= b < ``count``."""
    return np.column_stack(np.triu_indices(count))


def displacement_gradients(solid: ElasticSolid, shapes: ArrayLike, cells: slice = slice(None)) -> Array:
    """H_a = grad phi_a (r, m, q, 3, 3) at the quadrature points of the ``cells``, for shapes (r, 3 n)."""
    phi = np.asarray(shapes, dtype=np.float64).reshape(-1, solid.nodes, 3)
    nodes, G = solid.mesh.cells[cells], solid.gradients[cells]
    return np.ascontiguousarray(np.einsum("xeai,eqja->xeqij", phi[:, nodes], G, optimize=True))


def scaled_strain(lam: Array, mu: Array, weights: Array, E: Array) -> Array:
    """w^1/2 y(E) (..., 6) of symmetric E (..., 3, 3), with Lame's numbers and weights that broadcast over the leading axes."""
    root = np.sqrt(weights)
    normal = root * np.sqrt(2.0 * mu)
    kappa = root * (np.sqrt(2.0 * mu + 3.0 * lam) - np.sqrt(2.0 * mu)) / 3.0 * np.trace(E, axis1=-2, axis2=-1)
    shear = 2.0 * root * np.sqrt(mu)
    parts = [normal * E[..., i, i] + kappa for i in range(3)] + [shear * E[..., i, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.stack(parts, axis=-1)


def reduced_strain(solid: ElasticSolid, shapes: ArrayLike, pairs: Indices) -> tuple[Array, Array]:
    """L1 (r, k) and Q (m, k) for the ``pairs`` (m, 2) of shapes (r, 3 n); k <= r + m, triangular: row i is 0 before column i."""
    phi = np.asarray(shapes, dtype=np.float64)
    if solid.weights.min() <= 0.0:
        raise BadInput("the quadrature of the solid has weights that are not positive; give it another degree")
    r, m = len(phi), len(pairs)
    lam, mu = solid.lame
    step = max(1, BLOCK // (6 * solid.weights.shape[1]))
    factor: Array = np.zeros((0, r + m))
    for first in range(0, len(solid.mesh.cells), step):
        cells = slice(first, first + step)
        H = displacement_gradients(solid, phi, cells)
        linear = 0.5 * (H + H.swapaxes(-1, -2))
        square = np.matmul(H[pairs[:, 0]].swapaxes(-1, -2), H[pairs[:, 1]])
        square = 0.5 * (square + square.swapaxes(-1, -2))
        y = scaled_strain(lam[cells, None], mu[cells, None], solid.weights[cells], np.concatenate([linear, square]))
        rows = np.vstack([factor, y.reshape(r + m, -1).T])
        factor = np.asarray(qr(rows, mode="r", overwrite_a=True, check_finite=False)[0], dtype=np.float64)[: r + m]
    return np.ascontiguousarray(factor[:, :r].T), np.ascontiguousarray(factor[:, r:].T)
