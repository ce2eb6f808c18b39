"""Limits along a trajectory: g_k(x_k, u_k) <= 0 at every step and g_N(x_N) <= 0 at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput


class TrajectoryConstraint(ABC):
    """Inequalities g <= 0 along a trajectory, any smooth functions of (x_k, u_k): inputs, states, tensions, distances.

    Author's guide: three methods, vectorised over k; ``x`` is (N + 1, nx), ``u`` (N, nu), nw = nx + nu. A constraint without a
    terminal part returns arrays with no terminal rows (``np.zeros(0)``, ``np.zeros((0, nx))``), one without a stage part (N, 0)
    and (N, 0, nw). Scale g so that 1 is a violation one would call large: all rows share one penalty.

    1. :meth:`values`: g of the stages (N, rows) and of the end (last,).
    2. :meth:`jacobians`: dg/dw (N, rows, nw) and dg_N/dx (last, nx). Linear rows return one matrix for all steps, by
       ``np.broadcast_to``: it takes no room, and solvers notice.
    3. :meth:`curvature`: sum over rows of weight times d2g/dw2, (N, nw, nw) and (nx, nx); zeros make the method Gauss-Newton.
    """

    @abstractmethod
    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """The values g (N, rows) and g_N (last,); negative is allowed, positive is a violation."""

    @abstractmethod
    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Their derivatives (N, rows, nx + nu) and (last, nx)."""

    @abstractmethod
    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """Second derivatives contracted with ``weights`` (N, rows) and ``last`` (last,): (N, nw, nw), (nx, nx)."""


class _Bounds(TrajectoryConstraint):
    """Bounds on some columns of the states or the inputs; rows are (value - upper) / scale, then (lower - value) / scale."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, of_inputs: bool) -> None:
        lo, hi = np.atleast_1d(np.array(lower, dtype=np.float64)), np.atleast_1d(np.array(upper, dtype=np.float64))
        if lo.shape != hi.shape or lo.ndim != 1 or not (lo < hi).all():
            raise BadInput(
                f"bounds of shapes {lo.shape} and {hi.shape} arrived; one lower below one upper number per variable is needed"
            )
        self._of_inputs = of_inputs
        self._columns = np.concatenate([np.flatnonzero(np.isfinite(hi)), np.flatnonzero(np.isfinite(lo))])
        count = int(np.isfinite(hi).sum())
        self._signs = np.where(np.arange(len(self._columns)) < count, 1.0, -1.0)
        self._limits = np.concatenate([hi[np.isfinite(hi)], -lo[np.isfinite(lo)]])
        span = np.where(np.isfinite(hi - lo), hi - lo, 1.0)
        self._slopes = self._signs / span[self._columns]
        self._limits = self._limits / span[self._columns]
        self._size = len(lo)

    def _rows(self, values: Array) -> Array:
        if values.shape[-1] != self._size:
            raise BadInput(f"bounds for {self._size} variables, but the trajectory has {values.shape[-1]}")
        return values[..., self._columns] * self._slopes - self._limits

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Excess over the bounds, in parts of their span; infinite bounds have no row."""
        return (self._rows(u), np.zeros(0)) if self._of_inputs else (self._rows(x[:-1]), self._rows(x[-1]))

    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Constant rows of one entry each."""
        n, nw, rows = x.shape[1], x.shape[1] + u.shape[1], len(self._columns)
        J = np.zeros((rows, nw))
        J[np.arange(rows), self._columns + (n if self._of_inputs else 0)] = self._slopes
        return np.broadcast_to(J, (len(u), rows, nw)), np.zeros((0, n)) if self._of_inputs else J[:, :n].copy()

    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """None: bounds are linear."""
        n, nw = x.shape[1], x.shape[1] + u.shape[1]
        return np.zeros((len(u), nw, nw)), np.zeros((n, n))


class InputBounds(_Bounds):
    """``lower`` <= u_k <= ``upper``, each (nu,), infinite where there is no bound; g is the excess divided by upper - lower."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        super().__init__(lower, upper, of_inputs=True)


class StateBounds(_Bounds):
    """``lower`` <= x_k <= ``upper`` for k = 0 .. N, each (nx,), infinite where there is no bound; g as for the inputs."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        super().__init__(lower, upper, of_inputs=False)
