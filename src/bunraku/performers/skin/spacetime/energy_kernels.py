"""The energy of a plan on soles: objective and augmented constraints over all samples, with gradient and Gauss-Newton blocks."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.arrays import TorqueSums
from bunraku.mechanics.centroidal.curvature_kernels import bend
from bunraku.mechanics.centroidal.cycle_kernels import boundary, end_penalty, extend
from bunraku.mechanics.centroidal.kinematics_kernels import move_all
from bunraku.mechanics.centroidal.sample_kernels import assemble, clear, local_room, local_system, smoothness
from bunraku.optimization.blocks.residual_kernels import penalty
from bunraku.performers.skin.spacetime.constraint_kernels import sample
from bunraku.performers.skin.spacetime.objective_kernels import followed, tracked_com, tracked_soles


@njit(cache=True)
def energy(v, D, problem, work, w, shifts, held, values, jac, curved, blocks):
    """The energy at (v, D); the objective alone is returned second.

    ``problem``: `SpacetimeArrays`, ``work``: `SpacetimeWork`; ``shifts``: (s (T, m), s of the ends); ``held`` (T, m): 1 or -1 where
    the blocks shall count an inequality as pushing or not, 0 where its value decides; ``values``: (r (T, m), r of the ends) out;
    ``curved``: whether second derivatives of places count in the blocks (which may then be indefinite); ``blocks``: `BlockArrays`
    out if ``jac``.
    """
    model, plan, tracks, ends, K = problem.model, problem.plan, problem.tracks, problem.ends, work.K
    T, nv = v.shape
    nq, k = model.nodes.shape[0], model.tree.parent.shape[0]
    has = np.zeros(T + 2, dtype=np.int64)
    M, N = np.zeros((2, nv, nv)), np.zeros((2, nv, 3))
    extend(v, D, nq, problem.beyond, work.v, has, M, N)
    move_all(work.v, has, model, plan.places, plan.centers, plan.terrain, jac, K)
    if jac:
        clear(blocks)
    room = local_room(nv)
    sums = TorqueSums(
        np.zeros(k), np.zeros((3, k, 3)), np.zeros((3, k, 3, 3)), np.zeros((k, 3)), np.zeros((k, 3)), np.zeros((k, 3, 3))
    )
    objective, total = 0.0, 0.0
    pull = np.zeros((3, K.e.shape[1] + 1, 3))
    for i in range(T):
        n, before, after = i + 1, has[i] != 0, has[i + 2] != 0
        s, r = shifts[0][i], values[0][i]
        pull[:] = 0.0
        local = local_system(room, jac, w, problem.scale, s, held[i], r)
        objective += sample(n, before, after, problem, sums, K, work.v, work.tau[i], local, curved, pull)
        total += penalty(w, problem.scale, problem.inequality, s, r)
        objective += smoothness(n, before, after, nq, problem.weights, work.v, local)
        objective += tracked_com(n, tracks.com[i], tracks.com_weight[i], tracks.heading[i], nv, K, local, pull[1, -1])
        objective += tracked_soles(n, tracks.feet[i], tracks.feet_weight[i], tracks.level[i], model, nv, K, local, pull[1])
        objective += followed(n, tracks.joints[i], tracks.joints_weight[i], work.v, local)
        if not jac:
            continue
        if curved:
            bend(n, model, pull, K, nv, local.L)
        assemble(i, T, room, M, N, blocks)
    boundary(v, D, nq, problem.beyond.kind, ends, K, jac, w, shifts[1], values[1], blocks)
    total = end_penalty(total, w, ends.scale, shifts[1], values[1])
    return objective + total, objective
