"""Simulation of a system whose motors follow given node values, from rest.

    simulate(system, K, dt) -> DrivenMotion

The midpoint variational step (see `integrators/variational.py`) with the kinematic coordinates K (N + 1, nk) prescribed at every
node; the step before the first is taken to be at rest, q_-1 = q_0. Kinematic coordinates enter at the nodes only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.driven import simulate_kernels as kernels
from bunraku.mechanics.integrators.driven.rest import check_motors, rest_start
from bunraku.mechanics.integrators.step_kernels import NOT_FINITE, SINGULAR_MATRIX
from bunraku.mechanics.integrators.variational import STATUS
from bunraku.mechanics.integrators.work_kernels import Newton, make_work
from bunraku.optimization.solution import Status


@dataclass(frozen=True, eq=False)
class Observer:
    """A fictitious pull on the dynamic coordinates towards ``reference`` (N + 1, nq) with ``rate`` w [rad/s].

    c = -M [2 w (v - v_ref) + w^2 (q - q_ref)], M the mass matrix: every coordinate follows its reference like a critically damped
    oscillator of frequency w.
    """

    reference: Array
    rate: float


@dataclass(frozen=True, eq=False)
class DrivenMotion:
    """A simulated motion of N steps of ``dt`` [s].

    q (N + 1, nq), momenta p (N + 1, nd), multipliers lam (N, nc) (impulses), Newton ``iterations`` (N,), ``parts`` (N,): in how
    many shorter steps each was made (1: none), ``factorizations`` in all. ``steps`` succeeded; rows beyond them are NaN and
    ``message`` says when, where and why it ended. ``rests``: the start is the rest of the first motor values and moves with them.
    """

    system: System
    q: Array
    p: Array
    lam: Array
    iterations: NDArray[np.int64]
    parts: NDArray[np.int64]
    factorizations: int
    steps: int
    status: Status
    message: str
    dt: float
    rests: bool

    @property
    def time(self) -> Array:
        """Times of the nodes (N + 1,) [s]."""
        return np.arange(len(self.q), dtype=np.float64) * np.float64(self.dt)

    @property
    def motors(self) -> Array:
        """The kinematic coordinates (N + 1, nk)."""
        values: Array = self.q[:, self.system.kinematic]
        return values

    def require(self) -> None:
        """BadInput unless the whole motion was simulated."""
        if not self.status.good:
            raise BadInput(f"the motion is incomplete: {self.message}")


def simulate(
    system: System,
    K: ArrayLike,
    dt: float,
    *,
    start: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 20,
    observer: Observer | None = None,
) -> DrivenMotion:
    """Simulate along the motor values K (N + 1, nk) at steps of ``dt`` [s].

    ``start``: q (nq,) at the first node (its kinematic part is replaced by K[0]); without it, the rest of the first motor values. A
    step that Newton cannot make is made of 2, 4, 8 or 16 shorter ones that land on the same node; if that fails too the motion
    ends there. Derivatives are exact where no step was cut.
    """
    table = check_motors(system, K)
    if not (np.isfinite(dt) and dt > 0.0):
        raise BadInput(f"the step dt is {dt}; it must be a positive number of seconds")
    if start is None:
        q0, _ = rest_start(system, table[0])
    else:
        q0 = system.vector("start", start, system.nq).copy()
        q0[system.kinematic] = table[0]
    reference, w = np.zeros((0, system.nq)), 0.0
    if observer is not None:
        reference, w = np.ascontiguousarray(observer.reference, dtype=np.float64), float(observer.rate)
        if reference.shape != (len(table), system.nq) or not np.isfinite(reference).all():
            raise BadInput(f"the observer's reference has shape {reference.shape}; it must be ({len(table)}, {system.nq}), finite")
        if not (np.isfinite(w) and w >= 0.0):
            raise BadInput(f"the observer's rate is {w}; it must be 0 or more [rad/s]")
    work, newton = make_work(system.model, system.nu), Newton(float(dt), float(tolerance), int(max_iterations))
    Q, P, L, count, parts, factors, done, code = kernels.simulate(
        system.model, q0, table, kernels.Observed(reference, w), newton, kernels.ORDER, work
    )
    message = ""
    if done < len(table) - 1:
        message = _explain(system, work.r, done * dt, code)
        for values, kept in ((Q, done + 1), (P, done + 1), (L, done)):
            values[kept:] = np.nan
    return DrivenMotion(system, Q, P, L, count, parts, int(factors), int(done), STATUS[code], message, dt, start is None)


def _explain(system: System, residual: Array, time: float, code: int) -> str:
    """When, where and why a simulation ended, from the residual of its last iteration."""
    size = np.where(np.isfinite(residual), np.abs(residual), np.inf)
    worst = int(np.argmax(size)) if len(size) else 0
    if worst < system.nc:
        where = f"constraint {system.constraint_names[worst]!r}"
    else:
        name = system.names[system.dynamic[worst - system.nc]]
        part = name.rsplit(".", 1)
        where = (
            f"mode {part[1]} of the flexible part {part[0]!r}" if len(part) == 2 and part[1].isdigit() else f"coordinate {name!r}"
        )
    cause = "Newton did not converge even with steps cut 16 times; the motors move too fast for the step or the parts bend too far"
    if code == NOT_FINITE:
        cause = "numbers became infinite; a part is bent beyond what its modes describe, or the motors jump"
    elif code == SINGULAR_MATRIX:
        cause = "the equations are singular; constraints depend on each other there, or a loop is stretched out"
    return f"the simulation ended at t = {time:.4f} s, worst at {where}: {cause}"
