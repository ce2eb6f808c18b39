"""Quasi-static motion: Newton on L_q(q, 0) + F(q, 0) + Dh' lam = 0, h = 0 at every node, each started from the one before."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import constraints, forces
from bunraku.mechanics.dynamics.elimination_kernels import factor, solve
from bunraku.mechanics.dynamics.equation_kernels import curvature, gradient
from bunraku.mechanics.integrators.step_kernels import CONVERGED, NOT_FINITE, SINGULAR_MATRIX, TOO_MANY

SINGULAR = 1e-20  # pivots range from the stiffest mode to the multipliers of a loop over it


@kernel
def balance(model, q, lam, work, r):
    """Residual ``r`` (nc + nd,) of statics at q: the largest unbalanced force and the largest violation."""
    n, nd, nc = q.shape[0], model.dynamic.shape[0], lam.shape[0]
    v, Lv, Lq, F, none = work.v, work.Lv, work.Lq, work.F, work.none
    for i in range(n):
        v[i], F[i] = 0.0, 0.0
    gradient(model, q, v, work.room, Lv, Lq)
    forces(model, v, work.u, work.room, F, none, none, none, np.int64(0))
    if nc > 0:
        constraints(model, q, work.room, work.h, work.Dh, lam, none, np.int64(1))
    size, worst = 0.0, 0.0
    for i in range(nd):
        c = model.dynamic[i]
        s = Lq[c] + F[c]
        for k in range(nc):
            s += work.Dh[k, c] * lam[k]
        r[nc + i] = s
        size = max(size, abs(s)) if s == s else np.nan
    for k in range(nc):
        r[k] = work.h[k]
        worst = max(worst, abs(work.h[k])) if work.h[k] == work.h[k] else np.nan
    return size, worst


@kernel
def stiffness(model, q, lam, work, A):
    """``A`` (nq, nq): L_qq + F_q + lam.D2h where :func:`balance` was last evaluated."""
    n, nc = q.shape[0], lam.shape[0]
    v, F, H, Fv = work.v, work.spare, work.H, work.Fv
    curvature(model, q, v, work.room, H[0], H[1], H[2])
    for i in range(n):
        for j in range(n):
            A[i, j] = H[2, i, j]
            Fv[i, j] = 0.0
    forces(model, v, work.u, work.room, F, A, Fv, work.Fu, np.int64(1))
    if nc > 0:
        constraints(model, q, work.room, work.h, work.Dh, lam, A, np.int64(2))


@kernel
def border(model, A, Dh, J):
    """``J`` (nc + nd, nc + nd) = [[0, Dh_d], [Dh_d', A_dd]]."""
    nd, nc = model.dynamic.shape[0], Dh.shape[0]
    for i in range(nd):
        s = model.dynamic[i]
        for j in range(nd):
            J[nc + i, nc + j] = A[s, model.dynamic[j]]
        for k in range(nc):
            J[nc + i, k] = Dh[k, s]
            J[k, nc + i] = Dh[k, s]
    for k in range(nc):
        for j in range(nc):
            J[k, j] = 0.0


@kernel
def settle(model, q, lam, tolerance, iterations, work):
    """Newton from ``q``, ``lam``, overwritten; steps halved while the residual grows. Returns iterations, a code, the residuals.

    Stiff modes turn rounding into forces: a step that moves no coordinate by more than 1e-12 ends it as well.
    """
    nd, nc = model.dynamic.shape[0], lam.shape[0]
    r, change, J = work.r, work.change, work.J
    size, worst = balance(model, q, lam, work, r)
    for k in range(iterations):
        if size <= tolerance and worst <= tolerance:
            return k, CONVERGED, size, worst
        if not np.isfinite(size + worst):
            return k, NOT_FINITE, size, worst
        stiffness(model, q, lam, work, work.Fq)
        border(model, work.Fq, work.Dh, J)
        if not factor(J, work.pivot) > SINGULAR:
            return k, SINGULAR_MATRIX, size, worst
        for i in range(nd + nc):
            change[i] = r[i]
        solve(J, work.pivot, change)
        before, part, most = size + worst, 1.0, 0.0
        for i in range(nd):
            q[model.dynamic[i]] -= change[nc + i]
            most = max(most, abs(change[nc + i]))
        for i in range(nc):
            lam[i] -= change[i]
        size, worst = balance(model, q, lam, work, r)
        if most <= 1e-12 and worst <= tolerance:
            return k + 1, CONVERGED, size, worst
        while part > 0.01 and not size + worst <= 10.0 * before + tolerance:
            part *= 0.5
            for i in range(nd):
                q[model.dynamic[i]] += part * change[nc + i]
            for i in range(nc):
                lam[i] += part * change[i]
            size, worst = balance(model, q, lam, work, r)
    code = CONVERGED if size <= tolerance and worst <= tolerance else TOO_MANY
    return iterations, code, size, worst


@kernel
def rest_path(model, q0, lam0, K, tolerance, iterations, work):
    """Rest at every row of ``K`` (F, nk) from one near the first: q (F, nq), lam (F, nc), residuals (F, 2), done, code."""
    F, n, nc = K.shape[0], q0.shape[0], lam0.shape[0]
    Q, L, size = np.empty((F, n)), np.empty((F, nc)), np.empty((F, 2))
    q, lam = q0.copy(), lam0.copy()
    for f in range(F):
        if f > 1:
            for i in range(n):
                q[i] = 2.0 * Q[f - 1, i] - Q[f - 2, i]
        for j in range(K.shape[1]):
            q[model.kinematic[j]] = K[f, j]
        _, code, a, b = settle(model, q, lam, tolerance, iterations, work)
        if code != CONVERGED and f > 0:
            for i in range(n):
                q[i] = Q[f - 1, i]
            for i in range(nc):
                lam[i] = L[f - 1, i]
            for s in range(1, 9):
                for j in range(K.shape[1]):
                    q[model.kinematic[j]] = K[f - 1, j] + (K[f, j] - K[f - 1, j]) * s / 8.0
                _, code, a, b = settle(model, q, lam, tolerance, iterations, work)
                if code != CONVERGED:
                    break
        size[f, 0], size[f, 1] = a, b
        Q[f] = q
        L[f] = lam
        if code != CONVERGED:
            return Q, L, size, f, code
    return Q, L, size, F, CONVERGED


@kernel
def rest_slope(model, q, lam, work):
    """Dq_d/dk (nk, nd) of rest at (q, lam): how the equilibrium follows the motors."""
    dynamic, kinematic = model.dynamic, model.kinematic
    nd, nk, nc = dynamic.shape[0], kinematic.shape[0], lam.shape[0]
    A = work.Fq
    balance(model, q, lam, work, work.r)
    stiffness(model, q, lam, work, A)
    border(model, A, work.Dh, work.J)
    B = np.empty((nc + nd, nk))
    for j in range(nk):
        for i in range(nd):
            B[nc + i, j] = -A[dynamic[i], kinematic[j]]
        for k in range(nc):
            B[k, j] = -work.Dh[k, kinematic[j]]
    X = np.linalg.solve(work.J, B)
    out = np.empty((nk, nd))
    for j in range(nk):
        for i in range(nd):
            out[j, i] = X[nc + i, j]
    return out
