"""Positive definite systems over samples of a motion: each sample meets its two neighbours on either side, and all meet a border.

The unknowns are T blocks v_i of nv numbers and nd border unknowns D, packed as z = (v_0, ..., v_{T-1}, D). The symmetric matrix A
is given by (float64, C-contiguous)

    H (T, 3, nv, nv)  H[i, d] = block of row sample i + d and column sample i; of H[i, 0] only the lower triangle is read
    B (T, nd, nv)     B[i] = block of row D and column sample i
    C (nd, nd)        block of D and D, lower triangle

In a cyclic system sample indices are taken modulo T (T >= 5); in an open one the blocks beyond the end are ignored. Gradients have
the same split: g (T, nv) and gD (nd,).

:func:`factor` eliminates a chain of samples in order and then a dense border: D alone in an open system, the samples T-2 and T-1
and D in a cyclic one. Time grows linearly with T and with the cube of nv.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.blocks import cholesky_kernels as kernels


@dataclass(frozen=True, eq=False)
class BlockFactor:
    """A = L L^T, when ``definite``; else the matrix was not positive definite and there is nothing to solve with.

    ``shape`` = (T, nv, nd). The other fields hold the factor as :mod:`bunraku.optimization.blocks.cholesky_kernels` describes it.
    """

    shape: tuple[int, int, int]
    cyclic: bool
    definite: bool
    U: Array
    W: Array
    E: Array
    R: Array

    def solve_packed(self, right: Array) -> Array:
        """The solution of A x = right, ``right`` packed (T nv + nd,) or (T nv + nd, k) for k right-hand sides at once."""
        if not self.definite:
            raise BadInput("the matrix was not positive definite; look at Factor.definite before solving, and add damping")
        y = np.array(right, dtype=np.float64, order="C")
        if y.shape[0] != self.shape[0] * self.shape[1] + self.shape[2] or y.ndim > 2:
            raise BadInput(f"a right-hand side of shape {y.shape}; {self.shape[0] * self.shape[1] + self.shape[2]} rows fit")
        solver = kernels.solve_one if y.ndim == 1 else kernels.solve_many
        solver(self.U, self.W, self.E, self.R, y)
        return y


def factor(
    H: Array, B: Array, C: Array, damping: ArrayLike = 0.0, *, cyclic: bool = False, into: BlockFactor | None = None
) -> BlockFactor:
    """The Cholesky factor of A + diag(damping); look at ``definite``, nothing is raised when A is not positive definite.

    ``damping``: a number, or one per unknown, packed (T nv + nd,). ``into``: an earlier factor of the same shape whose memory may
    be overwritten; it must not be used any more.
    """
    T, nv, nd = _shape(H, B, C, cyclic)
    extra = np.ascontiguousarray(np.broadcast_to(np.asarray(damping, dtype=np.float64), (T * nv + nd,)))
    n, b = (T - 2, 2 * nv + nd) if cyclic else (T, nd)
    if into is not None and into.shape == (T, nv, nd) and into.cyclic == cyclic:
        U, W, E, R = into.U, into.W, into.E, into.R
    else:
        U, W, E, R = np.zeros((n, nv, nv)), np.zeros((n + 2, 2 * nv, nv)), np.empty((n * nv, b)), np.zeros((b, b))
    definite = bool(kernels.factor(H, B, C, extra, cyclic, U, W, E, R))
    return BlockFactor((T, nv, nd), cyclic, definite, U, W, E, R)


def _shape(H: Array, B: Array, C: Array, cyclic: bool) -> tuple[int, int, int]:
    T, nv, nd = len(H), H.shape[-1], len(C)
    if H.shape != (T, 3, nv, nv) or B.shape != (T, nd, nv) or C.shape != (nd, nd):
        raise BadInput(f"blocks of shapes {H.shape}, {B.shape}, {C.shape}; (T, 3, nv, nv), (T, nd, nv), (nd, nd) fit together")
    fewest = 5 if cyclic else 1
    if fewest > T:
        raise BadInput(f"{T} samples; a cyclic system needs at least 5, an open one 1")
    for name, array in (("H", H), ("B", B), ("C", C)):
        if array.dtype != np.float64 or not array.flags.c_contiguous:
            raise BadInput(
                f"{name} is {array.dtype} and {'' if array.flags.c_contiguous else 'not '}C-contiguous; float64 in C order fits"
            )
    return T, nv, nd
