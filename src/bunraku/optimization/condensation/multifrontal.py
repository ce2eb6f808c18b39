"""Multifrontal Cholesky on LAPACK and BLAS: the condensation that needs nothing but NumPy, SciPy and Numba.

Fronts (see :mod:`bunraku.optimization.condensation.fronts`) are worked off children first: the matrix's numbers and the children's
updates are added up, then

    L11 L11^T = F11,    L21 = F21 L11^-T,    update = F22 - L21 L21^T.

The border is only eliminated forwards, Y = L^-1 B, so that S = Y^T Y; x = L^-T (Y y). Columns of the border that are zero in a
whole subtree are left out there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsyrk
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.optimization.condensation import multifrontal_kernels as kernels
from bunraku.optimization.condensation._blas import addresses
from bunraku.optimization.condensation.fronts import PIVOTS, ROWS, Fronts, analyse_fronts
from bunraku.optimization.condensation.interface import Condenser, not_positive_definite

LEAF = 120
"""Unknowns of a part that is not cut further: less costs calls, more costs fill."""


class Multifrontal(Condenser):
    """Own multifrontal Cholesky; ``coordinates`` (nodes, d) or (n, d) help to order the unknowns."""

    method = "multifrontal Cholesky"

    def __init__(
        self, pattern: csr_array, coordinates: ArrayLike | None = None, *, free: ArrayLike | None = None, leaf: int = LEAF
    ) -> None:
        super().__init__(pattern, free)
        points = None if coordinates is None else self._points(coordinates)
        self.plan: Fronts = analyse_fronts(self._pattern, self._kept, points, leaf)
        self._order = self.free[self.plan.order]
        self._blas = addresses()
        self._factor = np.zeros(self.plan.factor_size)
        self._arena = np.zeros(self.plan.arena_size)
        self._tallest = int((self.plan.table[:, PIVOTS] + self.plan.table[:, ROWS]).max())
        self._forward = np.zeros((0, 0))

    @property
    def memory(self) -> int:
        """Bytes held for factor, updates and maps."""
        return int(self._factor.nbytes + self._arena.nbytes + self._order.nbytes + self.plan.memory)

    def _factorize(self, data: Array) -> None:
        plan = self.plan
        wrong = kernels.factorize(
            self._blas,
            data,
            plan.source,
            plan.target,
            plan.length,
            plan.table,
            plan.children,
            plan.places,
            self._factor,
            self._arena,
        )
        if wrong >= 0:
            raise not_positive_definite(self, int(self._order[wrong]))

    def _condense(self, border: Array) -> Array:
        if border.flags.f_contiguous:
            self._forward = kernels.gathered_columns(border.T, self._order)
        else:
            self._forward = np.ascontiguousarray(border[self._order])
        self._eliminate(self._forward)
        S = dsyrk(1.0, self._forward.T, lower=1)
        return np.tril(S) + np.tril(S, -1).T

    def _factorize_and_condense(self, data: Array, border: Array) -> Array:
        self._factorize(data)
        return self._condense(border)

    def _eliminate(self, Y: Array) -> None:
        """Y (n, k) := L^-1 Y, rows in the order of elimination."""
        active = np.zeros((len(self.plan.children), Y.shape[1]), dtype=np.bool_)
        kernels.active_columns(Y, self.plan.table, active)
        work = np.empty(self._tallest * Y.shape[1])
        kernels.forward(self._blas, self._factor, self.plan.table, self.plan.rows, active, Y, work)

    def _combine(self, y: Array) -> Array:
        return self._backwards((self._forward @ y)[:, None])[:, 0]

    def _solve(self, b: Array) -> Array:
        Y = np.ascontiguousarray(b[self.plan.order])
        self._eliminate(Y)
        return self._backwards(Y)

    def _backwards(self, Y: Array) -> Array:
        """L^-T Y (n, k) in the order of the free unknowns; Y is overwritten."""
        work = np.empty(self._tallest * Y.shape[1])
        kernels.backward(self._blas, self._factor, self.plan.table, self.plan.rows, Y, work)
        x = np.empty_like(Y)
        x[self.plan.order] = Y
        return x
