"""What every condensation offers, and what all of them share: checks, and unknowns that are held.

For a positive definite matrix A (n, n) and a border B (n, k) of few columns, :meth:`Condenser.condense` gives

    S = B^T A^-1 B    (k, k),

:meth:`Condenser.combine` the unknowns x = A^-1 B y of one combination y (k,) of the columns, :meth:`Condenser.solve` x = A^-1 b.
Analysed once for a pattern, factorised again for each set of numbers on it. Unknowns may be held at zero: rows and columns of
``free=False`` are left out, but vectors, borders and the stored numbers keep their full length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.linear import NotFactorizable, chosen_entries

Indices = NDArray[np.int64]


class Condenser(ABC):
    """Condenses positive definite matrices of one CSR pattern (n, n; symmetric in structure, rows sorted, no duplicates).

    Only the half of the numbers on one side of the diagonal is read: the matrix is taken to be symmetric. An author of a new one
    writes the methods that begin with an underscore at the end of this class, and ``memory``.

    ``method`` names how; ``free`` (f,) the free unknowns, rising.
    """

    method: str

    def __init__(self, pattern: csr_array, free: ArrayLike | None) -> None:
        self._shape = pattern.shape
        self.free, self._pattern, self._kept = reduced(pattern, free)
        self._stored = len(pattern.indices)
        self._factorized = False
        self._columns = -1

    @property
    def size(self) -> int:
        """n, held unknowns included."""
        return int(self._shape[0])

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes held for factor, work and maps (the border not counted)."""

    def factorize(self, data: ArrayLike) -> None:
        """Factorise the matrix with these stored numbers (nnz,).

        Raises :class:`bunraku.optimization.linear.NotFactorizable` if it is not positive definite.
        """
        given = self._numbers(data)
        self._factorized, self._columns = False, -1
        self._factorize(given)
        self._factorized = True

    def condense(self, border: ArrayLike) -> Array:
        """S = B^T A^-1 B (k, k), symmetric, of the border B (n, k); kept for :meth:`combine` until the next factorisation."""
        self._ready()
        given = self._columns_of(border)
        S = self._condense(given)
        self._columns = given.shape[1]
        return S

    def factorize_and_condense(self, data: ArrayLike, border: ArrayLike) -> Array:
        """:meth:`factorize` and :meth:`condense` in one, which some methods do faster."""
        numbers, given = self._numbers(data), self._columns_of(border)
        self._factorized, self._columns = False, -1
        S = self._factorize_and_condense(numbers, given)
        self._factorized, self._columns = True, given.shape[1]
        return S

    def combine(self, weights: ArrayLike) -> Array:
        """The unknowns x = A^-1 B y (n,) for weights y (k,) of the columns of the last border; zero where an unknown is held."""
        self._ready()
        y = np.ascontiguousarray(weights, dtype=np.float64)
        if self._columns < 0:
            raise BadInput("nothing was condensed since the last factorisation; call condense(border) first")
        if y.shape != (self._columns,):
            raise BadInput(f"the weights have shape {y.shape}; ({self._columns},), one a column of the border, is needed")
        x = np.zeros(self.size)
        x[self.free] = self._combine(y)
        return x

    def solve(self, b: ArrayLike) -> Array:
        """The unknowns x = A^-1 b, (n,) or (n, k); zero where an unknown is held. What was condensed stays."""
        self._ready()
        given = np.asarray(b, dtype=np.float64)
        if given.ndim not in (1, 2) or len(given) != self.size:
            raise BadInput(f"a right-hand side of shape {given.shape} arrived; ({self.size},) or ({self.size}, k) is needed")
        x = np.zeros(given.shape)
        x[self.free] = self._solve(given[self.free].reshape(len(self.free), -1)).reshape(-1, *given.shape[1:])
        return x

    def _numbers(self, data: ArrayLike) -> Array:
        given = np.ascontiguousarray(data, dtype=np.float64)
        if given.shape != (self._stored,):
            raise BadInput(f"the matrix has numbers of shape {given.shape}; the pattern stores ({self._stored},)")
        if not np.isfinite(given.sum()):
            raise BadInput("the matrix holds numbers that are not finite; it cannot be factorised")
        return given

    def _columns_of(self, border: ArrayLike) -> Array:
        given = np.asarray(border, dtype=np.float64)
        if given.ndim != 2 or len(given) != self.size or not given.shape[1]:
            raise BadInput(f"the border has shape {given.shape}; ({self.size}, k) with at least one column is needed")
        return given

    def _points(self, coordinates: ArrayLike) -> Array:
        """The coordinates (f, d) of the free unknowns, from (nodes, d) or (n, d)."""
        points = np.asarray(coordinates, dtype=np.float64)
        if points.ndim != 2 or not len(points) or self.size % len(points) or not np.isfinite(points).all():
            raise BadInput(f"coordinates of shape {points.shape} arrived for {self.size} unknowns; finite (nodes, d) are needed")
        return np.repeat(points, self.size // len(points), axis=0)[self.free]

    def _ready(self) -> None:
        if not self._factorized:
            raise BadInput("no matrix is factorised; call factorize(data) first")

    @abstractmethod
    def _factorize(self, data: Array) -> None:
        """Factorise from all stored numbers; those between free unknowns are ``data[self._kept]``, on ``self._pattern``."""

    @abstractmethod
    def _condense(self, border: Array) -> Array:
        """S of a border with all n rows."""

    @abstractmethod
    def _factorize_and_condense(self, data: Array, border: Array) -> Array:
        """Both at once."""

    @abstractmethod
    def _combine(self, y: Array) -> Array:
        """The free unknowns (f,) of A^-1 B y."""

    @abstractmethod
    def _solve(self, b: Array) -> Array:
        """The free unknowns (f, k) of A^-1 b for b (f, k)."""


def not_positive_definite(condenser: Condenser, row: int) -> NotFactorizable:
    """The error that names the unknown at which the factorisation broke down."""
    return NotFactorizable(f"the matrix is not positive definite; that showed at row {row} of {condenser.size}", row)


def reduced(pattern: csr_array, free: ArrayLike | None) -> tuple[Indices, csr_array, Indices]:
    """The free unknowns, the pattern between them, and which stored numbers lie there."""
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1] or not pattern.shape[0]:
        raise BadInput(f"a pattern of shape {pattern.shape} arrived; a square one is needed")
    n = int(pattern.shape[0])
    chosen = np.ones(n, dtype=bool) if free is None else np.asarray(free)
    if chosen.shape != (n,) or chosen.dtype != np.bool_:
        raise BadInput(f"free has shape {chosen.shape} of {chosen.dtype}; ({n},) booleans are needed, one an unknown")
    if not chosen.any():
        raise BadInput("every unknown is held; at least one must be free")
    if not pattern.has_canonical_format:
        raise BadInput("the pattern has unsorted or repeated entries; call sum_duplicates() on it first")
    names, kept, row, column = chosen_entries(pattern, chosen)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(names)))])
    small = csr_array((np.ones(len(kept), dtype=np.int8), column, pointer), shape=(len(names), len(names)))
    turned = small.T.tocsr()
    turned.sort_indices()
    if not (np.array_equal(turned.indptr, small.indptr) and np.array_equal(turned.indices, small.indices)):
        raise BadInput("the pattern is not symmetric in structure; store both halves, zeros where one of them is missing")
    return names, small, kept
