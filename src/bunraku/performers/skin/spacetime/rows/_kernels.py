"""Rows of one sample of a plan on soles: height, slip, forces in the air, friction, pressure, twist, limits of the joints.

Sample i has the unknowns v_i = (q_i, f_i, t_i): coordinates, forces of the ground on the soles and its torques about their centres.
``K`` as in `mechanics.centroidal`: kinematics of all extended samples (index i + 1 for sample i).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.rows._kernels import dynamics, range_and_speed
from bunraku.mechanics.centroidal.torque._kernels import torque_columns, torques
from bunraku.optimization.blocks.rows._kernels import put

SOLE_ROWS = 13
HEIGHT, SLIP, AIR, FRICTION, NORMAL, PRESSURE, TWIST = 0, 1, 3, 9, 10, 11, 12
"""Rows of a sole: height, slip (2), force and torque in the air (6), friction, normal force, place of the pressure, twist."""

JOINT_ROWS = 4
"""Rows of a joint: range, speed, stall torque, the motor's line."""

EPS = 1e-6
"""Cones are rounded: sqrt(|f_t|^2 + EPS) [N^2], and with EPS times the squared radius for torques."""

FREE = 1e8
"""A stall torque [N·m] above this is no limit."""


@njit(cache=True)
def cone(first, second, across, along, share, slack, active_shift, jac, weight, nv, L, g, idx, co):
    """The row sqrt(a^2 + b^2 + slack) - share c <= 0 of local unknowns ``first``, ``second`` (a, b) and ``along`` (c); its value.

    ``across``: (a, b, c). Its derivative is added where value + ``active_shift`` > 0, and its curvature too: a cone is convex, and
    a small force turns in it by more than Gauss and Newton would see.
    """
    size = np.sqrt(across[0] * across[0] + across[1] * across[1] + slack)
    value = size - share * across[2]
    if jac and value + active_shift > 0.0:
        u, v = across[0] / size, across[1] / size
        idx[0], co[0] = nv + first, u
        idx[1], co[1] = nv + second, v
        idx[2], co[2] = nv + along, -share
        put(L, g, idx, co, 3, weight, value + active_shift)
        bend = weight * (value + active_shift) / size
        L[nv + first, nv + first] += bend * (1.0 - u * u)
        L[nv + second, nv + second] += bend * (1.0 - v * v)
        L[nv + max(first, second), nv + min(first, second)] -= bend * u * v
    return value


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
def sole(i, j, o, f_min, mu, radius, height, here, after, whole, chain, nq, K, v, jac, w, scale, s, r, L, g, idx, co):
    """All rows of sole j at extended sample i; ``here``, ``after``: whether it stands now and at the next sample.

    ``whole``: with friction and twist. The normal of the ground is z: f_n = f_z, pressure (-t_y, t_x)/f_n within ``radius``.
    """
    e, Je = K[6], K[12]
    nv, n_e = v.shape[1], e.shape[1]
    r[o + HEIGHT] = e[i, j, 2] - (0.0 if here else height)
    if jac:
        k = 0
        while chain[j, k] >= 0:
            idx[k], co[k] = nv + chain[j, k], Je[i, j, 2, k]
            k += 1
        put(L, g, idx, co, k, 2.0 * w * scale[o + HEIGHT] ** 2, r[o + HEIGHT] + s[o + HEIGHT])
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
    r[o + NORMAL] = f_min - v[i, p + 2]
    if jac and r[o + NORMAL] + s[o + NORMAL] > 0.0:
        idx[0], co[0] = nv + p + 2, -1.0
        put(L, g, idx, co, 1, 2.0 * w * scale[o + NORMAL] ** 2, r[o + NORMAL] + s[o + NORMAL])
    up, q = v[i, p + 2], o + PRESSURE
    slack = EPS * radius * radius
    r[q] = cone(t, t + 1, (v[i, t], v[i, t + 1], up), p + 2, radius, slack, s[q], jac, 2.0 * w * scale[q] ** 2, nv, L, g, idx, co)
    if not whole:
        return
    q = o + FRICTION
    r[q] = cone(p, p + 1, (v[i, p], v[i, p + 1], up), p + 2, mu, EPS, s[q], jac, 2.0 * w * scale[q] ** 2, nv, L, g, idx, co)
    q = o + TWIST
    turn = v[i, t + 2]
    r[q] = abs(turn) - mu * radius * 2.0 / 3.0 * up
    if jac and r[q] + s[q] > 0.0:
        idx[0], co[0] = nv + t + 2, 1.0 if turn >= 0.0 else -1.0
        idx[1], co[1] = nv + p + 2, -mu * radius * 2.0 / 3.0
        put(L, g, idx, co, 2, 2.0 * w * scale[q] ** 2, r[q] + s[q])


@njit(cache=True)
def joint_torques(i, h, gravity, model, skin, home, K, v, load, tau):
    """Torques (nq,) of the joints at extended sample i: inverse dynamics + stiffness (q - home) + what the skin took."""
    tree, nodes, points, tips = model
    stiffness, given = skin
    nq = nodes.shape[0]
    torques(tree[0], tree[1], nodes, points, tips[0], K[1], K[2], K[3], K[5], K[6], v[i, nq:], i, h, gravity, load, tau)
    for c in range(6, nq):
        tau[c] += given[i - 1, c]
        for q in range(6, nq):
            tau[c] += stiffness[c, q] * (v[i, q] - home[q])


@njit(cache=True)
def torque_rows(c, i, k, h, weight, model, limits, moves, skin, K, v, tau, load, full, jac, w, scale, s, r, L, g, idx, co):
    """Returned: weight tau^2; written: rows |tau|/stall - 1 and |tau/stall + rate/no_load| - 1, rate the mean over both sides.

    Together they are the motor's line |tau|/stall + |rate|/no_load <= 1 where it drives and its stall torque where it brakes.
    """
    tree, nodes, points, tips = model
    stall, no_load = limits[3][c], limits[4][c]
    nq, nv = nodes.shape[0], v.shape[1]
    line = tau / stall + (v[i + 1, c] - v[i - 1, c]) / (2.0 * h * no_load)
    limited = stall < FREE
    if limited:
        r[k], r[k + 1] = abs(tau) / stall - 1.0, abs(line) - 1.0
    if not jac:
        return weight * tau * tau
    torque_columns(c, i, tree[1], nodes, points, tips, moves, K[1], K[2], K[3], K[5], K[6], K[12], v[i, nq:], load, h, nv, full)
    for q in range(6, nq):
        full[nv + q] += skin[0][c, q]
    n = 0
    for q in range(3 * nv):
        if full[q] != 0.0:
            idx[n], co[n] = q, full[q]
            n += 1
    put(L, g, idx, co, n, 2.0 * weight, tau)
    if not limited:
        return weight * tau * tau
    for part in range(2):
        value = r[k + part] + s[k + part]
        if value <= 0.0:
            continue
        turn = 1.0 if (tau if part == 0 else line) >= 0.0 else -1.0
        fast = turn / (2.0 * h * no_load) if part == 1 else 0.0
        n = 0
        for q in range(3 * nv):
            slope = turn * full[q] / stall
            if q == 2 * nv + c:
                slope += fast
            elif q == c:
                slope -= fast
            if slope != 0.0:
                idx[n], co[n] = q, slope
                n += 1
        put(L, g, idx, co, n, 2.0 * w * scale[k + part] ** 2, value)
    return weight * tau * tau


@njit(cache=True)
def sample(i, before, after, numbers, home, model, limits, plan, skin, K, v, tau, jac, w, scale, s, r, L, g, idx, co):
    """All rows of extended sample ``i`` (sample i - 1); rows that do not apply are 0 (equalities) or -1 (inequalities).

    Returns the term of the torques, which go to ``tau`` (nq,). ``numbers``: step, mass, gravity, least force, whether dynamic,
    weight of torques, whether torques are limited; ``plan``: contacts (T + 2, n_e), heights (T, n_e), friction, radius, moves.
    """
    contacts, heights, friction, radius, moves = plan
    h, M, gravity, f_min, whole = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] > 0.0
    nq, n_e, nv = model[1].shape[0], contacts.shape[1], v.shape[1]
    for k in range(r.shape[0]):
        r[k] = 0.0
    standing = 0
    for j in range(n_e):
        q = 6 + SOLE_ROWS * j
        standing += contacts[i, j]
        r[q + FRICTION], r[q + NORMAL], r[q + PRESSURE], r[q + TWIST] = -1.0, -1.0, -1.0, -1.0
    if before and after and (whole or standing > 0):
        dynamics(i, h if whole else np.inf, M, gravity, model, K, v[i, nq:], jac, w, scale, s, r, L, g, idx, co)
    for j in range(n_e):
        here, then = contacts[i, j] != 0, after and contacts[i + 1, j] != 0
        q, at = 6 + SOLE_ROWS * j, heights[i - 1, j]
        sole(
            i, j, q, f_min, friction[j], radius[j], at, here, then, whole, model[3][6], nq, K, v, jac, w, scale, s, r, L, g, idx, co
        )
    o = 6 + SOLE_ROWS * n_e
    turning = before and after and whole
    load, full = np.empty((model[2][0].shape[0], 3)), np.empty(3 * nv)
    if turning:
        joint_torques(i, h, gravity, model, skin, home, K, v, load, tau)
    cost = 0.0
    for c in range(6, nq):
        k = o + JOINT_ROWS * (c - 6)
        r[k + 1], r[k + 2], r[k + 3] = -1.0, -1.0, -1.0
        range_and_speed(c, i, k, h, limits[0][c], limits[1][c], limits[2][c], v, after, jac, w, scale, s, r, L, g, idx, co)
        if turning and limits[1][c] > 0.0:
            cost += torque_rows(
                c, i, k + 2, h, numbers[5], model, limits, moves, skin, K, v, tau[c], load, full, jac, w, scale, s, r, L, g, idx, co
            )
    return cost
