"""Motor curves: node values K = B P of splines whose rows of B hold a few neighbouring control points each.

B (N + 1, points), P (points, nk). Parameters are the control points that are free, control point major: the number of parameter
(free point c, motor m) is c nk + m, so that what acts up to some time is a prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Row j of B: ``weight`` (N + 1, width) of the control points from ``first`` (N + 1,) on; ``free`` (points,) which may move."""

    first: Indices
    weight: Array
    free: NDArray[np.bool_]

    @property
    def steps(self) -> int:
        """N."""
        return len(self.first) - 1

    @property
    def points(self) -> int:
        """Number of control points of a curve."""
        return len(self.free)

    @cached_property
    def parameter(self) -> Indices:
        """(points + width,): the number of each control point among the free ones, -1 for a fixed one."""
        numbers = np.where(self.free, np.cumsum(self.free) - 1, -1)
        return np.concatenate([numbers, np.full(self.weight.shape[1], -1)]).astype(np.int64)

    def count(self, nk: int) -> int:
        """Number of parameters of nk motors."""
        return int(self.free.sum()) * nk

    def active(self, nk: int) -> Indices:
        """(N + 1,): how many parameters act on some node up to this one."""
        numbers = self.parameter[self.first[:, None] + np.arange(self.weight.shape[1])]
        last = np.where(self.weight != 0.0, numbers, -1).max(axis=1)
        return ((np.maximum.accumulate(last) + 1) * nk).astype(np.int64)

    def nodes(self, points: ArrayLike) -> Array:
        """Node values K (N + 1, nk) of control points (points, nk)."""
        P = np.asarray(points, dtype=np.float64)
        if P.ndim != 2 or len(P) != self.points:
            raise BadInput(f"the control points have shape {P.shape}; they must be ({self.points}, motors)")
        padded = np.vstack([P, np.zeros((self.weight.shape[1], P.shape[1]))])
        K = np.zeros((len(self.first), P.shape[1]))
        for b in range(self.weight.shape[1]):
            K += self.weight[:, b, None] * padded[self.first + b]
        return K

    def spread(self, change: ArrayLike, nk: int) -> Array:
        """Change of the node values (N + 1, nk) from a change of the parameters (count,)."""
        P = np.zeros((self.points, nk))
        P[self.free] = np.asarray(change, dtype=np.float64).reshape(-1, nk)
        return self.nodes(P)

    def gather(self, slope: ArrayLike) -> Array:
        """Slope over the parameters (count,) from a slope over the node values (N + 1, nk): the transpose of :meth:`spread`."""
        g = np.asarray(slope, dtype=np.float64)
        P = np.zeros((self.points + self.weight.shape[1], g.shape[1]))
        for b in range(self.weight.shape[1]):
            np.add.at(P, self.first + b, self.weight[:, b, None] * g)
        return P[: self.points][self.free].ravel()


def make_curves(B: Any, free: ArrayLike | None = None) -> Curves:
    """Curves of a matrix B (N + 1, points), dense or scipy sparse, rows of neighbouring entries; all points free unless said."""
    M = np.asarray(B.todense() if hasattr(B, "todense") else B, dtype=np.float64)
    if M.ndim != 2 or len(M) < 2 or not np.isfinite(M).all():
        raise BadInput(f"the matrix of the motor curves has shape {M.shape}; it must be (nodes, control points), finite")
    used = M != 0.0
    first = np.where(used.any(axis=1), used.argmax(axis=1), 0)
    last = np.where(used.any(axis=1), M.shape[1] - 1 - used[:, ::-1].argmax(axis=1), 0)
    width = int((last - first).max()) + 1
    columns = first[:, None] + np.arange(width)
    weight = np.where(columns < M.shape[1], np.take_along_axis(M, np.minimum(columns, M.shape[1] - 1), axis=1), 0.0)
    chosen = np.ones(M.shape[1], dtype=bool) if free is None else np.asarray(free, dtype=bool)
    if chosen.shape != (M.shape[1],):
        raise BadInput(f"free has shape {chosen.shape}; it must say yes or no for each of the {M.shape[1]} control points")
    return Curves(first.astype(np.int64), np.ascontiguousarray(weight), chosen)
