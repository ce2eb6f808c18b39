"""The midpoint variational step, its derivatives, and whole trajectories of both.

With q = (q1 + q2)/2, v = (q2 - q1)/dt, all of L and F taken there, d the dynamic rows:

    r = p1 + (dt/2 Lq - Lv + dt F)_d - (Dh(q1)' l)_d = 0,    h(q2) = 0,    p2 = (dt/2 Lq + Lv)_d =: g

The damping D of flexible segments enters as Lq does, half before and half after the step (dt/2 (Lq + D) for dt/2 Lq): second order.

Unknowns y = (l, q2_d); given w = (q1, p1, u1, k2). J = d(r, h)/dy. Y = dy/dw = -J^-1 d(r, h)/dw.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import constraints, dampers, forces, wrenches
from bunraku.mechanics.dynamics.elimination_kernels import factor, solve, solve_many, solve_transposed
from bunraku.mechanics.dynamics.equation_kernels import (
    SINGULAR,
    constraint_hessian,
    constraint_third,
    curvature,
    force_curvature,
    gradient,
    third_derivatives,
)
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import bends, damp, pose
from bunraku.mechanics.dynamics.lagrangian_layout import DAMPING, WORK

CONVERGED, TOO_MANY, SINGULAR_MATRIX, NOT_FINITE = 0, 1, 2, 3
ROUNDING = 1e-13


@kernel
def momentum(model, q1, q2, dt):
    """p2 (nd,): the momentum with which a step from ``q1`` arrives at ``q2``."""
    n = q1.shape[0]
    W = np.empty((model.sizes[4], WORK))
    slots, where = np.empty((model.sizes[3], 6)), np.empty(model.sizes[3], np.int64)
    Lv, Lq = np.empty(n), np.empty(n)
    v = (q2 - q1) / dt
    gradient(model, 0.5 * (q1 + q2), v, W, slots, where, Lv, Lq)
    none = np.empty((0, 0))
    damp(model, v, W, 1.0, Lq, none, none, np.int64(0))
    p = np.empty(model.dynamic.shape[0])
    for i in range(p.shape[0]):
        p[i] = 0.5 * dt * Lq[model.dynamic[i]] + Lv[model.dynamic[i]]
    return p


@kernel
def newton_terms(model, q1, p1, u1, q2, lam, dt, Dh1, extra, extra_q, extra_v, tolerance, r, J, p2):
    """Residual ``r`` (nc + nd,) and momentum ``p2`` (nd,) at a trial (q2, lam); ``J`` too unless the residual is within tolerance.

    Returns the norm of the momentum balance (0 where it is rounding, below 1e-13 of the momenta) and the largest violation of h.
    ``extra``: user forces and their derivatives.
    """
    n, nd, nc = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0]
    dynamic = model.dynamic
    W = np.empty((model.sizes[4], WORK))
    slots, where = np.empty((model.sizes[3], 6)), np.empty(model.sizes[3], np.int64)
    work = np.empty((5, n))
    q, v, Lv, Lq, F = work[0], work[1], work[2], work[3], work[4]
    for i in range(n):
        q[i], v[i], F[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt, 0.0
    gradient(model, q, v, W, slots, where, Lv, Lq)
    none = np.empty((0, 0))
    forces(model, v, u1, W, slots, where, F, none, none, none, np.int64(0))
    damp(model, v, W, 1.0, Lq, none, none, np.int64(0))
    if extra.shape[0] > 0:
        F += extra
    size, scale = 0.0, 0.0
    for i in range(nd):
        c = dynamic[i]
        s = p1[i] + 0.5 * dt * Lq[c] - Lv[c] + dt * F[c]
        for k in range(nc):
            s -= Dh1[k, c] * lam[k]
        r[nc + i] = s
        size += s * s
        p2[i] = 0.5 * dt * Lq[c] + Lv[c]
        scale += (abs(p1[i]) + abs(p2[i])) ** 2
    size = np.sqrt(size)
    size = 0.0 if size <= ROUNDING * np.sqrt(scale) else size
    worst = 0.0
    if nc > 0:
        W2 = np.empty((model.sizes[4], WORK))
        pose(model, q2, W2)
        h, Dh2 = np.empty(nc), np.empty((nc, n))
        constraints(model, q2, W2, slots, where, h, Dh2, h, none, np.int64(1))
        for k in range(nc):
            r[k] = h[k]
            worst = max(worst, abs(h[k])) if h[k] == h[k] else np.nan
            for i in range(nd):
                J[nc + i, k] = -Dh1[k, dynamic[i]]
                J[k, nc + i] = Dh2[k, dynamic[i]]
            for j in range(nc):
                J[k, j] = 0.0
    if size <= tolerance and worst <= tolerance:
        return size, worst
    H = np.empty((3, n, n))
    curvature(model, q, v, W, slots, where, H[0], H[1], H[2])
    even, mass = 0.25 * dt, 1.0 / dt
    for i in range(nd):
        a = dynamic[i]
        for j in range(nd):
            b = dynamic[j]
            J[nc + i, nc + j] = even * H[2, a, b] + 0.5 * (H[1, b, a] - H[1, a, b]) - mass * H[0, a, b]
        J[nc + i, nc + i] -= model.coordinate_f[a, DAMPING]
    if model.sizes[2] != 0:
        Fq, Fv = H[0], H[1]
        Fq[:, :] = 0.0
        Fv[:, :] = 0.0
        dampers(model, v, W, slots, where, F, Fq, Fv, np.int64(1))
        wrenches(model, u1, W, slots, where, F, Fq, np.zeros((n, u1.shape[0])), np.int64(1))
        damp(model, v, W, 0.5, F, Fq, Fv, np.int64(1))
        if extra.shape[0] > 0:
            Fq += extra_q
            Fv += extra_v
        for i in range(nd):
            for j in range(nd):
                J[nc + i, nc + j] += 0.5 * dt * Fq[dynamic[i], dynamic[j]] + Fv[dynamic[i], dynamic[j]]
    return size, worst


@kernel
def jacobian_at(model, q, Dh):
    """``Dh`` (nc, nq) at ``q``."""
    if Dh.shape[0] > 0:
        W = np.empty((model.sizes[4], WORK))
        slots, where = np.empty((model.sizes[3], 6)), np.empty(model.sizes[3], np.int64)
        pose(model, q, W)
        h = np.empty(Dh.shape[0])
        constraints(model, q, W, slots, where, h, Dh, h, np.empty((0, 0)), np.int64(1))


@kernel
def step(model, q1, p1, u1, dt, tolerance, iterations, q2, lam, p2):
    """Newton from the guess in ``q2`` (nq,; its kinematic part is k2) and ``lam`` (nc,), overwritten by the solution, as is ``p2``.

    Returns the number of Newton iterations and a code. A trial that raises the residual tenfold is halved at most four times.
    """
    n, nd, nc = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0]
    Dh1 = np.empty((nc, n))
    jacobian_at(model, q1, Dh1)
    r, J = np.empty(nd + nc), np.empty((nd + nc, nd + nc))
    pivot = np.empty(nd + nc, np.int64)
    none, empty = np.empty(0), np.empty((0, 0))
    size, worst = newton_terms(model, q1, p1, u1, q2, lam, dt, Dh1, none, empty, empty, tolerance, r, J, p2)
    for k in range(iterations):
        if size <= tolerance and worst <= tolerance:
            return k, CONVERGED
        if not (np.isfinite(size) and np.isfinite(worst)):
            return k, NOT_FINITE
        if not factor(J, pivot) > SINGULAR:
            return k, SINGULAR_MATRIX
        solve(J, pivot, r)
        for i in range(nd):
            q2[model.dynamic[i]] -= r[nc + i]
        for i in range(nc):
            lam[i] -= r[i]
        before = size + worst
        change = r.copy()
        size, worst = newton_terms(model, q1, p1, u1, q2, lam, dt, Dh1, none, empty, empty, tolerance, r, J, p2)
        halvings = 0
        while halvings < 4 and not size + worst <= 10.0 * before + tolerance:
            halvings += 1
            for i in range(nd + nc):
                change[i] *= 0.5
            for i in range(nd):
                q2[model.dynamic[i]] += change[nc + i]
            for i in range(nc):
                lam[i] += change[i]
            size, worst = newton_terms(model, q1, p1, u1, q2, lam, dt, Dh1, none, empty, empty, tolerance, r, J, p2)
    if size <= tolerance and worst <= tolerance:
        return iterations, CONVERGED
    return iterations, TOO_MANY if np.isfinite(size + worst) else NOT_FINITE


@kernel
def first(model, q1, u1, q2, lam, dt, extra_q, extra_v, extra_u, Y, G, J, pivot, Gy):
    """First derivatives at a solved step. ``Y`` (nc + nd, nw) of (l, q2_d), ``G`` (nd, nw) of p2, w = (q1, p1, u1, k2).

    Leaves the factors of J in ``J``, ``pivot`` and dp2/dq2_d in ``Gy`` (nd, nd) for the second derivatives. Returns whether J was
    regular.
    """
    n, nd, nc, nk, nu = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0], model.kinematic.shape[0], u1.shape[0]
    dynamic, kinematic = model.dynamic, model.kinematic
    W = np.empty((model.sizes[4], WORK))
    slots, where = np.empty((model.sizes[3], 6)), np.empty(model.sizes[3], np.int64)
    work = np.empty((5, n))
    q, v = work[0], work[1]
    for i in range(n):
        q[i], v[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt
    H = np.empty((3, n, n))
    gradient(model, q, v, W, slots, where, work[2], work[3])
    curvature(model, q, v, W, slots, where, H[0], H[1], H[2])
    Fq, Fv, Fu = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, nu))
    forces(model, v, u1, W, slots, where, work[4], Fq, Fv, Fu, np.int64(1))
    if extra_q.shape[0] > 0:
        Fq += extra_q
        Fv += extra_v
        Fu += extra_u
    Dq, Dv = np.empty((0, 0)), np.empty((0, 0))
    if bends(model):
        Dq, Dv = np.zeros((n, n)), np.zeros((n, n))
        damp(model, v, W, 0.5, work[4], Dq, Dv, np.int64(1))
        Fq += Dq
        Fv += Dv
    Y[:, :] = 0.0
    K2 = np.empty((nd, n))
    for i in range(nd):
        a = dynamic[i]
        for b in range(n):
            even, odd, mass = 0.25 * dt * H[2, a, b], 0.5 * H[1, b, a], H[0, a, b] / dt
            other, fq, fv = 0.5 * H[1, a, b], 0.5 * dt * Fq[a, b], Fv[a, b]
            K2[i, b] = even + odd - other - mass + fq + fv
            Y[nc + i, b] = even - odd - other + mass + fq - fv
            G[i, b] = even - odd + other - mass
        for j in range(nd):
            b = dynamic[j]
            Gy[i, j] = 0.25 * dt * H[2, a, b] + 0.5 * (H[1, b, a] + H[1, a, b]) + H[0, a, b] / dt
            G[i, n + j] = 0.0
            J[nc + i, nc + j] = K2[i, b]
        Y[nc + i, n + i] = 1.0
        for j in range(nu):
            Y[nc + i, n + nd + j] = dt * Fu[a, j]
            G[i, n + nd + j] = 0.0
        for j in range(nk):
            b = kinematic[j]
            Y[nc + i, n + nd + nu + j] = K2[i, b]
            G[i, n + nd + nu + j] = 0.25 * dt * H[2, a, b] + 0.5 * (H[1, b, a] + H[1, a, b]) + H[0, a, b] / dt
        if bends(model):
            for b in range(n):
                G[i, b] += 0.5 * dt * Dq[a, b] - Dv[a, b]
            for j in range(nd):
                Gy[i, j] += 0.5 * dt * Dq[a, dynamic[j]] + Dv[a, dynamic[j]]
            for j in range(nk):
                G[i, n + nd + nu + j] += 0.5 * dt * Dq[a, kinematic[j]] + Dv[a, kinematic[j]]
    if nc > 0:
        Dh, h, D2 = np.empty((nc, n)), np.empty(nc), H[0]
        D2[:, :] = 0.0
        pose(model, q1, W)
        constraints(model, q1, W, slots, where, h, Dh, lam, D2, np.int64(2))
        for i in range(nd):
            for b in range(n):
                Y[nc + i, b] -= D2[dynamic[i], b]
            for c in range(nc):
                J[nc + i, c] = -Dh[c, dynamic[i]]
        pose(model, q2, W)
        constraints(model, q2, W, slots, where, h, Dh, lam, D2, np.int64(1))
        for c in range(nc):
            for i in range(nd):
                J[c, nc + i] = Dh[c, dynamic[i]]
            for j in range(nc):
                J[c, j] = 0.0
            for j in range(nk):
                Y[c, n + nd + nu + j] = Dh[c, kinematic[j]]
    if not factor(J, pivot) > SINGULAR:
        return False
    for i in range(nd + nc):
        for j in range(Y.shape[1]):
            Y[i, j] = -Y[i, j]
    solve_many(J, pivot, Y)
    G += np.dot(Gy, Y[nc:])
    return True


@kernel
def second(model, q1, u1, q2, lam, dt, Y, J, pivot, Gy, zq, zp, zl, extra, mu, out):
    """Hessian (nw, nw) of zq.q2_d + zp.p2 + zl.l over w = (q1, p1, u1, k2), into ``out``. ``extra``: the user's forces.

    m = J^-T (zl, zq + Gy' zp); H = zp.g_ww - m.(r, h)_ww over e = (q1, u1, k2), which are parts of w, and y = (l, q2_d); then
    out = H_ee + Y' P + P' Y with P = H_yy Y / 2 + H_ye. ``mu`` (nq,): m on the dynamic coordinates, also an output.
    """
    n, nd, nc, nk, nu = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0], model.kinematic.shape[0], u1.shape[0]
    dynamic, kinematic = model.dynamic, model.kinematic
    m = np.empty(nd + nc)
    for i in range(nd):
        s = zq[i]
        for j in range(nd):
            s += Gy[j, i] * zp[j]
        m[nc + i] = s
    for c in range(nc):
        m[c] = zl[c]
    solve_transposed(J, pivot, m)
    work = np.zeros((4, n))
    q, v, a, b = work[0], work[1], work[2], work[3]
    mu[:] = 0.0
    for i in range(n):
        q[i], v[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt
    for i in range(nd):
        c = dynamic[i]
        mu[c] = m[nc + i]
        a[c], b[c] = 0.5 * dt * (zp[i] - m[nc + i]), zp[i] + m[nc + i]
    M = np.empty((3, n, n))
    third_derivatives(model, q, v, a, b, M[0], M[1], M[2])
    S = np.empty((0, 0))
    if model.sizes[2] != 0:
        inner = mu.copy()  # half of the damping of segments stands in r, half in p2
        for i in range(nd):
            inner[dynamic[i]] = 0.5 * (mu[dynamic[i]] - zp[i])
        S = force_curvature(model, q, v, u1, mu, inner)
        if extra.shape[0] > 0:
            S += extra
        for i in range(n):
            for j in range(n):
                M[2, i, j] -= dt * S[i, j]
                M[1, i, j] -= dt * S[n + i, j]
                M[0, i, j] -= dt * S[n + i, n + j]
    H22 = np.empty((n, n))
    out[:, :] = 0.0
    H12 = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            even, mass = 0.25 * M[2, i, j], M[0, i, j] / (dt * dt)
            plus, minus = 0.5 * (M[1, j, i] + M[1, i, j]) / dt, 0.5 * (M[1, j, i] - M[1, i, j]) / dt
            out[i, j] = even - plus + mass
            H22[i, j] = even + plus + mass
            H12[i, j] = even + minus - mass
    P = np.zeros((nd + nc, Y.shape[1]))
    if nc > 0:
        constraint_third(model, q1, lam, mu, 1.0, out)
        scaled = -m[:nc]
        constraint_hessian(model, q2, scaled, H22)
        W = np.empty((model.sizes[4], WORK), np.complex128)
        slots, where = np.empty((model.sizes[3], 6), np.complex128), np.empty(model.sizes[3], np.int64)
        x = np.empty(n, np.complex128)
        for i in range(n):
            x[i] = complex(q1[i], 1e-40 * mu[i])
        pose(model, x, W)
        h, Dh = np.empty(nc, np.complex128), np.empty((nc, n), np.complex128)
        constraints(model, x, W, slots, where, h, Dh, lam, np.empty((0, 0), np.complex128), np.int64(1))
        for c in range(nc):
            for i in range(n):
                P[c, i] += Dh[c, i].imag / 1e-40
    yy = np.empty((nd, nd))
    for i in range(nd):
        for j in range(nd):
            yy[i, j] = 0.5 * H22[dynamic[i], dynamic[j]]
    half = np.dot(yy, Y[nc:])
    for i in range(nd):
        r = dynamic[i]
        for j in range(Y.shape[1]):
            P[nc + i, j] += half[i, j]
        for j in range(n):
            P[nc + i, j] += H12[j, r]
        for j in range(nk):
            P[nc + i, n + nd + nu + j] += H22[r, kinematic[j]]
        if model.sizes[2] != 0:
            for j in range(nu):
                P[nc + i, n + nd + j] -= dt * (0.5 * S[r, 2 * n + j] + S[n + r, 2 * n + j] / dt)
    for i in range(nk):
        r = kinematic[i]
        for j in range(nk):
            out[n + nd + nu + i, n + nd + nu + j] += H22[r, kinematic[j]]
        for j in range(n):
            out[n + nd + nu + i, j] += H12[j, r]
            out[j, n + nd + nu + i] += H12[j, r]
    if model.sizes[2] != 0:
        for j in range(nu):
            for i in range(n):
                cell = -dt * (0.5 * S[i, 2 * n + j] - S[n + i, 2 * n + j] / dt)
                out[i, n + nd + j] += cell
                out[n + nd + j, i] += cell
            for i in range(nk):
                r = kinematic[i]
                cell = -dt * (0.5 * S[r, 2 * n + j] + S[n + r, 2 * n + j] / dt)
                out[n + nd + nu + i, n + nd + j] += cell
                out[n + nd + j, n + nd + nu + i] += cell
            for i in range(nu):
                out[n + nd + i, n + nd + j] -= dt * S[2 * n + i, 2 * n + j]
    T = np.dot(Y.T, P)
    for i in range(Y.shape[1]):
        for j in range(Y.shape[1]):
            out[i, j] += T[i, j] + T[j, i]


@kernel
def step_length(model, q1, u1, q2, dt, J, pivot, Gy, extra, extra_v):
    """Derivatives with respect to dt of (l, q2_d) (nc + nd,) and p2 (nd,) at a solved step.

    r_dt = Lq/2 - Lqv v/2 + Lvv v/dt + F - Fv v,    p2_dt = Lq/2 - Lqv v/2 - Lvv v/dt + dp2/dq2 q2_dt.
    """
    n, nd, nc = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0]
    dynamic = model.dynamic
    W = np.empty((model.sizes[4], WORK))
    slots, where = np.empty((model.sizes[3], 6)), np.empty(model.sizes[3], np.int64)
    q, v = 0.5 * (q1 + q2), (q2 - q1) / dt
    Lv, Lq, F = np.empty(n), np.empty(n), np.zeros(n)
    H = np.empty((3, n, n))
    gradient(model, q, v, W, slots, where, Lv, Lq)
    curvature(model, q, v, W, slots, where, H[0], H[1], H[2])
    Fq, Fv, Fu = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, u1.shape[0]))
    forces(model, v, u1, W, slots, where, F, Fq, Fv, Fu, np.int64(1))
    if extra.shape[0] > 0:
        F += extra
        Fv += extra_v
    Dv = np.zeros((n, n))
    damp(model, v, W, 1.0, Lq, Fq, Dv, np.int64(1))
    y, p = np.zeros(nd + nc), np.empty(nd)
    for i in range(nd):
        r = dynamic[i]
        odd, mass, friction = 0.0, 0.0, 0.0
        for j in range(n):
            odd += 0.5 * (H[1, j, r] + Dv[r, j]) * v[j]
            mass += H[0, r, j] * v[j] / dt
            friction += Fv[r, j] * v[j]
        y[nc + i] = -(0.5 * Lq[r] - odd + mass + F[r] - friction)
        p[i] = 0.5 * Lq[r] - odd - mass
    solve(J, pivot, y)
    for i in range(nd):
        for j in range(nd):
            p[i] += Gy[i, j] * y[nc + j]
    return y, p
