"""How near two trajectories are: by what it changes of a cost, its Gauss-Newton matrices at one of them."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.optimization.control.cost import TrajectoryCost

REGULAR = 1e-3
"""Added to the diagonal of the matrices that the milder gains come from: an input without a weight of its own has a minimum too."""


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
