"""Condensation by PARDISO of MKL, where that is installed.

With a border in hand the matrix [A B; B^T 0] is factorised, the border last: what remains there is -S, in one go. Given the matrix
alone, A is factorised and the border eliminated forwards, Y = L^-1 B, S = Y^T Y. The places of the border that are not zero
belong to the analysed pattern; a border with others is analysed anew (about as long as two frames).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsyrk
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.optimization.condensation.interface import Condenser, not_positive_definite
from bunraku.optimization.condensation.mkl_library import BACKWARD, FACTORIZE, FORWARD, Handle
from bunraku.optimization.linear import NotFactorizable

Indices = NDArray[np.int64]

ERRORS = {
    -1: "input inconsistent",
    -2: "not enough memory",
    -3: "reordering failed",
    -4: "zero or negative pivot",
    -7: "singular diagonal",
    -8: "too many numbers for 32-bit indices",
}


@dataclass(frozen=True)
class _Bordered:
    """The matrix with its border: the places (n, k) of the border that are stored, where its numbers and the matrix's go."""

    handle: Handle
    stored: NDArray[np.bool_]
    of_matrix: Indices
    of_border: Indices


class Pardiso(Condenser):
    """MKL's PARDISO, positive definite, one thread."""

    method = "MKL PARDISO"

    def __init__(self, pattern: csr_array, *, free: ArrayLike | None = None) -> None:
        super().__init__(pattern, free)
        rows = np.repeat(np.arange(len(self.free)), np.diff(self._pattern.indptr))
        upper = np.flatnonzero(self._pattern.indices >= rows)
        self._rows, self._indices = rows[upper], self._pattern.indices[upper].astype(np.int64)
        self._source = self._kept[upper]
        self._handle = Handle(_pointer(self._rows, len(self.free)), self._indices)
        self._plain = self._handle
        self._check(self._handle.error)
        self._bordered: _Bordered | None = None
        self._forward: Array | None = None

    @property
    def memory(self) -> int:
        """Bytes held for factors and maps."""
        maps = self._source.nbytes + self._rows.nbytes + self._indices.nbytes + self._plain.memory
        if self._bordered is None:
            return maps
        extra = self._bordered
        return maps + extra.handle.memory + extra.stored.nbytes + extra.of_matrix.nbytes + extra.of_border.nbytes

    def _factorize(self, data: Array) -> None:
        self._handle = self._plain
        np.take(data, self._source, out=self._handle.values)
        self._check(self._handle.run(FACTORIZE))

    def _condense(self, border: Array) -> Array:
        n = len(self.free)
        Y = self._run(FORWARD, np.ascontiguousarray(border[self.free].T))
        self._forward = np.ascontiguousarray(Y[:, :n])
        S = dsyrk(1.0, self._forward.T, trans=1, lower=1)
        return np.tril(S) + np.tril(S, -1).T

    def _factorize_and_condense(self, data: Array, border: Array) -> Array:
        B = border[self.free]
        k = B.shape[1]
        stored = B != 0.0
        known = self._bordered
        if known is None or known.stored.shape != stored.shape or (stored & ~known.stored).any():
            if known is not None:
                known.handle.close()
                if known.stored.shape == stored.shape:
                    stored |= known.stored
            known = self._bordered = self._with_border(stored)
        self._handle, self._forward = known.handle, None
        self._check(known.handle.error)
        known.handle.values[known.of_matrix] = data[self._source]
        known.handle.values[known.of_border] = B[known.stored]
        S = np.zeros((k, k))
        self._check(known.handle.run(FACTORIZE, None, S))
        return -0.5 * (S + S.T)

    def _with_border(self, stored: NDArray[np.bool_]) -> _Bordered:
        """Analyse [A B; B^T 0] for a border stored where ``stored`` (n, k) says."""
        n, k = stored.shape
        row, column = np.nonzero(stored)
        rows = np.concatenate([self._rows, row, n + np.arange(k)])
        columns = np.concatenate([self._indices, n + column, n + np.arange(k)])
        order = np.lexsort((columns, rows))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        handle = Handle(_pointer(rows, n + k), columns[order], border=k)
        matrix = len(self._rows)
        return _Bordered(handle, stored, place[:matrix], place[matrix : matrix + len(row)])

    def _combine(self, y: Array) -> Array:
        n = len(self.free)
        if self._forward is not None:
            return self._run(BACKWARD, (y @ self._forward)[None])[0, :n]
        right = np.zeros((1, self._handle.size))
        right[0, n:] = -y
        return self._run(BACKWARD, right)[0, :n]

    def _solve(self, b: Array) -> Array:
        n = len(self.free)
        Y = self._run(FORWARD, np.ascontiguousarray(b.T))
        Y[:, n:] = 0.0
        return self._run(BACKWARD, Y)[:, :n].T

    def _run(self, phase: int, right: Array) -> Array:
        """Substitute in every row of ``right`` (c, n or all unknowns of the handle); rows of all unknowns."""
        full = right
        if right.shape[1] != self._handle.size:
            full = np.zeros((len(right), self._handle.size))
            full[:, : right.shape[1]] = right
        out = np.zeros_like(full)
        self._check(self._handle.run(phase, full, out, len(full)))
        return out

    def _check(self, error: int) -> None:
        """Raise what PARDISO reports; a pivot of the border, which is not eliminated, is no error."""
        row = int(self._handle.options[29]) - 1
        if error == 0 or (error == -4 and row >= len(self.free)):
            return
        if error == -4 and row >= 0:
            raise not_positive_definite(self, int(self.free[row]))
        raise NotFactorizable(f"MKL PARDISO reports error {error} ({ERRORS.get(error, 'see its manual')})", -1)


def _pointer(rows: Indices, n: int) -> Indices:
    """Where each of n rows begins."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
