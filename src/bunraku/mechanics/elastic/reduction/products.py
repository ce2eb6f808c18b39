"""Which products of coordinates the reduced strain needs: those whose absence would move the part.

At rest under a load, with s(u) the strain, J its derivative and K that of the elastic force, leaving out the product p = Q_ab c,
c = u_a u_b (u_a^2 / 2 where a = b), moves the part to first order by

    du_p = K^-1 (c J' Q_ab + (dc/du) s.Q_ab)

Shapes have unit mass, so |du_p| / |u| is the share of the motion that p is responsible for. The products with the smallest shares
are left out as long as their sum stays within a budget; those of two primary shapes are kept. What is left of the strain is brought
to triangular form again, which loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment
from bunraku.mechanics.elastic.reduction.loaded import elastic_terms, strain_and_slope


def product_shares(segment: FlexibleSegment, u: Array) -> Array:
    """The share (m,) of the motion at rest in u (r,) under a dead load that each product of the strain is responsible for."""
    a, b = segment.pairs.T
    Q, m, other = np.asarray(segment.Qp), np.arange(len(segment.pairs)), a != b
    s, J = strain_and_slope(segment, u)
    c = np.where(other, 1.0, 0.5) * u[a] * u[b]
    force = (J @ Q.T) * c
    along = Q @ s
    np.add.at(force, (a, m), u[b] * along)
    np.add.at(force, (b[other], m[other]), (u[a] * along)[other])
    moved = np.linalg.solve(elastic_terms(segment, u)[1], force)
    return np.asarray(np.linalg.norm(moved, axis=0) / max(float(np.linalg.norm(u)), 1e-300))


def needed_products(segment: FlexibleSegment, primary: int, states: Sequence[Array], budget: float) -> NDArray[np.bool_]:
    """Which products (m,) to keep so that those left out are responsible for no more than ``budget`` of the motion, summed."""
    share = np.max([product_shares(segment, u) for u in states], axis=0)
    share[np.all(segment.pairs < primary, axis=1)] = np.inf
    order = np.argsort(share)
    keep = np.ones(len(share), dtype=bool)
    keep[order[np.cumsum(share[order]) <= budget]] = False
    return keep


def with_products(segment: FlexibleSegment, keep: NDArray[np.bool_]) -> FlexibleSegment:
    """The segment with these of its products only."""
    columns = np.hstack([segment.L1.T, np.asarray(segment.Qp)[keep].T])
    R = np.asarray(qr(columns, mode="r", check_finite=False)[0])[: min(columns.shape)]
    r = segment.r
    L1, Qp = np.ascontiguousarray(R[:, :r].T), np.ascontiguousarray(R[:, r:].T)
    return replace(segment, L1=L1, pairs=np.ascontiguousarray(segment.pairs[keep]), Qp=Qp)
