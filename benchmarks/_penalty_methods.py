"""Fixed-penalty minimisers of the same energies, for comparison: Newton, Gauss-Newton, Levenberg-Marquardt and L-BFGS.

Geilinger et al. ("Skaterbots", ACM Transactions on Graphics 37, 2018) minimise f + w sum r^2 with one large weight w. These methods
do the same on any :class:`BlockEnergy`, so that their convergence can be drawn in one figure beside the augmented Lagrangian's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.augmented_lagrangian import AugmentedProblem
from bunraku.optimization.blocks.blocks import factor
from bunraku.optimization.blocks.descent import Descent
from bunraku.optimization.solution import Status

Method = Literal["newton", "gauss-newton", "levenberg-marquardt", "l-bfgs"]
METHODS: tuple[Method, ...] = ("newton", "gauss-newton", "levenberg-marquardt", "l-bfgs")
Hessian = Callable[[Array, float, Array], tuple[Array, Array, Array]]
"""(z, weight, shifts) -> (H, B, C): second derivatives of the energy, true or filtered, in the layout of the blocks."""


@dataclass(frozen=True)
class PenaltySolution:
    """The end of a minimisation: ``energies`` at the start and after each step, ``seconds`` the CPU time spent until then."""

    z: Array
    status: Status
    energies: Array
    seconds: Array
    factorizations: int

    @property
    def energy(self) -> float:
        """The least energy."""
        return float(self.energies[-1])

    def iterations_to(self, energy: float) -> int | None:
        """Steps until the energy was at most ``energy``; None when it never was."""
        low = np.flatnonzero(self.energies <= energy)
        return int(low[0]) if low.size else None


def minimize_penalty(
    problem: AugmentedProblem,
    z0: ArrayLike,
    *,
    method: Method = "gauss-newton",
    weight: float = 1e4,
    hessian: Hessian | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-9,
) -> PenaltySolution:
    """Minimise E(z; weight, no shifts) from ``z0`` by one of ``METHODS``.

    "newton": the given ``hessian`` (true or filtered), tau I added and raised tenfold from 1e-4 of the mean diagonal until Cholesky
    succeeds, then a backtracking line search; "gauss-newton": J^T J with the same safeguards; "levenberg-marquardt": damped steps
    of :class:`Descent`; "l-bfgs": scipy, 10 pairs. Ends when a step promises (L-BFGS: makes) less than ``tolerance`` of the energy.
    """
    z = np.array(z0, dtype=np.float64)
    if method == "newton" and hessian is None:
        raise BadInput("the method 'newton' was asked for without second derivatives; give hessian=, or choose 'gauss-newton'")
    if method not in METHODS:
        raise BadInput(f"method {method!r}; known are {', '.join(METHODS)}")
    shifts = problem.zero_shifts()
    if method == "l-bfgs":
        return _limited_memory(problem, z, weight, shifts, max_iterations, tolerance)
    if method == "levenberg-marquardt":
        return _damped(problem, z, weight, shifts, max_iterations, tolerance)
    return _line_search(problem, z, weight, shifts, hessian if method == "newton" else None, max_iterations, tolerance)


class _Log:
    """Energies and CPU time, as they come."""

    def __init__(self, energy: float) -> None:
        self.begin = time.thread_time()
        self.energies, self.seconds = [energy], [0.0]

    def add(self, energy: float) -> None:
        self.energies.append(energy)
        self.seconds.append(time.thread_time() - self.begin)

    def solution(self, z: Array, status: Status, factorizations: int) -> PenaltySolution:
        return PenaltySolution(z, status, np.array(self.energies), np.array(self.seconds), factorizations)


def _line_search(
    problem: AugmentedProblem,
    z: Array,
    weight: float,
    shifts: Array,
    hessian: Hessian | None,
    max_iterations: int,
    tolerance: float,
) -> PenaltySolution:
    """Newton or Gauss-Newton: damping only as far as Cholesky needs it, then p, p/2, p/4, ... until Armijo's condition holds."""
    log = _Log(problem.energy(z, weight, shifts))
    factorizations, status = 0, Status.MAX_ITERATIONS
    for _ in range(max_iterations):
        energy, H, B, C, g, gD = problem.assemble(z, weight, shifts)
        gradient = np.concatenate([g.ravel(), gD])
        if hessian is not None:
            H, B, C = hessian(z, weight, shifts)
        mean = float(np.einsum("ijj->", H[:, 0])) / max(g.size, 1)
        tau, least = 0.0, 1e-4 * max(abs(mean), 1e-12)
        while True:
            factorizations += 1
            factors = factor(H, B, C, tau, cyclic=problem.cyclic)
            if factors.definite or tau > 1e20:
                break
            tau = max(10.0 * tau, least)
        if not factors.definite:
            status = Status.STALLED
            break
        p = -factors.solve_packed(gradient)
        slope = float(gradient @ p)
        length, lower = 1.0, energy
        while length > 1e-10:
            lower = float(problem.energy(z + length * p, weight, shifts))
            if lower <= energy + 1e-4 * length * slope:
                break
            length *= 0.5
        if not lower < energy:
            status = Status.CONVERGED if -0.5 * slope <= tolerance * energy else Status.STALLED
            break
        z = z + length * p
        log.add(lower)
        if -0.5 * slope <= tolerance * energy:
            status = Status.CONVERGED
            break
    return log.solution(z, status, factorizations)


def _damped(
    problem: AugmentedProblem, z: Array, weight: float, shifts: Array, max_iterations: int, tolerance: float
) -> PenaltySolution:
    descent = Descent(problem, z, weight, shifts)
    log = _Log(problem.energy(z, weight, shifts))
    status = Status.MAX_ITERATIONS
    for _ in range(max_iterations):
        moved = descent.step()
        if moved:
            log.add(descent.energy)
        if descent.promise <= tolerance or not moved:
            status = Status.CONVERGED if descent.promise <= tolerance else Status.STALLED
            break
    return log.solution(descent.z, status, descent.factorizations)


def _limited_memory(
    problem: AugmentedProblem, z: Array, weight: float, shifts: Array, max_iterations: int, tolerance: float
) -> PenaltySolution:
    def both(x: Array) -> Any:
        energy, _, _, _, g, gD = problem.assemble(x, weight, shifts)
        return energy, np.concatenate([g.ravel(), gD])

    def note(intermediate_result: Any) -> None:
        log.add(float(intermediate_result.fun))

    log = _Log(problem.energy(z, weight, shifts))
    options: Any = {"maxiter": max_iterations, "maxfun": 20 * max_iterations, "maxcor": 10, "ftol": tolerance, "gtol": 0.0}
    least = minimize(both, z, jac=True, method="L-BFGS-B", callback=note, options=options)
    status = {0: Status.CONVERGED, 1: Status.MAX_ITERATIONS}.get(int(least.status), Status.STALLED)
    return log.solution(np.asarray(least.x), status, 0)
