"""Closed-loop roll-outs of a variational integrator, and its steps solved one by one along a given curve.

State x = (q, p[, v_k]), input U = (u, k2); ``velocity`` says whether v_k = (k2 - k1)/dt is carried.
"""

from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.integrators._kernels import CONVERGED, step


@kernel
def rollout(model, dt, tolerance, iterations, velocity, x0, xb, ub, K):
    """Simulate U = ub - K (x - xb): states (N + 1, nx), inputs (N, nu + nk), multipliers (N, nc), failed step or -1."""
    N, nx, nU = ub.shape[0], x0.shape[0], ub.shape[1]
    nd, nk, nc = model.dynamic.shape[0], model.kinematic.shape[0], model.constraint_i.shape[0]
    n, nu = nd + nk, nU - nk
    x, U, lams = np.empty((N + 1, nx)), np.empty((N, nU)), np.zeros((N, nc))
    x[0] = x0
    q2, lam = np.empty(n), np.zeros(nc)
    for k in range(N):
        U[k] = ub[k] - np.dot(K[k], x[k] - xb[k])
        if not np.isfinite(np.sum(U[k])):
            return x, U, lams, k
        for i in range(n):
            q2[i] = 2.0 * x[k, i] - x[k - 1, i] if k > 0 else x[k, i] + xb[1, i] - xb[0, i]
        if k > 1:
            lam[:] = 2.0 * lams[k - 1] - lams[k - 2]
        code = -1
        for attempt in range(2):
            if attempt == 1:
                q2[:] = x[k, :n]
                lam[:] = lams[max(k - 1, 0)]
            for i in range(nk):
                q2[model.kinematic[i]] = U[k, nu + i]
            code = step(model, x[k, :n], x[k, n : n + nd], U[k, :nu], dt, tolerance, iterations, q2, lam, x[k + 1, n : n + nd])[1]
            if code == CONVERGED:
                break
        if code != CONVERGED:
            return x, U, lams, k
        lams[k] = lam
        x[k + 1, :n] = q2
        if velocity:
            for i in range(nk):
                c = model.kinematic[i]
                x[k + 1, n + nd + i] = (q2[c] - x[k, c]) / dt
    return x, U, lams, -1


@kernel
def solve_steps(model, dt, tolerance, iterations, x, U):
    """Each step on its own from (x_k, U_k), x_{k+1} as a guess: arrivals q2 (N, nq), multipliers (N, nc), failed step or -1."""
    N = U.shape[0]
    nd, nk, nc = model.dynamic.shape[0], model.kinematic.shape[0], model.constraint_i.shape[0]
    n, nu = nd + nk, U.shape[1] - nk
    q2, lams, p2, lam = np.empty((N, n)), np.zeros((N, nc)), np.empty(nd), np.zeros(nc)
    for k in range(N):
        code = -1
        for attempt in range(2):
            q2[k] = x[k + 1 - attempt, :n]
            for i in range(nk):
                q2[k, model.kinematic[i]] = U[k, nu + i]
            code = step(model, x[k, :n], x[k, n : n + nd], U[k, :nu], dt, tolerance, iterations, q2[k], lam, p2)[1]
            if code == CONVERGED:
                break
            lam[:] = 0.0
        if code != CONVERGED:
            return q2, lams, k
        lams[k] = lam
    return q2, lams, -1
