"""Rows of one sample: Newton, Euler, height, slip, rolling resistance, friction, limits, distances; with Jacobians on demand.

``K``: the kinematics of all extended samples (index i + 1 for sample i): R, P, A, x, Jx, d, e, t, m, n, sigma, C, Je, Jt, Js, Jn.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.constraint_kernels import dynamics, range_and_speed
from bunraku.mechanics.centroidal.kinematics_kernels import (
    ACTIVE,
    BALL,
    PASSIVE,
    WELDED,
    column,
    cross,
    dot,
    ground,
    transform,
)
from bunraku.mechanics.centroidal.torque_kernels import torque_columns, torques
from bunraku.mechanics.tree.tree_kernels import HINGE
from bunraku.optimization.blocks.residual_kernels import put

TIP_ROWS = 11
HEIGHT, SLIP, RESIST, LIFT, FRICTION, NORMAL, SPIN, SPIN_TORQUE = 0, 1, 3, 4, 7, 8, 9, 10
"""Rows of an end effector: height, slip (2), resistance, force in the air (3), friction, normal force, wheel speed and torque."""

EPS = 1e-6
"""Friction's cone is rounded: sqrt(|f_t|^2 + EPS) [N^2]."""


@njit(cache=True)
def difference(a, b):
    """The angle from b to a, between -pi and pi."""
    return (a - b + np.pi) % (2.0 * np.pi) - np.pi


@njit(cache=True)
def standing(i, j, o, model, terrain, K, f, contact, height, mu, f_min, jac, w, scale, s, r, L, g, idx, co):
    """Height over the ground; force zero in the air; friction and normal force on the ground."""
    nodes, tips = model[1], model[3]
    e, n, Je, Jn = K[6], K[9], K[12], K[15]
    nq, chain = nodes.shape[0], tips[6]
    nv = nq + 3 * e.shape[1]
    curved = terrain[1].shape[0] > 0
    H = np.empty(6)
    ground(terrain[0], terrain[1], e[i, j, 0], e[i, j, 1], H)
    r[o + HEIGHT] = e[i, j, 2] - H[0] - (0.0 if contact else height)
    if jac:
        k = 0
        while chain[j, k] >= 0:
            idx[k] = nv + chain[j, k]
            co[k] = Je[i, j, 2, k] - H[1] * Je[i, j, 0, k] - H[2] * Je[i, j, 1, k]
            k += 1
        put(L, g, idx, co, k, 2.0 * w * scale[o + HEIGHT] ** 2, r[o + HEIGHT] + s[o + HEIGHT])
    F = f[3 * j : 3 * j + 3]
    if not contact:
        for a in range(3):
            r[o + LIFT + a] = F[a]
            if jac:
                idx[0], co[0] = nv + nq + 3 * j + a, 1.0
                put(L, g, idx, co, 1, 2.0 * w * scale[o + LIFT + a] ** 2, F[a] + s[o + LIFT + a])
        return
    up = dot(F, n[i, j])
    across = 0.0
    for a in range(3):
        across += (F[a] - up * n[i, j, a]) ** 2
    size = np.sqrt(across + EPS)
    r[o + FRICTION] = size - mu * up
    r[o + NORMAL] = f_min - up
    if jac:
        if r[o + FRICTION] + s[o + FRICTION] > 0.0:
            for a in range(3):
                idx[a], co[a] = nv + nq + 3 * j + a, (F[a] - up * n[i, j, a]) / size - mu * n[i, j, a]
            k = 3
            if curved:
                k = leaning(j, chain, F, Jn[i], -up / size - mu, nv, idx, co)
            put(L, g, idx, co, k, 2.0 * w * scale[o + FRICTION] ** 2, r[o + FRICTION] + s[o + FRICTION])
        if r[o + NORMAL] + s[o + NORMAL] > 0.0:
            for a in range(3):
                idx[a], co[a] = nv + nq + 3 * j + a, -n[i, j, a]
            k = 3
            if curved:
                k = leaning(j, chain, F, Jn[i], -1.0, nv, idx, co)
            put(L, g, idx, co, k, 2.0 * w * scale[o + NORMAL] ** 2, r[o + NORMAL] + s[o + NORMAL])


@njit(cache=True)
def leaning(j, chain, F, Jn, factor, nv, idx, co):
    """Columns of factor F.n through the normal, after the three of the force; returns how many columns there are."""
    c = 0
    while chain[j, c] >= 0:
        value = F[0] * Jn[j, 0, c] + F[1] * Jn[j, 1, c] + F[2] * Jn[j, 2, c]
        idx[3 + c], co[3 + c] = nv + chain[j, c], factor * value
        c += 1
    return 3 + c


@njit(cache=True)
def middle_direction(t, t_next, out):
    """Out = (t + t+)/|t + t+|; returns the length."""
    for a in range(3):
        out[a] = t[a] + t_next[a]
    length = np.sqrt(dot(out, out))
    for a in range(3):
        out[a] /= length
    return length


@njit(cache=True)
def directed(i, j, chain, K, u, along, nv, sign, idx, co, k, flip):
    """Columns of de.u(T), u = T/|T| (or n x T/|T| if ``flip``), T = t + t+, ``along`` = (de, |T|, n): q of samples i and i+1."""
    de, length, n = along
    Je, Jt = K[12], K[13]
    T, v, p = np.empty(3), np.empty(3), np.empty(3)
    # u = B T/|T|, B = 1 or [n]x : de.du = (B^T de).(dT - T^ (T^.dT))/|T|
    if flip:
        cross(de, n, p)
        for a in range(3):
            T[a] = u[3 + a]
    else:
        for a in range(3):
            p[a] = de[a]
            T[a] = u[a]
    inner = dot(p, T)
    for side in range(2):
        for c in range(chain.shape[1]):
            if chain[j, c] < 0:
                break
            value = 0.0
            for a in range(3):
                v[a] = Jt[i + side, j, a, c]
                value += (1.0 if side else -1.0) * u[a] * Je[i + side, j, a, c]
            value += (dot(p, v) - inner * dot(T, v)) / length
            idx[k], co[k] = (1 + side) * nv + chain[j, c], sign * value
            k += 1
    return k


@njit(cache=True)
def rolling(i, j, o, h, model, limits, K, F, jac, w, scale, s, r, L, g, idx, co):
    """No slip from sample i to i + 1: wheels not sideways, welded ones also with their spin, balls with their turn; motors."""
    nodes, tips = model[1], model[3]
    R, A, e, t, n, sigma, Je, Js = K[0], K[2], K[6], K[7], K[9], K[10], K[12], K[14]
    nq, chain, radius, kind = nodes.shape[0], tips[6], tips[4][j], tips[5][j]
    nv = nq + 3 * e.shape[1]
    de = np.empty(3)
    for a in range(3):
        de[a] = e[i + 1, j, a] - e[i, j, a]
    if kind == BALL:
        b = tips[0][j]
        kinds, normal, Jn = model[0][1], n[i, j], K[15]
        rolling_ball(i, j, o, radius, de, chain, nodes, kinds, nv, b, R, A, normal, Je, Jn, jac, w, scale, s, r, L, g, idx, co)
        return
    u = np.empty(6)
    side = np.empty(3)
    length = middle_direction(t[i, j], t[i + 1, j], u[:3])
    cross(n[i, j], u[:3], side)
    r[o + SLIP] = dot(de, side)
    along = dot(de, u[:3])
    turned = difference(sigma[i + 1, j], sigma[i, j])
    if jac:
        both = np.empty(6)
        for a in range(3):
            both[a], both[3 + a], u[3 + a] = side[a], u[a], u[a]
        k = directed(i, j, chain, K, both, (de, length, n[i, j]), nv, 1.0, idx, co, 0, True)
        c = 0
        cross(u[:3], de, side)
        while chain[j, c] >= 0:  # the normal leans with the first sample
            for a in range(3):
                co[c] += K[15][i, j, a, c] * side[a]
            c += 1
        put(L, g, idx, co, k, 2.0 * w * scale[o + SLIP] ** 2, r[o + SLIP] + s[o + SLIP])
    if kind == WELDED:
        r[o + SLIP + 1] = along - radius * turned
        if jac:
            k = directed(i, j, chain, K, u, (de, length, n[i, j]), nv, 1.0, idx, co, 0, False)
            spin_columns(i, j, chain, Js, radius, co)
            put(L, g, idx, co, k, 2.0 * w * scale[o + SLIP + 1] ** 2, r[o + SLIP + 1] + s[o + SLIP + 1])
    if kind != ACTIVE:
        return
    speed = along / (h * radius) - turned / h
    r[o + SPIN] = abs(speed) - limits[5][j]
    drive = radius * dot(F, t[i, j])
    turn = 1.0 if drive >= 0.0 else -1.0
    line = limits[6][j] / limits[7][j]
    r[o + SPIN_TORQUE] = (abs(drive) + line * max(0.0, turn * speed)) / limits[6][j] - 1.0
    if not jac:
        return
    sign = (1.0 if speed >= 0.0 else -1.0) / (h * radius)
    if r[o + SPIN] + s[o + SPIN] > 0.0:
        k = directed(i, j, chain, K, u, (de, length, n[i, j]), nv, sign, idx, co, 0, False)
        spin_columns(i, j, chain, Js, sign * radius, co)
        put(L, g, idx, co, k, 2.0 * w * scale[o + SPIN] ** 2, r[o + SPIN] + s[o + SPIN])
    if r[o + SPIN_TORQUE] + s[o + SPIN_TORQUE] > 0.0:
        fast = (line * turn if turn * speed > 0.0 else 0.0) / limits[6][j]
        k = directed(i, j, chain, K, u, (de, length, n[i, j]), nv, fast / (h * radius), idx, co, 0, False)
        spin_columns(i, j, chain, Js, fast / h, co)
        c = 0
        while chain[j, c] >= 0:
            for a in range(3):
                co[c] += turn * radius * F[a] * K[13][i, j, a, c] / limits[6][j]
            c += 1
        for a in range(3):
            idx[k], co[k] = nv + nq + 3 * j + a, turn * radius * t[i, j, a] / limits[6][j]
            k += 1
        put(L, g, idx, co, k, 2.0 * w * scale[o + SPIN_TORQUE] ** 2, r[o + SPIN_TORQUE] + s[o + SPIN_TORQUE])


@njit(cache=True)
def spin_columns(i, j, chain, Js, factor, co):
    """Take factor (sigma+ - sigma) from a row whose columns `directed` wrote."""
    n = 0
    while chain[j, n] >= 0:
        n += 1
    for c in range(n):
        co[c] += factor * Js[i, j, c]
        co[n + c] -= factor * Js[i + 1, j, c]


@njit(cache=True)
def rolling_ball(i, j, o, radius, de, chain, nodes, kinds, nv, b, R, A, n, Je, Jn, jac, w, scale, s, r, L, g, idx, co):
    """(de - r phi x n)_xy, phi = vee(Q - Q^T)/2, Q = R+ R^T; d(phi) = (tr Q 1 - Q) A+/2 and -(tr Q 1 - Q^T) A/2."""
    Q = np.empty((3, 3))
    for a in range(3):
        for c in range(3):
            Q[a, c] = dot(R[i + 1, b, a], R[i, b, c])
    phi, v, dphi = np.empty(3), np.empty(3), np.empty(3)
    phi[0], phi[1], phi[2] = 0.5 * (Q[2, 1] - Q[1, 2]), 0.5 * (Q[0, 2] - Q[2, 0]), 0.5 * (Q[1, 0] - Q[0, 1])
    cross(phi, n, v)
    for a in range(2):
        r[o + SLIP + a] = de[a] - radius * v[a]
    if not jac:
        return
    trace = Q[0, 0] + Q[1, 1] + Q[2, 2]
    for a in range(2):
        k = 0
        for side in range(2):
            sign = 1.0 if side else -1.0
            for c in range(chain.shape[1]):
                if chain[j, c] < 0:
                    break
                value = sign * Je[i + side, j, a, c]
                node = nodes[chain[j, c]]
                if kinds[node] == HINGE:
                    axis = A[i + side, node]
                    for p in range(3):
                        turned = trace * axis[p]
                        for q in range(3):
                            turned -= (Q[p, q] if side else Q[q, p]) * axis[q]
                        dphi[p] = 0.5 * sign * turned
                    cross(dphi, n, v)
                    value -= radius * v[a]
                if not side:
                    for p in range(3):
                        dphi[p] = Jn[i, j, p, c]
                    cross(phi, dphi, v)
                    value -= radius * v[a]
                idx[k], co[k] = (1 + side) * nv + chain[j, c], value
                k += 1
        put(L, g, idx, co, k, 2.0 * w * scale[o + SLIP + a] ** 2, r[o + SLIP + a] + s[o + SLIP + a])


@njit(cache=True)
def resistance(i, j, o, h, model, drag, K, F, before, after, jac, w, scale, s, r, L, g, idx, co):
    """f.t + drag v.t of a wheel that turns freely, v the mean of the differences of e to neighbours that also touch the ground."""
    nodes, tips = model[1], model[3]
    e, t, Je, Jt = K[6], K[7], K[12], K[13]
    nq, chain = nodes.shape[0], tips[6]
    nv = nq + 3 * e.shape[1]
    share = 1.0 / (h * max(1, before + after))
    v = np.empty(3)
    for a in range(3):
        v[a] = share * (after * (e[i + 1, j, a] - e[i, j, a]) + before * (e[i, j, a] - e[i - 1, j, a]))
    r[o + RESIST] = dot(F, t[i, j]) + drag * dot(v, t[i, j])
    if not jac:
        return
    k, c = 0, 0
    while chain[j, c] >= 0:
        value, last, following = 0.0, 0.0, 0.0
        for a in range(3):
            value += (F[a] + drag * v[a]) * Jt[i, j, a, c] + drag * share * (before - after) * t[i, j, a] * Je[i, j, a, c]
            last -= drag * share * before * t[i, j, a] * Je[i - 1, j, a, c]
            following += drag * share * after * t[i, j, a] * Je[i + 1, j, a, c]
        idx[k], co[k] = nv + chain[j, c], value
        k += 1
        if before:
            idx[k], co[k] = chain[j, c], last
            k += 1
        if after:
            idx[k], co[k] = 2 * nv + chain[j, c], following
            k += 1
        c += 1
    for a in range(3):
        idx[k], co[k] = nv + nq + 3 * j + a, t[i, j, a]
        k += 1
    put(L, g, idx, co, k, 2.0 * w * scale[o + RESIST] ** 2, r[o + RESIST] + s[o + RESIST])


@njit(cache=True)
def joint_limits(
    i, o, h, model, limits, moves, K, v, has_before, has_after, gravity, torque_on, jac, w, scale, s, r, L, g, idx, co
):
    """Range (an equality where it is zero), speed and torque of every joint: three rows each."""
    tree, nodes, points, tips = model
    middle, half, speed, stall, no_load = limits[0], limits[1], limits[2], limits[3], limits[4]
    P, A, x, d, e = K[1], K[2], K[3], K[5], K[6]
    nq = nodes.shape[0]
    tau = np.zeros(nq)
    load = np.empty((points[0].shape[0], 3))
    whole = torque_on and has_before and has_after
    if whole:
        torques(tree[0], tree[1], nodes, points, tips[0], P, A, x, d, e, v[i, nq:], i, h, gravity, load, tau)
    for c in range(6, nq):
        k = o + 3 * (c - 6)
        range_and_speed(c, i, k, h, middle[c], half[c], speed[c], v, has_after, jac, w, scale, s, r, L, g, idx, co)
        if whole and stall[c] < 1e8:
            torque_row(c, i, k + 2, h, model, moves, stall[c], no_load[c], tau[c], load, K, v, jac, w, scale, s, r, L, g, idx, co)


@njit(cache=True)
def torque_row(c, i, k, h, model, moves, stall, no_load, tau, load, K, v, jac, w, scale, s, r, L, g, idx, co):
    """|tau|/stall + max(0, sign(tau) rate)/no_load - 1: torque against the torque-speed line, rate the mean over both sides."""
    tree, nodes, points, tips = model
    nq = nodes.shape[0]
    nv = nq + 3 * K[6].shape[1]
    turn = 1.0 if tau >= 0.0 else -1.0
    rate = (v[i + 1, c] - v[i - 1, c]) / (2.0 * h)
    r[k] = abs(tau) / stall + max(0.0, turn * rate) / no_load - 1.0
    if not jac or r[k] + s[k] <= 0.0:
        return
    full = np.empty(3 * nv)
    torque_columns(c, i, tree[1], nodes, points, tips, moves, K[1], K[2], K[3], K[5], K[6], K[12], v[i, nq:], load, h, nv, full)
    n = 0
    for q in range(3 * nv):
        value = turn * full[q] / stall
        if turn * rate > 0.0:
            if q == 2 * nv + c:
                value += turn / (2.0 * h * no_load)
            elif q == c:
                value -= turn / (2.0 * h * no_load)
        if value != 0.0:
            idx[n], co[n] = q, value
            n += 1
    put(L, g, idx, co, n, 2.0 * w * scale[k] ** 2, r[k] + s[k])


@njit(cache=True)
def apart(i, o, pairs, least, model, K, jac, w, scale, s, r, L, g, idx, co):
    """Least distance - |e_j - e_k| for every pair of end effectors on different limbs."""
    nodes, tips = model[1], model[3]
    e, Je = K[6], K[12]
    nq, chain = nodes.shape[0], tips[6]
    nv = nq + 3 * e.shape[1]
    u = np.empty(3)
    for p in range(pairs.shape[0]):
        j, k = pairs[p, 0], pairs[p, 1]
        for a in range(3):
            u[a] = e[i, j, a] - e[i, k, a]
        length = max(np.sqrt(dot(u, u)), 1e-9)
        r[o + p] = least[p] - length
        if not jac or r[o + p] + s[o + p] <= 0.0:
            continue
        row = np.zeros(nq)
        for side in range(2):
            tip, sign = (j, -1.0) if side == 0 else (k, 1.0)
            c = 0
            while chain[tip, c] >= 0:
                for a in range(3):
                    row[chain[tip, c]] += sign * u[a] / length * Je[i, tip, a, c]
                c += 1
        n = 0
        for c in range(nq):
            if row[c] != 0.0:
                idx[n], co[n] = nv + c, row[c]
                n += 1
        put(L, g, idx, co, n, 2.0 * w * scale[o + p] ** 2, r[o + p] + s[o + p])


@njit(cache=True)
def clear(i, o, spots, model, terrain, moves, K, jac, w, scale, s, r, L, g, idx, co):
    """Least height - (z - H) of every spot of a limb that must not touch the ground. ``spots``: node, place, least height."""
    spot_node, spot_local, least = spots
    tree, nodes = model[0], model[1]
    R, P, A = K[0], K[1], K[2]
    nq = nodes.shape[0]
    nv = nq + 3 * K[6].shape[1]
    at, v, H = np.empty(3), np.empty(3), np.empty(6)
    for k in range(spot_node.shape[0]):
        b = spot_node[k]
        transform(R[i, b], P[i, b], spot_local[k], at)
        ground(terrain[0], terrain[1], at[0], at[1], H)
        r[o + k] = least[k] - (at[2] - H[0])
        if not jac or r[o + k] + s[o + k] <= 0.0:
            continue
        n = 0
        for c in range(nq):
            if moves[c, b]:
                column(tree[1][nodes[c]], A[i, nodes[c]], P[i, nodes[c]], at, v)
                idx[n], co[n] = nv + c, -(v[2] - H[1] * v[0] - H[2] * v[1])
                n += 1
        put(L, g, idx, co, n, 2.0 * w * scale[o + k] ** 2, r[o + k] + s[o + k])


@njit(cache=True)
def sample(i, has_before, has_after, numbers, model, limits, plan, K, v, jac, w, scale, s, r, L, g, idx, co):
    """All rows of extended sample ``i`` (sample i - 1); rows that do not apply are 0 (equalities) or -1 (inequalities)."""
    contacts, heights, pairs, least, terrain, moves, friction, drag, spots = plan
    h, M, gravity, f_min, torque_on = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] > 0.0
    nq, ne = model[1].shape[0], contacts.shape[1]
    o = 6 + TIP_ROWS * ne
    for k in range(r.shape[0]):
        r[k] = 0.0
    for j in range(ne):
        q = 6 + TIP_ROWS * j
        r[q + FRICTION], r[q + NORMAL], r[q + SPIN], r[q + SPIN_TORQUE] = -1.0, -1.0, -1.0, -1.0
    for c in range(nq - 6):
        r[o + 3 * c + 1], r[o + 3 * c + 2] = -1.0, -1.0
    f = v[i, nq:]
    if has_before and has_after:
        dynamics(i, h, M, gravity, model, K, f, jac, w, scale, s, r, L, g)
    for j in range(ne):
        q, touches = 6 + TIP_ROWS * j, contacts[i, j] != 0
        F = f[3 * j : 3 * j + 3]
        standing(i, j, q, model, terrain, K, f, touches, heights[i - 1, j], friction[j], f_min, jac, w, scale, s, r, L, g, idx, co)
        if not touches:
            continue
        after = 1 if has_after and contacts[i + 1, j] else 0
        before = 1 if has_before and contacts[i - 1, j] else 0
        if after:
            rolling(i, j, q, h, model, limits, K, F, jac, w, scale, s, r, L, g, idx, co)
        if model[3][5][j] == PASSIVE:
            resistance(i, j, q, h, model, drag[j], K, F, before, after, jac, w, scale, s, r, L, g, idx, co)
    joint_limits(i, o, h, model, limits, moves, K, v, has_before, has_after, gravity, torque_on, jac, w, scale, s, r, L, g, idx, co)
    o += 3 * (nq - 6)
    apart(i, o, pairs, least, model, K, jac, w, scale, s, r, L, g, idx, co)
    clear(i, o + pairs.shape[0], spots, model, terrain, moves, K, jac, w, scale, s, r, L, g, idx, co)
