"""Quasi-static motion: where the dynamic coordinates would rest if the motors stood still at each of their values.

    L_q(q, 0) + F(q, 0) + Dh' lam = 0 (dynamic rows),    h(q) = 0

solved node after node, each from the one before. These are the targets of a motion without vibration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.driven import rest_kernels as kernels
from bunraku.mechanics.integrators.variational import STATUS
from bunraku.mechanics.integrators.work_kernels import make_work
from bunraku.optimization.solution import Status


@dataclass(frozen=True, eq=False)
class RestMotion:
    """Rest at each node: q (F, nq), multipliers (F, nc) (forces, continuous sign), and how it ended.

    ``residual`` [N, N·m] and ``violation``: the worst of all solved nodes. ``frames`` were solved (all of them if ``status`` is
    good; rows beyond are NaN); ``message`` says where and why it ended otherwise.
    """

    q: Array
    multipliers: Array
    residual: float
    violation: float
    frames: int
    status: Status
    message: str = ""


def check_motors(system: System, K: ArrayLike) -> Array:
    """The node values (N + 1, nk) of the motors as finite numbers, or BadInput."""
    table = np.ascontiguousarray(K, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != system.nk or len(table) < 1:
        raise BadInput(f"the motor values have shape {table.shape}; they must be (nodes, {system.nk})")
    if not np.isfinite(table).all():
        node, motor = (int(i[0]) for i in np.nonzero(~np.isfinite(table)))
        name = system.names[system.kinematic[motor]]
        raise BadInput(f"the motor {name!r} holds {table[node, motor]} at node {node}; it must be finite")
    return table


def rest_start(system: System, motors: ArrayLike, guess: ArrayLike | None = None, tolerance: float = 1e-9) -> tuple[Array, Array]:
    """Q (nq,) and multipliers (nc,) at rest, motors at given values (nk,); BadInput when there is no rest near ``guess``."""
    q = np.array(system.home if guess is None else guess, dtype=np.float64)
    q[system.kinematic] = motors
    rest = find_equilibrium(system, q, tolerance=max(tolerance, 1e-6))
    q, lam, work = rest.q.copy(), rest.multipliers.copy(), make_work(system.model, system.nu)
    _, code, force, off = kernels.settle(system.model, q, lam, min(tolerance, 1e-10), 30, work)
    if not STATUS[code].good:
        raise BadInput(
            f"the system finds no rest at its first motor values: {force:.2g} N unbalanced, constraints off by {off:.2g}"
        )
    return q, lam


def rest_motion(
    system: System,
    K: ArrayLike,
    *,
    start: ArrayLike | None = None,
    stride: int = 1,
    tolerance: float = 1e-9,
    max_iterations: int = 30,
) -> RestMotion:
    """Rest at every row of K (F, nk), or at every ``stride``-th (and the last) with cubic interpolation between.

    ``start`` (nq,): a configuration near rest at the first row; home if not given. Newton stops when every force [N, N·m] and
    constraint is within ``tolerance``.
    """
    table = check_motors(system, K)
    picked = np.unique(np.append(np.arange(0, len(table), max(1, stride)), len(table) - 1))
    q0, lam0 = rest_start(system, table[0], start, tolerance)
    Q, L, size, done, code = kernels.rest_path(
        system.model, q0, lam0, np.ascontiguousarray(table[picked]), tolerance, max_iterations, make_work(system.model, system.nu)
    )
    solved = size[: min(done + 1, len(size))]
    status, message = STATUS[code], ""
    if done < len(picked):
        Q[done:], L[done:] = np.nan, np.nan
        message = (
            f"no rest was found at node {picked[done]}: {size[done, 0]:.2g} N unbalanced, constraints off by {size[done, 1]:.2g}"
        )
    elif len(picked) < len(table):
        from scipy.interpolate import CubicSpline

        every = np.arange(len(table))
        Q = np.ascontiguousarray(CubicSpline(picked, Q)(every)) if len(picked) > 1 else np.repeat(Q, len(table), axis=0)
        L = np.ascontiguousarray(CubicSpline(picked, L)(every)) if len(picked) > 1 else np.repeat(L, len(table), axis=0)
        Q[:, system.kinematic] = table
    return RestMotion(Q, L, float(solved[:, 0].max()), float(solved[:, 1].max()), int(done), status, message)
