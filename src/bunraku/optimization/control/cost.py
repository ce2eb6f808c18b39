"""What a trajectory costs: J = sum_k l_k(x_k, u_k) + m(x_N), with derivatives, over the whole horizon at once."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control.lqr import stage_weights

REGULAR = 1e-3
"""Added to the diagonal of the matrices that the milder gains come from: an input without a weight of its own has a minimum too."""


class TrajectoryCost(ABC):
    """J = sum over k of l_k(x_k, u_k), plus m(x_N).

    Author's guide: three methods, vectorised over k; ``x`` is (N + 1, nx), ``u`` (N, nu), w = (x, u) stacked, nw = nx + nu.

    1. :meth:`value`: J; infinity where the cost is not defined (a barrier), which the line search takes as a step too long.
    2. :meth:`gradient`: dl_k/dw (N, nw) and dm/dx (nx,).
    3. :meth:`add_hessian`: d2l_k/dw2 (N, nw, nw) and d2m/dx2 (nx, nx), added to arrays; with ``exact=False`` a positive
       semidefinite stand-in, for a sum of squares the Gauss-Newton matrix.
    """

    @abstractmethod
    def value(self, x: Array, u: Array) -> float:
        """J of the whole trajectory."""

    @abstractmethod
    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Stage gradients (N, nx + nu) and the terminal one (nx,)."""

    @abstractmethod
    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """Add the stage Hessians to ``H`` (N, nx + nu, nx + nu) and the terminal one to ``P`` (nx, nx), in place."""

    def hessian(self, x: Array, u: Array, *, exact: bool) -> tuple[Array, Array]:
        """Stage Hessians (N, nx + nu, nx + nu) and the terminal one (nx, nx); C-contiguous arrays that the caller may change."""
        n, nw = x.shape[1], x.shape[1] + u.shape[1]
        H, P = np.zeros((len(u), nw, nw)), np.zeros((n, n))
        self.add_hessian(H, P, x, u, exact=exact)
        return H, P


class TrackingCost(TrajectoryCost):
    """Quadratic distance to a wished trajectory: J = 1/2 sum_k (dx.Q dx + du.R du) + 1/2 dx_N.Qf dx_N.

    dx = x - ``x_wish`` (N + 1, nx), du = u - ``u_wish`` (N, nu; zero when left out). ``Q`` (nx, nx), ``R`` (nu, nu) constant or
    one per step (N, n, n); ``terminal`` Qf (nx, nx). Units: [cost] / [x]^2, [cost] / [u]^2.
    """

    def __init__(
        self, x_wish: ArrayLike, Q: ArrayLike, R: ArrayLike, *, terminal: ArrayLike | None = None, u_wish: ArrayLike | None = None
    ) -> None:
        self._x = np.array(x_wish, dtype=np.float64)
        if self._x.ndim != 2 or len(self._x) < 2:
            raise BadInput(f"a wished trajectory of shape {self._x.shape} arrived; (N + 1, nx) is needed")
        N, n = len(self._x) - 1, self._x.shape[1]
        self._H = stage_weights(Q, R, steps=N)
        self._Qf = np.array(self._H[-1, :n, :n] if terminal is None else terminal, dtype=np.float64)
        m = self._H.shape[1] - n
        self._u = np.zeros((N, m)) if u_wish is None else np.array(u_wish, dtype=np.float64)
        if self._Qf.shape != (n, n) or self._u.shape != (N, m):
            raise BadInput(
                f"terminal weight {self._Qf.shape} and input wish {self._u.shape} arrived; ({n}, {n}) and ({N}, {m}) fit"
            )

    def _deviation(self, x: Array, u: Array) -> Array:
        return np.hstack([x[:-1] - self._x[:-1], u - self._u])

    def value(self, x: Array, u: Array) -> float:
        """J of the whole trajectory."""
        w, e = self._deviation(x, u), x[-1] - self._x[-1]
        return 0.5 * float(np.vdot(w, (self._H @ w[:, :, None])[:, :, 0])) + 0.5 * float(e @ self._Qf @ e)

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Stage gradients (N, nx + nu) and the terminal one (nx,)."""
        g: Array = (self._H @ self._deviation(x, u)[:, :, None])[:, :, 0]
        return g, self._Qf @ (x[-1] - self._x[-1])

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """The weights themselves."""
        H += self._H
        P += self._Qf


class LinearResidualCost(TrajectoryCost):
    """Squares of linear combinations of state and input: J = 1/2 sum_k sum_i weight_i (M w_k - target_k)_i^2, w = (x, u).

    ``M`` (m, nx + nu), ``weights`` (m,), ``target`` (m,) or (N, m). The velocity of a prescribed coordinate over a step, (k2 -
    q_k)/dt, and its acceleration are such combinations.
    """

    def __init__(self, M: ArrayLike, weights: ArrayLike, target: ArrayLike = 0.0) -> None:
        self._M = np.atleast_2d(np.array(M, dtype=np.float64))
        self._target = np.array(target, dtype=np.float64)
        try:
            self._weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (len(self._M),)).copy()
            np.broadcast_shapes(self._target.shape, (1, len(self._M)))
        except ValueError as error:
            raise BadInput(f"{len(self._M)} rows, but weights {np.shape(weights)} and target {self._target.shape}") from error
        self._H = self._M.T @ (self._weights[:, None] * self._M)

    def _residual(self, x: Array, u: Array) -> Array:
        return np.hstack([x[:-1], u]) @ self._M.T - self._target

    def value(self, x: Array, u: Array) -> float:
        """J of the whole trajectory."""
        r = self._residual(x, u)
        return 0.5 * float(np.vdot(r, r * self._weights))

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Stage gradients (N, nx + nu); nothing at the end."""
        return (self._residual(x, u) * self._weights) @ self._M, np.zeros(x.shape[1])

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """The same matrix M^T W M for every step."""
        H += self._H


class SumOfCosts(TrajectoryCost):
    """Several costs added up."""

    def __init__(self, *parts: TrajectoryCost) -> None:
        if not parts:
            raise BadInput("a sum of no costs; give at least one")
        self._parts = parts

    def value(self, x: Array, u: Array) -> float:
        """J of the whole trajectory."""
        return float(sum(part.value(x, u) for part in self._parts))

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Stage gradients (N, nx + nu) and the terminal one (nx,)."""
        both = [part.gradient(x, u) for part in self._parts]
        return np.sum([one[0] for one in both], axis=0), np.sum([one[1] for one in both], axis=0)

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """Each part in turn."""
        for part in self._parts:
            part.add_hessian(H, P, x, u, exact=exact)


class Nearness(TrajectoryCost):
    """Distance 1/2 sum_k dw.H dw from a trajectory, H the Gauss-Newton matrices of a cost there."""

    def __init__(self, cost: TrajectoryCost, x: Array, u: Array) -> None:
        self._x, self._u = x, u
        self._H, self._P = regular(cost, x, u)

    def _change(self, x: Array, u: Array) -> tuple[Array, Array]:
        return np.hstack([x[:-1] - self._x[:-1], u - self._u]), x[-1] - self._x[-1]

    def value(self, x: Array, u: Array) -> float:
        """The distance."""
        slope, end = self.gradient(x, u)
        w, last = self._change(x, u)
        return 0.5 * float(np.vdot(w, slope) + last @ end)

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        """H dw of the stages and of the end."""
        w, last = self._change(x, u)
        return (self._H @ w[:, :, None])[:, :, 0], self._P @ last

    def add_hessian(self, H: Array, P: Array, x: Array, u: Array, *, exact: bool) -> None:
        """The matrices themselves."""
        H += self._H
        P += self._P


def regular(cost: TrajectoryCost, x: Array, u: Array) -> tuple[Array, Array]:
    """The Gauss-Newton matrices of a cost with REGULAR added to the diagonals of the stages."""
    H, P = cost.hessian(x, u, exact=False)
    np.einsum("kii->ki", H)[:] += REGULAR
    return H, P
