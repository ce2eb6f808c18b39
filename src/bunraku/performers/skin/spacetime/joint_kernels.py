"""Torques of the joints at one sample of a plan on soles: stall torque and line of their motors, and the term of the torques."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from numba import njit

from bunraku.mechanics.centroidal.constraint_kernels import pushes
from bunraku.mechanics.centroidal.torque_kernels import torques
from bunraku.optimization.blocks.residual_kernels import put

JOINT_ROWS = 4
"""Constraints of a joint: range, speed, stall torque, the motor's line."""

FAINT = 1e-3
"""Stiffness between limbs below this part of a joint's own does not count in curvatures."""

FREE = 1e8
"""A stall torque [N·m] above this is no limit."""


@njit(cache=True)
def joint_torques(i, h, gravity, model, skin, K, v, load, tau):
    """Torques (nq,) of the joints at extended sample i: inverse dynamics + stiffness (q - home) + what the skin took."""
    nq = model.nodes.shape[0]
    torques(i, model, K, v[i, nq:], h, gravity, load, tau)
    for c in range(6, nq):
        tau[c] += skin.torque[i - 1, c]
        for q in range(6, nq):
            tau[c] += skin.stiffness[c, q] * (v[i, q] - skin.home[q])


@njit(cache=True)
def skin_slopes(c, n, model, stiffness, nv, local, faint):
    """Add what the skin's stiffness does to torque c to its ``n`` columns; how many they are then.

    ``faint`` (nq,) out: what it does through joints of other limbs where that is next to nothing, which counts in gradients only.
    """
    nodes, moves, idx, co = model.nodes, model.moves, local.idx, local.co
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
def put_torque(n, faint, nv, weight, value, local):
    """As `put`, with the faint columns in the gradient."""
    put(local.L, local.g, local.idx, local.co, n, weight, value)
    for q in range(6, faint.shape[0]):
        local.g[nv + q] += weight * value * faint[q]


@njit(cache=True)
def torque_limits(c, i, k, n, h, weight, limits, faint, v, tau, local):
    """Returned: weight tau^2; written: |tau|/stall - 1 and |tau/stall + rate/no_load| - 1, rate the mean over both sides.

    Together they are the motor's line |tau|/stall + |rate|/no_load <= 1 where it drives and its stall torque where it brakes.
    ``local`` holds the ``n`` derivatives of tau.
    """
    nv, stall, no_load, r, s, idx, co = v.shape[1], limits.stall[c], limits.no_load[c], local.r, local.s, local.idx, local.co
    line = tau / stall + (v[i + 1, c] - v[i - 1, c]) / (2.0 * h * no_load)
    limited = stall < FREE
    if limited:
        r[k], r[k + 1] = abs(tau) / stall - 1.0, abs(line) - 1.0
    if not local.jac:
        return weight * tau * tau
    put_torque(n, faint, nv, 2.0 * weight, tau, local)
    for part in range(2 if limited else 0):
        if not pushes(k + part, local):
            continue
        turn = (1.0 if (tau if part == 0 else line) >= 0.0 else -1.0) / stall
        for t in range(n if part == 1 else 0):
            if idx[t] == 2 * nv + c:
                co[t] += stall / (2.0 * h * no_load)
            elif idx[t] == c:
                co[t] -= stall / (2.0 * h * no_load)
        put_torque(n, faint, nv, 2.0 * local.w * (local.scale[k + part] * turn) ** 2, (r[k + part] + s[k + part]) / turn, local)
    return weight * tau * tau
