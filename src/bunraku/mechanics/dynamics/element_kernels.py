"""Forces, springs and constraints between features of a tree: values, first and second derivatives, generic in the number type.

A feature is a point or a direction fixed to a slot. With x its world value and slot i on its chain, dx/dq_i = d_i = w_i x x (+
v_i for a point), and d2x/dq_j dq_i = w_j x d_i for j = i or an ancestor of i. Everything here is made of these two facts (and,
for two modes of a flexible segment, of what `flexible/chains` adds). ``W``
holds the poses and screws at q (see `lagrangian/layout.py`); slots of a chain are listed from the feature to the root.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_layout import BILINEAR, BODY, DISTANCE, SPATIAL
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import bend_pairs, wrench_pairs
from bunraku.mechanics.dynamics.lagrangian_kernels import cross
from bunraku.mechanics.dynamics.lagrangian_layout import (
    ANGULAR,
    ARMATURE,
    COORDINATE,
    DAMPING,
    LINEAR,
    PARENT,
    POSITION,
    REST,
    ROTATION,
    STIFFNESS,
)


@kernel
def locate(model, f, W):
    """World value (3 numbers) of the feature ``f``."""
    node = model.feature_i[f, 0]
    l0, l1, l2 = model.feature_f[f, 0], model.feature_f[f, 1], model.feature_f[f, 2]
    if node < 0:
        zero = 0.0 * W[0, 0]
        return l0 + zero, l1 + zero, l2 + zero
    x0 = W[node, ROTATION] * l0 + W[node, ROTATION + 1] * l1 + W[node, ROTATION + 2] * l2
    x1 = W[node, ROTATION + 3] * l0 + W[node, ROTATION + 4] * l1 + W[node, ROTATION + 5] * l2
    x2 = W[node, ROTATION + 6] * l0 + W[node, ROTATION + 7] * l1 + W[node, ROTATION + 8] * l2
    if model.feature_i[f, 1] == 1:
        return x0 + W[node, POSITION], x1 + W[node, POSITION + 1], x2 + W[node, POSITION + 2]
    return x0, x1, x2


@kernel
def gather(model, f, sign, x0, x1, x2, W, slots, where, start):
    """List the chain of feature ``f`` with value x: rows (sign d; w) of ``slots`` and coordinates ``where`` from ``start`` on."""
    point = model.feature_i[f, 1] == 1
    node_i = model.node_i
    node = model.feature_i[f, 0]
    k = start
    while node >= 0:
        w0, w1, w2 = W[node, ANGULAR], W[node, ANGULAR + 1], W[node, ANGULAR + 2]
        d0, d1, d2 = cross(w0, w1, w2, x0, x1, x2)
        if point:
            d0, d1, d2 = d0 + W[node, LINEAR], d1 + W[node, LINEAR + 1], d2 + W[node, LINEAR + 2]
        slots[k, 0], slots[k, 1], slots[k, 2] = sign * d0, sign * d1, sign * d2
        slots[k, 3], slots[k, 4], slots[k, 5] = w0, w1, w2
        where[k] = node_i[node, COORDINATE]
        k += 1
        node = node_i[node, PARENT]
    return k


@kernel
def bend(slots, where, begin, end, z0, z1, z2, scale, H):
    """Adds scale z.d2x of one chain to ``H`` (nq, nq)."""
    for s in range(begin, end):
        e0, e1, e2 = cross(slots[s, 0], slots[s, 1], slots[s, 2], z0, z1, z2)
        e0, e1, e2 = scale * e0, scale * e1, scale * e2
        a = where[s]
        H[a, a] += slots[s, 3] * e0 + slots[s, 4] * e1 + slots[s, 5] * e2
        for t in range(s + 1, end):
            b = where[t]
            value = slots[t, 3] * e0 + slots[t, 4] * e1 + slots[t, 5] * e2
            H[a, b] += value
            H[b, a] += value


@kernel
def squares(slots, where, count, scale, H):
    """Adds scale dy_s.dy_t of all slots to ``H`` (nq, nq)."""
    for s in range(count):
        a = where[s]
        y0, y1, y2 = scale * slots[s, 0], scale * slots[s, 1], scale * slots[s, 2]
        H[a, a] += y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2]
        for t in range(s):
            b = where[t]
            value = y0 * slots[t, 0] + y1 * slots[t, 1] + y2 * slots[t, 2]
            H[a, b] += value
            H[b, a] += value


@kernel
def constraint(model, c, q, W, slots, where, gradient, scale, H, want):
    """Value h of constraint row ``c`` and how many slots it lists; adds Dh to ``gradient`` if want >= 1, scale D2h to ``H`` if 2.

    h = y.z - constant [- q_l^2], with y = x_a - x_b and z = y (distance), a constant direction, or a direction fixed to a body.
    """
    kind, fa, fb, fz, length = (
        model.constraint_i[c, 0],
        model.constraint_i[c, 1],
        model.constraint_i[c, 2],
        model.constraint_i[c, 3],
        model.constraint_i[c, 4],
    )
    a0, a1, a2 = locate(model, fa, W)
    y0, y1, y2 = a0, a1, a2
    b0, b1, b2 = a0, a1, a2
    if fb >= 0:
        b0, b1, b2 = locate(model, fb, W)
        y0, y1, y2 = a0 - b0, a1 - b1, a2 - b2
    if kind == DISTANCE:
        z0, z1, z2 = y0, y1, y2
    elif kind == BILINEAR:
        z0, z1, z2 = locate(model, fz, W)
    else:
        z0, z1, z2 = (
            model.constraint_f[c, 1] + 0.0 * y0,
            model.constraint_f[c, 2] + 0.0 * y0,
            model.constraint_f[c, 3] + 0.0 * y0,
        )
    value = y0 * z0 + y1 * z1 + y2 * z2 - model.constraint_f[c, 0]
    if length >= 0:
        value -= q[length] * q[length]
    if want == 0:
        return value, 0
    first = gather(model, fa, 1.0, a0, a1, a2, W, slots, where, np.int64(0))
    second = first
    if fb >= 0:
        second = gather(model, fb, -1.0, b0, b1, b2, W, slots, where, first)
    factor = 2.0 if kind == DISTANCE else 1.0
    for s in range(second):
        gradient[where[s]] += factor * (slots[s, 0] * z0 + slots[s, 1] * z1 + slots[s, 2] * z2)
    if length >= 0:
        gradient[length] -= 2.0 * q[length]
        if want >= 2:
            H[length, length] -= 2.0 * scale
    if want >= 2:
        bend(slots, where, np.int64(0), first, z0, z1, z2, factor * scale, H)
        bend(slots, where, first, second, z0, z1, z2, factor * scale, H)
        bend_pairs(model, fa, a0, a1, a2, z0, z1, z2, factor * scale, W, H)
        if fb >= 0:
            bend_pairs(model, fb, b0, b1, b2, z0, z1, z2, -factor * scale, W, H)
        if kind == DISTANCE:
            squares(slots, where, second, 2.0 * scale, H)
    third = second
    if kind == BILINEAR:
        third = gather(model, fz, 1.0, z0, z1, z2, W, slots, where, second)
        for s in range(second, third):
            gradient[where[s]] += slots[s, 0] * y0 + slots[s, 1] * y1 + slots[s, 2] * y2
        if want >= 2:
            bend(slots, where, second, third, y0, y1, y2, scale, H)
            bend_pairs(model, fz, z0, z1, z2, y0, y1, y2, scale, W, H)
            for s in range(second):
                for t in range(second, third):
                    cell = scale * (slots[s, 0] * slots[t, 0] + slots[s, 1] * slots[t, 1] + slots[s, 2] * slots[t, 2])
                    H[where[s], where[t]] += cell
                    H[where[t], where[s]] += cell
    return value, third


@kernel
def touched(model, c, where, count, places):
    """The different coordinates of constraint row ``c`` into ``places``, from the slots it listed; returns their number."""
    m = 0
    for k in range(count + 1):
        i = where[k] if k < count else model.constraint_i[c, 4]
        new = i >= 0
        for j in range(m):
            if places[j] == i:
                new = False
        if new:
            places[m] = i
            m += 1
    return m


@kernel
def constraints(model, q, W, slots, where, h, Dh, weights, H, want):
    """Values ``h`` (nc,), ``Dh`` (nc, nq) if want >= 1, and weights.D2h added to ``H`` (nq, nq) if want >= 2."""
    for c in range(h.shape[0]):
        if want >= 1:
            for j in range(Dh.shape[1]):
                Dh[c, j] = 0.0
        h[c], _ = constraint(model, c, q, W, slots, where, Dh[c], weights[c], H, want)


@kernel
def springs(model, q, v, W, slots, where, Lv, Lq, Lvv, Lqq, want):
    """Adds armatures, coordinate springs and springs between points to the first (want 1) or second (want 2) derivatives of L.

    Between points, l = |y|: V = k/2 (l - l0)^2, V_q = k (1 - l0/l) e, V_qq = k (1 - l0/l) E + k l0/l^3 e e', with e = y.dy and E
    = de/dq.
    """
    table = model.coordinate_f
    for c in range(table.shape[0]):
        if want != 2:
            Lv[c] += table[c, ARMATURE] * v[c]
            Lq[c] -= table[c, STIFFNESS] * (q[c] - table[c, REST])
        else:
            Lvv[c, c] += table[c, ARMATURE]
            Lqq[c, c] -= table[c, STIFFNESS]
    for r in range(model.pair_i.shape[0]):
        k, rest = model.pair_f[r, 0], model.pair_f[r, 1]
        if k == 0.0:
            continue
        fa, fb = model.pair_i[r, 0], model.pair_i[r, 1]
        a0, a1, a2 = locate(model, fa, W)
        b0, b1, b2 = locate(model, fb, W)
        y0, y1, y2 = a0 - b0, a1 - b1, a2 - b2
        first = gather(model, fa, 1.0, a0, a1, a2, W, slots, where, np.int64(0))
        second = gather(model, fb, -1.0, b0, b1, b2, W, slots, where, first)
        square = y0 * y0 + y1 * y1 + y2 * y2
        tight = k + 0.0 * square
        twist = 0.0 * square
        if rest != 0.0:
            tight = k * (1.0 - rest / np.sqrt(square))
            twist = k * rest / (square * np.sqrt(square))
        if want != 2:
            for s in range(second):
                Lq[where[s]] -= tight * (y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2])
        else:
            bend(slots, where, np.int64(0), first, y0, y1, y2, -tight, Lqq)
            bend(slots, where, first, second, y0, y1, y2, -tight, Lqq)
            bend_pairs(model, fa, a0, a1, a2, y0, y1, y2, -tight, W, Lqq)
            bend_pairs(model, fb, b0, b1, b2, y0, y1, y2, tight, W, Lqq)
            squares(slots, where, second, -tight, Lqq)
            for s in range(second):
                e = twist * (y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2])
                for t in range(second):
                    Lqq[where[s], where[t]] -= e * (y0 * slots[t, 0] + y1 * slots[t, 1] + y2 * slots[t, 2])


@kernel
def dampers(model, v, W, slots, where, F, Fq, Fv, want):
    """Adds dampers between points: F = -c (y.y') e / y.y, with e = y.dy; first derivatives if want >= 1."""
    for r in range(model.pair_i.shape[0]):
        c = model.pair_f[r, 2]
        if c == 0.0:
            continue
        fa, fb = model.pair_i[r, 0], model.pair_i[r, 1]
        a0, a1, a2 = locate(model, fa, W)
        b0, b1, b2 = locate(model, fb, W)
        y0, y1, y2 = a0 - b0, a1 - b1, a2 - b2
        first = gather(model, fa, 1.0, a0, a1, a2, W, slots, where, np.int64(0))
        second = gather(model, fb, -1.0, b0, b1, b2, W, slots, where, first)
        square = y0 * y0 + y1 * y1 + y2 * y2
        e = np.empty(second, W.dtype)
        power = 0.0 * square
        for s in range(second):
            e[s] = y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2]
            power += e[s] * v[where[s]]
        for s in range(second):
            F[where[s]] -= c * power * e[s] / square
        if want >= 1:
            n = F.shape[0]
            E = np.zeros((n, n), W.dtype)
            bend(slots, where, np.int64(0), first, y0, y1, y2, 1.0, E)
            bend(slots, where, first, second, y0, y1, y2, 1.0, E)
            bend_pairs(model, fa, a0, a1, a2, y0, y1, y2, 1.0, W, E)
            bend_pairs(model, fb, b0, b1, b2, y0, y1, y2, -1.0, W, E)
            squares(slots, where, second, 1.0, E)
            total = np.zeros(n, W.dtype)
            for s in range(second):
                total[where[s]] += e[s]
            for i in range(n):
                for j in range(n):
                    Ev = 0.0 * square
                    if total[i] != 0.0:
                        for k in range(n):
                            Ev += E[k, j] * v[k]
                    Fq[i, j] -= c * (
                        Ev * total[i] / square + power * E[i, j] / square - 2.0 * power * total[i] * total[j] / (square * square)
                    )
                    Fv[i, j] -= c * total[i] * total[j] / square


@kernel
def wrenches(model, u, W, slots, where, F, Fq, Fu, want):
    """Adds wrenches (force; torque) on features: in body axes, in world axes there, or about the world origin."""
    value = np.empty(6, u.dtype)
    axes = np.empty((6, 3), W.dtype)
    for r in range(model.wrench_i.shape[0]):
        kind, f = model.wrench_i[r, 0], model.wrench_i[r, 1]
        node = model.feature_i[f, 0]
        if node < 0:
            continue
        for k in range(6):
            value[k] = model.wrench_f[r, k]
            if model.wrench_i[r, 2 + k] >= 0:
                value[k] += u[model.wrench_i[r, 2 + k]]
        for k in range(3):
            for row in range(3):
                if kind == BODY:
                    axes[k, row] = (
                        W[node, ROTATION + 3 * row] * model.feature_f[f, 3 + k]
                        + W[node, ROTATION + 3 * row + 1] * model.feature_f[f, 6 + k]
                        + W[node, ROTATION + 3 * row + 2] * model.feature_f[f, 9 + k]
                    )
                else:
                    axes[k, row] = 1.0 if row == k else 0.0
        x0, x1, x2 = locate(model, f, W)
        if kind == SPATIAL:
            x0, x1, x2 = 0.0 * x0, 0.0 * x1, 0.0 * x2
        count = gather(model, f, 1.0, x0, x1, x2, W, slots, where, np.int64(0))
        f0 = axes[0, 0] * value[0] + axes[1, 0] * value[1] + axes[2, 0] * value[2]
        f1 = axes[0, 1] * value[0] + axes[1, 1] * value[1] + axes[2, 1] * value[2]
        f2 = axes[0, 2] * value[0] + axes[1, 2] * value[1] + axes[2, 2] * value[2]
        n0 = axes[0, 0] * value[3] + axes[1, 0] * value[4] + axes[2, 0] * value[5]
        n1 = axes[0, 1] * value[3] + axes[1, 1] * value[4] + axes[2, 1] * value[5]
        n2 = axes[0, 2] * value[3] + axes[1, 2] * value[4] + axes[2, 2] * value[5]
        for s in range(count):
            d0, d1, d2, w0, w1, w2 = slots[s, 0], slots[s, 1], slots[s, 2], slots[s, 3], slots[s, 4], slots[s, 5]
            i = where[s]
            F[i] += d0 * f0 + d1 * f1 + d2 * f2 + w0 * n0 + w1 * n1 + w2 * n2
            if want == 0:
                continue
            for k in range(3):
                if model.wrench_i[r, 2 + k] >= 0:
                    Fu[i, model.wrench_i[r, 2 + k]] += d0 * axes[k, 0] + d1 * axes[k, 1] + d2 * axes[k, 2]
                if model.wrench_i[r, 5 + k] >= 0:
                    Fu[i, model.wrench_i[r, 5 + k]] += w0 * axes[k, 0] + w1 * axes[k, 1] + w2 * axes[k, 2]
            for t in range(count):
                j = where[t]
                a0, a1, a2 = slots[t, 3], slots[t, 4], slots[t, 5]
                cell = 0.0 * f0
                if kind == SPATIAL:
                    if t > s:  # dS_i/dq_j = [S_j, S_i] for an ancestor j
                        c0, c1, c2 = cross(a0, a1, a2, d0, d1, d2)
                        e0, e1, e2 = cross(slots[t, 0], slots[t, 1], slots[t, 2], w0, w1, w2)
                        cell += (c0 + e0) * f0 + (c1 + e1) * f1 + (c2 + e2) * f2
                elif t >= s:
                    c0, c1, c2 = cross(a0, a1, a2, d0, d1, d2)
                    cell += c0 * f0 + c1 * f1 + c2 * f2
                else:
                    c0, c1, c2 = cross(w0, w1, w2, slots[t, 0], slots[t, 1], slots[t, 2])
                    cell += c0 * f0 + c1 * f1 + c2 * f2
                if t > s:
                    c0, c1, c2 = cross(a0, a1, a2, w0, w1, w2)
                    cell += c0 * n0 + c1 * n1 + c2 * n2
                if kind == BODY:
                    c0, c1, c2 = cross(a0, a1, a2, f0, f1, f2)
                    e0, e1, e2 = cross(a0, a1, a2, n0, n1, n2)
                    cell += d0 * c0 + d1 * c1 + d2 * c2 + w0 * e0 + w1 * e1 + w2 * e2
                Fq[i, j] += cell
        if want >= 1:
            wrench_pairs(model, f, kind == SPATIAL, x0, x1, x2, n0, n1, n2, f0, f1, f2, W, Fq)


@kernel
def forces(model, v, u, W, slots, where, F, Fq, Fv, Fu, want):
    """Adds all forces that are no potentials to ``F`` (nq,); if want >= 1 also ``Fq``, ``Fv`` (nq, nq) and ``Fu`` (nq, nu).

    The damping of flexible segments stands apart: see `flexible/elastic`.
    """
    table = model.coordinate_f
    for c in range(table.shape[0]):
        F[c] -= table[c, DAMPING] * v[c]
        if want >= 1:
            Fv[c, c] -= table[c, DAMPING]
    for a in range(model.actuator_i.shape[0]):
        c, k = model.actuator_i[a, 0], model.actuator_i[a, 1]
        F[c] += model.actuator_f[a] * u[k]
        if want >= 1:
            Fu[c, k] += model.actuator_f[a]
    dampers(model, v, W, slots, where, F, Fq, Fv, want)
    wrenches(model, u, W, slots, where, F, Fq, Fu, want)
