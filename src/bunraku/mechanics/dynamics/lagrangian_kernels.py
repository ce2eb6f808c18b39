"""Gradient and Hessian of the Lagrangian of a tree, in closed form, in world screws.

Every kernel is generic in the number type of ``q``, ``v`` and ``W``: float64 for values, complex128 for the exact directional
derivative of whatever is computed (step 1e-40). Screws are (angular; linear) at the world origin. For the slot i (one coordinate
of one segment) with screw S_i, twist after it V_i, rate Sdot_i = [V_i, S_i], and of everything beyond it inertia I_i, momentum
h_i, mass m_i and first moment c_i; gravity g; j the slot i or one of its ancestors:

    A_i = I_i S_i      B_i = I_i Sdot_i + S_i x* h_i      d_i = w_i x c_i + m_i v_i
    L_v_i = S_i.h_i    L_q_i = Sdot_i.h_i + g.d_i
    L_v_i v_j = S_j.A_i    L_v_i q_j = Sdot_j.A_i    L_v_j q_i = S_j.B_i    L_q_i q_j = Sdot_j.B_i + w_j.(d_i x g)

The recursions see a joint only through the row that :func:`move_segment` writes. Slots are added to their coordinates with +=, so
several slots may share one coordinate (couplings, parts with several children). Trees with flexible segments take the recursions of
`flexible/recursion`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.lagrangian_layout import (
    ANGULAR,
    AXIS,
    COORDINATE,
    FIRST_MOMENT,
    FIXED_POSITION,
    FIXED_ROTATION,
    GRAVITY_ARM,
    HAS_MASS,
    HINGE,
    INERTIA,
    KIND,
    LINEAR,
    LOCAL_INERTIA,
    LOCAL_MASS,
    LOCAL_MOMENT,
    MASS,
    MOMENTUM,
    OFFSET,
    PARENT,
    PLAIN,
    POSITION,
    RATE,
    RATIO,
    ROTATION,
    TWIST,
)


@kernel
def cross(a0, a1, a2, b0, b1, b2):
    """Cross product of two vectors given by their components."""
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@kernel
def move_segment(i, node_i, node_f, amount, W):
    """Pose of the child frame of segment ``i`` after ``amount`` of its coordinate, and its screw, into row i of ``W``.

    The base pose (parent and constant part) stands in the row already. A hinge turns two columns of the base about the third; a
    slide moves the origin along it.
    """
    a = node_i[i, AXIS]
    ratio = node_f[i, RATIO]
    w0, w1, w2 = ratio * W[i, ROTATION + a], ratio * W[i, ROTATION + 3 + a], ratio * W[i, ROTATION + 6 + a]
    if node_i[i, KIND] == HINGE:
        b, d = (a + 1) % 3, (a + 2) % 3
        c, s = np.cos(amount), np.sin(amount)
        for r in range(3):
            x, y = W[i, ROTATION + 3 * r + b], W[i, ROTATION + 3 * r + d]
            W[i, ROTATION + 3 * r + b] = c * x + s * y
            W[i, ROTATION + 3 * r + d] = c * y - s * x
        v0, v1, v2 = cross(W[i, POSITION], W[i, POSITION + 1], W[i, POSITION + 2], w0, w1, w2)
        W[i, ANGULAR], W[i, ANGULAR + 1], W[i, ANGULAR + 2] = w0, w1, w2
        W[i, LINEAR], W[i, LINEAR + 1], W[i, LINEAR + 2] = v0, v1, v2
    else:
        for r in range(3):
            W[i, POSITION + r] += amount * W[i, ROTATION + 3 * r + a]
            W[i, ANGULAR + r] = 0.0
        W[i, LINEAR], W[i, LINEAR + 1], W[i, LINEAR + 2] = w0, w1, w2


@kernel
def kinematics(node_i, node_f, q, W):
    """World poses and screws of all slots at ``q`` into the rows of ``W``."""
    for i in range(node_i.shape[0]):
        p = node_i[i, PARENT]
        if p < 0:
            for k in range(9):
                W[i, ROTATION + k] = node_f[i, FIXED_ROTATION + k]
            for k in range(3):
                W[i, POSITION + k] = node_f[i, FIXED_POSITION + k]
        else:
            f0, f1, f2 = node_f[i, FIXED_POSITION], node_f[i, FIXED_POSITION + 1], node_f[i, FIXED_POSITION + 2]
            plain = node_i[i, PLAIN] == 1
            for r in range(3):
                x, y, z = W[p, ROTATION + 3 * r], W[p, ROTATION + 3 * r + 1], W[p, ROTATION + 3 * r + 2]
                W[i, POSITION + r] = W[p, POSITION + r] + x * f0 + y * f1 + z * f2
                if plain:
                    W[i, ROTATION + 3 * r], W[i, ROTATION + 3 * r + 1], W[i, ROTATION + 3 * r + 2] = x, y, z
                else:
                    for k in range(3):
                        W[i, ROTATION + 3 * r + k] = (
                            x * node_f[i, FIXED_ROTATION + k]
                            + y * node_f[i, FIXED_ROTATION + 3 + k]
                            + z * node_f[i, FIXED_ROTATION + 6 + k]
                        )
        move_segment(i, node_i, node_f, node_f[i, RATIO] * q[node_i[i, COORDINATE]] + node_f[i, OFFSET], W)


@kernel
def velocities(node_i, v, W, count):
    """Twists V and screw rates Sdot of the first ``count`` slots."""
    for i in range(count):
        p = node_i[i, PARENT]
        rate = v[node_i[i, COORDINATE]]
        w0, w1, w2 = W[i, ANGULAR], W[i, ANGULAR + 1], W[i, ANGULAR + 2]
        v0, v1, v2 = W[i, LINEAR], W[i, LINEAR + 1], W[i, LINEAR + 2]
        if p < 0:
            for k in range(6):
                W[i, RATE + k] = 0.0
                W[i, TWIST + k] = rate * W[i, ANGULAR + k]
        else:
            a0, a1, a2 = W[p, TWIST], W[p, TWIST + 1], W[p, TWIST + 2]
            b0, b1, b2 = W[p, TWIST + 3], W[p, TWIST + 4], W[p, TWIST + 5]
            x0, x1, x2 = cross(a0, a1, a2, w0, w1, w2)
            y0, y1, y2 = cross(a0, a1, a2, v0, v1, v2)
            z0, z1, z2 = cross(b0, b1, b2, w0, w1, w2)
            W[i, RATE], W[i, RATE + 1], W[i, RATE + 2] = x0, x1, x2
            W[i, RATE + 3], W[i, RATE + 4], W[i, RATE + 5] = y0 + z0, y1 + z1, y2 + z2
            W[i, TWIST], W[i, TWIST + 1], W[i, TWIST + 2] = a0 + rate * w0, a1 + rate * w1, a2 + rate * w2
            W[i, TWIST + 3], W[i, TWIST + 4], W[i, TWIST + 5] = b0 + rate * v0, b1 + rate * v1, b2 + rate * v2


@kernel
def apply_inertia(W, i, w0, w1, w2, v0, v1, v2):
    """Momentum (n; f) of the composite inertia of row ``i`` moving with the twist (w; v)."""
    m = W[i, MASS]
    c0, c1, c2 = W[i, FIRST_MOMENT], W[i, FIRST_MOMENT + 1], W[i, FIRST_MOMENT + 2]
    xx, yy, zz = W[i, INERTIA], W[i, INERTIA + 1], W[i, INERTIA + 2]
    xy, xz, yz = W[i, INERTIA + 3], W[i, INERTIA + 4], W[i, INERTIA + 5]
    n0 = xx * w0 + xy * w1 + xz * w2 + c1 * v2 - c2 * v1
    n1 = xy * w0 + yy * w1 + yz * w2 + c2 * v0 - c0 * v2
    n2 = xz * w0 + yz * w1 + zz * w2 + c0 * v1 - c1 * v0
    f0 = m * v0 + w1 * c2 - w2 * c1
    f1 = m * v1 + w2 * c0 - w0 * c2
    f2 = m * v2 + w0 * c1 - w1 * c0
    return n0, n1, n2, f0, f1, f2


@kernel
def own_inertia(i, node_i, node_f, W):
    """Mass, first moment and inertia about the world origin, in world axes, of the body on node ``i`` alone."""
    if node_i[i, HAS_MASS] == 0:
        for k in range(10):
            W[i, MASS + k] = 0.0
        return
    m = node_f[i, LOCAL_MASS]
    r00, r01, r02 = W[i, ROTATION], W[i, ROTATION + 1], W[i, ROTATION + 2]
    r10, r11, r12 = W[i, ROTATION + 3], W[i, ROTATION + 4], W[i, ROTATION + 5]
    r20, r21, r22 = W[i, ROTATION + 6], W[i, ROTATION + 7], W[i, ROTATION + 8]
    p0, p1, p2 = W[i, POSITION], W[i, POSITION + 1], W[i, POSITION + 2]
    l0, l1, l2 = node_f[i, LOCAL_MOMENT], node_f[i, LOCAL_MOMENT + 1], node_f[i, LOCAL_MOMENT + 2]
    s0 = r00 * l0 + r01 * l1 + r02 * l2
    s1 = r10 * l0 + r11 * l1 + r12 * l2
    s2 = r20 * l0 + r21 * l1 + r22 * l2
    jxx, jyy, jzz = node_f[i, LOCAL_INERTIA], node_f[i, LOCAL_INERTIA + 1], node_f[i, LOCAL_INERTIA + 2]
    jxy, jxz, jyz = node_f[i, LOCAL_INERTIA + 3], node_f[i, LOCAL_INERTIA + 4], node_f[i, LOCAL_INERTIA + 5]
    a0, a1, a2 = r00 * jxx + r01 * jxy + r02 * jxz, r00 * jxy + r01 * jyy + r02 * jyz, r00 * jxz + r01 * jyz + r02 * jzz
    b0, b1, b2 = r10 * jxx + r11 * jxy + r12 * jxz, r10 * jxy + r11 * jyy + r12 * jyz, r10 * jxz + r11 * jyz + r12 * jzz
    c0, c1, c2 = r20 * jxx + r21 * jxy + r22 * jxz, r20 * jxy + r21 * jyy + r22 * jyz, r20 * jxz + r21 * jyz + r22 * jzz
    # 2 p.s + m p.p on the diagonal, minus (p s' + s p' + m p p'): write t = m p + 2 s for the diagonal
    diagonal = p0 * (m * p0 + 2.0 * s0) + p1 * (m * p1 + 2.0 * s1) + p2 * (m * p2 + 2.0 * s2)
    W[i, MASS] = m
    W[i, FIRST_MOMENT], W[i, FIRST_MOMENT + 1], W[i, FIRST_MOMENT + 2] = s0 + m * p0, s1 + m * p1, s2 + m * p2
    W[i, INERTIA] = a0 * r00 + a1 * r01 + a2 * r02 + diagonal - p0 * (m * p0 + 2.0 * s0)
    W[i, INERTIA + 1] = b0 * r10 + b1 * r11 + b2 * r12 + diagonal - p1 * (m * p1 + 2.0 * s1)
    W[i, INERTIA + 2] = c0 * r20 + c1 * r21 + c2 * r22 + diagonal - p2 * (m * p2 + 2.0 * s2)
    W[i, INERTIA + 3] = a0 * r10 + a1 * r11 + a2 * r12 - p0 * (s1 + m * p1) - s0 * p1
    W[i, INERTIA + 4] = a0 * r20 + a1 * r21 + a2 * r22 - p0 * (s2 + m * p2) - s0 * p2
    W[i, INERTIA + 5] = b0 * r20 + b1 * r21 + b2 * r22 - p1 * (s2 + m * p2) - s1 * p2


@kernel
def momenta(node_i, node_f, gravity, W, count, Lv, Lq):
    """Composite inertias and momenta from the leaves to the root; adds kinetic energy and gravity to ``Lv``, ``Lq`` (nq,)."""
    g0, g1, g2 = gravity[0], gravity[1], gravity[2]
    for i in range(count):
        own_inertia(i, node_i, node_f, W)
        if node_i[i, HAS_MASS] == 1:
            n0, n1, n2, f0, f1, f2 = apply_inertia(
                W, i, W[i, TWIST], W[i, TWIST + 1], W[i, TWIST + 2], W[i, TWIST + 3], W[i, TWIST + 4], W[i, TWIST + 5]
            )
            W[i, MOMENTUM], W[i, MOMENTUM + 1], W[i, MOMENTUM + 2] = n0, n1, n2
            W[i, MOMENTUM + 3], W[i, MOMENTUM + 4], W[i, MOMENTUM + 5] = f0, f1, f2
        else:
            for k in range(6):
                W[i, MOMENTUM + k] = 0.0
    for i in range(count - 1, -1, -1):
        c = node_i[i, COORDINATE]
        m = W[i, MASS]
        d0, d1, d2 = cross(
            W[i, ANGULAR], W[i, ANGULAR + 1], W[i, ANGULAR + 2], W[i, FIRST_MOMENT], W[i, FIRST_MOMENT + 1], W[i, FIRST_MOMENT + 2]
        )
        d0, d1, d2 = d0 + m * W[i, LINEAR], d1 + m * W[i, LINEAR + 1], d2 + m * W[i, LINEAR + 2]
        W[i, GRAVITY_ARM], W[i, GRAVITY_ARM + 1], W[i, GRAVITY_ARM + 2] = d0, d1, d2
        a, b = W[i, ANGULAR] * W[i, MOMENTUM], W[i, RATE] * W[i, MOMENTUM]
        for k in range(1, 6):
            a += W[i, ANGULAR + k] * W[i, MOMENTUM + k]
            b += W[i, RATE + k] * W[i, MOMENTUM + k]
        Lv[c] += a
        Lq[c] += b + g0 * d0 + g1 * d1 + g2 * d2
        p = node_i[i, PARENT]
        if p >= 0:
            for k in range(16):
                W[p, MASS + k] += W[i, MASS + k]


@kernel
def hessian(node_i, gravity, W, count, Lvv, Lvq, Lqq):
    """Adds the second derivatives (nq, nq) of kinetic energy and gravity; ``Lvq[i, j]`` is d2L / dv_i dq_j."""
    g0, g1, g2 = gravity[0], gravity[1], gravity[2]
    for i in range(count):
        c = node_i[i, COORDINATE]
        w0, w1, w2 = W[i, ANGULAR], W[i, ANGULAR + 1], W[i, ANGULAR + 2]
        v0, v1, v2 = W[i, LINEAR], W[i, LINEAR + 1], W[i, LINEAR + 2]
        a0, a1, a2, a3, a4, a5 = apply_inertia(W, i, w0, w1, w2, v0, v1, v2)
        b0, b1, b2, b3, b4, b5 = apply_inertia(
            W, i, W[i, RATE], W[i, RATE + 1], W[i, RATE + 2], W[i, RATE + 3], W[i, RATE + 4], W[i, RATE + 5]
        )
        n0, n1, n2 = W[i, MOMENTUM], W[i, MOMENTUM + 1], W[i, MOMENTUM + 2]
        f0, f1, f2 = W[i, MOMENTUM + 3], W[i, MOMENTUM + 4], W[i, MOMENTUM + 5]
        x0, x1, x2 = cross(w0, w1, w2, n0, n1, n2)
        y0, y1, y2 = cross(v0, v1, v2, f0, f1, f2)
        z0, z1, z2 = cross(w0, w1, w2, f0, f1, f2)
        b0, b1, b2, b3, b4, b5 = b0 + x0 + y0, b1 + x1 + y1, b2 + x2 + y2, b3 + z0, b4 + z1, b5 + z2
        e0, e1, e2 = cross(W[i, GRAVITY_ARM], W[i, GRAVITY_ARM + 1], W[i, GRAVITY_ARM + 2], g0, g1, g2)
        j = i
        while j >= 0:
            r = node_i[j, COORDINATE]
            s0, s1, s2 = W[j, ANGULAR], W[j, ANGULAR + 1], W[j, ANGULAR + 2]
            s3, s4, s5 = W[j, LINEAR], W[j, LINEAR + 1], W[j, LINEAR + 2]
            t0, t1, t2 = W[j, RATE], W[j, RATE + 1], W[j, RATE + 2]
            t3, t4, t5 = W[j, RATE + 3], W[j, RATE + 4], W[j, RATE + 5]
            vv = s0 * a0 + s1 * a1 + s2 * a2 + s3 * a3 + s4 * a4 + s5 * a5
            vq = t0 * a0 + t1 * a1 + t2 * a2 + t3 * a3 + t4 * a4 + t5 * a5
            qq = t0 * b0 + t1 * b1 + t2 * b2 + t3 * b3 + t4 * b4 + t5 * b5 + s0 * e0 + s1 * e1 + s2 * e2
            Lvv[c, r] += vv
            Lvq[c, r] += vq
            Lqq[c, r] += qq
            if j != i:
                Lvv[r, c] += vv
                Lvq[r, c] += s0 * b0 + s1 * b1 + s2 * b2 + s3 * b3 + s4 * b4 + s5 * b5
                Lqq[r, c] += qq
            j = node_i[j, PARENT]
