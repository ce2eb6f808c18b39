"""Constraints of one sample: Newton, Euler, height, slip, rolling resistance, friction, limits, distances; with derivatives.

``K``: the kinematics of all extended samples (`KinematicArrays`, index i + 1 for sample i); ``local``: the sample's `LocalSystem`;
``plan``: `MotionFacts`; ``o``: the first constraint of an end effector, or of a family.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.constraint_kernels import constrain, dynamics, pushes, range_and_speed
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

TIP_ROWS = 11
HEIGHT, SLIP, RESIST, LIFT, FRICTION, NORMAL, SPIN, SPIN_TORQUE = 0, 1, 3, 4, 7, 8, 9, 10
"""Rows of an end effector: height, slip (2), resistance, force in the air (3), friction, normal force, wheel speed and torque."""

EPS = 1e-6
"""Friction's cone is rounded: sqrt(|f_t|^2 + EPS) [N^2]."""


@njit(cache=True, forceinline=True)
def difference(a, b):
    """The angle from b to a, between -pi and pi."""
    return (a - b + np.pi) % (2.0 * np.pi) - np.pi


@njit(cache=True, forceinline=True)
def standing(i, j, o, plan, model, K, F, local):
    """Height over the ground; force ``F`` (3,) zero in the air; friction and normal force on the ground."""
    e, n, Je, Jn, chain = K.e, K.n, K.Je, K.Jn, model.tips.chain
    r, idx, co = local.r, local.idx, local.co
    nq, contact, mu = model.nodes.shape[0], plan.contacts[i, j] != 0, plan.friction[j]
    nv = nq + 3 * e.shape[1]
    curved = plan.terrain.heights.shape[0] > 0
    H = np.empty(6)
    ground(plan.terrain, e[i, j, 0], e[i, j, 1], H)
    r[o + HEIGHT] = e[i, j, 2] - H[0] - (0.0 if contact else plan.heights[i - 1, j])
    if local.jac:
        k = 0
        while chain[j, k] >= 0:
            idx[k] = nv + chain[j, k]
            co[k] = Je[i, j, 2, k] - H[1] * Je[i, j, 0, k] - H[2] * Je[i, j, 1, k]
            k += 1
        constrain(o + HEIGHT, k, local)
    if not contact:
        for a in range(3):
            r[o + LIFT + a] = F[a]
            if local.jac:
                idx[0], co[0] = nv + nq + 3 * j + a, 1.0
                constrain(o + LIFT + a, 1, local)
        return
    up = dot(F, n[i, j])
    across = 0.0
    for a in range(3):
        across += (F[a] - up * n[i, j, a]) ** 2
    size = np.sqrt(across + EPS)
    r[o + FRICTION] = size - mu * up
    r[o + NORMAL] = plan.least_force - up
    if local.jac:
        if pushes(o + FRICTION, local):
            for a in range(3):
                idx[a], co[a] = nv + nq + 3 * j + a, (F[a] - up * n[i, j, a]) / size - mu * n[i, j, a]
            k = 3
            if curved:
                k = leaning(j, chain, F, Jn[i], -up / size - mu, nv, idx, co)
            constrain(o + FRICTION, k, local)
        if pushes(o + NORMAL, local):
            for a in range(3):
                idx[a], co[a] = nv + nq + 3 * j + a, -n[i, j, a]
            k = 3
            if curved:
                k = leaning(j, chain, F, Jn[i], -1.0, nv, idx, co)
            constrain(o + NORMAL, k, local)


@njit(cache=True, forceinline=True)
def leaning(j, chain, F, Jn, factor, nv, idx, co):
    """Columns of factor F.n through the normal, after the three of the force; returns how many columns there are."""
    c = 0
    while chain[j, c] >= 0:
        value = F[0] * Jn[j, 0, c] + F[1] * Jn[j, 1, c] + F[2] * Jn[j, 2, c]
        idx[3 + c], co[3 + c] = nv + chain[j, c], factor * value
        c += 1
    return 3 + c


@njit(cache=True, forceinline=True)
def middle_direction(t, t_next, out):
    """Out = (t + t+)/|t + t+|; returns the length."""
    for a in range(3):
        out[a] = t[a] + t_next[a]
    length = np.sqrt(dot(out, out))
    for a in range(3):
        out[a] /= length
    return length


@njit(cache=True, forceinline=True)
def directed(i, j, chain, K, u, de, length, nv, sign, local, flip):
    """Columns of de.u(T), u = T/|T| (n x T/|T| if ``flip``), T = t + t+ of ``length``: q of samples i, i + 1; their number."""
    Je, Jt, n, idx, co = K.Je, K.Jt, K.n[i, j], local.idx, local.co
    k = 0
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


@njit(cache=True, forceinline=True)
def rolling(i, j, o, h, model, wheels, K, F, local):
    """No slip from sample i to i + 1: wheels not sideways, welded ones also with their spin, balls with their turn; motors."""
    e, t, n, sigma, Js = K.e, K.t, K.n, K.sigma, K.Js
    r, idx, co = local.r, local.idx, local.co
    nq, chain, radius, kind = model.nodes.shape[0], model.tips.chain, model.tips.radius[j], model.tips.kind[j]
    nv = nq + 3 * e.shape[1]
    de = np.empty(3)
    for a in range(3):
        de[a] = e[i + 1, j, a] - e[i, j, a]
    if kind == BALL:
        rolling_ball(i, j, o, model, de, nv, K, local)
        return
    u = np.empty(6)
    side = np.empty(3)
    length = middle_direction(t[i, j], t[i + 1, j], u[:3])
    cross(n[i, j], u[:3], side)
    r[o + SLIP] = dot(de, side)
    along = dot(de, u[:3])
    turned = difference(sigma[i + 1, j], sigma[i, j])
    if local.jac:
        both = np.empty(6)
        for a in range(3):
            both[a], both[3 + a], u[3 + a] = side[a], u[a], u[a]
        k = directed(i, j, chain, K, both, de, length, nv, 1.0, local, True)
        c = 0
        cross(u[:3], de, side)
        while chain[j, c] >= 0:  # the normal leans with the first sample
            for a in range(3):
                co[c] += K.Jn[i, j, a, c] * side[a]
            c += 1
        constrain(o + SLIP, k, local)
    if kind == WELDED:
        r[o + SLIP + 1] = along - radius * turned
        if local.jac:
            k = directed(i, j, chain, K, u, de, length, nv, 1.0, local, False)
            spin_columns(i, j, chain, Js, radius, co)
            constrain(o + SLIP + 1, k, local)
    if kind != ACTIVE:
        return
    speed = along / (h * radius) - turned / h
    r[o + SPIN] = abs(speed) - wheels.speed[j]
    drive = radius * dot(F, t[i, j])
    turn = 1.0 if drive >= 0.0 else -1.0
    stall = wheels.stall[j]
    line = stall / wheels.no_load[j]
    r[o + SPIN_TORQUE] = (abs(drive) + line * max(0.0, turn * speed)) / stall - 1.0
    if not local.jac:
        return
    sign = (1.0 if speed >= 0.0 else -1.0) / (h * radius)
    if pushes(o + SPIN, local):
        k = directed(i, j, chain, K, u, de, length, nv, sign, local, False)
        spin_columns(i, j, chain, Js, sign * radius, co)
        constrain(o + SPIN, k, local)
    if pushes(o + SPIN_TORQUE, local):
        fast = (line * turn if turn * speed > 0.0 else 0.0) / stall
        k = directed(i, j, chain, K, u, de, length, nv, fast / (h * radius), local, False)
        spin_columns(i, j, chain, Js, fast / h, co)
        c = 0
        while chain[j, c] >= 0:
            for a in range(3):
                co[c] += turn * radius * F[a] * K.Jt[i, j, a, c] / stall
            c += 1
        for a in range(3):
            idx[k], co[k] = nv + nq + 3 * j + a, turn * radius * t[i, j, a] / stall
            k += 1
        constrain(o + SPIN_TORQUE, k, local)


@njit(cache=True, forceinline=True)
def spin_columns(i, j, chain, Js, factor, co):
    """Take factor (sigma+ - sigma) from a row whose columns `directed` wrote."""
    n = 0
    while chain[j, n] >= 0:
        n += 1
    for c in range(n):
        co[c] += factor * Js[i, j, c]
        co[n + c] -= factor * Js[i + 1, j, c]


@njit(cache=True, forceinline=True)
def rolling_ball(i, j, o, model, de, nv, K, local):
    """(de - r phi x n)_xy, phi = vee(Q - Q^T)/2, Q = R+ R^T; d(phi) = (tr Q 1 - Q) A+/2 and -(tr Q 1 - Q^T) A/2."""
    R, A, n, Je, Jn, r, idx, co = K.R, K.A, K.n[i, j], K.Je, K.Jn, local.r, local.idx, local.co
    b, radius, chain = model.tips.node[j], model.tips.radius[j], model.tips.chain
    Q = np.empty((3, 3))
    for a in range(3):
        for c in range(3):
            Q[a, c] = dot(R[i + 1, b, a], R[i, b, c])
    phi, v, dphi = np.empty(3), np.empty(3), np.empty(3)
    phi[0], phi[1], phi[2] = 0.5 * (Q[2, 1] - Q[1, 2]), 0.5 * (Q[0, 2] - Q[2, 0]), 0.5 * (Q[1, 0] - Q[0, 1])
    cross(phi, n, v)
    for a in range(2):
        r[o + SLIP + a] = de[a] - radius * v[a]
    if not local.jac:
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
                node = model.nodes[chain[j, c]]
                if model.tree.kind[node] == HINGE:
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
        constrain(o + SLIP + a, k, local)


@njit(cache=True, forceinline=True)
def resistance(i, j, o, plan, model, K, F, before, after, local):
    """f.t + drag v.t of a wheel that turns freely, v the mean of the differences of e to neighbours that also touch the ground."""
    e, t, Je, Jt, idx, co = K.e, K.t, K.Je, K.Jt, local.idx, local.co
    nq, chain, drag = model.nodes.shape[0], model.tips.chain, plan.drag[j]
    nv = nq + 3 * e.shape[1]
    share = 1.0 / (plan.h * max(1, before + after))
    v = np.empty(3)
    for a in range(3):
        v[a] = share * (after * (e[i + 1, j, a] - e[i, j, a]) + before * (e[i, j, a] - e[i - 1, j, a]))
    local.r[o + RESIST] = dot(F, t[i, j]) + drag * dot(v, t[i, j])
    if not local.jac:
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
    constrain(o + RESIST, k, local)


@njit(cache=True, forceinline=True)
def joint_limits(i, o, plan, model, limits, K, v, whole, after, local):
    """Range (an equality where it is zero), speed and torque of every joint: three constraints each; ``whole``: with torques."""
    nq = model.nodes.shape[0]
    tau = np.zeros(nq)
    load = np.empty((model.points.node.shape[0], 3))
    whole = plan.torque_limits and whole
    if whole:
        torques(i, model, K, v[i, nq:], plan.h, plan.gravity, load, tau)
    for c in range(6, nq):
        k = o + 3 * (c - 6)
        range_and_speed(c, i, k, plan.h, limits, v, after, local)
        if whole and limits.stall[c] < 1e8:
            torque_limit(c, i, k + 2, plan.h, model, limits, tau[c], load, K, v, local)


@njit(cache=True, forceinline=True)
def torque_limit(c, i, k, h, model, limits, tau, load, K, v, local):
    """|tau|/stall + max(0, sign(tau) rate)/no_load - 1: torque against the torque-speed line, rate the mean over both sides."""
    nq, nv, stall, no_load, idx, co = model.nodes.shape[0], v.shape[1], limits.stall[c], limits.no_load[c], local.idx, local.co
    turn = 1.0 if tau >= 0.0 else -1.0
    rate = (v[i + 1, c] - v[i - 1, c]) / (2.0 * h)
    local.r[k] = abs(tau) / stall + max(0.0, turn * rate) / no_load - 1.0
    if not local.jac or not pushes(k, local):
        return
    full = np.empty(3 * nv)
    torque_columns(c, i, model, K, v[i, nq:], load, h, full)
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
    constrain(k, n, local)


@njit(cache=True, forceinline=True)
def apart(i, o, pairs, least, model, K, local):
    """Least distance - |e_j - e_k| for every pair of end effectors on different limbs."""
    e, Je, r, idx, co = K.e, K.Je, local.r, local.idx, local.co
    nq, chain = model.nodes.shape[0], model.tips.chain
    nv = nq + 3 * e.shape[1]
    u = np.empty(3)
    for p in range(pairs.shape[0]):
        j, k = pairs[p, 0], pairs[p, 1]
        for a in range(3):
            u[a] = e[i, j, a] - e[i, k, a]
        length = max(np.sqrt(dot(u, u)), 1e-9)
        r[o + p] = least[p] - length
        if not local.jac or not pushes(o + p, local):
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
        constrain(o + p, n, local)


@njit(cache=True, forceinline=True)
def clear(i, o, plan, model, K, local):
    """Least height - (z - H) of every spot of a limb that must not touch the ground."""
    P, A, r, idx, co = K.P, K.A, local.r, local.idx, local.co
    nodes, moves, spots = model.nodes, model.moves, plan.spots
    nq = nodes.shape[0]
    nv = nq + 3 * K.e.shape[1]
    at, v, H = np.empty(3), np.empty(3), np.empty(6)
    for k in range(spots.node.shape[0]):
        b = spots.node[k]
        transform(K.R[i, b], P[i, b], spots.place[k], at)
        ground(plan.terrain, at[0], at[1], H)
        r[o + k] = spots.least[k] - (at[2] - H[0])
        if not local.jac or not pushes(o + k, local):
            continue
        n = 0
        for c in range(nq):
            if moves[c, b]:
                column(model.tree.kind[nodes[c]], A[i, nodes[c]], P[i, nodes[c]], at, v)
                idx[n], co[n] = nv + c, -(v[2] - H[1] * v[0] - H[2] * v[1])
                n += 1
        constrain(o + k, n, local)


@njit(cache=True, forceinline=True)
def sample(i, before, after, problem, K, v, local):
    """All constraints of extended sample ``i`` (sample i - 1); those that do not apply are 0 (equalities) or -1 (inequalities)."""
    model, plan, contacts, r = problem.model, problem.plan, problem.plan.contacts, local.r
    nq, ne = model.nodes.shape[0], contacts.shape[1]
    o = 6 + TIP_ROWS * ne
    for k in range(r.shape[0]):
        r[k] = 0.0
    for j in range(ne):
        q = 6 + TIP_ROWS * j
        r[q + FRICTION], r[q + NORMAL], r[q + SPIN], r[q + SPIN_TORQUE] = -1.0, -1.0, -1.0, -1.0
    for c in range(nq - 6):
        r[o + 3 * c + 1], r[o + 3 * c + 2] = -1.0, -1.0
    f = v[i, nq:]
    if before and after:
        dynamics(i, plan.h, plan.mass, plan.gravity, model, K, f, local)
    for j in range(ne):
        q, F = 6 + TIP_ROWS * j, f[3 * j : 3 * j + 3]
        standing(i, j, q, plan, model, K, F, local)
        if contacts[i, j] == 0:
            continue
        following = 1 if after and contacts[i + 1, j] else 0
        last = 1 if before and contacts[i - 1, j] else 0
        if following:
            rolling(i, j, q, plan.h, model, problem.wheels, K, F, local)
        if model.tips.kind[j] == PASSIVE:
            resistance(i, j, q, plan, model, K, F, last, following, local)
    joint_limits(i, o, plan, model, problem.limits, K, v, before and after, after, local)
    o += 3 * (nq - 6)
    apart(i, o, plan.pairs, plan.least, model, K, local)
    clear(i, o + plan.pairs.shape[0], plan, model, K, local)
