"""Elastic energy and material damping of flexible segments: strains s that are quadratic in the modal coordinates u.

    s = L1 u + Q(u, u)/2  (k rows, scaled so that V = s.s/2)      J = ds/du = L1 + Q(u, .)      f = J'(s + beta J v)

V belongs to the Lagrangian, -beta J'J v to the forces. Rows are innermost in L1 (r, k), Q (pairs, k) and J (r, k); a pair (a, b),
a <= b, whose Q ends with zeros is read up to its last other row only. Sums over rows may be taken in any order (reassoc), so that
they become vector operations.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.dynamics.flexible.layout import (
    COORDINATE_0,
    COUNT,
    FIRST_PAIR,
    LINEAR_F,
    MASS_F,
    PAIRS,
    QUADRATIC_F,
    ROWS,
    STRAIN,
)

kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})


@kernel
def dot(x, i, y, j, count):
    """Sum of x[i + m] y[j + m] over ``count`` rows."""
    left, right = x[i : i + count], y[j : j + count]
    total = 0.0 * left[0] * right[0]
    for m in range(count):
        total += left[m] * right[m]
    return total


@kernel
def strains(model, q, W):
    """The strains s (k,) and J (r, k) of every segment at ``q``, into the work array."""
    flat = W.reshape(W.size)
    data = model.flexible_f
    for g in range(model.segment_i.shape[0]):
        row = model.segment_i[g]
        r, k, c, o, lin = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN], row[LINEAR_F]
        to = o + k
        flat[to : to + r * k] = data[lin : lin + r * k]
        for p in range(row[PAIRS]):
            pair = model.elastic_i[row[FIRST_PAIR] + p]
            a, b, e = pair[0], pair[1], row[QUADRATIC_F] + p * k
            add(flat, to + a * k, data, e, q[c + b], pair[2])
            if a != b:
                add(flat, to + b * k, data, e, q[c + a], pair[2])
        flat[o:to] = 0.0
        for a in range(r):
            add(flat, o, flat, to + a * k, 0.5 * q[c + a], k)
            add(flat, o, data, lin + a * k, 0.5 * q[c + a], k)


@kernel
def add(x, i, y, j, factor, count):
    """Adds factor y[j + m] to x[i + m] over ``count`` rows."""
    to, part = x[i : i + count], y[j : j + count]
    for m in range(count):
        to[m] += factor * part[m]


@kernel
def elastic_energy(model, W):
    """Elastic energy [J] of all segments, from the strains in the work array."""
    flat = W.reshape(W.size)
    total = 0.0 * flat[0]
    for g in range(model.segment_i.shape[0]):
        o, k = model.segment_i[g, STRAIN], model.segment_i[g, ROWS]
        for m in range(k):
            total += 0.5 * flat[o + m] * flat[o + m]
    return total


@kernel
def elastic_gradient(model, W, Lq):
    """Subtracts J's from ``Lq`` (nq,)."""
    flat = W.reshape(W.size)
    for g in range(model.segment_i.shape[0]):
        row = model.segment_i[g]
        k, c, o = row[ROWS], row[COORDINATE_0], row[STRAIN]
        if k > 0:
            for a in range(row[COUNT]):
                Lq[c + a] -= dot(flat, o + k + a * k, flat, o, k)


@kernel
def elastic_hessian(model, W, Lqq):
    """Subtracts J'J + s.Q_ab from ``Lqq`` (nq, nq)."""
    flat = W.reshape(W.size)
    for g in range(model.segment_i.shape[0]):
        row = model.segment_i[g]
        r, k, c, o = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN]
        if k == 0:
            continue
        for a in range(r):
            for b in range(a + 1):
                x = dot(flat, o + k + a * k, flat, o + k + b * k, k)
                Lqq[c + a, c + b] -= x
                if a != b:
                    Lqq[c + b, c + a] -= x
        for p in range(row[PAIRS]):
            pair = model.elastic_i[row[FIRST_PAIR] + p]
            a, b = pair[0], pair[1]
            x = dot(flat, o, model.flexible_f, row[QUADRATIC_F] + p * k, pair[2])
            Lqq[c + a, c + b] -= x
            if a != b:
                Lqq[c + b, c + a] -= x


@kernel
def change_of_strain(model, g, v, P):
    """``P`` (r k,) rows P_b = sum_c Q_bc v_c: the derivative of J v with respect to u_b."""
    row = model.segment_i[g]
    k, c = row[ROWS], row[COORDINATE_0]
    for i in range(P.shape[0]):
        P[i] = 0.0
    for p in range(row[PAIRS]):
        pair = model.elastic_i[row[FIRST_PAIR] + p]
        a, b, e = pair[0], pair[1], row[QUADRATIC_F] + p * k
        add(P, a * k, model.flexible_f, e, v[c + b], pair[2])
        if a != b:
            add(P, b * k, model.flexible_f, e, v[c + a], pair[2])


@kernel
def elastic_damping(model, v, W, scale, F, Fq, Fv, want):
    """Adds scale times -beta J'J v to ``F`` (nq,); if want >= 1 its derivatives -beta (Q_ab.(J v) + J_a.P_b) and -beta J_a.J_b."""
    flat = W.reshape(W.size)
    for g in range(model.segment_i.shape[0]):
        row = model.segment_i[g]
        r, k, c, o = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN] + row[ROWS]
        beta = scale * model.flexible_f[row[MASS_F] + 1]
        if beta == 0.0 or k == 0:
            continue
        rate = np.zeros(k, W.dtype)
        for a in range(r):
            add(rate, 0, flat, o + a * k, v[c + a], k)
        for a in range(r):
            F[c + a] -= beta * dot(flat, o + a * k, rate, 0, k)
        if want == 0:
            continue
        P = np.empty(r * k, W.dtype)
        change_of_strain(model, g, v, P)
        for a in range(r):
            for b in range(r):
                Fq[c + a, c + b] -= beta * dot(flat, o + a * k, P, b * k, k)
                if b <= a:
                    x = beta * dot(flat, o + a * k, flat, o + b * k, k)
                    Fv[c + a, c + b] -= x
                    if a != b:
                        Fv[c + b, c + a] -= x
        for p in range(row[PAIRS]):
            pair = model.elastic_i[row[FIRST_PAIR] + p]
            a, b = pair[0], pair[1]
            x = beta * dot(rate, 0, model.flexible_f, row[QUADRATIC_F] + p * k, pair[2])
            Fq[c + a, c + b] -= x
            if a != b:
                Fq[c + b, c + a] -= x


@kernel
def damping_curvature(model, q, v, mu, W, out):
    """Adds the Hessian of mu.F over (q, v) of the damping, mu.F = -beta (J mu).(J v), to ``out`` (2 nq + nu, 2 nq + nu).

    Over u_a u_b: -beta (M_a.P_b + P_a.M_b), over u_a v_b: -beta (M_a.J_b + (J mu).Q_ab), with P_a = Q(v)_a, M_a = Q(mu)_a.
    """
    n = q.shape[0]
    flat = W.reshape(W.size)
    strains(model, q, W)
    for g in range(model.segment_i.shape[0]):
        row = model.segment_i[g]
        r, k, c, o = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN] + row[ROWS]
        beta = model.flexible_f[row[MASS_F] + 1]
        if beta == 0.0 or k == 0:
            continue
        P, M, weight = np.empty(r * k), np.empty(r * k), np.zeros(k)
        change_of_strain(model, g, v, P)
        change_of_strain(model, g, mu, M)
        for a in range(r):
            add(weight, 0, flat, o + a * k, mu[c + a], k)
        for a in range(r):
            for b in range(r):
                out[c + a, c + b] -= beta * (dot(M, a * k, P, b * k, k) + dot(P, a * k, M, b * k, k))
                x = beta * dot(M, a * k, flat, o + b * k, k)
                out[c + a, n + c + b] -= x
                out[n + c + b, c + a] -= x
        for p in range(row[PAIRS]):
            pair = model.elastic_i[row[FIRST_PAIR] + p]
            a, b = pair[0], pair[1]
            x = beta * dot(weight, 0, model.flexible_f, row[QUADRATIC_F] + p * k, pair[2])
            out[c + a, n + c + b] -= x
            out[n + c + b, c + a] -= x
            if a != b:
                out[c + b, n + c + a] -= x
                out[n + c + a, c + b] -= x
