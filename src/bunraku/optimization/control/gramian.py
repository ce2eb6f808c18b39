"""How far inputs reach: the finite-horizon controllability Gramian of a linear time-varying system."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control import riccati_kernels as kernels
from bunraku.optimization.control.lqr import _matrices


def controllability_gramian(A: ArrayLike, B: ArrayLike, K: ArrayLike | None = None) -> Array:
    """W = sum_k Phi(N, k+1) B_k B_k^T Phi(N, k+1)^T, shape (nx, nx), Phi the transition matrix of x_{k+1} = A_k x_k + B_k u_k.

    With feedback ``K`` (N, nu, nx) of the closed loop A_k - B_k K_k; the range of W is the same, its size is not. ``A`` (N, nx,
    nx), ``B`` (N, nx, nu). The state y can be reached from the origin with the energy sum |u_k|^2 = y.W^-1 y, and no less.
    """
    a, b = _matrices(A, B)
    if K is not None:
        gain = np.asarray(K, dtype=np.float64)
        if gain.shape != (len(a), b.shape[2], a.shape[1]):
            raise BadInput(f"gains of shape {gain.shape} arrived; ({len(a)}, {b.shape[2]}, {a.shape[1]}) is needed")
        a = a - b @ gain
    W: Array = kernels.gramian(a, b)
    return W


def reachable_dimension(gramian: ArrayLike, *, tolerance: float = 1e-12) -> int:
    """How many independent directions the inputs reach: eigenvalues of W above ``tolerance`` times the largest.

    States of unlike units should be scaled first (W -> D W D): the count depends on their ratios when W is nearly singular.
    """
    values = np.linalg.eigvalsh(np.asarray(gramian, dtype=np.float64))
    return int(np.count_nonzero(values > tolerance * max(float(values[-1]), 1e-300)))
