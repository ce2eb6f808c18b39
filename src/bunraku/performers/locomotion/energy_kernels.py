"""The energy of a motion: objective and augmented constraints over all samples, with gradient and Gauss-Newton blocks on demand."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.cycle_kernels import boundary, end_penalty, extend
from bunraku.mechanics.centroidal.kinematics_kernels import move_all
from bunraku.mechanics.centroidal.sample_kernels import assemble, clear, local_room, local_system, smoothness
from bunraku.optimization.blocks.residual_kernels import penalty, put
from bunraku.performers.locomotion.constraint_kernels import sample


@njit(cache=True)
def passed(i, waypoints, model, K, nv, local):
    """Waypoints between extended samples i and i + 1: weight |(1 - a) place_i + a place_{i+1} - place|^2; returns their sum."""
    at, share, what, place, weight = waypoints.sample, waypoints.share, waypoints.what, waypoints.place, waypoints.weight
    x, Jx, e, Je, P, chain = K.x, K.Jx, K.e, K.Je, K.P, model.tips.chain
    nq, jac, idx, co = model.nodes.shape[0], local.jac, local.idx, local.co
    total = 0.0
    for n in range(at.shape[0]):
        if at[n] != i - 1:
            continue
        for a in range(3):
            if weight[n, a] == 0.0:
                continue
            value = -place[n, a]
            k = 0
            for side in range(2):
                part = share[n] if side else 1.0 - share[n]
                if part == 0.0:
                    continue
                q = i + side
                if what[n] == -1:
                    value += part * x[q, a]
                    if jac:
                        for c in range(nq):
                            idx[k], co[k] = (1 + side) * nv + c, part * Jx[q, a, c]
                            k += 1
                elif what[n] == -2:
                    value += part * P[q, model.nodes[5], a]
                    if jac:
                        idx[k], co[k] = (1 + side) * nv + a, part
                        k += 1
                else:
                    j = what[n]
                    value += part * e[q, j, a]
                    if jac:
                        c = 0
                        while chain[j, c] >= 0:
                            idx[k], co[k] = (1 + side) * nv + chain[j, c], part * Je[q, j, a, c]
                            k += 1
                            c += 1
            total += weight[n, a] * value * value
            if jac:
                put(local.L, local.g, idx, co, k, 2.0 * weight[n, a], value)
    return total


@njit(cache=True)
def energy(v, D, problem, work, w, shifts, values, jac, blocks):
    """The energy at (v, D); the objective alone is returned second.

    ``problem``: `MotionArrays`, ``work``: `MotionWork`; ``shifts``: (s (T, m), s of the ends); ``values``: (r (T, m), r of the
    ends) out; ``blocks``: `BlockArrays` out if ``jac``.
    """
    model, plan, ends, K = problem.model, problem.plan, problem.ends, work.K
    T, nv = v.shape
    nq = model.nodes.shape[0]
    has = np.zeros(T + 2, dtype=np.int64)
    M, N = np.zeros((2, nv, nv)), np.zeros((2, nv, 3))
    extend(v, D, nq, problem.beyond, work.v, has, M, N)
    move_all(work.v, has, model, plan.places, plan.centers, plan.terrain, jac, K)
    if jac:
        clear(blocks)
    room = local_room(nv)
    objective, total = 0.0, 0.0
    for i in range(T):
        before, after = has[i] != 0, has[i + 2] != 0
        s, r = shifts[0][i], values[0][i]
        local = local_system(room, jac, w, problem.scale, s, work.held[i], r)
        sample(i + 1, before, after, problem, K, work.v, local)
        total += penalty(w, problem.scale, problem.inequality, s, r)
        objective += smoothness(i + 1, before, after, nq, problem.weights, work.v, local)
        objective += passed(i + 1, problem.waypoints, model, K, nv, local)
        if jac:
            assemble(i, T, room, M, N, blocks)
    boundary(v, D, nq, problem.beyond.kind, ends, K, jac, w, shifts[1], values[1], blocks)
    total = end_penalty(total, w, ends.scale, shifts[1], values[1])
    return objective + total, objective
