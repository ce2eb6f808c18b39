"""The stiffness of a solid together with that of changing contacts, on one pattern for as long as that goes, ready to be solved.

Contacts couple nodes that share no cell. The pattern of the sum is made once with some room around each contact (all nodes near the
one with all near the other), so that contacts may slide and spread; only when one leaves it is a new pattern made and analysed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, kron

from bunraku.arrays import Array, Indices
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.condensation.condenser import condenser


class GrowingPattern:
    """Sums K + contact blocks on its ``pattern`` (3 n, 3 n), for which :attr:`solver` is ready; ``free`` (3 n,) unknowns."""

    def __init__(self, solid: ElasticSolid, free: NDArray[np.bool_]) -> None:
        self._solid, self._free = solid, free
        m, k = solid.mesh.cells.shape
        ones = np.ones(m * k, dtype=np.int32)
        of_cell = csr_array((ones, solid.mesh.cells.ravel(), np.arange(0, m * k + 1, k)), shape=(m, solid.nodes))
        self._near = csr_array(of_cell.T @ of_cell)
        self._stiffness = _keys(solid.pattern.matrix(solid.pattern.zeros()))
        self._build(self._near)

    def _build(self, coupled: csr_array) -> None:
        """A pattern of blocks between nodes that share a cell or are ``coupled`` (n, n), analysed."""
        self.pattern = csr_array(kron(self._near + coupled, np.ones((3, 3)), format="csr"))
        self.pattern.sort_indices()
        self._numbers = _keys(self.pattern)
        self._own = np.searchsorted(self._numbers, self._stiffness)
        self.diagonal = np.searchsorted(self._numbers, np.arange(self._solid.size) * (self._solid.size + 1))
        self.solver = condenser(self.pattern, np.array(self._solid.mesh.nodes), free=self._free)

    def total(self, K: csr_array, rows: Indices, columns: Indices, blocks: Array) -> Array:
        """The stored numbers of K plus ``blocks`` (m, 3, 3) between nodes; :attr:`solver` is then the one for their pattern."""
        i, j = 3 * rows[:, None, None] + np.arange(3)[:, None], 3 * columns[:, None, None] + np.arange(3)
        keys = (i * self._solid.size + j).ravel()
        places = np.minimum(np.searchsorted(self._numbers, keys), len(self._numbers) - 1)
        if (self._numbers[places] != keys).any():
            link = csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=self._near.shape)
            self._build(csr_array(self._near @ link @ self._near))
            places = np.searchsorted(self._numbers, keys)
        elif not len(keys) and len(self._numbers) > len(self._own):
            self._build(self._near)
        data = np.zeros(len(self._numbers))
        data[self._own] = K.data
        np.add.at(data, places, blocks.ravel())
        return data


def _keys(matrix: csr_array) -> Indices:
    """Row times size plus column of every stored number, rising."""
    n = matrix.shape[0]
    return np.repeat(np.arange(n), np.diff(matrix.indptr)) * n + matrix.indices
