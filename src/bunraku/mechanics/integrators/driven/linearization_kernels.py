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

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import constraints, forces
from bunraku.mechanics.dynamics.equation_kernels import curvature, gradient
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import damp, pose
from bunraku.mechanics.integrators.driven.output_kernels import errors


@kernel
def slopes(model, q1, q2, dt, work, R1, R2, G1, G2, r, p):
    """Derivatives (nq, nq) over both ends of a step of r (without P and lam) and p2, and both themselves (nq,), all rows."""
    n = q1.shape[0]
    x, H, Fq, Fv = work.vectors, work.H, work.Fq, work.Fv
    q, v, Lv, Lq, F, D = x[0], x[1], x[2], x[3], x[4], x[5]
    for i in range(n):
        q[i], v[i], F[i], D[i] = 0.5 * (q1[i] + q2[i]), (q2[i] - q1[i]) / dt, 0.0, 0.0
    gradient(model, q, v, work.W, work.slots, work.where, Lv, Lq)
    curvature(model, q, v, work.W, work.slots, work.where, H[0], H[1], H[2])
    for i in range(n):
        for j in range(n):
            Fq[i, j] = 0.0
            Fv[i, j] = 0.0
    damp(model, v, work.W, 0.5, D, Fq, Fv, np.int64(1))
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
    forces(model, v, work.u, work.W, work.slots, work.where, F, Fq, Fv, work.Fu, np.int64(1))
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
        pose(model, q1, work.W2)
        constraints(model, q1, work.W2, work.slots, work.where, work.h, work.Dh1, lam, D2, np.int64(2))
        pose(model, q2, work.W2)
        constraints(model, q2, work.W2, work.slots, work.where, work.h, work.Dh, lam, D2, np.int64(1))
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
    """The rows of S for q_d in the order the two halves of a state stand in: node m in half ``even``."""
    nd = S.shape[1]
    a, b = (0, nd) if even == 0 else (nd, 0)
    for j in range(nd):
        for i in range(nd):
            out[a + j, i] = S[j, i]
            out[b + j, i] = S[nd + j, i]


@kernel
def local_columns(rows, first, weight, node, parameter, X):
    """Adds to ``X`` (np, n) what the motors at ``node`` give directly: ``rows`` (nk, n) for each motor."""
    for b in range(weight.shape[1]):
        f, c = weight[node, b], parameter[first[node] + b]
        if f != 0.0 and c >= 0:
            nk = rows.shape[0]
            for m in range(nk):
                for i in range(X.shape[1]):
                    X[c * nk + m, i] += f * rows[m, i]


@kernel
def emit(model, tracked, node, Q, frame, target_p, target_R, root, state, a, late, first, weight, parameter, W, rows, J, e, at):
    """Output rows of ``node`` (frame ``frame``) from sensitivities ``state`` (np, nd) of q_d and ``late`` (nd,) of the defects."""
    slots, local, turning = tracked
    dynamic, kinematic = model.dynamic, model.kinematic
    nd, nk, outs = dynamic.shape[0], kinematic.shape[0], rows.shape[1]
    value, D, Dd, Dk = np.empty(outs), np.empty((outs, Q.shape[1])), np.empty((nd, outs)), np.empty((nk, outs))
    errors(model, slots, local, turning, Q[node], target_p[frame], target_R[frame], W, value, D, True)
    for i in range(outs):
        w, x = root[frame, i], 0.0
        for j in range(nd):
            Dd[j, i] = w * D[i, dynamic[j]]
            x += Dd[j, i] * late[j]
        for j in range(nk):
            Dk[j, i] = w * D[i, kinematic[j]]
        e[0, at + i], e[1, at + i] = w * value[i], x
    np.dot(state[:a], Dd, rows[:a])
    local_columns(Dk, first, weight, node, parameter, rows)
    for c in range(a):
        for i in range(outs):
            J[c, at + i] = rows[c, i]


@kernel
def begin_state(model, start, first, weight, parameter, active, tracked, Q, target_p, target_R, root, work, Z, state, J, e):
    """Sensitivities of nodes 0 and -1 into ``Z``, from ``start`` (nk, nd) = dq_d/dk of node 0, and its output rows."""
    nd, a = start.shape[1], active[0]
    local_columns(start, first, weight, 0, parameter, state)
    for i in range(a):
        for j in range(nd):
            Z[i, j], Z[i, nd + j] = state[i, j], state[i, j]
    rows = np.zeros((J.shape[0], root.shape[1]))
    zero = np.zeros(nd)
    emit(model, tracked, 0, Q, 0, target_p, target_R, root, state, a, zero, first, weight, parameter, work.W, rows, J, e, 0)


@kernel
def carry(model, S, m, Z, state, first, weight, parameter, active):
    """Sensitivities of node m + 1 into ``state`` (np, nd) from those of m (half m mod 2 of ``Z``) and m - 1, and into ``Z``."""
    nd, nk = model.dynamic.shape[0], model.kinematic.shape[0]
    a, other = active[m + 1], 1 - m % 2
    AB = np.empty((2 * nd, nd))
    pack(S, m % 2, AB)
    np.dot(Z[:a], AB, state[:a])
    C = S[2 * nd :]
    local_columns(C[:nk], first, weight, max(m - 1, 0), parameter, state)
    local_columns(C[nk : 2 * nk], first, weight, m, parameter, state)
    local_columns(C[2 * nk : 3 * nk], first, weight, m + 1, parameter, state)
    for i in range(a):
        for j in range(nd):
            Z[i, other * nd + j] = state[i, j]


@kernel
def spread(
    model, S, begin, Z, x, state, first, weight, parameter, active, tracked, Q, stride, target_p, target_R, root, work, J, e, at
):
    """Carries sensitivities through the steps of ``S`` from node ``begin``; output rows of every stride-th node into ``J``, ``e``.

    ``Z`` (np, 2 nd): sensitivities of q_d of nodes m (half m mod 2) and m - 1; ``x`` (2, nd): the same for the defects. ``state``
    (np, nd): room for the next node. ``active`` (N + 1,): parameters that act up to a node. ``J`` (np, rows), ``e`` (2, rows):
    errors and what the defects add, from column ``at`` on, all times ``root`` (frames, rows a frame), the roots of the weights.
    Returns the column after the last one written.
    """
    nd, nk, outs = model.dynamic.shape[0], model.kinematic.shape[0], root.shape[1]
    rows = np.empty((J.shape[0], outs))
    for s in range(S.shape[0]):
        m = begin + s
        here, other = m % 2, 1 - m % 2
        carry(model, S[s], m, Z, state, first, weight, parameter, active)
        late = S[s, 2 * nd + 3 * nk].copy()
        for j in range(nd):
            f, g = x[here, j], x[other, j]
            for i in range(nd):
                late[i] += f * S[s, j, i] + g * S[s, nd + j, i]
        for i in range(nd):
            x[other, i] = late[i]
        if (m + 1) % stride == 0:
            f, a = (m + 1) // stride, active[m + 1]
            emit(
                model,
                tracked,
                m + 1,
                Q,
                f,
                target_p,
                target_R,
                root,
                state,
                a,
                late,
                first,
                weight,
                parameter,
                work.W,
                rows,
                J,
                e,
                at,
            )
            at += outs
    return at


@kernel
def spread_forces(model, S, U, begin, Z, state, first, weight, parameter, active, wanted, out, at):
    """Carries sensitivities through the steps of ``S``; the motors' forces at the steps ``wanted`` into ``out`` (., nk, np)."""
    nd, nk = model.dynamic.shape[0], model.kinematic.shape[0]
    AB = np.empty((2 * nd, nk))
    rows = np.empty((Z.shape[0], nk))
    for s in range(S.shape[0]):
        m = begin + s
        if at >= wanted.shape[0]:
            return at
        if wanted[at] == m:
            a, b = (0, nd) if m % 2 == 0 else (nd, 0)
            for j in range(nd):
                for i in range(nk):
                    AB[a + j, i] = U[s, j, i]
                    AB[b + j, i] = U[s, nd + j, i]
            np.dot(Z, AB, rows)
            C = U[s, 2 * nd :]
            local_columns(C[:nk], first, weight, max(m - 1, 0), parameter, rows)
            local_columns(C[nk : 2 * nk], first, weight, m, parameter, rows)
            local_columns(C[2 * nk : 3 * nk], first, weight, m + 1, parameter, rows)
            for i in range(nk):
                for c in range(Z.shape[0]):
                    out[at, i, c] = rows[c, i]
            at += 1
        carry(model, S[s], m, Z, state, first, weight, parameter, active)
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
def slopes_of_cost(model, tracked, Q, stride, target_p, target_R, weights, work, gd, gk):
    """Adds the slopes of sum w e^2 / 2 over q_d (N + 1, nd) and the motors (N + 1, nk) of each node; returns the cost."""
    slots, local, turning = tracked
    outs, n = 3 * slots.shape[0], Q.shape[1]
    value, D = np.empty(outs), np.empty((outs, n))
    cost = 0.0
    for f in range(weights.shape[0]):
        errors(model, slots, local, turning, Q[f * stride], target_p[f], target_R[f], work.W, value, D, True)
        for i in range(outs):
            w = weights[f, i] * value[i]
            cost += 0.5 * w * value[i]
            for j in range(gd.shape[1]):
                gd[f * stride, j] += w * D[i, model.dynamic[j]]
            for j in range(gk.shape[1]):
                gk[f * stride, j] += w * D[i, model.kinematic[j]]
    return cost
