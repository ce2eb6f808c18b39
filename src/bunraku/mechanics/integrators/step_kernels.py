"""The midpoint variational step, its derivatives, and whole trajectories of both.

With q = (q1 + q2)/2, v = (q2 - q1)/dt, all of L and F taken there, d the dynamic rows:

    r = p1 + (dt/2 Lq - Lv + dt F)_d - (Dh(q1)' l)_d = 0,    h(q2) = 0,    p2 = (dt/2 Lq + Lv)_d =: g

The damping D of flexible segments enters as Lq does, half before and half after the step (dt/2 (Lq + D) for dt/2 Lq): second order.

Unknowns y = (l, q2_d); given w = (q1, p1, u1, k2). J = d(r, h)/dy. Y = dy/dw = -J^-1 d(r, h)/dw.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import constraints, dampers, forces, make_room, wrenches
from bunraku.mechanics.dynamics.elimination_kernels import factor, solve, solve_many, solve_transposed
from bunraku.mechanics.dynamics.equation_kernels import (
    SINGULAR,
    TINY,
    constraint_hessian,
    constraint_third,
    curvature,
    force_curvature,
    gradient,
    stepped,
    third_derivatives,
)
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import bends, damp, pose
from bunraku.mechanics.dynamics.lagrangian_layout import DAMPING
from bunraku.mechanics.integrators.work_kernels import Pull, make_work

CONVERGED, TOO_MANY, SINGULAR_MATRIX, NOT_FINITE = 0, 1, 2, 3
ROUNDING = 1e-13


class StepFactors(NamedTuple):
    """First derivatives of a step: ``Y`` (nc + nd, nw) of (l, q2_d), ``G`` (nd, nw) of p2, w = (q1, p1, u1, k2).

    With the factors of J in ``J``, ``pivot`` and dp2/dq2_d in ``Gy`` (nd, nd), for second derivatives.
    """

    Y: Array
    G: Array
    J: Array
    pivot: NDArray[np.int64]
    Gy: Array


@kernel
def make_factors(model, nu):
    """Arrays for the derivatives of steps with ``nu`` inputs."""
    nd, size = model.dynamic.shape[0], model.dynamic.shape[0] + model.constraint_i.shape[0]
    nw = model.coordinate_f.shape[0] + nd + nu + model.kinematic.shape[0]
    return StepFactors(
        np.empty((size, nw)), np.empty((nd, nw)), np.empty((size, size)), np.empty(size, np.int64), np.empty((nd, nd))
    )


@kernel
def momentum(model, q1, q2, dt):
    """p2 (nd,): the momentum with which a step from ``q1`` arrives at ``q2``."""
    n = q1.shape[0]
    room = make_room(model, q1)
    Lv, Lq = np.empty(n), np.empty(n)
    v = (q2 - q1) / dt
    gradient(model, 0.5 * (q1 + q2), v, room, Lv, Lq)
    none = np.empty((0, 0))
    damp(model, v, room.W, 1.0, Lq, none, none, np.int64(0))
    p = np.empty(model.dynamic.shape[0])
    for i in range(p.shape[0]):
        p[i] = 0.5 * dt * Lq[model.dynamic[i]] + Lv[model.dynamic[i]]
    return p


@kernel
def residual(model, q1, p1, u, q2, lam, dt, pull, work, p2):
    """Residual ``work.r`` (nc + nd,) and ``p2`` (nd,) at a trial (q2, lam). Takes Dh(q1) from ``Dh1``, leaves Dh(q2) in ``Dh``.

    Returns the norm of the momentum balance (0 where it is rounding, below 1e-13 of the momenta) and the largest violation of h.
    ``pull``: of an observer.
    """
    n, nd, nc = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0]
    q, v, Lv, Lq, F, a, r, w = work.q, work.v, work.Lv, work.Lq, work.F, work.a, work.r, pull.rate
    dynamic, none = model.dynamic, work.none
    for i in range(n):
        q[i], v[i], F[i], a[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt, 0.0, 0.0
    if w > 0.0:
        for i in range(nd):
            c = dynamic[i]
            a[c] = 2.0 * w * (v[c] - (pull.end[c] - pull.start[c]) / dt) + w * w * (q[c] - 0.5 * (pull.start[c] + pull.end[c]))
        gradient(model, q, a, work.room, work.pull, work.spare)
    gradient(model, q, v, work.room, Lv, Lq)
    forces(model, v, u, work.room, F, none, none, none, np.int64(0))
    damp(model, v, work.room.W, 1.0, Lq, none, none, np.int64(0))
    size, scale = 0.0, 0.0
    for i in range(nd):
        c = dynamic[i]
        s = p1[i] + 0.5 * dt * Lq[c] - Lv[c] + dt * F[c]
        if w > 0.0:
            s -= dt * work.pull[c]
        for k in range(nc):
            s -= work.Dh1[k, c] * lam[k]
        r[nc + i] = s
        size += s * s
        p2[i] = 0.5 * dt * Lq[c] + Lv[c]
        scale += (abs(p1[i]) + abs(p2[i])) ** 2
    size = np.sqrt(size)
    size = 0.0 if size <= ROUNDING * np.sqrt(scale) else size
    worst = 0.0
    if nc > 0:
        h = work.h
        pose(model, q2, work.arrived.W)
        constraints(model, q2, work.arrived, h, work.Dh, h, none, np.int64(1))
        for k in range(nc):
            r[k] = h[k]
            worst = max(worst, abs(h[k])) if h[k] == h[k] else np.nan
    return size, worst


@kernel
def border(model, work):
    """The rows and columns of the constraints in ``work.J``: -Dh(q1)' beside the balance, Dh(q2) below."""
    nd, nc = model.dynamic.shape[0], model.constraint_i.shape[0]
    for k in range(nc):
        for i in range(nd):
            work.J[nc + i, k] = -work.Dh1[k, model.dynamic[i]]
            work.J[k, nc + i] = work.Dh[k, model.dynamic[i]]
        for j in range(nc):
            work.J[k, j] = 0.0


@kernel
def matrix(model, u, dt, work):
    """``work.J`` (nc + nd, nc + nd), the derivative of the residual over (l, q2_d), where :func:`residual` was last evaluated."""
    nd, nc = model.dynamic.shape[0], model.constraint_i.shape[0]
    dynamic, v, J, H, room = model.dynamic, work.v, work.J, work.H, work.room
    curvature(model, work.q, v, room, H[0], H[1], H[2])
    even, mass = 0.25 * dt, 1.0 / dt
    border(model, work)
    for i in range(nd):
        a = dynamic[i]
        for j in range(nd):
            b = dynamic[j]
            J[nc + i, nc + j] = even * H[2, a, b] + 0.5 * (H[1, b, a] - H[1, a, b]) - mass * H[0, a, b]
        J[nc + i, nc + i] -= model.coordinate_f[a, DAMPING]
    if model.sizes.curved:
        Fq, Fv = work.Fq, work.Fv
        Fq[:, :] = 0.0
        Fv[:, :] = 0.0
        dampers(model, v, room, work.F, Fq, Fv, np.int64(1))
        wrenches(model, u, room, work.F, Fq, work.Fu, np.int64(1))
        damp(model, v, room.W, 0.5, work.F, Fq, Fv, np.int64(1))
        for i in range(nd):
            for j in range(nd):
                J[nc + i, nc + j] += 0.5 * dt * Fq[dynamic[i], dynamic[j]] + Fv[dynamic[i], dynamic[j]]


@kernel
def jacobian_at(model, q, Dh):
    """``Dh`` (nc, nq) at ``q``."""
    if Dh.shape[0] > 0:
        room = make_room(model, q)
        pose(model, q, room.W)
        h = np.empty(Dh.shape[0])
        constraints(model, q, room, h, Dh, h, np.empty((0, 0)), np.int64(1))


@kernel
def move_back(model, q2, lam, change, part):
    """Adds ``part`` of the Newton step ``change`` (nc + nd,) to (lam, q2_d)."""
    nc = lam.shape[0]
    for i in range(model.dynamic.shape[0]):
        q2[model.dynamic[i]] += part * change[nc + i]
    for i in range(nc):
        lam[i] += part * change[i]


@kernel
def step(model, q1, p1, u1, newton, work, goes_on, q2, lam, p2):
    """Newton from the guess in ``q2`` (nq,; its kinematic part is k2) and ``lam`` (nc,), overwritten by the solution, as is ``p2``.

    Returns the number of Newton iterations and a code. A trial that raises the residual tenfold is halved at most four times.
    ``goes_on``: the last solution in ``work`` arrived at ``q1``, so that Dh there is known.
    """
    dt, tolerance, pull = newton.dt, newton.tolerance, Pull(q1, q1, 0.0)
    if goes_on:
        work.Dh1[:, :] = work.Dh
    else:
        jacobian_at(model, q1, work.Dh1)
    size, worst = residual(model, q1, p1, u1, q2, lam, dt, pull, work, p2)
    for k in range(newton.iterations):
        if size <= tolerance and worst <= tolerance:
            return k, CONVERGED
        if not (np.isfinite(size) and np.isfinite(worst)):
            return k, NOT_FINITE
        matrix(model, u1, dt, work)
        if not factor(work.J, work.pivot) > SINGULAR:
            return k, SINGULAR_MATRIX
        for i in range(work.r.shape[0]):
            work.change[i] = work.r[i]
        solve(work.J, work.pivot, work.change)
        before, part = size + worst, 1.0
        move_back(model, q2, lam, work.change, -1.0)
        size, worst = residual(model, q1, p1, u1, q2, lam, dt, pull, work, p2)
        while part > 0.1 and not size + worst <= 10.0 * before + tolerance:
            part *= 0.5
            move_back(model, q2, lam, work.change, part)
            size, worst = residual(model, q1, p1, u1, q2, lam, dt, pull, work, p2)
    if size <= tolerance and worst <= tolerance:
        return newton.iterations, CONVERGED
    return newton.iterations, TOO_MANY if np.isfinite(size + worst) else NOT_FINITE


@kernel
def single_step(model, q1, p1, u1, newton, q2, lam, p2):
    """:func:`step`, with work arrays of its own."""
    return step(model, q1, p1, u1, newton, make_work(model, u1.shape[0]), False, q2, lam, p2)


@kernel
def first(model, q1, u1, q2, lam, dt, d):
    """First derivatives at one solved step, into `StepFactors` ``d``; returns whether J is regular."""
    n, nd, nc, nk, nu = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0], model.kinematic.shape[0], u1.shape[0]
    dynamic, kinematic, Y, G, J, Gy = model.dynamic, model.kinematic, d.Y, d.G, d.J, d.Gy
    room = make_room(model, q1)
    q, v, Lv, Lq, F = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        q[i], v[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt
    H = np.empty((3, n, n))
    gradient(model, q, v, room, Lv, Lq)
    curvature(model, q, v, room, H[0], H[1], H[2])
    Fq, Fv, Fu = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, nu))
    forces(model, v, u1, room, F, Fq, Fv, Fu, np.int64(1))
    Dq, Dv = np.empty((0, 0)), np.empty((0, 0))
    if bends(model):
        Dq, Dv = np.zeros((n, n)), np.zeros((n, n))
        damp(model, v, room.W, 0.5, F, Dq, Dv, np.int64(1))
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
        pose(model, q1, room.W)
        constraints(model, q1, room, h, Dh, lam, D2, np.int64(2))
        for i in range(nd):
            for b in range(n):
                Y[nc + i, b] -= D2[dynamic[i], b]
            for c in range(nc):
                J[nc + i, c] = -Dh[c, dynamic[i]]
        pose(model, q2, room.W)
        constraints(model, q2, room, h, Dh, lam, D2, np.int64(1))
        for c in range(nc):
            for i in range(nd):
                J[c, nc + i] = Dh[c, dynamic[i]]
            for j in range(nc):
                J[c, j] = 0.0
            for j in range(nk):
                Y[c, n + nd + nu + j] = Dh[c, kinematic[j]]
    if not factor(J, d.pivot) > SINGULAR:
        return False
    for i in range(nd + nc):
        for j in range(Y.shape[1]):
            Y[i, j] = -Y[i, j]
    solve_many(J, d.pivot, Y)
    G[:] += np.dot(Gy, Y[nc:])
    return True


@kernel
def second(model, q1, u1, q2, lam, dt, d, zq, zp, zl, out):
    """Hessian (nw, nw) of zq.q2_d + zp.p2 + zl.l over w = (q1, p1, u1, k2), into ``out``; ``d``: the `StepFactors`.

    m = J^-T (zl, zq + Gy' zp); H = zp.g_ww - m.(r, h)_ww over e = (q1, u1, k2), which are parts of w, and y = (l, q2_d); then
    out = H_ee + Y' P + P' Y with P = H_yy Y / 2 + H_ye.
    """
    n, nd, nc, nk, nu = q1.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0], model.kinematic.shape[0], u1.shape[0]
    dynamic, kinematic, Y = model.dynamic, model.kinematic, d.Y
    m = np.empty(nd + nc)
    for i in range(nd):
        s = zq[i]
        for j in range(nd):
            s += d.Gy[j, i] * zp[j]
        m[nc + i] = s
    for c in range(nc):
        m[c] = zl[c]
    solve_transposed(d.J, d.pivot, m)
    q, v, a, b, mu = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        q[i], v[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt
    for i in range(nd):
        c = dynamic[i]
        mu[c] = m[nc + i]
        a[c], b[c] = 0.5 * dt * (zp[i] - m[nc + i]), zp[i] + m[nc + i]
    M = np.empty((3, n, n))
    third_derivatives(model, q, v, a, b, M[0], M[1], M[2])
    S = np.empty((0, 0))
    if model.sizes.curved:
        inner = mu.copy()  # half of the damping of segments stands in r, half in p2
        for i in range(nd):
            inner[dynamic[i]] = 0.5 * (mu[dynamic[i]] - zp[i])
        S = force_curvature(model, q, v, u1, mu, inner)
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
        x = stepped(q1, mu)
        room = make_room(model, x)
        pose(model, x, room.W)
        h, Dh = np.empty(nc, np.complex128), np.empty((nc, n), np.complex128)
        constraints(model, x, room, h, Dh, lam, np.empty((0, 0), np.complex128), np.int64(1))
        for c in range(nc):
            for i in range(n):
                P[c, i] += Dh[c, i].imag / TINY
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
        if model.sizes.curved:
            for j in range(nu):
                P[nc + i, n + nd + j] -= dt * (0.5 * S[r, 2 * n + j] + S[n + r, 2 * n + j] / dt)
    for i in range(nk):
        r = kinematic[i]
        for j in range(nk):
            out[n + nd + nu + i, n + nd + nu + j] += H22[r, kinematic[j]]
        for j in range(n):
            out[n + nd + nu + i, j] += H12[j, r]
            out[j, n + nd + nu + i] += H12[j, r]
    if model.sizes.curved:
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
