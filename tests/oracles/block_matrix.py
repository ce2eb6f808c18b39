"""Stiffness blocks between nodes as one matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array


def block_matrix(size, blocks):
    """The matrix (3 size, 3 size) of 3 x 3 blocks between nodes."""
    rows, columns, values = blocks
    i = (3 * rows[:, None, None] + np.arange(3)[None, :, None] + np.zeros((1, 1, 3), dtype=np.int64)).ravel()
    j = (3 * columns[:, None, None] + np.zeros((1, 3, 1), dtype=np.int64) + np.arange(3)[None, None, :]).ravel()
    return csr_array((values.ravel(), (i, j)), shape=(3 * size, 3 * size))
