"""The discrete projection operator: any curve becomes a trajectory by following it with feedback.

xi = (x, u) = P(xb, ub) with x_0 = xb_0, u_k = ub_k - K_k (x_k - xb_k), x_{k+1} = f_k(x_k, u_k), the gains K held fixed
(eq. 12 of Murphey and Johnson, "Control aesthetics in software architecture for robotic marionettes"). P(P(xi)) = P(xi); a
trajectory is its own projection. Both derivatives are linear difference equations.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.optimization.control import riccati_kernels as kernels
from bunraku.optimization.control.dynamics import DiscreteDynamics, Rollout


def project(dynamics: DiscreteDynamics, xb: Array, ub: Array, K: Array) -> Rollout:
    """P(xb, ub): ``xb`` (N + 1, nx), ``ub`` (N, nu), ``K`` (N, nu, nx). Check ``good`` of the result."""
    return dynamics.rollout(xb[0], xb, ub, K)


def projection_derivative(A: Array, B: Array, K: Array, dx: Array, du: Array) -> tuple[Array, Array]:
    """DP.(dx, du): y_0 = dx_0, w_k = du_k - K_k (y_k - dx_k), y_{k+1} = A_k y_k + B_k w_k; returns (y, w).

    ``A``, ``B`` are the linearization at the projected trajectory; ``dx`` (N + 1, nx), ``du`` (N, nu).
    """
    y, w = kernels.linear_rollout(A, B, K, np.ascontiguousarray(dx), np.ascontiguousarray(du))
    return y, w


def projection_second_derivative(
    dynamics: DiscreteDynamics, x: Array, u: Array, K: Array, first: tuple[Array, Array], second: tuple[Array, Array]
) -> tuple[Array, Array]:
    """D2P.(first, second) at a curve whose projection is the trajectory (``x``, ``u``); returns (y, w).

    y_0 = 0, w_k = -K_k y_k, y_{k+1} = A_k y_k + B_k w_k + D2f_k.(DP first, DP second)_k. It takes ``nx`` contracted
    curvatures; Newton's method never needs it, only its contraction with the costate.
    """
    A, B = dynamics.linearize(x, u)
    one = np.hstack([part[: len(u)] for part in projection_derivative(A, B, K, *first)])
    two = np.hstack([part[: len(u)] for part in projection_derivative(A, B, K, *second)])
    y, w = np.zeros_like(x), np.zeros_like(u)
    bend = np.empty((len(u), dynamics.nx))
    for i in range(dynamics.nx):
        unit = np.zeros((len(u), dynamics.nx))
        unit[:, i] = 1.0
        bend[:, i] = np.einsum("ki,kij,kj->k", one, dynamics.curvature(x, u, unit), two)
    for k in range(len(u)):
        w[k] = -K[k] @ y[k]
        y[k + 1] = A[k] @ y[k] + B[k] @ w[k] + bend[k]
    return y, w
