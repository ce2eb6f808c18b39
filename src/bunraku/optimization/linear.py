"""Sparse linear systems whose pattern stays while the numbers change: analyse once, factorise often, solve more often.

:func:`analyse` looks at the pattern alone: it reorders it for a small bandwidth (reverse Cuthill-McKee, unless the given order is
better) and maps every stored number to its place. Matrices of a small bandwidth b, such as those of rods, are factorised by
LAPACK in band storage (n b^2 operations, b n numbers: Cholesky for positive definite ones, LU with row exchanges otherwise), all
others by SuperLU. Unknowns may be held at zero: rows and columns of ``free=False`` are left out, but vectors keep their full
length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from bunraku.arrays import Array
from bunraku.errors import BadInput, BunrakuError

Indices = NDArray[np.int64]

CHOLESKY_BAND, LU_BAND = 700, 250
"""Bandwidths up to which band storage is used; above, SuperLU was as fast on plates and blocks of 1000 to 8000 unknowns."""


class NotFactorizable(BunrakuError):
    """The matrix is singular, or was said to be positive definite and is not; ``row`` is where that showed."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


class Factorization(ABC):
    """A factorised matrix A: :meth:`solve` gives x with A x = b. ``method`` names how."""

    method: str

    def __init__(self, plan: EliminationPlan) -> None:
        self._plan = plan

    def solve(self, b: ArrayLike) -> Array:
        """The solution x (n,) or (n, k) of A x = b; zero where an unknown is held."""
        given = np.asarray(b, dtype=np.float64)
        if given.ndim not in (1, 2) or len(given) != self._plan.size:
            raise BadInput(
                f"a right-hand side of shape {given.shape} arrived; ({self._plan.size},) or ({self._plan.size}, k) is needed"
            )
        x = np.zeros(given.shape)
        x[self._plan.order] = self._ordered(given[self._plan.order])
        return x

    @abstractmethod
    def _ordered(self, b: Array) -> Array:
        """The solution for a right-hand side in the order of elimination."""


@dataclass(frozen=True)
class EliminationPlan:
    """What depends on the pattern only: the free unknowns in elimination order, their bandwidth, where each number goes.

    ``order`` (m,) names the unknowns in the order of elimination; ``kept`` the stored numbers between free unknowns; ``row`` and
    ``column`` (len(kept),) their places in that order.
    """

    size: int
    order: Indices
    bandwidth: int
    kept: Indices
    row: Indices
    column: Indices
    stored: int

    def factorize(self, matrix: csr_array, *, definite: bool = False) -> Factorization:
        """Factorise a CSR matrix that has the analysed pattern, by Cholesky when ``definite`` (only its lower half is then read).

        Raises :class:`NotFactorizable` for a singular matrix, and for a ``definite`` one that is not.
        """
        data = np.asarray(matrix.data, dtype=np.float64)
        if matrix.shape != (self.size, self.size) or len(data) != self.stored:
            raise BadInput(f"a matrix of shape {matrix.shape} with {len(data)} stored numbers does not have the analysed pattern")
        if not np.isfinite(data).all():
            raise BadInput("the matrix holds numbers that are not finite; it cannot be factorised")
        if not len(self.order):
            return _Nothing(self)
        if definite and self.bandwidth <= CHOLESKY_BAND:
            return _BandCholesky(self, data)
        if not definite and self.bandwidth <= LU_BAND:
            return _BandLU(self, data)
        return _SuperLU(self, data, definite)


def analyse(matrix: csr_array, *, free: ArrayLike | None = None) -> EliminationPlan:
    """The plan for all matrices with the pattern of ``matrix`` (CSR, n by n, symmetric in structure); ``free`` (n,) as booleans."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"a matrix of shape {matrix.shape} arrived; a square one is needed")
    n = int(matrix.shape[0])
    chosen = np.ones(n, dtype=bool) if free is None else np.asarray(free, dtype=bool)
    if chosen.shape != (n,):
        raise BadInput(f"free has shape {chosen.shape}; ({n},) booleans are needed, one an unknown")
    names, kept, row, column = chosen_entries(matrix, chosen)
    order = np.arange(len(names))
    bandwidth = int(np.max(np.abs(row - column), initial=0))
    if len(names):
        pattern = csr_array((np.ones(len(kept), dtype=np.int8), (row, column)), shape=(len(names), len(names)))
        other = np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=False), dtype=np.int64)
        rank = np.empty_like(other)
        rank[other] = np.arange(len(other))
        width = int(np.max(np.abs(rank[row] - rank[column]), initial=0))
        if width < bandwidth:
            order, bandwidth, row, column = other, width, rank[row], rank[column]
    return EliminationPlan(n, names[order], bandwidth, kept, row, column, len(matrix.indices))


def chosen_entries(matrix: csr_array, chosen: NDArray[np.bool_]) -> tuple[Indices, Indices, Indices, Indices]:
    """The names of the ``chosen`` unknowns, which stored numbers stand between them, their rows and columns counted among them."""
    rows = np.repeat(np.arange(len(chosen)), np.diff(matrix.indptr))
    columns = np.asarray(matrix.indices, dtype=np.int64)
    kept = np.flatnonzero(chosen[rows] & chosen[columns])
    names = np.flatnonzero(chosen)
    place = np.full(len(chosen), -1, dtype=np.int64)
    place[names] = np.arange(len(names))
    return names, kept, place[rows[kept]], place[columns[kept]]


def factorize(matrix: Any, *, definite: bool = False, free: ArrayLike | None = None) -> Factorization:
    """Analyse and factorise any sparse or dense square ``matrix`` at once."""
    stored = csr_array(matrix, dtype=np.float64)
    stored.sum_duplicates()
    return analyse(stored, free=free).factorize(stored, definite=definite)


class _Nothing(Factorization):
    method = "nothing is free"

    def _ordered(self, b: Array) -> Array:
        return b


class _BandCholesky(Factorization):
    method = "band Cholesky"

    def __init__(self, plan: EliminationPlan, data: Array) -> None:
        super().__init__(plan)
        band = np.zeros((len(plan.order), plan.bandwidth + 1))
        lower = plan.row >= plan.column
        row, column = plan.row[lower], plan.column[lower]
        band[column, row - column] = data[plan.kept[lower]]
        self._factor, info = lapack.dpbtrf(band.T, lower=1, overwrite_ab=1)
        if info:
            row_of = int(plan.order[info - 1])
            raise NotFactorizable(f"the matrix is not positive definite; that showed at row {row_of} of {plan.size}", row_of)

    def _ordered(self, b: Array) -> Array:
        x, _ = lapack.dpbtrs(self._factor, b.reshape(len(b), -1), lower=1)
        return np.asarray(x).reshape(b.shape)


class _BandLU(Factorization):
    method = "band LU"

    def __init__(self, plan: EliminationPlan, data: Array) -> None:
        super().__init__(plan)
        w = plan.bandwidth
        band = np.zeros((len(plan.order), 3 * w + 1))
        band[plan.column, 2 * w + plan.row - plan.column] = data[plan.kept]
        self._factor, self._pivots, info = lapack.dgbtrf(band.T, w, w, overwrite_ab=1)
        if info:
            row_of = int(plan.order[info - 1])
            raise NotFactorizable(f"the matrix is singular; that showed at row {row_of} of {plan.size}", row_of)

    def _ordered(self, b: Array) -> Array:
        w = self._plan.bandwidth
        x, _ = lapack.dgbtrs(self._factor, w, w, b.reshape(len(b), -1), self._pivots)
        return np.asarray(x).reshape(b.shape)


class _SuperLU(Factorization):
    method = "SuperLU"

    def __init__(self, plan: EliminationPlan, data: Array, definite: bool) -> None:
        super().__init__(plan)
        m = len(plan.order)
        ordered = csc_array((data[plan.kept], (plan.row, plan.column)), shape=(m, m))
        try:
            if definite:
                options = {"SymmetricMode": True}
                self._factor = splu(ordered, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
            else:
                self._factor = splu(ordered)
        except RuntimeError as error:
            raise NotFactorizable(f"the matrix of {m} free unknowns is singular", -1) from error
        if definite:
            pivots = self._factor.U.diagonal()
            if (pivots <= 0.0).any() or (self._factor.perm_r != self._factor.perm_c).any():
                row_of = int(plan.order[self._factor.perm_c.argsort()[np.argmax(pivots <= 0.0)]])
                raise NotFactorizable(f"the matrix is not positive definite; that showed at row {row_of} of {plan.size}", row_of)

    def _ordered(self, b: Array) -> Array:
        return np.asarray(self._factor.solve(np.ascontiguousarray(b)))
