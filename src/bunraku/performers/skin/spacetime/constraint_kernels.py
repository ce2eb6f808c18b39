"""Constraints of one sample of a plan on soles: height, slip, forces in the air, friction, pressure, twist, those of the joints.

Sample i has the unknowns v_i = (q_i, f_i, t_i): coordinates, forces of the ground on the soles and its torques about their centres.
``K``: the kinematics of all extended samples (`KinematicArrays`, index i + 1 for sample i); ``local``: the sample's `LocalSystem`;
``plan``: `SolePlan`; ``o``: the first constraint of a sole.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.constraint_kernels import constrain, dynamics, pushes, range_and_speed
from bunraku.mechanics.centroidal.kinematics_kernels import cross
from bunraku.mechanics.centroidal.torque_kernels import torque_slopes, torque_sums
from bunraku.optimization.blocks.residual_kernels import put
from bunraku.performers.skin.spacetime.joint_kernels import JOINT_ROWS, joint_torques, skin_slopes, torque_limits

SOLE_ROWS = 13
HEIGHT, SLIP, AIR, FRICTION, NORMAL, PRESSURE, TWIST = 0, 1, 3, 9, 10, 11, 12
"""Rows of a sole: height, slip (2), force and torque in the air (6), friction, normal force, place of the pressure, twist."""

EPS = 1e-6
"""Cones are rounded: sqrt(|f_t|^2 + EPS) [N^2], and with EPS times the squared radius for torques."""


@njit(cache=True)
def cone(k, first, second, along, share, slack, v, local):
    """Row k: sqrt(a^2 + b^2 + slack) - share c <= 0 of the unknowns a, b, c = v[``first``], v[``second``], v[``along``].

    Where it pushes its curvature is added too: a cone is convex, and a small force turns in it by more than Gauss-Newton sees.
    """
    nv, r, idx, co, L = v.shape[0], local.r, local.idx, local.co, local.L
    size = np.sqrt(v[first] * v[first] + v[second] * v[second] + slack)
    r[k] = size - share * v[along]
    if local.jac and pushes(k, local):
        x, y, value, weight = v[first] / size, v[second] / size, r[k] + local.s[k], 2.0 * local.w * local.scale[k] ** 2
        idx[0], co[0] = nv + first, x
        idx[1], co[1] = nv + second, y
        idx[2], co[2] = nv + along, -share
        put(L, local.g, idx, co, 3, weight, value)
        bend = weight * max(value, 0.0) / size
        L[nv + first, nv + first] += bend * (1.0 - x * x)
        L[nv + second, nv + second] += bend * (1.0 - y * y)
        L[nv + max(first, second), nv + min(first, second)] -= bend * x * y


@njit(cache=True)
def air(i, first, k, v, local):
    """Three unknowns from ``first`` on are zero: constraints k, ..."""
    nv = v.shape[1]
    for a in range(3):
        local.r[k + a] = v[i, first + a]
        if local.jac:
            local.idx[0], local.co[0] = nv + first + a, 1.0
            constrain(k + a, 1, local)


@njit(cache=True)
def sole(i, j, o, after, plan, model, K, v, local, pull):
    """All constraints of sole j at extended sample i; ``after``: whether it stands at the next sample too.

    Those of friction and twist if the plan is dynamic. The normal of the ground is z: f_n = f_z, pressure (-t_y, t_x)/f_n within
    ``radius``.
    ``pull`` (3, n_e + 1, 3): what the constraints pull at the soles with, before, now and after, is added.
    """
    e, Je, chain, r, idx, co = K.e, K.Je, model.tips.chain, local.r, local.idx, local.co
    w, scale, s, mu, radius = local.w, local.scale, local.s, plan.friction[j], plan.radius[j]
    nv, n_e, nq = v.shape[1], e.shape[1], model.nodes.shape[0]
    r[o + HEIGHT] = e[i, j, 2] - plan.heights[i - 1, j]
    if local.jac:
        k = 0
        while chain[j, k] >= 0:
            idx[k], co[k] = nv + chain[j, k], Je[i, j, 2, k]
            k += 1
        constrain(o + HEIGHT, k, local)
        pull[1, j, 2] += 2.0 * w * scale[o + HEIGHT] ** 2 * (r[o + HEIGHT] + s[o + HEIGHT])
    p, t = nq + 3 * j, nq + 3 * (n_e + j)
    if plan.contacts[i, j] == 0:
        air(i, p, o + AIR, v, local)
        air(i, t, o + AIR + 3, v, local)
        return
    if after:
        for a in range(2):
            q = o + SLIP + a
            r[q] = e[i + 1, j, a] - e[i, j, a]
            if local.jac:
                k, c = 0, 0
                while chain[j, c] >= 0:
                    idx[k], co[k] = nv + chain[j, c], -Je[i, j, a, c]
                    idx[k + 1], co[k + 1] = 2 * nv + chain[j, c], Je[i + 1, j, a, c]
                    k += 2
                    c += 1
                constrain(q, k, local)
                pull[1, j, a] -= 2.0 * w * scale[q] ** 2 * (r[q] + s[q])
                pull[2, j, a] += 2.0 * w * scale[q] ** 2 * (r[q] + s[q])
    r[o + NORMAL] = plan.least_force - v[i, p + 2]
    if local.jac and pushes(o + NORMAL, local):
        idx[0], co[0] = nv + p + 2, -1.0
        constrain(o + NORMAL, 1, local)
    cone(o + PRESSURE, t, t + 1, p + 2, radius, EPS * radius * radius, v[i], local)
    if not plan.dynamic:
        return
    cone(o + FRICTION, p, p + 1, p + 2, mu, EPS, v[i], local)
    q = o + TWIST
    turn = v[i, t + 2]
    r[q] = abs(turn) - mu * radius * 2.0 / 3.0 * v[i, p + 2]
    if local.jac and pushes(q, local):
        idx[0], co[0] = nv + t + 2, 1.0 if turn >= 0.0 else -1.0
        idx[1], co[1] = nv + p + 2, -mu * radius * 2.0 / 3.0
        constrain(q, 2, local)


@njit(cache=True)
def pulls(i, share, model, K, v, local, pull):
    """What Newton's and Euler's constraints pull at centre of mass and soles with; and Euler's curvature in coordinates and forces.

    With multipliers p of Newton's and q of Euler's and ``share`` = M/h^2: -share p at the centre of mass before and after,
    2 share p - sum f x q now; f x q at each sole; and q.((de - dx) x df) in L.
    """
    Jx, Je, chain, w, scale, s, r, L = K.Jx, K.Je, model.tips.chain, local.w, local.scale, local.s, local.r, local.L
    n_e, nv, nq = chain.shape[0], v.shape[0], model.nodes.shape[0]
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
def sample(i, before, after, problem, sums, K, v, tau, local, curved, pull):
    """All constraints of extended sample ``i`` (sample i - 1); those that do not apply are 0 (equalities) or -1 (inequalities).

    Returns the term of the torques, which go to ``tau`` (nq,). ``sums``: room for `TorqueSums`.
    """
    model, plan, limits, skin, r = problem.model, problem.plan, problem.limits, problem.skin, local.r
    contacts, h = plan.contacts, plan.h
    nq, n_e, nv = model.nodes.shape[0], contacts.shape[1], v.shape[1]
    for k in range(r.shape[0]):
        r[k] = 0.0
    standing = 0
    for j in range(n_e):
        q = 6 + SOLE_ROWS * j
        standing += contacts[i, j]
        r[q + FRICTION], r[q + NORMAL], r[q + PRESSURE], r[q + TWIST] = -1.0, -1.0, -1.0, -1.0
    if before and after and (plan.dynamic or standing > 0):
        dynamics(i, h if plan.dynamic else np.inf, plan.mass, plan.gravity, model, K, v[i, nq:], local)
        if local.jac and curved:
            pulls(i, plan.mass / (h * h) if plan.dynamic else 0.0, model, K, v[i], local, pull)
    for j in range(n_e):
        sole(i, j, 6 + SOLE_ROWS * j, after and contacts[i + 1, j] != 0, plan, model, K, v, local, pull)
    o = 6 + SOLE_ROWS * n_e
    turning = before and after and plan.dynamic
    load, faint = np.empty((model.points.node.shape[0], 3)), np.zeros(nq)
    if turning:
        joint_torques(i, h, plan.gravity, model, skin, K, v, load, tau)
        if local.jac:
            torque_sums(i, model, K, v[i, nq:], load, sums)
    cost = 0.0
    for c in range(6, nq):
        k, n = o + JOINT_ROWS * (c - 6), 0
        r[k + 1], r[k + 2], r[k + 3] = -1.0, -1.0, -1.0
        range_and_speed(c, i, k, h, limits, v, after, local)
        if turning and limits.half[c] > 0.0:
            if local.jac:
                n = torque_slopes(c, i, model, K, h, nv, sums, local.idx, local.co)
                n = skin_slopes(c, n, model, skin.stiffness, nv, local, faint)
            cost += torque_limits(c, i, k + 2, n, h, skin.weight, limits, faint, v, tau[c], local)
    return cost
