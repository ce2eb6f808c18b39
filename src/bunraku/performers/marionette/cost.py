"""What an imitation costs: distance of chosen points from where they should be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.points import Points
from bunraku.optimization.control.cost import TrajectoryCost


class PointCost(TrajectoryCost):
    """J = 1/2 sum_k sum_i weight_i |p_i(q_k) - wish_ki|^2 over all nodes k = 0 .. N, q the first nq numbers of the state.

    ``wish`` (N + 1, points, 3) [m]; ``weights`` (points,) [cost/m^2].
    """

    def __init__(self, points: Points, wish: ArrayLike, weights: ArrayLike, nq: int) -> None:
        self._points, self._nq = points, nq
        self._wish, self._weights = np.array(wish, dtype=np.float64), np.array(weights, dtype=np.float64)
        count = len(points.names)
        if self._wish.ndim != 3 or self._wish.shape[1:] != (count, 3) or self._weights.shape != (count,):
            raise BadInput(f"wish {self._wish.shape} and weights {self._weights.shape} do not fit {count} points")

    def _residual(self, x: Array) -> Array:
        return self._points.positions(x[:, : self._nq]) - self._wish

    def value(self, x: Array, u: Array) -> float:
        """J of the whole trajectory."""
        r = self._residual(x)
        return 0.5 * float(np.einsum("kpa,p,kpa->", r, self._weights, r))

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Stage gradients (N, nx + nu) and the terminal one (nx,)."""
        J = self._points.jacobians(x[:, : self._nq])
        slope = np.einsum("kpa,p,kpai->ki", self._residual(x), self._weights, J)
        g, end = np.zeros((len(u), x.shape[1] + u.shape[1])), np.zeros(x.shape[1])
        g[:, : self._nq], end[: self._nq] = slope[:-1], slope[-1]
        return g, end

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """Gauss-Newton: sum of J^T weight J; ``exact`` adds the curvature of the points under the residual."""
        q, n = x[:, : self._nq], self._nq
        J = self._points.jacobians(q).reshape(len(x), -1, n)
        C = J.transpose(0, 2, 1) @ (np.repeat(self._weights, 3)[None, :, None] * J)
        if exact:
            C += self._points.curvature(q, self._residual(x) * self._weights[None, :, None])
        H[:, :n, :n] += C[:-1]
        P[:n, :n] += C[-1]
