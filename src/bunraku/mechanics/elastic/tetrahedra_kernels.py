"""Elastic energy, forces and tangents of tetrahedra, added up into a fixed block pattern. Arrays in, arrays out.

H = grad u at a quadrature point, F = I + H, G_a the gradient of shape function a; G (cells, points, 3, k) holds them with the nodes
innermost. Lame's numbers are lam and mu. Both materials have tangent blocks (rows i of node a, columns j of node b) of one form,
sums of outer products, which is what makes the assembly fast:

    K_ab = s_ab I + c1 p_a q_b' + c2 p_b q_a' + c3 (G_a.G_b) B

    Neo-Hookean       p = q = g, g_a = F^-T G_a;  s_ab = mu G_a.G_b;  c1 = lam, c2 = mu - lam ln J, c3 = 0
    St. Venant-K.     p = q = h, h_a = F G_a;     s_ab = G_a.S G_b;   c1 = lam, c2 = c3 = mu, B = F F'
    strain-rate damping, by v: as St. Venant-K. without s; by u: p = h, q_a = F* G_a (F* = grad v), B = F F*', s_ab = G_a.S* G_b

"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

NEO_HOOKEAN, ST_VENANT_KIRCHHOFF = 0, 1


@njit(cache=True)
def gather(cells, u, e, x):
    """Gather x (3, k), the values u (n, 3) at the nodes of cell e."""
    for a in range(cells.shape[1]):
        for i in range(3):
            x[i, a] = u[cells[e, a], i]


@njit(cache=True)
def gradient(x, g, H):
    """H = sum_a x_a G_a' (3, 3) from values x (3, k) and gradients g (3, k)."""
    for i in range(3):
        for j in range(3):
            s = 0.0
            for a in range(x.shape[1]):
                s += x[i, a] * g[j, a]
            H[i, j] = s


@njit(cache=True)
def volume_change(H):
    """J - 1 = det(I + H) - 1 without cancellation for small H."""
    minors = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0] + H[0, 0] * H[2, 2] - H[0, 2] * H[2, 0] + H[1, 1] * H[2, 2] - H[1, 2] * H[2, 1]
    det = H[0, 0] * (H[1, 1] * H[2, 2] - H[1, 2] * H[2, 1])
    det += H[0, 1] * (H[1, 2] * H[2, 0] - H[1, 0] * H[2, 2])
    det += H[0, 2] * (H[1, 0] * H[2, 1] - H[1, 1] * H[2, 0])
    return H[0, 0] + H[1, 1] + H[2, 2] + minors + det


@njit(cache=True)
def inverse_transpose(H, J, T):
    """T = (I + H)^-T, the cofactors over the determinant J."""
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            a, b = H[i1, j1] + (i1 == j1), H[i2, j2] + (i2 == j2)
            c, d = H[i1, j2] + (i1 == j2), H[i2, j1] + (i2 == j1)
            T[i, j] = (a * b - c * d) / J


@njit(cache=True)
def strain(H, K, E):
    """E = sym((I + H)' K), with K = grad v the rate of Green's strain."""
    for i in range(3):
        for j in range(i + 1):
            s = K[i, j] + K[j, i]
            for m in range(3):
                s += H[m, i] * K[m, j] + H[m, j] * K[m, i]
            E[i, j] = E[j, i] = 0.5 * s


@njit(cache=True)
def green_strain(H, E):
    """E = (H + H' + H'H) / 2."""
    for i in range(3):
        for j in range(i + 1):
            s = H[i, j] + H[j, i]
            for m in range(3):
                s += H[m, i] * H[m, j]
            E[i, j] = E[j, i] = 0.5 * s


@njit(cache=True)
def hooke(lam, mu, E, S):
    """S = lam tr(E) I + 2 mu E; returns S:E."""
    t = lam * (E[0, 0] + E[1, 1] + E[2, 2])
    total = 0.0
    for i in range(3):
        for j in range(3):
            S[i, j] = 2.0 * mu * E[i, j] + (t if i == j else 0.0)
            total += S[i, j] * E[i, j]
    return total


@njit(cache=True)
def first_piola(H, S, P):
    """P = (I + H) S."""
    for i in range(3):
        for j in range(3):
            P[i, j] = S[i, j] + H[i, 0] * S[0, j] + H[i, 1] * S[1, j] + H[i, 2] * S[2, j]


@njit(cache=True)
def stress(model, lam, mu, H, P, T, S):
    """Energy density [J/m^3] at H; fills P, and T = F^-T (Neo-Hookean) or the second Piola stress S. Infinite when collapsed."""
    if model == NEO_HOOKEAN:
        change = volume_change(H)
        J = 1.0 + change
        if not J > 0.0:
            return np.inf
        log_J = np.log1p(change)
        inverse_transpose(H, J, T)
        squares = 2.0 * (H[0, 0] + H[1, 1] + H[2, 2])
        for i in range(3):
            for j in range(3):
                squares += H[i, j] * H[i, j]
                P[i, j] = mu * (H[i, j] + (1.0 if i == j else 0.0)) + (lam * log_J - mu) * T[i, j]
        return mu * (0.5 * squares - log_J) + 0.5 * lam * log_J * log_J
    green_strain(H, T)
    W = 0.5 * hooke(lam, mu, T, S)
    first_piola(H, S, P)
    return W


@njit(cache=True)
def add_force(w, P, g, x):
    """Add w P G_a to x (3, k)."""
    for i in range(3):
        for a in range(g.shape[1]):
            x[i, a] += w * (P[i, 0] * g[0, a] + P[i, 1] * g[1, a] + P[i, 2] * g[2, a])


@njit(cache=True)
def scatter_force(cells, e, x, f):
    """Add a cell's forces x (3, k) to f (n, 3)."""
    for a in range(cells.shape[1]):
        for i in range(3):
            f[cells[e, a], i] += x[i, a]


@njit(cache=True)
def forces(model, lam, mu, cells, G, w, u, f):
    """Add up f (n, 3), the derivative of the energy by u; returns the energy [J] and the first collapsed cell (-1: none)."""
    k = cells.shape[1]
    H, P, T, S = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    x, y = np.empty((3, k)), np.empty((3, k))
    energy = 0.0
    for e in range(cells.shape[0]):
        gather(cells, u, e, x)
        y[:] = 0.0
        for q in range(w.shape[1]):
            gradient(x, G[e, q], H)
            W = stress(model, lam[e], mu[e], H, P, T, S)
            if np.isinf(W):
                return np.inf, e
            energy += w[e, q] * W
            add_force(w[e, q], P, G[e, q], y)
        scatter_force(cells, e, y, f)
    return energy, -1


@njit(cache=True)
def mapped(H, unit, g, out):
    """Fill out (3 k,), index (i, a), with ((unit I + H) G_a)_i."""
    k = g.shape[1]
    for i in range(3):
        for a in range(k):
            out[i * k + a] = unit * g[i, a] + H[i, 0] * g[0, a] + H[i, 1] * g[1, a] + H[i, 2] * g[2, a]


@njit(cache=True)
def products(g, S, out):
    """Fill out (k k,), index (a, b), with G_a.S G_b."""
    k = g.shape[1]
    for a in range(k):
        x = S[0, 0] * g[0, a] + S[1, 0] * g[1, a] + S[2, 0] * g[2, a]
        y = S[0, 1] * g[0, a] + S[1, 1] * g[1, a] + S[2, 1] * g[2, a]
        z = S[0, 2] * g[0, a] + S[1, 2] * g[1, a] + S[2, 2] * g[2, a]
        for b in range(k):
            out[a * k + b] = x * g[0, b] + y * g[1, b] + z * g[2, b]


@njit(cache=True)
def outer(c, p, q, out):
    """Fill out (r, s) with the sum over m of c[m] p[m]' q[m], for c (M,), p (M, r), q (M, s)."""
    for r in range(p.shape[1]):
        for s in range(q.shape[1]):
            out[r, s] = 0.0
        for m in range(c.shape[0]):
            scale = c[m] * p[m, r]
            for s in range(q.shape[1]):
                out[r, s] += scale * q[m, s]


@njit(cache=True)
def scatter(cells, slot, start, e, A1, A2, s, Z, data):
    """Add blocks A1[ia, jb] + A2[ib, ja] + s_ab I + Z_ij,ab to the numbers of a CSR matrix.

    Row 3 n + i of node n begins at 9 start[n] + 3 i (start[n+1] - start[n]). s (1, k k); Z (9, k k) may be empty.
    """
    k = cells.shape[1]
    for a in range(k):
        n = cells[e, a]
        first, width = 9 * start[n], 3 * (start[n + 1] - start[n])
        for b in range(k):
            at = first + 3 * slot[e, a, b]
            for i in range(3):
                for j in range(3):
                    data[at + i * width + j] += A1[i * k + a, j * k + b] + A2[i * k + b, j * k + a]
                data[at + i * (width + 1)] += s[0, a * k + b]
    if Z.shape[0]:
        for a in range(k):
            n = cells[e, a]
            first, width = 9 * start[n], 3 * (start[n + 1] - start[n])
            for b in range(k):
                at = first + 3 * slot[e, a, b]
                for i in range(3):
                    for j in range(3):
                        data[at + i * width + j] += Z[3 * i + j, a * k + b]


@njit(cache=True)
def tangents(model, lam, mu, cells, G, w, u, slot, start, f, data):
    """Forces as :func:`forces`, and the stiffness added to ``data``."""
    k, points = cells.shape[1], w.shape[1]
    H, P, T, S = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    x, y, unit, ones = np.empty((3, k)), np.empty((3, k)), np.eye(3), np.ones((points, 1))
    c0, c1, c2 = np.empty(points), np.empty(points), np.empty(points)
    p, D, s, B = np.empty((points, 3 * k)), np.empty((points, k * k)), np.empty((points, k * k)), np.empty((points, 9))
    A1, A2, sums = np.empty((3 * k, 3 * k)), np.empty((3 * k, 3 * k)), np.empty((1, k * k))
    Z = np.empty((0 if model == NEO_HOOKEAN else 9, k * k))
    energy = 0.0
    for e in range(cells.shape[0]):
        gather(cells, u, e, x)
        y[:] = 0.0
        for q in range(points):
            g = G[e, q]
            gradient(x, g, H)
            W = stress(model, lam[e], mu[e], H, P, T, S)
            if np.isinf(W):
                return np.inf, e
            energy += w[e, q] * W
            add_force(w[e, q], P, g, y)
            c1[q] = w[e, q] * lam[e]
            if model == NEO_HOOKEAN:
                mapped(T, 0.0, g, p[q])
                products(g, unit, s[q])
                c0[q], c2[q] = w[e, q] * mu[e], w[e, q] * (mu[e] - lam[e] * np.log1p(volume_change(H)))
            else:
                mapped(H, 1.0, g, p[q])
                products(g, unit, D[q])
                products(g, S, s[q])
                left_stretch(H, H, 1.0, B[q])
                c0[q], c2[q] = w[e, q], w[e, q] * mu[e]
        scatter_force(cells, e, y, f)
        outer(c1, p, p, A1)
        outer(c2, p, p, A2)
        outer(c0, ones, s, sums)
        if model != NEO_HOOKEAN:
            outer(c2, B, D, Z)
        scatter(cells, slot, start, e, A1, A2, sums, Z, data)
    return energy, -1


@njit(cache=True)
def left_stretch(H, K, unit, B):
    """B (9,), index (i, j) = (I + H) (unit I + K)'."""
    for i in range(3):
        for j in range(3):
            s = unit * ((1.0 if i == j else 0.0) + H[i, j]) + K[j, i]
            for m in range(3):
                s += H[i, m] * K[j, m]
            B[3 * i + j] = s


@njit(cache=True)
def damping(lam, mu, cells, G, w, u, v, slot, start, f, by_v, by_u):
    """Strain-rate damping with Lame's numbers lam, mu [Pa s]: adds to f, and to the matrices that are not empty.

    Returns the power.
    """
    k, points = cells.shape[1], w.shape[1]
    H, V, E, S, P = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    x, xv, y, unit, ones, none = (
        np.empty((3, k)),
        np.empty((3, k)),
        np.empty((3, k)),
        np.eye(3),
        np.ones((points, 1)),
        np.zeros((1, k * k)),
    )
    c0, c1, c2 = np.empty(points), np.empty(points), np.empty(points)
    p, r = np.empty((points, 3 * k)), np.empty((points, 3 * k))
    D, s, B, Bv = np.empty((points, k * k)), np.empty((points, k * k)), np.empty((points, 9)), np.empty((points, 9))
    A1, A2, sums, Z = np.empty((3 * k, 3 * k)), np.empty((3 * k, 3 * k)), np.empty((1, k * k)), np.empty((9, k * k))
    power = 0.0
    for e in range(cells.shape[0]):
        gather(cells, u, e, x)
        gather(cells, v, e, xv)
        y[:] = 0.0
        for q in range(points):
            g = G[e, q]
            gradient(x, g, H)
            gradient(xv, g, V)
            strain(H, V, E)
            power += w[e, q] * hooke(lam[e], mu[e], E, S)
            first_piola(H, S, P)
            add_force(w[e, q], P, g, y)
            c0[q], c1[q], c2[q] = w[e, q], w[e, q] * lam[e], w[e, q] * mu[e]
            if by_v.shape[0] or by_u.shape[0]:
                mapped(H, 1.0, g, p[q])
                mapped(V, 0.0, g, r[q])
                products(g, unit, D[q])
                products(g, S, s[q])
                left_stretch(H, H, 1.0, B[q])
                left_stretch(H, V, 0.0, Bv[q])
        scatter_force(cells, e, y, f)
        if by_v.shape[0]:
            outer(c1, p, p, A1)
            outer(c2, p, p, A2)
            outer(c2, B, D, Z)
            scatter(cells, slot, start, e, A1, A2, none, Z, by_v)
        if by_u.shape[0]:
            outer(c1, p, r, A1)
            outer(c2, p, r, A2)
            outer(c2, Bv, D, Z)
            outer(c0, ones, s, sums)
            scatter(cells, slot, start, e, A1, A2, sums, Z, by_u)
    return power


@njit(cache=True)
def spread_mass(cells, mass, slot, start, data):
    """Add the scalar matrices ``mass`` (m, k, k) of the cells, times the unit matrix, to a block pattern."""
    k = cells.shape[1]
    for e in range(cells.shape[0]):
        for a in range(k):
            n = cells[e, a]
            width = 3 * (start[n + 1] - start[n])
            for b in range(k):
                at = 9 * start[n] + 3 * slot[e, a, b]
                for i in range(3):
                    data[at + i * (width + 1)] += mass[e, a, b]


@njit(cache=True)
def stresses(model, lam, mu, H):
    """Energy densities (m,) and first Piola stresses (m, 3, 3) at displacement gradients H (m, 3, 3)."""
    W, P = np.empty(H.shape[0]), np.empty(H.shape)
    T, S = np.empty((3, 3)), np.empty((3, 3))
    for m in range(H.shape[0]):
        W[m] = stress(model, lam, mu, H[m], P[m], T, S)
        if np.isinf(W[m]):
            P[m] = np.nan
    return W, P
