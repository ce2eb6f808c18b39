"""The recursions of `lagrangian_kernels.py` for one rigid slot of a tree that also has flexible segments.

They repeat the bodies of those loops on purpose: made of these functions, called or inlined by Numba, the loops of rigid trees were
measured a quarter slower.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.lagrangian_kernels import apply_inertia, cross, move_segment, own_inertia
from bunraku.mechanics.dynamics.lagrangian_layout import (
    ANGULAR,
    COORDINATE,
    FIRST_MOMENT,
    FIXED_POSITION,
    FIXED_ROTATION,
    GRAVITY_ARM,
    HAS_MASS,
    LINEAR,
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
def place_slot(i, node_i, node_f, q, W):
    """World pose and screw of slot ``i`` at ``q``; its parent's stand in ``W`` already."""
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
def velocity_slot(i, node_i, v, W):
    """Twist V and screw rate Sdot of slot ``i``."""
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
def own_momentum(i, node_i, node_f, W):
    """Inertia and momentum of the body on slot ``i`` alone."""
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


@kernel
def momentum_slot(i, node_i, gravity, W, Lv, Lq):
    """Adds slot ``i``, all beyond it gathered, to ``Lv``, ``Lq`` (nq,) and to its parent."""
    g0, g1, g2 = gravity[0], gravity[1], gravity[2]
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
def hessian_slot(i, node_i, gravity, W, Lvv, Lvq, Lqq):
    """Adds the second derivatives of slot ``i`` with itself and with all slots before it."""
    g0, g1, g2 = gravity[0], gravity[1], gravity[2]
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
