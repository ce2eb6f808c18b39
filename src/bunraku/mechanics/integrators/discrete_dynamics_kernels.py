"""Closed-loop roll-outs of a variational integrator, and its steps solved one by one along a given curve.

State x = (q, p[, v_k]), input U = (u, k2); ``velocity`` says whether v_k = (k2 - k1)/dt is carried. Loops instead of slices: an
assignment of an array brings the words of a shape error with it, seconds of compilation.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.integrators.step_kernels import CONVERGED, step
from bunraku.mechanics.integrators.work_kernels import make_work


@kernel
def rollout(model, newton, velocity, x0, xb, ub, K):
    """Simulate U = ub - K (x - xb): states (N + 1, nx), inputs (N, nu + nk), multipliers (N, nc), failed step or -1."""
    N, nx, nU = ub.shape[0], x0.shape[0], ub.shape[1]
    nd, nk, nc = model.dynamic.shape[0], model.kinematic.shape[0], model.constraint_i.shape[0]
    n, nu = nd + nk, nU - nk
    x, U, lams = np.empty((N + 1, nx)), np.empty((N, nU)), np.zeros((N, nc))
    for i in range(nx):
        x[0, i] = x0[i]
    q2, lam, work = np.empty(n), np.zeros(nc), make_work(model, nu)
    for k in range(N):
        change, total = np.dot(K[k], x[k] - xb[k]), 0.0
        for i in range(nU):
            U[k, i] = ub[k, i] - change[i]
            total += U[k, i]
        if not np.isfinite(total):
            return x, U, lams, k
        for i in range(n):
            q2[i] = 2.0 * x[k, i] - x[k - 1, i] if k > 0 else x[k, i] + xb[1, i] - xb[0, i]
        if k > 1:
            for c in range(nc):
                lam[c] = 2.0 * lams[k - 1, c] - lams[k - 2, c]
        code = -1
        for attempt in range(2):
            if attempt == 1:
                for i in range(n):
                    q2[i] = x[k, i]
                for c in range(nc):
                    lam[c] = lams[max(k - 1, 0), c]
            for i in range(nk):
                q2[model.kinematic[i]] = U[k, nu + i]
            goes_on = k > 0 and attempt == 0
            code = step(model, x[k, :n], x[k, n : n + nd], U[k, :nu], newton, work, goes_on, q2, lam, x[k + 1, n : n + nd])[1]
            if code == CONVERGED:
                break
        if code != CONVERGED:
            return x, U, lams, k
        for c in range(nc):
            lams[k, c] = lam[c]
        for i in range(n):
            x[k + 1, i] = q2[i]
        if velocity:
            for i in range(nk):
                c = model.kinematic[i]
                x[k + 1, n + nd + i] = (q2[c] - x[k, c]) / newton.dt
    return x, U, lams, -1


@kernel
def solve_steps(model, newton, x, U):
    """Each step on its own from (x_k, U_k), x_{k+1} as a guess: arrivals q2 (N, nq), multipliers (N, nc), failed step or -1."""
    N = U.shape[0]
    nd, nk, nc = model.dynamic.shape[0], model.kinematic.shape[0], model.constraint_i.shape[0]
    n, nu = nd + nk, U.shape[1] - nk
    q2, lams, p2, lam = np.empty((N, n)), np.zeros((N, nc)), np.empty(nd), np.zeros(nc)
    work = make_work(model, nu)
    for k in range(N):
        code = -1
        for attempt in range(2):
            for i in range(n):
                q2[k, i] = x[k + 1 - attempt, i]
            for i in range(nk):
                q2[k, model.kinematic[i]] = U[k, nu + i]
            code = step(model, x[k, :n], x[k, n : n + nd], U[k, :nu], newton, work, False, q2[k], lam, p2)[1]
            if code == CONVERGED:
                break
            for c in range(nc):
                lam[c] = 0.0
        if code != CONVERGED:
            return q2, lams, k
        for c in range(nc):
            lams[k, c] = lam[c]
    return q2, lams, -1
