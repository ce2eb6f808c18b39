"""Whole trajectories of variational steps, their linearizations and contracted second derivatives, each in one compiled call."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.integrators.step_kernels import CONVERGED, first, make_factors, second, step
from bunraku.mechanics.integrators.work_kernels import make_work


@kernel
def rollout(model, q0, p0, u, k2, x_reference, gain, newton):
    """Steps from (q0, p0) under inputs ``u`` (N, nu), ``k2`` (N, nk); with a ``gain`` (N, nu + nk, nq + nd) also feedback.

    (u, k2)_k is then the given one minus gain_k (x_k - x_reference_k), x = (q, p). Stops at the first step that fails. Returns q,
    p, lam, the inputs used, Newton iterations per step, the number of steps done and the code of the last one.
    """
    n, nd, nc, nk, nu = q0.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0], model.kinematic.shape[0], u.shape[1]
    N = u.shape[0]
    Q, P, L = np.empty((N + 1, n)), np.empty((N + 1, nd)), np.empty((N, nc))
    U, K2, count = u.copy(), k2.copy(), np.zeros(N, np.int64)
    for i in range(n):
        Q[0, i] = q0[i]
    for i in range(nd):
        P[0, i] = p0[i]
    lam, q2, work = np.zeros(nc), np.empty(n), make_work(model, nu)
    for k in range(N):
        if gain.shape[0] > 0:
            for i in range(nu + nk):
                s = 0.0
                for j in range(n):
                    s += gain[k, i, j] * (Q[k, j] - x_reference[k, j])
                for j in range(nd):
                    s += gain[k, i, n + j] * (P[k, j] - x_reference[k, n + j])
                if i < nu:
                    U[k, i] -= s
                else:
                    K2[k, i - nu] -= s
        for j in range(n):
            q2[j] = Q[k, j] if k == 0 else 2.0 * Q[k, j] - Q[k - 1, j]
        for j in range(nk):
            q2[model.kinematic[j]] = K2[k, j]
        if k > 1:
            for c in range(nc):
                lam[c] = 2.0 * L[k - 1, c] - L[k - 2, c]
        used, code = step(model, Q[k], P[k], U[k], newton, work, k > 0, q2, lam, P[k + 1])
        if code != CONVERGED and k > 0:
            for j in range(n):
                q2[j] = Q[k, j]
            for j in range(nk):
                q2[model.kinematic[j]] = K2[k, j]
            for c in range(nc):
                lam[c] = L[k - 1, c]
            used, code = step(model, Q[k], P[k], U[k], newton, work, False, q2, lam, P[k + 1])
        count[k] = used
        for i in range(n):
            Q[k + 1, i] = q2[i]
        for c in range(nc):
            L[k, c] = lam[c]
        if code != CONVERGED:
            return Q, P, L, U, K2, count, k, code
    return Q, P, L, U, K2, count, N, CONVERGED


@kernel
def linearize(model, q, u, lam, dt):
    """A (N, nx, nx), B (N, nx, nU) and derivatives of the multipliers (N, nc, nx + nU); x = (q, p), U = (u, k2)."""
    n, nd, nc, nk, nu = q.shape[1], model.dynamic.shape[0], model.constraint_i.shape[0], model.kinematic.shape[0], u.shape[1]
    N, nx, nw = u.shape[0], n + nd, n + nd + nu + nk
    A, B, C = np.zeros((N, nx, nx)), np.zeros((N, nx, nu + nk)), np.empty((N, nc, nw))
    d, good = make_factors(model, nu), True
    Y, G = d.Y, d.G
    for k in range(N):
        if not first(model, q[k], u[k], q[k + 1], lam[k], dt, d):
            good = False
        for i in range(nd):
            r = model.dynamic[i]
            for j in range(nx):
                A[k, r, j], A[k, n + i, j] = Y[nc + i, j], G[i, j]
            for j in range(nu + nk):
                B[k, r, j], B[k, n + i, j] = Y[nc + i, nx + j], G[i, nx + j]
        for i in range(nk):
            B[k, model.kinematic[i], nu + i] = 1.0
        for i in range(nc):
            for j in range(nw):
                C[k, i, j] = Y[i, j]
    return A, B, C, good


@kernel
def contract(model, q, u, lam, zq, zp, zl, dt):
    """Hessians (N, nw, nw) of zq_k.q_{k+1} + zp_k.p_{k+1} + zl_k.lam_k over w_k = (q_k, p_k, u_k, k2_k) for every step."""
    N, d, good = u.shape[0], make_factors(model, u.shape[1]), True
    out = np.empty((N, d.Y.shape[1], d.Y.shape[1]))
    for k in range(N):
        if not first(model, q[k], u[k], q[k + 1], lam[k], dt, d):
            good = False
        second(model, q[k], u[k], q[k + 1], lam[k], dt, d, zq[k], zp[k], zl[k], out[k])
    return out, good
