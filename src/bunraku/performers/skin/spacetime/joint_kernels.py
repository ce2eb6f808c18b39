"""Joints of one sample of a plan on soles: range, speed, stall torque and line of their motors, and the term of their torques."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from numba import njit

from bunraku.mechanics.centroidal.torque_kernels import torques
from bunraku.optimization.blocks.residual_kernels import active, put

JOINT_ROWS = 4
"""Rows of a joint: range, speed, stall torque, the motor's line."""

FAINT = 1e-3
"""Stiffness between limbs below this part of a joint's own does not count in curvatures."""

FREE = 1e8
"""A stall torque [N·m] above this is no limit."""


@njit(cache=True)
def joint_moves(c, i, k, h, middle, half, speed, v, after, jac, w, scale, s, held, r, L, g, idx, co):
    """Rows k, k + 1: the range (an equality where it is zero) and the speed to the next sample of joint c."""
    nv = v.shape[1]
    off = v[i, c] - middle
    r[k] = abs(off) - half if half > 0.0 else off
    if jac and (half == 0.0 or active(k, r, s, held)):
        idx[0], co[0] = nv + c, -1.0 if half > 0.0 and off < 0.0 else 1.0
        put(L, g, idx, co, 1, 2.0 * w * scale[k] ** 2, r[k] + s[k])
    if not after:
        return
    rate = (v[i + 1, c] - v[i, c]) / h
    r[k + 1] = abs(rate) - speed
    if jac and active(k + 1, r, s, held):
        sign = (1.0 if rate >= 0.0 else -1.0) / h
        idx[0], co[0], idx[1], co[1] = nv + c, -sign, 2 * nv + c, sign
        put(L, g, idx, co, 2, 2.0 * w * scale[k + 1] ** 2, r[k + 1] + s[k + 1])


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
def skin_slopes(c, n, nodes, moves, stiffness, nv, idx, co, faint):
    """Add what the skin's stiffness does to torque c to its ``n`` columns; how many they are then.

    ``faint`` (nq,) out: what it does through joints of other limbs where that is next to nothing, which counts in gradients only.
    """
    nq, b = nodes.shape[0], nodes[c]
    for t in range(n):
        if nv + 6 <= idx[t] < nv + nq:
            co[t] += stiffness[c, idx[t] - nv]
    for q in range(6, nq):
        faint[q] = 0.0
        if moves[q, b] == 0 and moves[c, nodes[q]] == 0:
            if abs(stiffness[c, q]) > FAINT * abs(stiffness[c, c]):
                idx[n], co[n] = nv + q, stiffness[c, q]
                n += 1
            else:
                faint[q] = stiffness[c, q]
    return n


@njit(cache=True)
def put_torque(L, g, idx, co, n, faint, nv, weight, value):
    """As `put`, with the faint columns in the gradient."""
    put(L, g, idx, co, n, weight, value)
    for q in range(6, faint.shape[0]):
        g[nv + q] += weight * value * faint[q]


@njit(cache=True)
def torque_rows(c, i, k, n, h, weight, stall, no_load, faint, v, tau, jac, w, scale, s, held, r, L, g, idx, co):
    """Returned: weight tau^2; written: rows |tau|/stall - 1 and |tau/stall + rate/no_load| - 1, rate the mean over both sides.

    Together they are the motor's line |tau|/stall + |rate|/no_load <= 1 where it drives and its stall torque where it brakes.
    ``idx``, ``co`` hold the ``n`` derivatives of tau.
    """
    nv = v.shape[1]
    line = tau / stall + (v[i + 1, c] - v[i - 1, c]) / (2.0 * h * no_load)
    limited = stall < FREE
    if limited:
        r[k], r[k + 1] = abs(tau) / stall - 1.0, abs(line) - 1.0
    if not jac:
        return weight * tau * tau
    put_torque(L, g, idx, co, n, faint, nv, 2.0 * weight, tau)
    for part in range(2 if limited else 0):
        if not active(k + part, r, s, held):
            continue
        turn = (1.0 if (tau if part == 0 else line) >= 0.0 else -1.0) / stall
        for t in range(n if part == 1 else 0):
            if idx[t] == 2 * nv + c:
                co[t] += stall / (2.0 * h * no_load)
            elif idx[t] == c:
                co[t] -= stall / (2.0 * h * no_load)
        put_torque(L, g, idx, co, n, faint, nv, 2.0 * w * (scale[k + part] * turn) ** 2, (r[k + part] + s[k + part]) / turn)
    return weight * tau * tau
