"""Where a character of chains comes to rest in MuJoCo under gravity.

Newton on the free coordinates x and the forces y of closed loops: g(x) - s(x) - J(x)' y = 0, c(x) = 0, with the weight g, the
springs s, and the loops' gaps c with their Jacobian J, all as MuJoCo computes them; the stiffness d/dx by differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.optimization.solution import Status
from bunraku.verification.flexible.model import ChainModel

_EPS, _ITERATIONS, _LOAD_STEPS = 1e-6, 30, (1, 4, 16)


def find_chain_rest(foreign: ChainModel, motors: Array) -> tuple[Array, Status]:
    """The qpos (nq,) at rest with the motors at (k,), and whether Newton converged; gravity is raised in steps where it must be."""
    import mujoco

    data, gravity = mujoco.MjData(foreign.model), foreign.model.opt.gravity.copy()
    try:
        for steps in _LOAD_STEPS:
            data.qpos[:] = foreign.home
            data.qpos[foreign.held] = foreign.prescribed(motors)
            y, good = np.zeros(0), True
            for step in range(1, steps + 1):
                foreign.model.opt.gravity[:] = gravity * step / steps
                y, good = _newton(foreign, data, y)
                if not good:
                    break
            if good:
                return data.qpos.copy(), Status.CONVERGED
    finally:
        foreign.model.opt.gravity[:] = gravity
    return data.qpos.copy(), Status.STALLED


def _newton(foreign: ChainModel, data: Any, y: Array) -> tuple[Array, bool]:
    """Full Newton steps from data.qpos, which they change; the loops' forces, and whether they converged."""
    free, start = foreign.free, data.qpos.copy()
    for _ in range(_ITERATIONS):
        r, K, J, c = tangent(foreign, data, y)
        if len(y) != len(c):
            y = np.zeros(len(c))
        full = np.block([[K, -J.T], [J, np.zeros((len(c), len(c)))]])
        right = -np.concatenate([r, c])
        step = np.linalg.lstsq(full, right, rcond=1e-14)[0] if len(c) else _solved(full, right)
        dx = step[: len(free)]
        longest = float(np.abs(dx).max(initial=0.0))
        if not longest < 10.0:
            break
        data.qpos[free] += dx
        y = y + step[len(free) :]
        if longest < 1e-10:
            return y, True
    data.qpos[:] = start
    return np.zeros(0), False


def _solved(matrix: Array, right: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-14)[0], dtype=np.float64)


def tangent(foreign: ChainModel, data: Any, y: Array) -> tuple[Array, Array, Array, Array]:
    """Unbalanced force (m,), its derivative (m, m) at given loop forces, the loops' Jacobian (c, m) and gaps (c,)."""
    free = foreign.free
    r, J, c = balance(foreign, data, y)
    if len(y) != len(c):
        y = np.zeros(len(c))
    K = np.empty((len(free), len(free)))
    for j, place in enumerate(free):
        before = data.qpos[place]
        data.qpos[place] = before + _EPS
        ahead = balance(foreign, data, y)[0]
        data.qpos[place] = before - _EPS
        K[:, j] = (ahead - balance(foreign, data, y)[0]) / (2.0 * _EPS)
        data.qpos[place] = before
    balance(foreign, data, y)
    return r, K, J, c


def balance(foreign: ChainModel, data: Any, y: Array) -> tuple[Array, Array, Array]:
    """Unbalanced force (m,) at rest, the loops' Jacobian (c, m) and gaps (c,)."""
    import mujoco

    data.qvel[:] = 0.0
    mujoco.mj_fwdPosition(foreign.model, data)
    mujoco.mj_fwdVelocity(foreign.model, data)
    rows = np.flatnonzero(data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    J = data.efc_J.reshape(-1, foreign.model.nv)[np.ix_(rows, foreign.free)] if len(rows) else np.zeros((0, len(foreign.free)))
    c = np.array(data.efc_pos[rows])
    r = (data.qfrc_bias - data.qfrc_passive)[foreign.free]
    if len(y) == len(c):
        r = r - J.T @ y
    return r, J, c
