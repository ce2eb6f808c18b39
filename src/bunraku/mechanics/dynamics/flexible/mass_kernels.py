"""Inertia of a flexible segment from its invariants N_a = int rho phi_a, E_ab = int rho phi_a phi_b' (phi_0 the rest positions).

With z = (1, u): c = sum z_a N_a, Y_a = sum_b z_b E_ba, Sigma = sum z_a Y_a, Z_a = sum_b v_b E_ab, J = tr(Sigma) 1 - Sigma,
J_a = 2 tr(Y_a) 1 - Y_a - Y_a'; (eps:M)_i = eps_ijk M_jk; (w; v) the twist of the floating frame F in F:

    h = (J w + c x v + eps:(sum v_a Y_a); m v + w x c + sum v_a N_a)      momentum about the origin of F
    Pi_a = (eps:Y_a; N_a)      b_a = dh/du_a = (J_a w + N_a x v + eps:Z_a; w x N_a)
    dT/dv_a = Pi_a.(w; v) + tr Z_a      dT/du_a = w.J_a w / 2 + v.(w x N_a) + w.(eps:Z_a)
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.lagrangian_kernels import cross


@kernel
def segment_mass(data, u, v, w0, w1, w2, v0, v1, v2, modes, whole):
    """Inertia and momentum at (u, v) (r,) and the twist (w; v) of F, all in F.

    ``data``: mass, beta, N (r + 1, 3), E (r + 1, r + 1, 9). ``modes`` (r, 14): Pi (6), b (6), dT/dv, dT/du of each mode. ``whole``
    (16,): mass, first moment (3), inertia about the origin (xx, yy, zz, xy, xz, yz), momentum (angular; linear).
    """
    r = u.shape[0]
    n = 9 * (r + 1)
    Y, Z = np.zeros(n, whole.dtype), np.zeros(n, whole.dtype)
    o = 2 + 3 * (r + 1)
    for i in range(n):
        Y[i] = data[o + i]
    for b in range(r):
        x, y = u[b], v[b]
        o += n
        E = data[o : o + n]
        for i in range(n):
            Y[i] += x * E[i]
            Z[i] += y * E[i]
    S, P = np.zeros(9, whole.dtype), np.zeros(9, whole.dtype)
    c0, c1, c2 = 0.0 * w0 + data[2], 0.0 * w0 + data[3], 0.0 * w0 + data[4]
    n0, n1, n2 = 0.0 * w0, 0.0 * w0, 0.0 * w0
    for i in range(9):
        S[i] = Y[i]
    for a in range(r):
        k, m = 9 * (a + 1), 5 + 3 * a
        for i in range(9):
            S[i] += u[a] * Y[k + i]
            P[i] += v[a] * Y[k + i]
        c0, c1, c2 = c0 + u[a] * data[m], c1 + u[a] * data[m + 1], c2 + u[a] * data[m + 2]
        n0, n1, n2 = n0 + v[a] * data[m], n1 + v[a] * data[m + 1], n2 + v[a] * data[m + 2]
    mass = data[0]
    xx, yy, zz = S[4] + S[8], S[0] + S[8], S[0] + S[4]
    xy, xz, yz = -S[1], -S[2], -S[5]
    whole[0], whole[1], whole[2], whole[3] = mass, c0, c1, c2
    whole[4], whole[5], whole[6], whole[7], whole[8], whole[9] = xx, yy, zz, xy, xz, yz
    x0, x1, x2 = cross(c0, c1, c2, v0, v1, v2)
    whole[10] = xx * w0 + xy * w1 + xz * w2 + x0 + P[5] - P[7]
    whole[11] = xy * w0 + yy * w1 + yz * w2 + x1 + P[6] - P[2]
    whole[12] = xz * w0 + yz * w1 + zz * w2 + x2 + P[1] - P[3]
    x0, x1, x2 = cross(w0, w1, w2, c0, c1, c2)
    whole[13], whole[14], whole[15] = mass * v0 + x0 + n0, mass * v1 + x1 + n1, mass * v2 + x2 + n2
    for a in range(r):
        k, m = 9 * (a + 1), 5 + 3 * a
        N0, N1, N2 = data[m], data[m + 1], data[m + 2]
        p0, p1, p2 = Y[k + 5] - Y[k + 7], Y[k + 6] - Y[k + 2], Y[k + 1] - Y[k + 3]
        e0, e1, e2 = Z[k + 7] - Z[k + 5], Z[k + 2] - Z[k + 6], Z[k + 3] - Z[k + 1]  # Z holds the transposed
        t = 2.0 * (Y[k] + Y[k + 4] + Y[k + 8])
        d, e, f = Y[k + 1] + Y[k + 3], Y[k + 2] + Y[k + 6], Y[k + 5] + Y[k + 7]
        j0 = (t - 2.0 * Y[k]) * w0 - d * w1 - e * w2
        j1 = (t - 2.0 * Y[k + 4]) * w1 - d * w0 - f * w2
        j2 = (t - 2.0 * Y[k + 8]) * w2 - e * w0 - f * w1
        x0, x1, x2 = cross(N0, N1, N2, v0, v1, v2)
        y0, y1, y2 = cross(w0, w1, w2, N0, N1, N2)
        modes[a, 0], modes[a, 1], modes[a, 2] = p0, p1, p2
        modes[a, 3], modes[a, 4], modes[a, 5] = N0, N1, N2
        modes[a, 6], modes[a, 7], modes[a, 8] = j0 + x0 + e0, j1 + x1 + e1, j2 + x2 + e2
        modes[a, 9], modes[a, 10], modes[a, 11] = y0, y1, y2
        modes[a, 12] = p0 * w0 + p1 * w1 + p2 * w2 + N0 * v0 + N1 * v1 + N2 * v2 + Z[k] + Z[k + 4] + Z[k + 8]
        modes[a, 13] = 0.5 * (w0 * j0 + w1 * j1 + w2 * j2) + v0 * y0 + v1 * y1 + v2 * y2 + w0 * e0 + w1 * e1 + w2 * e2
