"""A driven motion to first order, by the nodes' configurations alone.

The step from node m to m + 1 has the residual r = P_m + (dt/2 (Lq + D) - Lv + dt F) - Dh(q_m)' lam, where P_m = dt/2 (Lq + D) + Lv
of the step before (q_-1 = q_0: the motion starts from rest). With R1, R2 its derivatives over the ends of the step, G1, G2 those of
P and J the Newton matrix:

    (dlam; dq_d)_{m+1} = -J^-1 [(R1 + G2) dq_m + G1 dq_{m-1} + (R2 dk_{m+1}; Dh dk_{m+1}) + (h; r)]

Rows of the step matrix S (2 nd + 3 nk + 1, nd): how q_d of node m + 1 follows from q_d of m, of m - 1, from the motors at m - 1, m,
m + 1, and from the defect; ``U`` (2 nd + 3 nk + 1, nk) the same for what the motors must bring: -r/dt on their rows (`torque.py`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import constraints, forces
from bunraku.mechanics.dynamics.equation_kernels import curvature, gradient
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import damp, pose
from bunraku.mechanics.integrators.driven.output_kernels import errors


class Knots(NamedTuple):
    """Motor curves (see `curves.py`): row j ``weight`` (N + 1, width) of the control points from ``first`` (N + 1,) on.

    ``parameter`` (points + width,): their numbers among the parameters, -1 fixed; ``active`` (N + 1,) that act up to a node.
    """

    first: NDArray[np.int64]
    weight: Array
    parameter: NDArray[np.int64]
    active: NDArray[np.int64]


class Carried(NamedTuple):
    """Sensitivities on their way through the steps.

    ``Z`` (np, 2 nd): of q_d of nodes m (half m mod 2) and m - 1; ``x`` (2, nd): the same for the defects. ``state`` (np, nd): room
    for the next node.
    """

    Z: Array
    x: Array
    state: Array


class Rows(NamedTuple):
    """``J`` (np, rows), ``e`` (2, rows): errors and what the defects add, all times the roots of the weights; one column a row."""

    J: Array
    e: Array


@kernel
def slopes(model, q1, q2, dt, work, R1, R2, G1, G2, r, p):
    """Derivatives (nq, nq) over both ends of a step of r (without P and lam) and p2, and both themselves (nq,), all rows."""
    n = q1.shape[0]
    q, v, Lv, Lq, F, D = work.q, work.v, work.Lv, work.Lq, work.F, work.spare
    H, Fq, Fv = work.H, work.Fq, work.Fv
    for i in range(n):
        q[i], v[i], F[i], D[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt, 0.0, 0.0
    gradient(model, q, v, work.room, Lv, Lq)
    curvature(model, q, v, work.room, H[0], H[1], H[2])
    for i in range(n):
        for j in range(n):
            Fq[i, j] = 0.0
            Fv[i, j] = 0.0
    damp(model, v, work.room.W, 0.5, D, Fq, Fv, np.int64(1))
    for i in range(n):
        r[i] = 0.5 * dt * Lq[i] + dt * D[i] - Lv[i]
        p[i] = 0.5 * dt * Lq[i] + dt * D[i] + Lv[i]
        for j in range(n):
            even, odd, other, mass = (
                0.25 * dt * H[2, i, j] + 0.5 * dt * Fq[i, j],
                0.5 * H[1, j, i],
                0.5 * H[1, i, j],
                H[0, i, j] / dt,
            )
            fv = Fv[i, j]
            R1[i, j] = even - odd - other + mass - fv
            R2[i, j] = even + odd - other - mass + fv
            G1[i, j] = even - odd + other - mass - fv
            G2[i, j] = even + odd + other + mass + fv
    for i in range(n):
        for j in range(n):
            Fq[i, j] = 0.0
            Fv[i, j] = 0.0
    forces(model, v, work.u, work.room, F, Fq, Fv, work.Fu, np.int64(1))
    for i in range(n):
        r[i] += dt * F[i]
        for j in range(n):
            R1[i, j] += 0.5 * dt * Fq[i, j] - Fv[i, j]
            R2[i, j] += 0.5 * dt * Fq[i, j] + Fv[i, j]


@kernel
def constrain(model, q1, q2, lam, work, R1, r):
    """Takes lam.D2h(q1) from ``R1`` and Dh(q1)' lam from ``r``; leaves Dh(q1), Dh(q2) and h(q2) in the work arrays."""
    n, nc = q1.shape[0], lam.shape[0]
    if nc > 0:
        D2 = work.Fq
        for i in range(n):
            for j in range(n):
                D2[i, j] = 0.0
        pose(model, q1, work.arrived.W)
        constraints(model, q1, work.arrived, work.h, work.Dh1, lam, D2, np.int64(2))
        pose(model, q2, work.arrived.W)
        constraints(model, q2, work.arrived, work.h, work.Dh, lam, D2, np.int64(1))
        for i in range(n):
            for c in range(nc):
                r[i] -= work.Dh1[c, i] * lam[c]
            for j in range(n):
                R1[i, j] -= D2[i, j]


@kernel
def fill(model, now, before, r, work, J, B):
    """The Newton matrix ``J`` and the right sides ``B`` (nc + nd, 2 nd + 3 nk + 1) of one step."""
    dynamic, kinematic = model.dynamic, model.kinematic
    nd, nk, nc = dynamic.shape[0], kinematic.shape[0], model.constraint_i.shape[0]
    R1, R2, G1, G2 = now[0], now[1], before[2], before[3]
    a, b, c = 2 * nd, 2 * nd + nk, 2 * nd + 2 * nk
    for i in range(nd):
        s = dynamic[i]
        for j in range(nd):
            t = dynamic[j]
            J[nc + i, nc + j] = R2[s, t]
            B[nc + i, j] = -(R1[s, t] + G2[s, t])
            B[nc + i, nd + j] = -G1[s, t]
        for j in range(nk):
            t = kinematic[j]
            B[nc + i, a + j] = -G1[s, t]
            B[nc + i, b + j] = -(R1[s, t] + G2[s, t])
            B[nc + i, c + j] = -R2[s, t]
        B[nc + i, c + nk] = -r[s]
        for k in range(nc):
            J[nc + i, k] = -work.Dh1[k, s]
            J[k, nc + i] = work.Dh[k, s]
    for k in range(nc):
        for j in range(nc):
            J[k, j] = 0.0
        for j in range(c):
            B[k, j] = 0.0
        for j in range(nk):
            B[k, c + j] = -work.Dh[k, kinematic[j]]
        B[k, c + nk] = -work.h[k]


@kernel
def motor_rows(model, now, before, dt, work, X, U):
    """``U`` (2 nd + 3 nk + 1, nk): the slope of the motors' forces; dlam, dq_{m+1} from ``X`` (nc + nd, 2 nd + 3 nk + 1)."""
    dynamic, kinematic = model.dynamic, model.kinematic
    nd, nk, nc = dynamic.shape[0], kinematic.shape[0], model.constraint_i.shape[0]
    R1, R2, G1, G2 = now[0], now[1], before[2], before[3]
    a, b, c = 2 * nd, 2 * nd + nk, 2 * nd + 2 * nk
    left = np.empty((nk, nc + nd))
    for j in range(nk):
        t = kinematic[j]
        for k in range(nc):
            left[j, k] = -work.Dh1[k, t]
        for i in range(nd):
            left[j, nc + i] = R2[t, dynamic[i]]
    whole = np.dot(left, X)
    for j in range(nk):
        t = kinematic[j]
        for i in range(nd):
            s = dynamic[i]
            whole[j, i] += R1[t, s] + G2[t, s]
            whole[j, nd + i] += G1[t, s]
        for i in range(nk):
            s = kinematic[i]
            whole[j, a + i] += G1[t, s]
            whole[j, b + i] += R1[t, s] + G2[t, s]
            whole[j, c + i] += R2[t, s]
        for i in range(U.shape[0]):
            U[i, j] = -whole[j, i] / dt


@kernel
def transitions(model, Q, L, dt, begin, end, work, S, U, defect, force):
    """Step matrices S and U of the steps from ``begin`` to ``end`` about ``Q`` (N + 1, nq), ``L`` (N, nc).

    ``defect`` (steps, nd), ``force`` (steps, nk): the rows of r of the dynamic coordinates, and of the motors over -dt.
    """
    n, nd, nk, nc = Q.shape[1], model.dynamic.shape[0], model.kinematic.shape[0], model.constraint_i.shape[0]
    now, before = np.empty((4, n, n)), np.empty((4, n, n))
    r, p, p1 = np.empty(n), np.empty(n), np.empty(n)
    J, B = np.empty((nc + nd, nc + nd)), np.empty((nc + nd, 2 * nd + 3 * nk + 1))
    first = begin - 1 if begin > 0 else 0
    for m in range(begin - 1, end):
        start = first if m < begin else m
        slopes(model, Q[start], Q[m + 1], dt, work, now[0], now[1], now[2], now[3], r, p)
        if m >= begin:
            constrain(model, Q[m], Q[m + 1], L[m], work, now[0], r)
            for i in range(n):
                r[i] += p1[i]
            for i in range(nd):
                defect[m - begin, i] = r[model.dynamic[i]]
            for i in range(nk):
                force[m - begin, i] = -r[model.kinematic[i]] / dt
            fill(model, now, before, r, work, J, B)
            X = np.ascontiguousarray(np.linalg.solve(J, B))
            for j in range(B.shape[1]):
                for i in range(nd):
                    S[m - begin, j, i] = X[nc + i, j]
            motor_rows(model, now, before, dt, work, X, U[m - begin])
        p1[:] = p
        now, before = before, now


@kernel
def pack(S, even, out):
    """The rows of S (or U) for q_d in the order the two halves of a state stand in: node m in half ``even``."""
    nd = out.shape[0] // 2
    a, b = (0, nd) if even == 0 else (nd, 0)
    for j in range(nd):
        for i in range(out.shape[1]):
            out[a + j, i] = S[j, i]
            out[b + j, i] = S[nd + j, i]


@kernel
def local_columns(rows, knots, node, X):
    """Adds to ``X`` (np, n) what the motors at ``node`` give directly: ``rows`` (nk, n) for each motor."""
    for b in range(knots.weight.shape[1]):
        f, c = knots.weight[node, b], knots.parameter[knots.first[node] + b]
        if f != 0.0 and c >= 0:
            nk = rows.shape[0]
            for m in range(nk):
                for i in range(X.shape[1]):
                    X[c * nk + m, i] += f * rows[m, i]


@kernel
def emit(model, node, Q, tracking, state, a, late, knots, work, out, at):
    """Output rows of ``node`` from sensitivities ``state`` (np, nd) of q_d, ``a`` active, and ``late`` (nd,) of the defects."""
    dynamic, kinematic, frame = model.dynamic, model.kinematic, node // tracking.stride
    nd, nk, outs = dynamic.shape[0], kinematic.shape[0], tracking.weight.shape[1]
    value, D, Dd, Dk = np.empty(outs), np.empty((outs, Q.shape[1])), np.empty((nd, outs)), np.empty((nk, outs))
    rows = np.empty((out.J.shape[0], outs))
    errors(model, tracking.places, Q[node], tracking.positions[frame], tracking.rotations[frame], work.room.W, value, D, True)
    for i in range(outs):
        w, x = tracking.weight[frame, i], 0.0
        for j in range(nd):
            Dd[j, i] = w * D[i, dynamic[j]]
            x += Dd[j, i] * late[j]
        for j in range(nk):
            Dk[j, i] = w * D[i, kinematic[j]]
        out.e[0, at + i], out.e[1, at + i] = w * value[i], x
    np.dot(state[:a], Dd, rows[:a])
    local_columns(Dk, knots, node, rows)
    for c in range(a):
        for i in range(outs):
            out.J[c, at + i] = rows[c, i]


@kernel
def begin_state(model, start, knots, tracking, Q, work, carried, out):
    """Sensitivities of nodes 0 and -1, from ``start`` (nk, nd) = dq_d/dk of node 0, and its output rows."""
    nd, a, state = start.shape[1], knots.active[0], carried.state
    local_columns(start, knots, 0, state)
    for i in range(a):
        for j in range(nd):
            carried.Z[i, j], carried.Z[i, nd + j] = state[i, j], state[i, j]
    emit(model, 0, Q, tracking, state, a, np.zeros(nd), knots, work, out, 0)


@kernel
def carry(model, S, m, carried, knots):
    """Sensitivities of node m + 1 into ``state`` from those of m and m - 1, and into ``Z``."""
    nd, nk, Z, state = model.dynamic.shape[0], model.kinematic.shape[0], carried.Z, carried.state
    a, other = knots.active[m + 1], 1 - m % 2
    AB = np.empty((2 * nd, nd))
    pack(S, m % 2, AB)
    np.dot(Z[:a], AB, state[:a])
    add_motors(S[2 * nd :], nk, m, knots, state)
    for i in range(a):
        for j in range(nd):
            Z[i, other * nd + j] = state[i, j]


@kernel
def add_motors(C, nk, m, knots, X):
    """Adds to ``X`` (np, n) what the motors at nodes m - 1, m and m + 1 give directly, the rows of ``C`` (3 nk, n)."""
    for b in range(3):
        local_columns(C[b * nk : (b + 1) * nk], knots, max(m - 1 + b, 0), X)


@kernel
def spread(model, S, begin, carried, knots, tracking, Q, work, out, at):
    """Carries sensitivities through the steps of ``S`` from node ``begin``; output rows of tracked nodes into ``out``.

    They stand from column ``at`` on. Returns the column after the last one written.
    """
    nd, nk, x = model.dynamic.shape[0], model.kinematic.shape[0], carried.x
    for s in range(S.shape[0]):
        m = begin + s
        here, other = m % 2, 1 - m % 2
        carry(model, S[s], m, carried, knots)
        late = S[s, 2 * nd + 3 * nk].copy()
        for j in range(nd):
            f, g = x[here, j], x[other, j]
            for i in range(nd):
                late[i] += f * S[s, j, i] + g * S[s, nd + j, i]
        for i in range(nd):
            x[other, i] = late[i]
        if (m + 1) % tracking.stride == 0:
            emit(model, m + 1, Q, tracking, carried.state, knots.active[m + 1], late, knots, work, out, at)
            at += tracking.weight.shape[1]
    return at


@kernel
def spread_forces(model, S, U, begin, carried, knots, chosen, out, at):
    """Carries sensitivities through the steps of ``S``; the motors' forces at the steps ``chosen`` into ``out`` (., nk, np)."""
    nk, Z = model.kinematic.shape[0], carried.Z
    nd = model.dynamic.shape[0]
    AB, rows = np.empty((2 * nd, nk)), np.empty((Z.shape[0], nk))
    for s in range(S.shape[0]):
        m = begin + s
        if at >= chosen.shape[0]:
            return at
        if chosen[at] == m:
            pack(U[s], m % 2, AB)
            np.dot(Z, AB, rows)
            add_motors(U[s, 2 * nd :], nk, m, knots, rows)
            for i in range(nk):
                for c in range(Z.shape[0]):
                    out[at, i, c] = rows[c, i]
            at += 1
        carry(model, S[s], m, carried, knots)
    return at


@kernel
def follow(S, begin, dK, x, out):
    """The change of q_d (steps, nd) at the nodes after the steps of ``S`` when the motors change by ``dK`` (N + 1, nk).

    ``x`` (2, nd): changes at nodes begin - 1 and begin, left at those of the last two nodes. Defects are part of it.
    """
    nd, nk = S.shape[2], dK.shape[1]
    for s in range(S.shape[0]):
        m = begin + s
        row = S[s, 2 * nd + 3 * nk].copy()
        for j in range(nd):
            f, g = x[1, j], x[0, j]
            for i in range(nd):
                row[i] += f * S[s, j, i] + g * S[s, nd + j, i]
        for b in range(3):
            node = max(m - 1 + b, 0)
            for k in range(nk):
                f = dK[node, k]
                for i in range(nd):
                    row[i] += f * S[s, 2 * nd + b * nk + k, i]
        for i in range(nd):
            x[0, i] = x[1, i]
            x[1, i] = row[i]
            out[s, i] = row[i]


@kernel
def back(S, begin, gd, mu, dK):
    """The sweep backwards: ``gd`` (N + 1, nd) the cost's slope over q_d of each node, ``mu`` (N + 2, nd) its total slope.

    mu_j = g_j + A_j' mu_{j+1} + B_{j+1}' mu_{j+2}; adds to ``dK`` (N + 1, nk) what the motors do through the steps of ``S``.
    """
    nd, nk = S.shape[2], dK.shape[1]
    for s in range(S.shape[0] - 1, -1, -1):
        m = begin + s
        late = mu[m + 1]
        for i in range(nd):
            late[i] += gd[m + 1, i]
        before = max(m - 1, 0)
        for j in range(nd):
            x, y = 0.0, 0.0
            for i in range(nd):
                x += S[s, j, i] * late[i]
                y += S[s, nd + j, i] * late[i]
            mu[m, j] += x
            mu[before, j] += y
        for b in range(3):
            node = max(m - 1 + b, 0)
            for k in range(nk):
                x = 0.0
                for i in range(nd):
                    x += S[s, 2 * nd + b * nk + k, i] * late[i]
                dK[node, k] += x


@kernel
def slopes_of_cost(model, tracking, Q, work, gd, gk):
    """Adds the slopes of sum w e^2 / 2 over q_d (N + 1, nd) and the motors (N + 1, nk) of each node; returns the cost."""
    outs, stride, weights = tracking.weight.shape[1], tracking.stride, tracking.weight
    value, D = np.empty(outs), np.empty((outs, Q.shape[1]))
    cost = 0.0
    for f in range(weights.shape[0]):
        errors(model, tracking.places, Q[f * stride], tracking.positions[f], tracking.rotations[f], work.room.W, value, D, True)
        for i in range(outs):
            w = weights[f, i] * value[i]
            cost += 0.5 * w * value[i]
            for j in range(gd.shape[1]):
                gd[f * stride, j] += w * D[i, model.dynamic[j]]
            for j in range(gk.shape[1]):
                gk[f * stride, j] += w * D[i, model.kinematic[j]]
    return cost
