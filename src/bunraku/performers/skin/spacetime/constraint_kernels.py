"""Rows of one sample of a plan on soles: height, slip, forces in the air, friction, pressure, twist; and those of the joints.

Sample i has the unknowns v_i = (q_i, f_i, t_i): coordinates, forces of the ground on the soles and its torques about their centres.
``K`` as in `mechanics.centroidal`: kinematics of all extended samples (index i + 1 for sample i).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.constraint_kernels import dynamics
from bunraku.mechanics.centroidal.kinematics_kernels import cross
from bunraku.mechanics.centroidal.torque_kernels import torque_slopes, torque_sums
from bunraku.optimization.blocks.residual_kernels import active, put
from bunraku.performers.skin.spacetime.joint_kernels import JOINT_ROWS, joint_moves, joint_torques, skin_slopes, torque_rows

SOLE_ROWS = 13
HEIGHT, SLIP, AIR, FRICTION, NORMAL, PRESSURE, TWIST = 0, 1, 3, 9, 10, 11, 12
"""Rows of a sole: height, slip (2), force and torque in the air (6), friction, normal force, place of the pressure, twist."""

EPS = 1e-6
"""Cones are rounded: sqrt(|f_t|^2 + EPS) [N^2], and with EPS times the squared radius for torques."""


@njit(cache=True)
def cone(k, first, second, along, share, slack, v, jac, weight, s, held, r, L, g, idx, co):
    """Row k: sqrt(a^2 + b^2 + slack) - share c <= 0 of the unknowns a, b, c = v[``first``], v[``second``], v[``along``].

    Where it pushes its curvature is added too: a cone is convex, and a small force turns in it by more than Gauss-Newton sees.
    """
    nv = v.shape[0]
    size = np.sqrt(v[first] * v[first] + v[second] * v[second] + slack)
    r[k] = size - share * v[along]
    if jac and active(k, r, s, held):
        x, y, value = v[first] / size, v[second] / size, r[k] + s[k]
        idx[0], co[0] = nv + first, x
        idx[1], co[1] = nv + second, y
        idx[2], co[2] = nv + along, -share
        put(L, g, idx, co, 3, weight, value)
        bend = weight * max(value, 0.0) / size
        L[nv + first, nv + first] += bend * (1.0 - x * x)
        L[nv + second, nv + second] += bend * (1.0 - y * y)
        L[nv + max(first, second), nv + min(first, second)] -= bend * x * y


@njit(cache=True)
def air(i, first, n, o, v, jac, w, scale, s, r, L, g, idx, co):
    """Three unknowns from ``first`` on are zero: rows o + n, ..."""
    nv = v.shape[1]
    for a in range(3):
        k = o + n + a
        r[k] = v[i, first + a]
        if jac:
            idx[0], co[0] = nv + first + a, 1.0
            put(L, g, idx, co, 1, 2.0 * w * scale[k] ** 2, r[k] + s[k])


@njit(cache=True)
def sole(
    i, j, o, f_min, mu, radius, height, here, after, whole, chain, nq, e, Je, v, jac, w, scale, s, held, r, L, g, idx, co, pull
):
    """All rows of sole j at extended sample i; ``here``, ``after``: whether it stands now and at the next sample.

    ``whole``: with friction and twist. The normal of the ground is z: f_n = f_z, pressure (-t_y, t_x)/f_n within ``radius``.
    ``pull`` (3, n_e + 1, 3): what the rows pull at the soles with, before, now and after, is added.
    """
    nv, n_e = v.shape[1], e.shape[1]
    r[o + HEIGHT] = e[i, j, 2] - height
    if jac:
        k = 0
        while chain[j, k] >= 0:
            idx[k], co[k] = nv + chain[j, k], Je[i, j, 2, k]
            k += 1
        put(L, g, idx, co, k, 2.0 * w * scale[o + HEIGHT] ** 2, r[o + HEIGHT] + s[o + HEIGHT])
        pull[1, j, 2] += 2.0 * w * scale[o + HEIGHT] ** 2 * (r[o + HEIGHT] + s[o + HEIGHT])
    p, t = nq + 3 * j, nq + 3 * (n_e + j)
    if not here:
        air(i, p, AIR, o, v, jac, w, scale, s, r, L, g, idx, co)
        air(i, t, AIR + 3, o, v, jac, w, scale, s, r, L, g, idx, co)
        return
    if after:
        for a in range(2):
            q = o + SLIP + a
            r[q] = e[i + 1, j, a] - e[i, j, a]
            if jac:
                k, c = 0, 0
                while chain[j, c] >= 0:
                    idx[k], co[k] = nv + chain[j, c], -Je[i, j, a, c]
                    idx[k + 1], co[k + 1] = 2 * nv + chain[j, c], Je[i + 1, j, a, c]
                    k += 2
                    c += 1
                put(L, g, idx, co, k, 2.0 * w * scale[q] ** 2, r[q] + s[q])
                pull[1, j, a] -= 2.0 * w * scale[q] ** 2 * (r[q] + s[q])
                pull[2, j, a] += 2.0 * w * scale[q] ** 2 * (r[q] + s[q])
    r[o + NORMAL] = f_min - v[i, p + 2]
    if jac and active(o + NORMAL, r, s, held):
        idx[0], co[0] = nv + p + 2, -1.0
        put(L, g, idx, co, 1, 2.0 * w * scale[o + NORMAL] ** 2, r[o + NORMAL] + s[o + NORMAL])
    q, slack = o + PRESSURE, EPS * radius * radius
    cone(q, t, t + 1, p + 2, radius, slack, v[i], jac, 2.0 * w * scale[q] ** 2, s, held, r, L, g, idx, co)
    if not whole:
        return
    q = o + FRICTION
    cone(q, p, p + 1, p + 2, mu, EPS, v[i], jac, 2.0 * w * scale[q] ** 2, s, held, r, L, g, idx, co)
    q = o + TWIST
    turn = v[i, t + 2]
    r[q] = abs(turn) - mu * radius * 2.0 / 3.0 * v[i, p + 2]
    if jac and active(q, r, s, held):
        idx[0], co[0] = nv + t + 2, 1.0 if turn >= 0.0 else -1.0
        idx[1], co[1] = nv + p + 2, -mu * radius * 2.0 / 3.0
        put(L, g, idx, co, 2, 2.0 * w * scale[q] ** 2, r[q] + s[q])


@njit(cache=True)
def pulls(i, share, nq, chain, Jx, Je, v, w, scale, s, r, pull, L):
    """What Newton's and Euler's rows pull at centre of mass and soles with; and Euler's curvature in coordinates and forces.

    With multipliers p of Newton's and q of Euler's row and ``share`` = M/h^2: -share p at the centre of mass before and after,
    2 share p - sum f x q now; f x q at each sole; and q.((de - dx) x df) in L.
    """
    n_e, nv = chain.shape[0], v.shape[0]
    p, q, u = np.empty(3), np.empty(3), np.empty(3)
    for a in range(3):
        p[a] = 2.0 * w * scale[a] ** 2 * (r[a] + s[a])
        q[a] = 2.0 * w * scale[3 + a] ** 2 * (r[3 + a] + s[3 + a])
        pull[0, n_e, a] -= share * p[a]
        pull[1, n_e, a] += 2.0 * share * p[a]
        pull[2, n_e, a] -= share * p[a]
    for j in range(n_e):
        o = nq + 3 * j
        cross(v[o : o + 3], q, u)
        for a in range(3):
            pull[1, j, a] += u[a]
            pull[1, n_e, a] -= u[a]
        k = 0
        for c in range(nq):
            d0, d1, d2 = -Jx[i, 0, c], -Jx[i, 1, c], -Jx[i, 2, c]
            if chain[j, k] == c:
                d0, d1, d2 = d0 + Je[i, j, 0, k], d1 + Je[i, j, 1, k], d2 + Je[i, j, 2, k]
                k = min(k + 1, chain.shape[1] - 1)
            L[nv + o, nv + c] += q[1] * d2 - q[2] * d1
            L[nv + o + 1, nv + c] += q[2] * d0 - q[0] * d2
            L[nv + o + 2, nv + c] += q[0] * d1 - q[1] * d0


@njit(cache=True)
def sample(
    i,
    before,
    after,
    numbers,
    home,
    model,
    limits,
    plan,
    skin,
    sums,
    K,
    v,
    tau,
    jac,
    w,
    scale,
    s,
    held,
    r,
    L,
    g,
    idx,
    co,
    curved,
    pull,
):
    """All rows of extended sample ``i`` (sample i - 1); rows that do not apply are 0 (equalities) or -1 (inequalities).

    Returns the term of the torques, which go to ``tau`` (nq,). ``numbers``: step, mass, gravity, least force, whether dynamic,
    weight of torques; ``plan``: contacts (T + 2, n_e), heights (T, n_e), friction, radius, moves.
    """
    contacts, heights, friction, radius, moves = plan
    middle, half, speed, stall, no_load = limits
    kind, nodes, tip_node, chain = model[0][1], model[1], model[3][0], model[3][6]
    P, A, e, Je, stiffness = K[1], K[2], K[6], K[12], skin[0]
    h, f_min, whole = numbers[0], numbers[3], numbers[4] > 0.0
    nq, n_e, nv = nodes.shape[0], contacts.shape[1], v.shape[1]
    for k in range(r.shape[0]):
        r[k] = 0.0
    standing = 0
    for j in range(n_e):
        q = 6 + SOLE_ROWS * j
        standing += contacts[i, j]
        r[q + FRICTION], r[q + NORMAL], r[q + PRESSURE], r[q + TWIST] = -1.0, -1.0, -1.0, -1.0
    if before and after and (whole or standing > 0):
        dynamics(i, h if whole else np.inf, numbers[1], numbers[2], model, K, v[i, nq:], jac, w, scale, s, r, L, g)
        if jac and curved:
            pulls(i, numbers[1] / (h * h) if whole else 0.0, nq, chain, K[4], Je, v[i], w, scale, s, r, pull, L)
    for j in range(n_e):
        here, then = contacts[i, j] != 0, after and contacts[i + 1, j] != 0
        q, at = 6 + SOLE_ROWS * j, heights[i - 1, j]
        sole(
            i, j, q, f_min, friction[j], radius[j], at, here, then, whole, chain, nq, e, Je, v, jac, w, scale, s, held, r, L, g,
            idx, co, pull,
        )  # fmt: skip
    o = 6 + SOLE_ROWS * n_e
    turning = before and after and whole
    load, faint = np.empty((model[2][0].shape[0], 3)), np.zeros(nq)
    if turning:
        joint_torques(i, h, numbers[2], model, skin, home, K, v, load, tau)
        if jac:
            torque_sums(model[0][0], model[2], tip_node, K[3], K[5], e, v[i, nq:], i, load, *sums)
    cost = 0.0
    for c in range(6, nq):
        k, n = o + JOINT_ROWS * (c - 6), 0
        r[k + 1], r[k + 2], r[k + 3] = -1.0, -1.0, -1.0
        joint_moves(c, i, k, h, middle[c], half[c], speed[c], v, after, jac, w, scale, s, held, r, L, g, idx, co)
        if turning and half[c] > 0.0:
            if jac:
                n = torque_slopes(c, i, kind, nodes, tip_node, moves, P, A, e, h, nv, *sums, idx, co)
                n = skin_slopes(c, n, nodes, moves, stiffness, nv, idx, co, faint)
            cost += torque_rows(
                c, i, k + 2, n, h, numbers[5], stall[c], no_load[c], faint, v, tau[c], jac, w, scale, s, held, r, L, g, idx, co
            )
    return cost
