"""The fixed sparse pattern of a mesh's matrices: 3 x 3 blocks between nodes that share a cell, and where each cell's blocks go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bunraku.arrays import Array


@dataclass(frozen=True)
class BlockPattern:
    """CSR structure of (3 n, 3 n) matrices. Matrices on one pattern are added by adding their ``data``; exact zeros stay stored.

    ``start`` (n + 1,) counts the neighbours of nodes, ``slot`` (m, k, k) is the place of the block of a cell's nodes a, b among the
    neighbours of a.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    start: NDArray[np.int64]
    slot: NDArray[np.int32]

    @property
    def stored(self) -> int:
        """How many numbers a matrix stores."""
        return len(self.indices)

    def zeros(self) -> Array:
        """The numbers of a zero matrix."""
        return np.zeros(self.stored)

    def matrix(self, data: Array) -> csr_array:
        """The matrix with these numbers (shared, not copied)."""
        size = len(self.indptr) - 1
        return csr_array((data, self.indices, self.indptr), shape=(size, size))


def block_pattern(cells: NDArray[np.int64], nodes: int) -> BlockPattern:
    """The pattern of ``cells`` (m, k) over ``nodes`` nodes."""
    m, k = cells.shape
    key = (np.repeat(cells, k, axis=1) * nodes + np.tile(cells, (1, k))).ravel()
    pairs, place = np.unique(key, return_inverse=True)
    row, column = pairs // nodes, pairs % nodes
    start = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=nodes), out=start[1:])
    slot = (np.asarray(place).ravel() - start[np.repeat(cells, k, axis=1).ravel()]).reshape(m, k, k).astype(np.int32)
    degree = np.diff(start)
    indptr = np.zeros(3 * nodes + 1, dtype=np.int32)
    np.cumsum(np.repeat(3 * degree, 3), out=indptr[1:])
    block = (3 * column[:, None] + np.arange(3)).ravel()
    pieces = np.repeat(np.arange(nodes), 3)
    lengths = 3 * degree[pieces]
    first = 3 * start[pieces]
    index = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths) + np.repeat(first, lengths)
    return BlockPattern(indptr, block[index].astype(np.int32), start, slot)
