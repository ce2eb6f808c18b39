"""The stiffness of a solid together with that of changing contacts, on one pattern for as long as that goes, ready to be solved.

Contacts couple nodes that share no cell. The pattern of the sum is made once with some room around each contact (all nodes near the
one with all near the other), so that contacts may slide and spread; only when one leaves it is a new pattern made and analysed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.condensation.condenser import condenser
from bunraku.optimization.condensation.interface import Condenser

Indices = NDArray[np.int64]


class GrowingPattern:
    """Sums K + contact blocks, and the solver for their pattern; ``free`` (3 n,) unknowns, ``near`` (n, n) who is whose neighbour.

    ``analyses`` counts how often a pattern was made.
    """

    def __init__(self, solid: ElasticSolid, free: NDArray[np.bool_]) -> None:
        self._solid, self._free = solid, free
        start = solid.pattern.start
        self._rows = np.repeat(np.arange(solid.nodes), np.diff(start))
        within = np.arange(len(self._rows)) - start[self._rows]
        first = solid.pattern.indptr[3 * self._rows] + 3 * within  # of the first row of each block
        self._base = self._rows * solid.nodes + solid.pattern.indices[first].astype(np.int64) // 3
        m, k = solid.mesh.cells.shape
        ones = np.ones(m * k, dtype=np.int32)
        of_cell = csr_array((ones, solid.mesh.cells.ravel(), np.arange(0, m * k + 1, k)), shape=(m, solid.nodes))
        self._near = csr_array(of_cell.T @ of_cell)
        self.analyses = 0
        self._keys = self._base
        self._build()

    def _build(self) -> None:
        n = self._solid.nodes
        row, column = self._keys // n, self._keys % n
        self._start = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=n), out=self._start[1:])
        degree = np.diff(self._start)
        pieces = np.repeat(np.arange(n), 3)
        indptr = np.concatenate([[0], np.cumsum(3 * degree[pieces])])
        block = (3 * column[:, None] + np.arange(3)).ravel()
        index = (
            np.arange(indptr[-1])
            - np.repeat(indptr[:-1], 3 * degree[pieces])
            + np.repeat(3 * self._start[pieces], 3 * degree[pieces])
        )
        self.indptr, self.indices = indptr.astype(np.int32), block[index].astype(np.int32)
        self._own = self._places(self._base)
        self._diagonal = self._places(np.arange(n) * (n + 1))[:, [0, 1, 2], [0, 1, 2]].ravel()
        pattern = csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape=(3 * n, 3 * n))
        self.solver: Condenser = condenser(pattern, np.array(self._solid.mesh.nodes), free=self._free)
        self.analyses += 1

    def _places(self, keys: Indices) -> Indices:
        """Where the 3 x 3 blocks of known keys (m,) go among the stored numbers: (m, 3, 3)."""
        slot = np.searchsorted(self._keys, keys)
        row = keys // self._solid.nodes
        within = slot - self._start[row]
        width = 3 * np.diff(self._start)[row]
        first = 9 * self._start[row] + 3 * within
        return np.asarray(first[:, None, None] + np.arange(3)[None, :, None] * width[:, None, None] + np.arange(3)[None, None, :])

    def total(self, K: csr_array, rows: Indices, columns: Indices, blocks: Array) -> Array:
        """The stored numbers of K plus blocks (m, 3, 3) between nodes; :attr:`solver` is then the one for their pattern."""
        keys = rows * self._solid.nodes + columns
        if len(keys):
            slot = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            if (self._keys[slot] != keys).any():
                self._keys = np.unique(np.concatenate([self._base, self._widened(rows, columns)]))
                self._build()
        elif len(self._keys) > len(self._base):
            self._keys = self._base
            self._build()
        data = np.zeros(len(self.indices))
        data[self._own.ravel()] = self._blocks_of(K.data)
        if len(keys):
            np.add.at(data, self._places(keys).ravel(), blocks.ravel())
        return data

    @property
    def diagonal(self) -> Indices:
        """Where the diagonal (3 n,) is among the stored numbers."""
        return self._diagonal

    def _blocks_of(self, data: Array) -> Array:
        """The stored numbers of the solid's stiffness in the order of its blocks."""
        start = self._solid.pattern.start
        within = np.arange(len(self._base)) - start[self._rows]
        width = 3 * np.diff(start)[self._rows]
        first = 9 * start[self._rows] + 3 * within
        at = first[:, None, None] + np.arange(3)[None, :, None] * width[:, None, None] + np.arange(3)[None, None, :]
        return data[at.ravel()]

    def _widened(self, rows: Indices, columns: Indices) -> Indices:
        """Keys of all blocks between neighbours of coupled nodes."""
        n = self._solid.nodes
        link = csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(n, n))
        wide = csr_array(self._near @ link @ self._near).tocoo()
        i, j = wide.coords[0].astype(np.int64), wide.coords[1].astype(np.int64)
        return np.asarray(i * n + j)
