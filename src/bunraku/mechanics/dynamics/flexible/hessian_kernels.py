"""Second derivatives of the Lagrangian of a tree with flexible segments, in closed form.

Letters as in `lagrangian_kernels.py`. A_i, B_i, d_i of a mode gain Pi, b, N of the segment's own mass (once, with its first
interface); with these, pairs of a mode and anything before its segment follow the rule of rigid joints. For two modes a, b of one
segment, with A, B, d of the child side alone, momentum h and weight of the child, H_ab(h) = dT_a/du_b . h and H' its rate:

    L_va vb = S_a.A_b + tr E_ab      L_va ub = S_a.B_b + H_ab(h) + w.(eps:E_ba)
    L_ua ub = Sdot_a.B_b + w_a.(d_b x g) + H_ab(-V_F x* h + weight) + H'_ab(h) + |w|^2 tr E_ab - w.E_ab w

summed over the segment's interfaces, the terms of E (its own mass; w the angular velocity of F) once.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.flexible.layout import (
    BASE,
    COORDINATE_0,
    COUNT,
    F_LOCAL,
    F_TWIST,
    FIRST_INTERFACE,
    FIRST_SLOT,
    INTERFACE_ROW,
    MODE,
    OM,
    OM_RATE,
    OWN_F,
    PI,
    ROW,
    SEGMENT,
)
from bunraku.mechanics.dynamics.flexible.recursion_kernels import local_wrench
from bunraku.mechanics.dynamics.flexible.segment_kernels import wrench_arm_rates, wrench_arms
from bunraku.mechanics.dynamics.flexible.slot_kernels import hessian_slot
from bunraku.mechanics.dynamics.lagrangian_kernels import apply_inertia, cross
from bunraku.mechanics.dynamics.lagrangian_layout import (
    ANGULAR,
    COORDINATE,
    FIRST_MOMENT,
    GRAVITY_ARM,
    KIND,
    LINEAR,
    MASS,
    MOMENTUM,
    PARENT,
    PLAIN,
    RATE,
)


@kernel
def child_side(model, i, W, A, BB):
    """A = I S and BB = I Sdot + S x* h (6, r) of the modes of interface ``i``, of what hangs on it alone."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g, first = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT]
    r = segment_i[g, COUNT]
    last = first + r - 1
    n0, n1, n2 = W[last, MOMENTUM], W[last, MOMENTUM + 1], W[last, MOMENTUM + 2]
    f0, f1, f2 = W[last, MOMENTUM + 3], W[last, MOMENTUM + 4], W[last, MOMENTUM + 5]
    for a in range(r):
        s = first + a
        w0, w1, w2 = W[s, ANGULAR], W[s, ANGULAR + 1], W[s, ANGULAR + 2]
        v0, v1, v2 = W[s, LINEAR], W[s, LINEAR + 1], W[s, LINEAR + 2]
        a0, a1, a2, a3, a4, a5 = apply_inertia(W, last, w0, w1, w2, v0, v1, v2)
        b0, b1, b2, b3, b4, b5 = apply_inertia(
            W, last, W[s, RATE], W[s, RATE + 1], W[s, RATE + 2], W[s, RATE + 3], W[s, RATE + 4], W[s, RATE + 5]
        )
        x0, x1, x2 = cross(w0, w1, w2, n0, n1, n2)
        y0, y1, y2 = cross(v0, v1, v2, f0, f1, f2)
        z0, z1, z2 = cross(w0, w1, w2, f0, f1, f2)
        A[0, a], A[1, a], A[2, a], A[3, a], A[4, a], A[5, a] = a0, a1, a2, a3, a4, a5
        BB[0, a], BB[1, a], BB[2, a] = b0 + x0 + y0, b1 + x1 + y1, b2 + x2 + y2
        BB[3, a], BB[4, a], BB[5, a] = b3 + z0, b4 + z1, b5 + z2


@kernel
def pairs_before(model, i, W, A, BB, Lvv, Lvq, Lqq):
    """Adds the pairs of the modes of interface ``i`` with all coordinates before its segment."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g, first = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT]
    r, p, c, base = segment_i[g, COUNT], segment_i[g, BASE], segment_i[g, COORDINATE_0], segment_i[g, ROW]
    own = i == segment_i[g, FIRST_INTERFACE]
    g0, g1, g2 = model.gravity[0], model.gravity[1], model.gravity[2]
    count, j = 0, p
    while j >= 0:
        count, j = count + 1, model.node_i[j, PARENT]
    S, where = np.empty((16, count), W.dtype), np.empty(count, np.int64)
    count, j = 0, p
    while j >= 0:
        where[count] = model.node_i[j, COORDINATE]
        for k in range(6):
            S[k, count] = W[j, ANGULAR + k]
            S[6 + k, count] = W[j, RATE + k]
        count, j = count + 1, model.node_i[j, PARENT]
    x = np.empty(15, W.dtype)
    for a in range(r):
        for k in range(3):
            x[12 + k] = W[first + a, GRAVITY_ARM + k]
        for k in range(6):
            x[k], x[6 + k] = A[k, a], BB[k, a]
        if own:
            for k in range(15):  # Pi, b, N in this order
                x[k] += W[base + 1 + a, PI + k]
        a0, a1, a2, a3, a4, a5 = x[0], x[1], x[2], x[3], x[4], x[5]
        b0, b1, b2, b3, b4, b5 = x[6], x[7], x[8], x[9], x[10], x[11]
        e0, e1, e2 = cross(x[12], x[13], x[14], g0, g1, g2)
        for j in range(count):
            s0, s1, s2, s3, s4, s5 = S[0, j], S[1, j], S[2, j], S[3, j], S[4, j], S[5, j]
            t0, t1, t2, t3, t4, t5 = S[6, j], S[7, j], S[8, j], S[9, j], S[10, j], S[11, j]
            S[12, j] = s0 * a0 + s1 * a1 + s2 * a2 + s3 * a3 + s4 * a4 + s5 * a5
            S[13, j] = t0 * a0 + t1 * a1 + t2 * a2 + t3 * a3 + t4 * a4 + t5 * a5
            S[14, j] = s0 * b0 + s1 * b1 + s2 * b2 + s3 * b3 + s4 * b4 + s5 * b5
            S[15, j] = t0 * b0 + t1 * b1 + t2 * b2 + t3 * b3 + t4 * b4 + t5 * b5 + s0 * e0 + s1 * e1 + s2 * e2
        for j in range(count):
            n = where[j]
            Lvv[c + a, n] += S[12, j]
            Lvv[n, c + a] += S[12, j]
            Lvq[c + a, n] += S[13, j]
            Lvq[n, c + a] += S[14, j]
            Lqq[c + a, n] += S[15, j]
            Lqq[n, c + a] += S[15, j]


@kernel
def fill_pairs(model, i, W, A, BB, left, right):
    """The rows of the three products that give the pairs of modes of interface ``i``; A, BB (6, r) of the child side alone.

    Lvv: rows 0-5, S_a.A_b. Lvq: rows 6-17, S_a.B_b + s_a.om_b + om_a.t_b with the arms of the child's momentum h. Lqq: rows 18-38,
    Sdot_a.B_b + w_a.(d_b x g) + H_ab(h2) + H'_ab(h), h2 = -V_F x* h + the child's weight.
    """
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g, first, row = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT], interface_i[i, INTERFACE_ROW]
    r, base = segment_i[g, COUNT], segment_i[g, ROW]
    last = first + r - 1
    g0, g1, g2 = model.gravity[0], model.gravity[1], model.gravity[2]
    n0, n1, n2 = W[last, MOMENTUM], W[last, MOMENTUM + 1], W[last, MOMENTUM + 2]
    f0, f1, f2 = W[last, MOMENTUM + 3], W[last, MOMENTUM + 4], W[last, MOMENTUM + 5]
    a0, a1, a2 = W[base, F_TWIST], W[base, F_TWIST + 1], W[base, F_TWIST + 2]
    b0, b1, b2 = W[base, F_TWIST + 3], W[base, F_TWIST + 4], W[base, F_TWIST + 5]
    x0, x1, x2 = cross(a0, a1, a2, n0, n1, n2)
    y0, y1, y2 = cross(b0, b1, b2, f0, f1, f2)
    z0, z1, z2 = cross(a0, a1, a2, f0, f1, f2)
    u0, u1, u2 = cross(W[last, FIRST_MOMENT], W[last, FIRST_MOMENT + 1], W[last, FIRST_MOMENT + 2], g0, g1, g2)
    m = W[last, MASS]
    k0, k1, k2, l0, l1, l2 = local_wrench(W, base, u0 - x0 - y0, u1 - x1 - y1, u2 - x2 - y2, m * g0 - z0, m * g1 - z1, m * g2 - z2)
    # the arms of h2 (s in left 30-32, t in right 27-29), and those of h (s in left 33-35, t in right 36-38)
    wrench_arms(W, row, r, k0, k1, k2, l0, l1, l2, left[30:33], right[27:30])
    n0, n1, n2, f0, f1, f2 = local_wrench(W, base, n0, n1, n2, f0, f1, f2)
    k0, k1, k2 = wrench_arms(W, row, r, n0, n1, n2, f0, f1, f2, left[33:36], right[36:39])
    for a in range(r):
        c = row + 1 + a
        for k in range(3):
            left[12 + k, a] = left[33 + k, a]
            right[15 + k, a] = right[36 + k, a]
            left[15 + k, a] = W[c, OM + k]
            right[12 + k, a] = W[c, OM + k]
            left[27 + k, a] = W[c, OM + k]
            right[30 + k, a] = W[c, OM + k]
            right[33 + k, a] = W[c, OM_RATE + k]
            left[36 + k, a] = W[c, OM_RATE + k]
            left[24 + k, a] = W[first + a, ANGULAR + k]
        for k in range(6):
            left[k, a] = W[first + a, ANGULAR + k]
            left[6 + k, a] = W[first + a, ANGULAR + k]
            left[18 + k, a] = W[first + a, RATE + k]
            right[k, a] = A[k, a]
            right[6 + k, a] = BB[k, a]
            right[18 + k, a] = BB[k, a]
        e0, e1, e2 = cross(W[first + a, GRAVITY_ARM], W[first + a, GRAVITY_ARM + 1], W[first + a, GRAVITY_ARM + 2], g0, g1, g2)
        right[24, a], right[25, a], right[26, a] = e0, e1, e2
    wrench_arm_rates(W, row, r, k0, k1, k2, f0, f1, f2, left[30:33], right[27:30])


@kernel
def own_pairs(model, g, W, Lvv, Lvq, Lqq):
    """Adds the pairs of modes from the segment's own mass: tr E_ab, w.(eps:E_ba), |w|^2 tr E_ab - w.E_ab w."""
    segment_i, flexible_f = model.segments.segment_i, model.segments.flexible_f
    r, c, base, o = (
        segment_i[g, COUNT],
        segment_i[g, COORDINATE_0],
        segment_i[g, ROW],
        segment_i[g, OWN_F],
    )
    w0, w1, w2 = W[base, F_LOCAL], W[base, F_LOCAL + 1], W[base, F_LOCAL + 2]
    square = w0 * w0 + w1 * w1 + w2 * w2
    xx, yy, zz, xy, xz, yz = w0 * w0, w1 * w1, w2 * w2, w0 * w1, w0 * w2, w1 * w2
    n = r * r
    table = flexible_f[o : o + 10 * n].reshape(10, n)
    for a in range(r):
        vv, vq, qq = Lvv[c + a, c : c + r], Lvq[c + a, c : c + r], Lqq[c + a, c : c + r]
        part = table[:, a * r : (a + 1) * r]
        for b in range(r):
            t = part[0, b]
            vv[b] += t
            vq[b] += w0 * part[1, b] + w1 * part[2, b] + w2 * part[3, b]
            qq[b] += square * t - (
                xx * part[4, b] + yy * part[5, b] + zz * part[6, b] + xy * part[7, b] + xz * part[8, b] + yz * part[9, b]
            )


@kernel
def interface_hessian(model, i, W, Lvv, Lvq, Lqq):
    """Adds the second derivatives of the modes of interface ``i`` with one another and with all coordinates before them."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g = interface_i[i, SEGMENT]
    r, c = segment_i[g, COUNT], segment_i[g, COORDINATE_0]
    A, BB = np.empty((6, r), W.dtype), np.empty((6, r), W.dtype)
    child_side(model, i, W, A, BB)
    pairs_before(model, i, W, A, BB, Lvv, Lvq, Lqq)
    left, right = np.empty((39, r), W.dtype), np.empty((39, r), W.dtype)
    fill_pairs(model, i, W, A, BB, left, right)
    for a in range(r):
        for k in range(39):
            x, row = left[k, a], right[k]
            out = (Lvv if k < 6 else (Lvq if k < 18 else Lqq))[c + a, c : c + r]
            for b in range(r):
                out[b] += x * row[b]


@kernel
def flexible_hessian(model, W, Lvv, Lvq, Lqq):
    """Adds the second derivatives of kinetic energy and gravity of a tree with segments."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    i = 0
    while i < model.sizes.heavy:
        if model.node_i[i, KIND] == MODE:
            interface_hessian(model, model.node_i[i, PLAIN], W, Lvv, Lvq, Lqq)
            i += segment_i[interface_i[model.node_i[i, PLAIN], SEGMENT], COUNT]
        else:
            hessian_slot(i, model.node_i, model.gravity, W, Lvv, Lvq, Lqq)
            i += 1
    for g in range(segment_i.shape[0]):
        own_pairs(model, g, W, Lvv, Lvq, Lqq)
