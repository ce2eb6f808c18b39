"""Linear dynamics, quadratic cost: time-varying gains, the stationary gain, and the affine problem of one Newton step.

Along z_{k+1} = A_k z_k + B_k v_k the cost is

    sum_k  q_k.z + r_k.v + 1/2 (z, v).[Q S; S^T R]_k (z, v)  +  b_N.z_N + 1/2 z_N.P_N z_N

and its minimiser v = -K z - C follows from the Riccati sweep, k = N - 1 .. 0,

    G = R + B^T P B,   K = G^-1 (B^T P A + S^T),   C = G^-1 (B^T b + r),
    b <- q + A^T b - K^T (B^T b + r),   P <- Q + A^T P A - (B^T P A + S^T)^T K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control import riccati_kernels as kernels


@dataclass(frozen=True)
class LqrGains:
    """Feedback u_k = -K_k x_k, ``K`` (N, nu, nx), and the cost to go 1/2 x.P_k x, ``P`` (N + 1, nx, nx)."""

    K: Array
    P: Array


@dataclass(frozen=True)
class LqStep:
    """The minimiser of an affine linear-quadratic problem from z_0 = 0.

    ``z`` (N + 1, nx), ``v`` (N, nu), ``K`` (N, nu, nx), ``slope`` = q.z + r.v + b.z_N summed, negative unless the step is nought.
    """

    z: Array
    v: Array
    K: Array
    slope: float


def stage_weights(Q: ArrayLike, R: ArrayLike, S: ArrayLike | None = None, *, steps: int) -> Array:
    """The matrices [Q S; S^T R]_k, shape (steps, nx + nu, nx + nu), from constant (n, n) or per-step (steps, n, n) parts."""
    q, r = np.asarray(Q, dtype=np.float64), np.asarray(R, dtype=np.float64)
    n, m = q.shape[-1], r.shape[-1]
    H = np.zeros((steps, n + m, n + m))
    try:
        H[:, :n, :n] = q
        H[:, n:, n:] = r
        if S is not None:
            s = np.asarray(S, dtype=np.float64)
            H[:, :n, n:] = s
            H[:, n:, :n] = np.swapaxes(s, -1, -2)
    except ValueError as error:
        raise BadInput(f"weights of shapes Q {q.shape}, R {r.shape} and their cross term do not fit {steps} steps") from error
    return H


def time_varying_lqr(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, *, terminal: ArrayLike | None = None, S: ArrayLike | None = None
) -> LqrGains:
    """Gains that minimise 1/2 sum_k (x.Q x + 2 x.S u + u.R u) + 1/2 x_N.P_N x_N along x_{k+1} = A_k x_k + B_k u_k.

    ``A`` (N, nx, nx), ``B`` (N, nx, nu); ``Q``, ``R``, ``S`` constant or one per step; ``terminal`` P_N, Q of the last step when
    left out. Raises BadInput when the problem has no minimum (R + B^T P B not positive definite).
    """
    a, b = _matrices(A, B)
    H = stage_weights(Q, R, S, steps=len(a))
    n, m = a.shape[1], b.shape[2]
    if H.shape[1] != n + m:
        raise BadInput(f"weights for {H.shape[1]} numbers, but the system has {n} states and {m} inputs")
    Pf = H[-1, :n, :n] if terminal is None else np.asarray(terminal, dtype=np.float64)
    K, _, P, _, failed = kernels.lq_backward(a, b, H, np.zeros((len(a), n + m)), np.ascontiguousarray(Pf), np.zeros(n))
    if failed >= 0:
        raise BadInput(f"step {failed}: R + B^T P B is not positive definite; give every input a positive weight")
    return LqrGains(K, P)


def infinite_horizon_lqr(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, *, S: ArrayLike | None = None, tolerance: float = 1e-13
) -> tuple[Array, Array]:
    """The stationary gain K (nu, nx) and P (nx, nx) of x_{k+1} = A x + B u with stage cost 1/2 (x.Q x + 2 x.S u + u.R u).

    By structured doubling: with G = B R^-1 B^T and P = Q at the start (S taken out by a first feedback),
    W = (I + G P)^-1, G += A W G A^T, P += A^T P W A, A <- A W A doubles the horizon each time. Raises BadInput when the
    iteration does not settle: the system cannot be stabilised, or a mode on the unit circle carries no weight.
    """
    a, b, q, r = (np.array(part, dtype=np.float64) for part in (A, B, Q, R))
    n, m = b.shape
    s = np.zeros((n, m)) if S is None else np.asarray(S, dtype=np.float64)
    try:
        first = np.linalg.solve(r, s.T)
        plain = a - b @ first
        F, G, P = plain, b @ np.linalg.solve(r, b.T), q - s @ first
        for _ in range(60):  # 2^60 steps
            with np.errstate(over="ignore", invalid="ignore"):
                W = np.linalg.solve(np.eye(n) + G @ P, np.hstack([F, G]))
                change = F.T @ P @ W[:, :n]
                G, P, F = G + F @ W[:, n:] @ F.T, P + change, F @ W[:, :n]
                G, P = 0.5 * (G + G.T), 0.5 * (P + P.T)
            if not np.isfinite(P).all():
                break
            if np.abs(change).max() <= tolerance * np.abs(P).max():
                K: Array = np.linalg.solve(r + b.T @ P @ b, b.T @ P @ a + s.T).astype(np.float64)
                if np.abs(np.linalg.eigvals(a - b @ K)).max() < 1.0:
                    return K, P
                break
    except np.linalg.LinAlgError as error:
        raise BadInput("the weights or the system are singular; give every input a positive weight") from error
    raise BadInput("no stabilising stationary gain: an unstable mode is out of reach of the inputs or carries no weight")


def linear_quadratic_step(A: Array, B: Array, H: Array, w: Array, Pf: Array, bf: Array) -> LqStep | None:
    """Solve the affine problem of the module; None when it has no minimum.

    ``A`` (N, nx, nx), ``B`` (N, nx, nu), ``H`` (N, nx + nu, nx + nu), ``w`` (N, nx + nu) the linear parts (q, r), ``Pf`` (nx, nx),
    ``bf`` (nx,).
    """
    K, C, _, slope, failed = kernels.lq_backward(A, B, H, w, Pf, bf)
    if failed >= 0 or not np.isfinite(slope):
        return None
    n = A.shape[1]
    z, v = kernels.linear_rollout(A, B, K, np.zeros((len(A) + 1, n)), -C)
    return LqStep(z, v, K, float(slope)) if np.isfinite(z).all() and np.isfinite(v).all() else None


def _matrices(A: ArrayLike, B: ArrayLike) -> tuple[Array, Array]:
    a, b = np.ascontiguousarray(A, dtype=np.float64), np.ascontiguousarray(B, dtype=np.float64)
    if a.ndim != 3 or b.ndim != 3 or a.shape[1] != a.shape[2] or b.shape[:2] != a.shape[:2]:
        raise BadInput(f"A {a.shape} and B {b.shape} arrived; (N, nx, nx) and (N, nx, nu) are needed")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise BadInput("A or B holds numbers that are not finite")
    return a, b
