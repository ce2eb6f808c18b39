"""Consistent initial conditions: configurations that meet the constraints, velocities that keep them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.system import System
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Consistent:
    """q (nq,) with h(q) = 0, v (nq,) with Dh v = 0, the largest violation of h left, and how it ended."""

    q: Array
    v: Array
    violation: float
    status: Status


def check_independent(system: System, q: Array, *, tolerance: float = 1e-9) -> None:
    """Raise BadInput when constraint rows depend on each other, or on no dynamic coordinate, at q; the message names one."""
    if system.nc == 0:
        return
    Dh = system.constraint_jacobian(q)[:, system.dynamic]
    size = np.linalg.norm(Dh, axis=1)
    for name, length in zip(system.constraint_names, size, strict=True):
        if not length > 1e-12:
            raise BadInput(
                f"the constraint {name!r} does not change with any dynamic coordinate there; leave it out or move the pose"
            )
    rows = Dh / size[:, None]
    kept = np.zeros((0, Dh.shape[1]))
    for name, row in zip(system.constraint_names, rows, strict=True):
        rest = row - kept.T @ (kept @ row)
        rest = rest - kept.T @ (kept @ rest)
        length = np.linalg.norm(rest)
        if length < tolerance:
            raise BadInput(
                f"the constraint {name!r} repeats what the others demand at this configuration; remove it or change the pose"
            )
        kept = np.vstack([kept, rest / length])


def make_consistent(
    system: System, q: ArrayLike, v: ArrayLike | None = None, *, tolerance: float = 1e-12, max_iterations: int = 50
) -> Consistent:
    """The nearest configuration that meets the constraints and the nearest velocity that keeps them; kinematic coordinates stay.

    Newton on h in the least-change direction, halved while |h| does not fall. Status INFEASIBLE: no such configuration was found.
    """
    at = system.vector("q", q, system.nq).copy()
    speed = (np.zeros(system.nq) if v is None else system.vector("v", v, system.nq)).copy()
    d = system.dynamic
    h = system.constraint_values(at)
    status = Status.MAX_ITERATIONS
    for _ in range(max_iterations):
        if np.max(np.abs(h), initial=0.0) <= tolerance:
            status = Status.CONVERGED
            break
        change = np.linalg.lstsq(system.constraint_jacobian(at)[:, d], -h, rcond=1e-10)[0]
        scale, size = 1.0, np.linalg.norm(h)
        while True:
            trial = at.copy()
            trial[d] += scale * change
            new = system.constraint_values(trial)
            if np.linalg.norm(new) < size * (1.0 - 1e-4 * scale):
                break
            scale *= 0.5
            if scale < 1e-8:
                status = Status.INFEASIBLE
                break
        if status is Status.INFEASIBLE:
            if np.max(np.abs(h)) <= 100 * tolerance:
                status = Status.CONVERGED
            break
        at, h = trial, new
    if system.nc:
        Dh = system.constraint_jacobian(at)
        speed[d] += np.linalg.lstsq(Dh[:, d], -(Dh @ speed), rcond=1e-10)[0]
    return Consistent(at, speed, float(np.max(np.abs(h), initial=0.0)), status)
