"""Forces, springs and constraints between features of a tree: values, first and second derivatives, generic in the number type.

A feature is a point or a direction fixed to a slot. With x its world value and slot i on its chain, dx/dq_i = d_i = w_i x x (+
v_i for a point), and d2x/dq_j dq_i = w_j x d_i for j = i or an ancestor of i. Everything here is made of these two facts (and,
for two modes of a flexible segment, of what `flexible/mode_pair_kernels.py` adds). ``room.W`` holds the poses and screws at q;
slots of a chain are listed from the feature to the root.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

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
    WORK,
)
from bunraku.mechanics.dynamics.model import Room


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
def make_room(model, q):
    """Room to work in with numbers like those of ``q``."""
    longest = model.sizes.longest
    return Room(np.empty((model.sizes.rows, WORK), q.dtype), np.empty((longest, 6), q.dtype), np.empty(longest, np.int64))


class Span(NamedTuple):
    """The difference y = x_a - x_b of two features (x_a alone where fb is -1): their values, and where their chains end."""

    fa: int
    fb: int
    a: Any
    b: Any
    y: Any
    first: int
    second: int


@kernel
def gather(model, f, sign, x, room, start):
    """List the chain of feature ``f`` with value x: rows (sign d; w) of the slots and their coordinates from ``start`` on."""
    (x0, x1, x2), W, slots, where = x, room.W, room.slots, room.where
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
def span(model, fa, fb, room):
    """The difference of the features ``fa`` and ``fb``, both chains listed."""
    a = locate(model, fa, room.W)
    first = gather(model, fa, 1.0, a, room, np.int64(0))
    if fb < 0:
        return Span(fa, fb, a, a, a, first, first)
    b = locate(model, fb, room.W)
    return Span(fa, fb, a, b, (a[0] - b[0], a[1] - b[1], a[2] - b[2]), first, gather(model, fb, -1.0, b, room, first))


@kernel
def bend_span(model, s, z, scale, room, H):
    """Adds scale z.d2y of a difference to ``H`` (nq, nq)."""
    bend(np.int64(0), s.first, z, scale, room, H)
    bend(s.first, s.second, z, scale, room, H)
    bend_pairs(model, s.fa, s.a, z, scale, room.W, H)
    if s.fb >= 0:
        bend_pairs(model, s.fb, s.b, z, -scale, room.W, H)


@kernel
def bend(begin, end, z, scale, room, H):
    """Adds scale z.d2x of one chain to ``H`` (nq, nq)."""
    (z0, z1, z2), slots, where = z, room.slots, room.where
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
def squares(count, scale, room, H):
    """Adds scale dy_s.dy_t of all slots to ``H`` (nq, nq)."""
    slots, where = room.slots, room.where
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
def constraint(model, c, q, room, gradient, scale, H, want):
    """Value h of constraint row ``c`` and how many slots it lists; adds Dh to ``gradient``, and scale D2h to ``H`` if want is 2.

    h = y.z - constant [- q_l^2], with y = x_a - x_b and z = y (distance), a constant direction, or a direction fixed to a body.
    """
    slots, where, row, fixed = room.slots, room.where, model.constraint_i[c], model.constraint_f[c]
    kind, fz, length = row[0], row[3], row[4]
    s = span(model, row[1], row[2], room)
    y0, y1, y2 = s.y
    if kind == DISTANCE:
        z = s.y
    elif kind == BILINEAR:
        z = locate(model, fz, room.W)
    else:
        z = (fixed[1] + 0.0 * y0, fixed[2] + 0.0 * y0, fixed[3] + 0.0 * y0)
    z0, z1, z2 = z
    value = y0 * z0 + y1 * z1 + y2 * z2 - fixed[0]
    factor = 2.0 if kind == DISTANCE else 1.0
    for k in range(s.second):
        gradient[where[k]] += factor * (slots[k, 0] * z0 + slots[k, 1] * z1 + slots[k, 2] * z2)
    if length >= 0:
        value -= q[length] * q[length]
        gradient[length] -= 2.0 * q[length]
        if want >= 2:
            H[length, length] -= 2.0 * scale
    if want >= 2:
        bend_span(model, s, z, factor * scale, room, H)
        if kind == DISTANCE:
            squares(s.second, 2.0 * scale, room, H)
    third = s.second
    if kind == BILINEAR:
        third = gather(model, fz, 1.0, z, room, s.second)
        for k in range(s.second, third):
            gradient[where[k]] += slots[k, 0] * y0 + slots[k, 1] * y1 + slots[k, 2] * y2
        if want >= 2:
            bend(s.second, third, s.y, scale, room, H)
            bend_pairs(model, fz, z, s.y, scale, room.W, H)
            for k in range(s.second):
                for m in range(s.second, third):
                    cell = scale * (slots[k, 0] * slots[m, 0] + slots[k, 1] * slots[m, 1] + slots[k, 2] * slots[m, 2])
                    H[where[k], where[m]] += cell
                    H[where[m], where[k]] += cell
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
def constraints(model, q, room, h, Dh, weights, H, want):
    """Values ``h`` (nc,), ``Dh`` (nc, nq), and weights.D2h added to ``H`` (nq, nq) if want is 2."""
    for c in range(h.shape[0]):
        for j in range(Dh.shape[1]):
            Dh[c, j] = 0.0
        h[c], _ = constraint(model, c, q, room, Dh[c], weights[c], H, want)


@kernel
def springs(model, q, v, room, Lv, Lq, Lvv, Lqq, want):
    """Adds armatures, coordinate springs and springs between points to the first (want 1) or second (want 2) derivatives of L.

    Between points, l = |y|: V = k/2 (l - l0)^2, V_q = k (1 - l0/l) e, V_qq = k (1 - l0/l) E + k l0/l^3 e e', with e = y.dy and E
    = de/dq.
    """
    slots, where, table = room.slots, room.where, model.coordinate_f
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
        ends = span(model, model.pair_i[r, 0], model.pair_i[r, 1], room)
        y0, y1, y2 = ends.y
        square = y0 * y0 + y1 * y1 + y2 * y2
        tight = k + 0.0 * square
        twist = 0.0 * square
        if rest != 0.0:
            tight = k * (1.0 - rest / np.sqrt(square))
            twist = k * rest / (square * np.sqrt(square))
        if want != 2:
            for s in range(ends.second):
                Lq[where[s]] -= tight * (y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2])
        else:
            bend_span(model, ends, ends.y, -tight, room, Lqq)
            squares(ends.second, -tight, room, Lqq)
            for s in range(ends.second):
                e = twist * (y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2])
                for t in range(ends.second):
                    Lqq[where[s], where[t]] -= e * (y0 * slots[t, 0] + y1 * slots[t, 1] + y2 * slots[t, 2])


@kernel
def dampers(model, v, room, F, Fq, Fv, want):
    """Adds dampers between points: F = -c (y.y') e / y.y, with e = y.dy; first derivatives if want >= 1."""
    slots, where = room.slots, room.where
    for r in range(model.pair_i.shape[0]):
        c = model.pair_f[r, 2]
        if c == 0.0:
            continue
        ends = span(model, model.pair_i[r, 0], model.pair_i[r, 1], room)
        y0, y1, y2 = ends.y
        square = y0 * y0 + y1 * y1 + y2 * y2
        e = np.empty(ends.second, room.W.dtype)
        power = 0.0 * square
        for s in range(ends.second):
            e[s] = y0 * slots[s, 0] + y1 * slots[s, 1] + y2 * slots[s, 2]
            power += e[s] * v[where[s]]
        for s in range(ends.second):
            F[where[s]] -= c * power * e[s] / square
        if want >= 1:
            n = F.shape[0]
            E = np.zeros((n, n), room.W.dtype)
            bend_span(model, ends, ends.y, 1.0, room, E)
            squares(ends.second, 1.0, room, E)
            total = np.zeros(n, room.W.dtype)
            for s in range(ends.second):
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
def wrenches(model, u, room, F, Fq, Fu, want):
    """Adds wrenches (force; torque) on features: in body axes, in world axes there, or about the world origin."""
    W, slots, where = room.W, room.slots, room.where
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
        x = locate(model, f, W)
        if kind == SPATIAL:
            x = (0.0 * x[0], 0.0 * x[1], 0.0 * x[2])
        count = gather(model, f, 1.0, x, room, np.int64(0))
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
            wrench_pairs(model, f, kind == SPATIAL, x, (n0, n1, n2), (f0, f1, f2), W, Fq)


@kernel
def forces(model, v, u, room, F, Fq, Fv, Fu, want):
    """Adds all forces that are no potentials to ``F`` (nq,); if want >= 1 also ``Fq``, ``Fv`` (nq, nq) and ``Fu`` (nq, nu).

    The damping of flexible segments stands apart: see `flexible/elastic_kernels.py`.
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
    dampers(model, v, room, F, Fq, Fv, want)
    wrenches(model, u, room, F, Fq, Fu, want)
