"""Whole simulations in one compiled loop: kinematic coordinates given at every node, chord Newton for the rest.

The step is that of `integrators/step_kernels.py`. Its matrix J is kept within a step as long as the residual falls tenfold,
and for the next steps as long as two iterations with it should do; a step that fails is made of 2, 4, ... 16 shorter ones.
An observer may pull the dynamic coordinates towards a reference by the fictitious force
c = -M a, a = 2 w (v - v_ref) + w^2 (q - q_ref), M = Lvv.
As Lv is linear in v, M a = Lv(q, a) and its derivative over q is Lvq(q, a).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import forces
from bunraku.mechanics.dynamics.elimination_kernels import factor, solve
from bunraku.mechanics.dynamics.equation_kernels import SINGULAR, curvature, gradient
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import damp
from bunraku.mechanics.integrators.step_kernels import (
    CONVERGED,
    NOT_FINITE,
    SINGULAR_MATRIX,
    TOO_MANY,
    border,
    jacobian_at,
    momentum,
    move_back,
    residual,
)
from bunraku.mechanics.integrators.work_kernels import AGE, FACTORS, FALLS, Newton, Pull

ORDER = 3  # of the extrapolation that starts Newton
FALL = 0.1  # a matrix is kept while an iteration brings the residual below this part of what it was
MOST_PARTS = 16


@kernel
def matrix(model, dt, w, work):
    """``work.J`` (nc + nd, nc + nd), the derivative of the residual over (lam, q2_d), where :func:`residual` was last evaluated."""
    n, nd, nc = work.q.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0]
    dynamic, J, H, Fq, Fv, room = model.dynamic, work.J, work.H, work.Fq, work.Fv, work.room
    q, v, F, mixed = work.q, work.v, work.spare, work.mixed
    if w > 0.0:
        gradient(model, q, work.a, room, work.pull, F)
        curvature(model, q, work.a, room, H[0], mixed, H[2])
        gradient(model, q, v, room, work.pull, F)
    curvature(model, q, v, room, H[0], H[1], H[2])
    for i in range(n):
        for j in range(n):
            Fq[i, j] = 0.0
            Fv[i, j] = 0.0
    forces(model, v, work.u, room, F, Fq, Fv, work.Fu, np.int64(1))
    damp(model, v, room.W, 0.5, F, Fq, Fv, np.int64(1))
    even, mass, half = 0.25 * dt, 1.0 / dt + 2.0 * w + 0.5 * dt * w * w, 0.5 * dt
    border(model, work)
    for i in range(nd):
        a = dynamic[i]
        for j in range(nd):
            b = dynamic[j]
            J[nc + i, nc + j] = even * H[2, a, b] + 0.5 * (H[1, b, a] - H[1, a, b]) - mass * H[0, a, b] + half * Fq[a, b] + Fv[a, b]
            if w > 0.0:
                J[nc + i, nc + j] -= half * mixed[a, b]


@kernel
def driven_step(model, q1, p1, pull, newton, work, q2, lam, p2):
    """Chord Newton from the guess in ``q2``, ``lam``, overwritten by the solution, as is ``p2``. Returns iterations and a code.

    Takes Dh(q1) from ``work.Dh1`` and leaves Dh(q2) in ``work.Dh``.
    """
    dt, tolerance, change, mark = newton.dt, newton.tolerance, work.change, work.mark
    u = work.u
    size, worst = residual(model, q1, p1, u, q2, lam, dt, pull, work, p2)
    if mark[AGE] >= 0.0:
        mark[AGE] += 1.0
        if not size * (mark[FALLS] * mark[AGE]) ** 2 <= tolerance:
            mark[AGE] = -1.0
            mark[FALLS] *= 0.9
    for k in range(newton.iterations):
        if size <= tolerance and worst <= tolerance:
            return k, CONVERGED
        if not (np.isfinite(size) and np.isfinite(worst)):
            return k, NOT_FINITE
        if mark[AGE] < 0.0:
            matrix(model, dt, pull.rate, work)
            mark[FACTORS] += 1.0
            if not factor(work.J, work.pivot) > SINGULAR:
                return k, SINGULAR_MATRIX
            mark[AGE] = 0.0
        for i in range(change.shape[0]):
            change[i] = work.r[i]
        solve(work.J, work.pivot, change)
        before, drop = size, worst
        move_back(model, q2, lam, change, -1.0)
        size, worst = residual(model, q1, p1, u, q2, lam, dt, pull, work, p2)
        if mark[AGE] > 0.0 and size > 0.0:
            mark[FALLS] = size / (before * mark[AGE])
        if size <= max(FALL * before, tolerance) and worst <= max(FALL * drop, tolerance):
            continue
        aged = mark[AGE] > 0.0
        mark[AGE] = -1.0
        if aged and not (size <= before + tolerance and worst <= drop + tolerance):
            move_back(model, q2, lam, change, 1.0)
            size, worst = residual(model, q1, p1, u, q2, lam, dt, pull, work, p2)
            continue
        part = 1.0
        while part > 0.1 and not size + worst <= 10.0 * (before + drop) + tolerance:
            part *= 0.5
            move_back(model, q2, lam, change, part)
            size, worst = residual(model, q1, p1, u, q2, lam, dt, pull, work, p2)
    mark[AGE] = -1.0
    if size <= tolerance and worst <= tolerance:
        return newton.iterations, CONVERGED
    return newton.iterations, TOO_MANY if np.isfinite(size + worst) else NOT_FINITE


@kernel
def between(K, k, s, out):
    """Cubic interpolation ``out`` (nk,) of the node values around step ``k`` at the part ``s`` of it."""
    last = K.shape[0] - 1
    b = min(max(k - 1, 0), max(last - 3, 0))
    count = min(4, last + 1)
    x = k + s - b
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(count):
        f = 1.0
        for m in range(count):
            if m != i:
                f *= (x - m) / (i - m)
        for j in range(out.shape[0]):
            out[j] += f * K[b + i, j]


@kernel
def shorter_steps(model, q1, p1, K, k, parts, observed, newton, work, q2, lam, p2):
    """Step ``k`` in ``parts`` shorter ones; lam becomes the sum of their impulses. Returns iterations and a code."""
    n, nk, nc = q1.shape[0], model.kinematic.shape[0], lam.shape[0]
    here, momenta, motor = q1.copy(), p1.copy(), np.empty(nk)
    total, part = np.zeros(nc), np.zeros(nc)
    ref, reference = np.zeros((2, n)), observed.reference
    used, shorter = 0, Newton(newton.dt / parts, newton.tolerance, newton.iterations)
    jacobian_at(model, q1, work.Dh1)
    work.mark[AGE] = -1.0
    for i in range(parts):
        between(K, k, (i + 1.0) / parts, motor)
        for j in range(n):
            q2[j] = here[j]
        for j in range(nk):
            q2[model.kinematic[j]] = motor[j] if i < parts - 1 else K[k + 1, j]
        if observed.rate > 0.0:
            for j in range(n):
                ref[0, j] = reference[k, j] + (reference[k + 1, j] - reference[k, j]) * i / parts
                ref[1, j] = reference[k, j] + (reference[k + 1, j] - reference[k, j]) * (i + 1) / parts
        count, code = driven_step(model, here, momenta, Pull(ref[0], ref[1], observed.rate), shorter, work, q2, part, p2)
        used += count
        if code != CONVERGED:
            return used, code
        here[:] = q2
        momenta[:] = p2
        work.Dh1[:, :] = work.Dh
        total += part
    work.mark[AGE] = -1.0
    lam[:] = total
    return used, CONVERGED


@kernel
def guess(model, Q, L, K, k, order, q2, lam):
    """Extrapolates (q2, lam) for step ``k`` from up to ``order`` + 1 nodes before it."""
    nc = lam.shape[0]
    m = min(order, k)
    for j in range(q2.shape[0]):
        if m >= 3:
            q2[j] = 4.0 * Q[k, j] - 6.0 * Q[k - 1, j] + 4.0 * Q[k - 2, j] - Q[k - 3, j]
        elif m == 2:
            q2[j] = 3.0 * Q[k, j] - 3.0 * Q[k - 1, j] + Q[k - 2, j]
        else:
            q2[j] = Q[k, j] if m == 0 else 2.0 * Q[k, j] - Q[k - 1, j]
    for j in range(K.shape[1]):
        q2[model.kinematic[j]] = K[k + 1, j]
    for c in range(nc):
        if m >= 2:
            lam[c] = 2.0 * L[k - 1, c] - L[k - 2, c]
        else:
            lam[c] = L[k - 1, c] if k > 0 else 0.0


class Observed(NamedTuple):
    """An observer: ``reference`` (N + 1, nq), or no rows, and ``rate`` [rad/s]; none where that is 0."""

    reference: Array
    rate: float


@kernel
def simulate(model, q0, K, observed, newton, order, work):
    """Simulates from rest at ``q0`` (nq,) along ``K`` (N + 1, nk).

    Returns q, p, lam, Newton iterations (N,) and shorter steps (N,) of each step, factorizations, steps done, the last code.
    """
    n, nd, nc, N = q0.shape[0], model.dynamic.shape[0], model.constraint_i.shape[0], K.shape[0] - 1
    Q, P, L = np.empty((N + 1, n)), np.empty((N + 1, nd)), np.empty((N, nc))
    count, pieces, mark = np.zeros(N, np.int64), np.ones(N, np.int64), work.mark
    mark[AGE], mark[FACTORS], mark[FALLS] = -1.0, 0.0, 0.02
    Q[0] = q0
    P[0] = momentum(model, q0, q0, newton.dt)
    jacobian_at(model, q0, work.Dh1)
    q2, lam, none = np.empty(n), np.zeros(nc), np.zeros(n)
    for k in range(N):
        ref1, ref2 = (observed.reference[k], observed.reference[k + 1]) if observed.rate > 0.0 else (none, none)
        pull = Pull(ref1, ref2, observed.rate)
        guess(model, Q, L, K, k, order, q2, lam)
        used, code = driven_step(model, Q[k], P[k], pull, newton, work, q2, lam, P[k + 1])
        count[k] = used
        if code != CONVERGED and k > 0:
            mark[AGE] = -1.0
            guess(model, Q, L, K, k, 0, q2, lam)
            used, code = driven_step(model, Q[k], P[k], pull, newton, work, q2, lam, P[k + 1])
            count[k] += used
        parts = np.int64(2)
        while code != CONVERGED and parts <= MOST_PARTS:
            used, code = shorter_steps(model, Q[k], P[k], K, k, parts, observed, newton, work, q2, lam, P[k + 1])
            count[k] += used
            pieces[k] = parts
            parts *= 2
        work.Dh1[:, :] = work.Dh
        Q[k + 1] = q2
        L[k] = lam
        if code != CONVERGED:
            return Q, P, L, count, pieces, mark[FACTORS], k, code
    return Q, P, L, count, pieces, mark[FACTORS], N, CONVERGED


@kernel
def motor_forces(model, Q, L, dt, work):
    """The force (N, nk) each prescribed coordinate needs at node m over the step from it; see `torque.py`."""
    n, nc, N, kinematic = Q.shape[1], model.constraint_i.shape[0], Q.shape[0] - 1, model.kinematic
    out, arrived = np.zeros((N, kinematic.shape[0])), np.zeros(n)
    q, v, Lv, Lq, F, none = work.q, work.v, work.Lv, work.Lq, work.F, work.none
    for m in range(-1, N):
        first = max(m, 0)
        for i in range(n):
            q[i], v[i], F[i] = 0.5 * (Q[first, i] + Q[m + 1, i]), (Q[m + 1, i] - Q[first, i]) / dt, 0.0
        gradient(model, q, v, work.room, Lv, Lq)
        forces(model, v, work.u, work.room, F, none, none, none, np.int64(0))
        damp(model, v, work.room.W, 1.0, Lq, none, none, np.int64(0))
        if m >= 0:
            jacobian_at(model, Q[m], work.Dh1)
            for j in range(kinematic.shape[0]):
                i = kinematic[j]
                s = arrived[i] + 0.5 * dt * Lq[i] - Lv[i] + dt * F[i]
                for c in range(nc):
                    s -= work.Dh1[c, i] * L[m, c]
                out[m, j] = -s / dt
        for i in range(n):
            arrived[i] = 0.5 * dt * Lq[i] + Lv[i]
    return out
