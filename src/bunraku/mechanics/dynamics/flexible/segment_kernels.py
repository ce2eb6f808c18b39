"""A flexible segment in its floating frame F: child frames, inertia, and what its modes add to the recursions of a tree.

Generic in the number type, as everything in this room. Letters are those of `docs/theory` and of the module `segment.py`: u the
modal coordinates, v their rates, r their number. A child interface has centroid c = c0 + C u and deformation A = A0 + sum A_a u_a;
its rotation R makes Q = A R' symmetric (polar decomposition), K = tr(Q) 1 - Q. With G_a = A_a R' and ax(M) = (M32 - M23, ...):

    om_a = K^-1 ax(G_a)      T_a = (om_a; C_a - om_a x c)      the screw of mode a on everything beyond the interface, in F
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.flexible.layout import (
    CENTER,
    CENTER_RATE,
    INVERSE,
    OM,
    OM_RATE,
    SHIFT,
    SPIN,
    SQUARE,
    TRACE,
    TURN,
    TURN_RATE,
    G,
)
from bunraku.mechanics.dynamics.lagrangian_kernels import cross


@kernel
def invert(Q, K):
    """``K`` (9,) = inverse of tr(Q) 1 - Q for a symmetric Q (9,); returns whether tr(Q) 1 - Q is positive definite."""
    t = Q[0] + Q[4] + Q[8]
    a, b, c = t - Q[0], t - Q[4], t - Q[8]
    d, e, f = -0.5 * (Q[1] + Q[3]), -0.5 * (Q[2] + Q[6]), -0.5 * (Q[5] + Q[7])
    x, y, z = b * c - f * f, e * f - d * c, d * f - b * e
    det = a * x + d * y + e * z
    i = 1.0 / det
    K[0], K[1], K[2] = x * i, y * i, z * i
    K[3], K[4], K[5] = y * i, (a * c - e * e) * i, (d * e - a * f) * i
    K[6], K[7], K[8] = z * i, (d * e - a * f) * i, (a * b - d * d) * i
    return c.real > 0.0 and x.real > 0.0 and det.real > 0.0


@kernel
def times_transposed(A, R, Q):
    """``Q`` (9,) = A R'."""
    for i in range(3):
        for j in range(3):
            Q[3 * i + j] = A[3 * i] * R[3 * j] + A[3 * i + 1] * R[3 * j + 1] + A[3 * i + 2] * R[3 * j + 2]


@kernel
def polar(A, R, Q, K):
    """From the guess in ``R`` (9,) to the rotation that makes Q = A R' symmetric, by Newton with Cayley steps; ``K`` its inverse.

    After a step below 1e-7 one more follows: exact to rounding, also in the derivatives a complex number carries. Returns whether
    this is the nearest rotation.
    """
    small = False
    good = False
    for _ in range(30):
        times_transposed(A, R, Q)
        good = invert(Q, K)
        a0, a1, a2 = Q[7] - Q[5], Q[2] - Q[6], Q[3] - Q[1]
        d0 = K[0] * a0 + K[1] * a1 + K[2] * a2
        d1 = K[3] * a0 + K[4] * a1 + K[5] * a2
        d2 = K[6] * a0 + K[7] * a1 + K[8] * a2
        f = 1.0 / (1.0 + 0.25 * (d0 * d0 + d1 * d1 + d2 * d2))
        for j in range(3):
            x, y, z = R[j], R[3 + j], R[6 + j]
            e0, e1, e2 = cross(d0, d1, d2, x, y, z)
            g0, g1, g2 = cross(d0, d1, d2, e0, e1, e2)
            R[j] = x + f * (e0 + 0.5 * g0)
            R[3 + j] = y + f * (e1 + 0.5 * g1)
            R[6 + j] = z + f * (e2 + 0.5 * g2)
        size = abs(d0) + abs(d1) + abs(d2)
        if small or not size < np.inf:
            break
        small = size < 1e-7
    times_transposed(A, R, Q)
    return invert(Q, K) and good and small


@kernel
def nearest_rotation(A, R):
    """A rotation ``R`` (9,) near the polar one of the real part of ``A`` (9,): the leading eigenvector of Davenport's matrix."""
    M = np.empty((4, 4))
    a = np.empty(9)
    for i in range(9):
        a[i] = A[i].real
    M[0, 0] = a[0] + a[4] + a[8]
    M[0, 1], M[0, 2], M[0, 3] = a[7] - a[5], a[2] - a[6], a[3] - a[1]
    M[1, 1], M[2, 2], M[3, 3] = a[0] - a[4] - a[8], a[4] - a[0] - a[8], a[8] - a[0] - a[4]
    M[1, 2], M[1, 3], M[2, 3] = a[1] + a[3], a[2] + a[6], a[5] + a[7]
    for i in range(4):
        for j in range(i):
            M[i, j] = M[j, i]
    _, vectors = np.linalg.eigh(M)
    w, x, y, z = vectors[0, 3], vectors[1, 3], vectors[2, 3], vectors[3, 3]
    R[0], R[1], R[2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[3], R[4], R[5] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[6], R[7], R[8] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def frame_map(data, u, W, row):
    """Child frame of an interface at u (r,) into row ``row`` of ``W``, and om, G, tr G, C of its modes into the r rows after.

    ``data``: c0 (3), A0 (9), then for each mode C_a (3), A_a (9).
    """
    r = u.shape[0]
    A, Q, K, R = np.empty(9, W.dtype), np.empty(9, W.dtype), np.empty(9, W.dtype), np.empty(9, W.dtype)
    for i in range(3):
        W[row, CENTER + i] = data[i]
    for i in range(9):
        A[i] = data[3 + i]
        R[i] = 1.0 if i % 4 == 0 else 0.0
    for a in range(r):
        o = 12 + 12 * a
        for i in range(3):
            W[row + 1 + a, SHIFT + i] = data[o + i]
            W[row, CENTER + i] += data[o + i] * u[a]
        for i in range(9):
            A[i] += data[o + 3 + i] * u[a]
    if not polar(A, R, Q, K):
        nearest_rotation(A, R)
        polar(A, R, Q, K)
    for i in range(9):
        W[row, SQUARE + i], W[row, INVERSE + i], W[row, TURN + i] = Q[i], K[i], R[i]
    for a in range(r):
        m, o = row + 1 + a, 15 + 12 * a
        for i in range(3):
            x, y, z = data[o + 3 * i], data[o + 3 * i + 1], data[o + 3 * i + 2]
            for j in range(3):
                W[m, G + 3 * i + j] = x * R[3 * j] + y * R[3 * j + 1] + z * R[3 * j + 2]
        W[m, TRACE] = W[m, G] + W[m, G + 4] + W[m, G + 8]
        a0, a1, a2 = W[m, G + 7] - W[m, G + 5], W[m, G + 2] - W[m, G + 6], W[m, G + 3] - W[m, G + 1]
        for i in range(3):
            W[m, OM + i] = K[3 * i] * a0 + K[3 * i + 1] * a1 + K[3 * i + 2] * a2


@kernel
def apply(W, row, at, x0, x1, x2):
    """M x for the 3 x 3 matrix that begins at column ``at`` of row ``row``."""
    return (
        W[row, at] * x0 + W[row, at + 1] * x1 + W[row, at + 2] * x2,
        W[row, at + 3] * x0 + W[row, at + 4] * x1 + W[row, at + 5] * x2,
        W[row, at + 6] * x0 + W[row, at + 7] * x1 + W[row, at + 8] * x2,
    )


@kernel
def apply_transposed(W, row, at, x0, x1, x2):
    """M' x for the 3 x 3 matrix that begins at column ``at`` of row ``row``."""
    return (
        W[row, at] * x0 + W[row, at + 3] * x1 + W[row, at + 6] * x2,
        W[row, at + 1] * x0 + W[row, at + 4] * x1 + W[row, at + 7] * x2,
        W[row, at + 2] * x0 + W[row, at + 5] * x1 + W[row, at + 8] * x2,
    )


@kernel
def frame_rates(v, W, row):
    """Rates along v (r,): w, G_v, c_v of the interface and om' of its modes, into the rows :func:`frame_map` filled.

    om_a' = K^-1 [-(tr G_a) w + G_a' w - tr(G_v) om_a + G_v om_a - Q (w x om_a)], G_a' transposed here.
    """
    r = v.shape[0]
    for i in range(9):
        W[row, TURN_RATE + i] = 0.0
    for i in range(3):
        W[row, CENTER_RATE + i] = 0.0
        W[row, SPIN + i] = 0.0
    for a in range(r):
        m = row + 1 + a
        for i in range(9):
            W[row, TURN_RATE + i] += v[a] * W[m, G + i]
        for i in range(3):
            W[row, CENTER_RATE + i] += v[a] * W[m, SHIFT + i]
            W[row, SPIN + i] += v[a] * W[m, OM + i]
    w0, w1, w2 = W[row, SPIN], W[row, SPIN + 1], W[row, SPIN + 2]
    t = W[row, TURN_RATE] + W[row, TURN_RATE + 4] + W[row, TURN_RATE + 8]
    for a in range(r):
        m = row + 1 + a
        o0, o1, o2 = W[m, OM], W[m, OM + 1], W[m, OM + 2]
        x0, x1, x2 = cross(w0, w1, w2, o0, o1, o2)
        q0, q1, q2 = apply(W, row, SQUARE, x0, x1, x2)
        g0, g1, g2 = apply(W, row, TURN_RATE, o0, o1, o2)
        h0, h1, h2 = apply_transposed(W, m, G, w0, w1, w2)
        s = W[m, TRACE]
        y0, y1, y2 = apply(
            W, row, INVERSE, h0 - s * w0 - t * o0 + g0 - q0, h1 - s * w1 - t * o1 + g1 - q1, h2 - s * w2 - t * o2 + g2 - q2
        )
        W[m, OM_RATE], W[m, OM_RATE + 1], W[m, OM_RATE + 2] = y0, y1, y2


@kernel
def wrench_arms(W, row, r, n0, n1, n2, f0, f1, f2, s, t):
    """``s``, ``t`` (3, r) with dT_a/du_b . h = s_a.om_b + om_a.t_b for the wrench h = (n; f) in F.

    k = K^-1 (n - c x f), s_a = G_a k - tr(G_a) k, t_a = G_a' k - tr(G_a) k + om_a x (Q k) - C_a x f. Returns k.
    """
    x0, x1, x2 = cross(W[row, CENTER], W[row, CENTER + 1], W[row, CENTER + 2], f0, f1, f2)
    k0, k1, k2 = apply(W, row, INVERSE, n0 - x0, n1 - x1, n2 - x2)
    q0, q1, q2 = apply(W, row, SQUARE, k0, k1, k2)
    for a in range(r):
        m = row + 1 + a
        p = W[m, TRACE]
        x0, x1, x2 = apply(W, m, G, k0, k1, k2)
        s[0, a], s[1, a], s[2, a] = x0 - p * k0, x1 - p * k1, x2 - p * k2
        x0, x1, x2 = apply_transposed(W, m, G, k0, k1, k2)
        y0, y1, y2 = cross(W[m, OM], W[m, OM + 1], W[m, OM + 2], q0, q1, q2)
        z0, z1, z2 = cross(W[m, SHIFT], W[m, SHIFT + 1], W[m, SHIFT + 2], f0, f1, f2)
        t[0, a], t[1, a], t[2, a] = x0 - p * k0 + y0 - z0, x1 - p * k1 + y1 - z1, x2 - p * k2 + y2 - z2
    return k0, k1, k2


@kernel
def wrench_arm_rates(W, row, r, k0, k1, k2, f0, f1, f2, s, t):
    """Adds to ``s``, ``t`` (3, r) the rates s', t' of :func:`wrench_arms` along v at a fixed wrench with k and force f.

    Q'k = G_v k - Q (w x k), k' = K^-1 [-c_v x f - tr(G_v) k + Q'k], (Qk)' = Q'k + Q k', G_a' = -G_a [w]x.
    """
    w0, w1, w2 = W[row, SPIN], W[row, SPIN + 1], W[row, SPIN + 2]
    p = W[row, TURN_RATE] + W[row, TURN_RATE + 4] + W[row, TURN_RATE + 8]
    x0, x1, x2 = cross(w0, w1, w2, k0, k1, k2)
    y0, y1, y2 = apply(W, row, SQUARE, x0, x1, x2)
    z0, z1, z2 = apply(W, row, TURN_RATE, k0, k1, k2)
    d0, d1, d2 = z0 - y0, z1 - y1, z2 - y2
    y0, y1, y2 = cross(W[row, CENTER_RATE], W[row, CENTER_RATE + 1], W[row, CENTER_RATE + 2], f0, f1, f2)
    j0, j1, j2 = apply(W, row, INVERSE, d0 - y0 - p * k0, d1 - y1 - p * k1, d2 - y2 - p * k2)
    y0, y1, y2 = apply(W, row, SQUARE, j0, j1, j2)
    d0, d1, d2 = d0 + y0, d1 + y1, d2 + y2
    q0, q1, q2 = apply(W, row, SQUARE, k0, k1, k2)
    for a in range(r):
        m = row + 1 + a
        p = W[m, TRACE]
        # G_a [w] x: the rate of G_a is minus that; its trace is -ax(G_a).w up to sign, from the entries
        rate = (
            w0 * (W[m, G + 5] - W[m, G + 7]) + w1 * (W[m, G + 6] - W[m, G + 2]) + w2 * (W[m, G + 1] - W[m, G + 3])
        )  # tr(G_a [w]x)
        y0, y1, y2 = apply(W, m, G, j0 - x0, j1 - x1, j2 - x2)
        s[0, a] += y0 + rate * k0 - p * j0
        s[1, a] += y1 + rate * k1 - p * j1
        s[2, a] += y2 + rate * k2 - p * j2
        y0, y1, y2 = apply_transposed(W, m, G, k0, k1, k2)
        z0, z1, z2 = cross(w0, w1, w2, y0, y1, y2)  # (-G [w]x)' k = [w]x G' k
        y0, y1, y2 = apply_transposed(W, m, G, j0, j1, j2)
        a0, a1, a2 = cross(W[m, OM_RATE], W[m, OM_RATE + 1], W[m, OM_RATE + 2], q0, q1, q2)
        b0, b1, b2 = cross(W[m, OM], W[m, OM + 1], W[m, OM + 2], d0, d1, d2)
        t[0, a] += z0 + y0 + rate * k0 - p * j0 + a0 + b0
        t[1, a] += z1 + y1 + rate * k1 - p * j1 + a1 + b1
        t[2, a] += z2 + y2 + rate * k2 - p * j2 + a2 + b2
