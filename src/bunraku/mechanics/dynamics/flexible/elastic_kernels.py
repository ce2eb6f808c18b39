"""Elastic energy and material damping of flexible segments: strains s that are quadratic in the modal coordinates u.

    s = L1 u + Q(u, u)/2  (k rows, scaled so that V = s.s/2)      J = ds/du = L1 + Q(u, .)      f = J'(s + beta J v)

V belongs to the Lagrangian, -beta J'J v to the forces. Rows are innermost in L1 (r, k), Q (pairs, k) and J (r, k); a pair (a, b),
a <= b, whose Q ends with zeros is read up to its last other row only. Sums over rows may be taken in any order (reassoc), so that
they become vector operations. Forces need no J: s and J v are sums over the pairs, and J's = L1 s + sum_b u_b Q_ab.s. The room of a
segment in the work array: s (k), J (r, k), J v (k), J'J v (r), J'J (r, r), V (1, of points).

A segment with Neo-Hookean points (`flexible/cubature`) has V and its derivatives from them, and of the strains the damping only.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.dynamics.flexible.cubature_kernels import points_force, points_stiffness
from bunraku.mechanics.dynamics.flexible.layout import (
    COORDINATE_0,
    COUNT,
    FIRST_PAIR,
    LINEAR_F,
    MASS_F,
    PAIRS,
    POINTS,
    POINTS_F,
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
def sums(data, e, k, pairs, begin, count, u, v, c, s, d):
    """Adds Q(u, u)/2 to ``s`` (k,) and Q(u, v) to ``d`` (k,), four pairs at a time."""
    p = 0
    while p + 4 <= count:
        i = begin + p
        end = max(max(pairs[i, 2], pairs[i + 1, 2]), max(pairs[i + 2, 2], pairs[i + 3, 2]))
        x0, y0 = products(pairs, i, u, v, c)
        x1, y1 = products(pairs, i + 1, u, v, c)
        x2, y2 = products(pairs, i + 2, u, v, c)
        x3, y3 = products(pairs, i + 3, u, v, c)
        o = e + p * k
        q0, q1, q2, q3 = (
            data[o : o + end],
            data[o + k : o + k + end],
            data[o + 2 * k : o + 2 * k + end],
            data[o + 3 * k : o + 3 * k + end],
        )
        for m in range(end):
            a0, a1, a2, a3 = q0[m], q1[m], q2[m], q3[m]
            s[m] += x0 * a0 + x1 * a1 + (x2 * a2 + x3 * a3)
            d[m] += y0 * a0 + y1 * a1 + (y2 * a2 + y3 * a3)
        p += 4
    while p < count:
        x0, y0 = products(pairs, begin + p, u, v, c)
        o = e + p * k
        q0 = data[o : o + pairs[begin + p, 2]]
        for m in range(q0.shape[0]):
            s[m] += x0 * q0[m]
            d[m] += y0 * q0[m]
        p += 1


@kernel
def products(pairs, i, u, v, c):
    """What pair ``i`` is multiplied with in Q(u, u)/2 and in Q(u, v)."""
    a, b = c + pairs[i, 0], c + pairs[i, 1]
    if a == b:
        return 0.5 * u[a] * u[a], u[a] * v[a]
    return u[a] * u[b], u[a] * v[b] + u[b] * v[a]


@kernel
def strain_forces(data, pairs, row, q, v, flat, out):
    """Subtracts J's of one segment from ``out`` (nq,); leaves s, J v and J'J v in the work array."""
    r, k, c, o, lin = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN], row[LINEAR_F]
    rate = o + k + r * k
    s, d, f = flat[o : o + k], flat[rate : rate + k], flat[rate + k : rate + k + r]
    for m in range(k):
        s[m] = 0.0
        d[m] = 0.0
    for a in range(r):
        x, y, part = q[c + a], v[c + a], data[lin + a * k : lin + (a + 1) * k]
        for m in range(k):
            s[m] += x * part[m]
            d[m] += y * part[m]
    sums(data, row[QUADRATIC_F], k, pairs, row[FIRST_PAIR], row[PAIRS], q, v, c, s, d)
    for a in range(r):
        x, y = dots(data, lin + a * k, s, d, k)
        out[c + a] -= x
        f[a] = y
    for p in range(row[PAIRS]):
        i = row[FIRST_PAIR] + p
        a, b = pairs[i, 0], pairs[i, 1]
        x, y = dots(data, row[QUADRATIC_F] + p * k, s, d, pairs[i, 2])
        out[c + a] -= q[c + b] * x
        f[a] += q[c + b] * y
        if a != b:
            out[c + b] -= q[c + a] * x
            f[b] += q[c + a] * y


@kernel
def elastic_forces(model, q, v, W, Lq):
    """Subtracts J's, or the force of the points, from ``Lq`` (nq,).

    Leaves s, J v and J'J v (or V) of every segment in the work array, and does not need J.
    """
    segment_i, elastic_i, flexible_f = model.segments.segment_i, model.segments.elastic_i, model.segments.flexible_f
    flat = W.reshape(W.size)
    data = flexible_f
    for g in range(segment_i.shape[0]):
        row = segment_i[g]
        if row[POINTS] > 0:
            flat[energy_place(row)] = points_force(data, row[POINTS_F], row[POINTS], row[COUNT], q, row[COORDINATE_0], Lq)
            if row[ROWS] > 0 and data[row[MASS_F] + 1] > 0.0:
                strain_forces(data, elastic_i, row, q, v, flat, np.zeros(q.shape[0], W.dtype))
        elif row[ROWS] > 0:
            strain_forces(data, elastic_i, row, q, v, flat, Lq)


@kernel
def energy_place(row):
    """Where the energy of a segment with points stands in the flat work array."""
    r, k = row[COUNT], row[ROWS]
    return row[STRAIN] + k * (r + 2) + r + r * r


@kernel
def dots(x, i, s, d, count):
    """Sums of x[i + m] s[m] and x[i + m] d[m] over ``count`` rows."""
    left = x[i : i + count]
    one, two = 0.0 * s[0], 0.0 * d[0]
    for m in range(count):
        one += left[m] * s[m]
        two += left[m] * d[m]
    return one, two


@kernel
def slope_rows(data, e, k, pairs, begin, count, u, c, J):
    """Adds Q(u, .) to ``J`` (r k,)."""
    for p in range(count):
        a, b, end, o = pairs[begin + p, 0], pairs[begin + p, 1], pairs[begin + p, 2], e + p * k
        part, one, two = data[o : o + end], J[a * k : a * k + end], J[b * k : b * k + end]
        x, y = u[c + b], u[c + a]
        if a == b:
            for m in range(end):
                one[m] += x * part[m]
        else:
            for m in range(end):
                one[m] += x * part[m]
                two[m] += y * part[m]


@kernel
def strains(model, q, W):
    """The strains s (k,), J (r, k) and J'J (r, r) of every segment at ``q``, into the work array."""
    segment_i, elastic_i, flexible_f = model.segments.segment_i, model.segments.elastic_i, model.segments.flexible_f
    flat = W.reshape(W.size)
    data = flexible_f
    for g in range(segment_i.shape[0]):
        row = segment_i[g]
        r, k, c, o, lin = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN], row[LINEAR_F]
        if k == 0 or (row[POINTS] > 0 and data[row[MASS_F] + 1] == 0.0):
            continue
        to, square = o + k, o + k + r * k + k + r
        J = flat[to : to + r * k]
        J[:] = data[lin : lin + r * k]
        slope_rows(data, row[QUADRATIC_F], k, elastic_i, row[FIRST_PAIR], row[PAIRS], q, c, J)
        flat[o:to] = 0.0
        for a in range(r):
            add(flat, o, flat, to + a * k, 0.5 * q[c + a], k)
            add(flat, o, data, lin + a * k, 0.5 * q[c + a], k)
        table = J.reshape(r, k)
        np.dot(table, table.T, flat[square : square + r * r].reshape(r, r))


@kernel
def add(x, i, y, j, factor, count):
    """Adds factor y[j + m] to x[i + m] over ``count`` rows."""
    to, part = x[i : i + count], y[j : j + count]
    for m in range(count):
        to[m] += factor * part[m]


@kernel
def elastic_energy(model, W):
    """Elastic energy [J] of all segments, from what :func:`elastic_forces` left in the work array."""
    segment_i = model.segments.segment_i
    flat = W.reshape(W.size)
    total = 0.0 * flat[0]
    for g in range(segment_i.shape[0]):
        o, k = segment_i[g, STRAIN], segment_i[g, ROWS]
        if segment_i[g, POINTS] > 0:
            total += flat[energy_place(segment_i[g])]
            continue
        for m in range(k):
            total += 0.5 * flat[o + m] * flat[o + m]
    return total


@kernel
def elastic_hessian(model, q, W, Lqq):
    """Subtracts J'J + s.Q_ab, or the stiffness of the points, from ``Lqq`` (nq, nq), at ``q`` where :func:`strains` was last."""
    segment_i, elastic_i, flexible_f = model.segments.segment_i, model.segments.elastic_i, model.segments.flexible_f
    flat = W.reshape(W.size)
    for g in range(segment_i.shape[0]):
        row = segment_i[g]
        r, k, c, o = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN]
        if row[POINTS] > 0:
            points_stiffness(flexible_f, row[POINTS_F], row[POINTS], r, q, c, Lqq)
            continue
        if k == 0:
            continue
        square = o + k + r * k + k + r
        for a in range(r):
            for b in range(r):
                Lqq[c + a, c + b] -= flat[square + a * r + b]
        for p in range(row[PAIRS]):
            pair = elastic_i[row[FIRST_PAIR] + p]
            a, b = pair[0], pair[1]
            x = dot(flat, o, flexible_f, row[QUADRATIC_F] + p * k, pair[2])
            Lqq[c + a, c + b] -= x
            if a != b:
                Lqq[c + b, c + a] -= x


@kernel
def change_of_strain(model, g, v, P):
    """``P`` (r k,) rows P_b = sum_c Q_bc v_c: the derivative of J v with respect to u_b."""
    segment_i, elastic_i, flexible_f = model.segments.segment_i, model.segments.elastic_i, model.segments.flexible_f
    row = segment_i[g]
    P[:] = 0.0
    slope_rows(flexible_f, row[QUADRATIC_F], row[ROWS], elastic_i, row[FIRST_PAIR], row[PAIRS], v, row[COORDINATE_0], P)


@kernel
def elastic_damping(model, v, W, scale, F, Fq, Fv, want):
    """Adds scale times -beta J'J v to ``F`` (nq,); if want >= 1 its derivatives -beta (Q_ab.(J v) + J_a.P_b) and -beta J_a.J_b.

    Without derivatives it takes what :func:`elastic_forces` left for the same v, with them what :func:`strains` left.
    """
    segment_i, elastic_i, flexible_f = model.segments.segment_i, model.segments.elastic_i, model.segments.flexible_f
    flat = W.reshape(W.size)
    for g in range(segment_i.shape[0]):
        row = segment_i[g]
        r, k, c, o = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN] + row[ROWS]
        beta = scale * flexible_f[row[MASS_F] + 1]
        if beta == 0.0 or k == 0:
            continue
        force, square = o + r * k + k, o + r * k + k + r
        if want == 0:
            for a in range(r):
                F[c + a] -= beta * flat[force + a]
            continue
        rate = np.zeros(k, W.dtype)
        for a in range(r):
            add(rate, 0, flat, o + a * k, v[c + a], k)
            for b in range(r):
                x = beta * flat[square + a * r + b]
                F[c + a] -= x * v[c + b]
                Fv[c + a, c + b] -= x
        P = np.empty(r * k, W.dtype)
        change_of_strain(model, g, v, P)
        product = np.dot(flat[o : o + r * k].reshape(r, k), P.reshape(r, k).T)
        for a in range(r):
            for b in range(r):
                Fq[c + a, c + b] -= beta * product[a, b]
        for p in range(row[PAIRS]):
            pair = elastic_i[row[FIRST_PAIR] + p]
            a, b = pair[0], pair[1]
            x = beta * dot(rate, 0, flexible_f, row[QUADRATIC_F] + p * k, pair[2])
            Fq[c + a, c + b] -= x
            if a != b:
                Fq[c + b, c + a] -= x


@kernel
def damping_curvature(model, q, v, mu, W, out):
    """Adds the Hessian of mu.F over (q, v) of the damping, mu.F = -beta (J mu).(J v), to ``out`` (2 nq + nu, 2 nq + nu).

    Over u_a u_b: -beta (M_a.P_b + P_a.M_b), over u_a v_b: -beta (M_a.J_b + (J mu).Q_ab), with P_a = Q(v)_a, M_a = Q(mu)_a.
    """
    segment_i, elastic_i, flexible_f = model.segments.segment_i, model.segments.elastic_i, model.segments.flexible_f
    n = q.shape[0]
    flat = W.reshape(W.size)
    strains(model, q, W)
    for g in range(segment_i.shape[0]):
        row = segment_i[g]
        r, k, c, o = row[COUNT], row[ROWS], row[COORDINATE_0], row[STRAIN] + row[ROWS]
        beta = flexible_f[row[MASS_F] + 1]
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
            pair = elastic_i[row[FIRST_PAIR] + p]
            a, b = pair[0], pair[1]
            x = beta * dot(weight, 0, flexible_f, row[QUADRATIC_F] + p * k, pair[2])
            out[c + a, n + c + b] -= x
            out[n + c + b, c + a] -= x
            if a != b:
                out[c + b, n + c + a] -= x
                out[n + c + a, c + b] -= x
