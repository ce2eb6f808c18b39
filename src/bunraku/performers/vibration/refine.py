"""The step of the plan, chosen by what it does to the error: 4 ms, and half of it where that is too coarse.

A midpoint step of h makes a vibration of frequency w slower by (w h)^2 / 12, so a plan at a large step cancels a vibration that is
not quite there. How much that matters depends on how much was to be cancelled, and is measured: the solution is simulated again at
h / 2. Where its RMS error is larger there by more than 0.1 %, or a motor beyond its torque-speed line, Gauss-Newton goes on at
h / 2 from there, with the last Hessian of the coarse problem, whose parameters are the same, and the gradients of the fine one.
What the rule does not see: an optimum at h whose own RMS error is already larger than the one at h / 2 (0.5 % of the rapper's).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.vibration.evaluate import Evaluation, evaluate
from bunraku.performers.vibration.problem import VibrationProblem, refined
from bunraku.performers.vibration.solve import Progress, Retargeted, solve_gauss_newton

__all__ = ["COARSE_STEP", "FINER_STEP", "SAME", "coarse_step", "solve_at_fitting_step"]

COARSE_STEP, FINER_STEP = 4e-3, 2e-3
"""Steps [s] of a plan: the one tried first, and the one where that is too coarse."""

SAME = 1e-3
"""A step is fine enough when half of it raises the RMS error by no more, relative."""


def coarse_step(duration: float, points: int) -> float:
    """The step [s] to begin with: up to COARSE_STEP, ending with the clip; FINER_STEP where knots are nearer than two of it."""
    if points > duration / COARSE_STEP / 2.0:
        return FINER_STEP
    return duration / float(np.ceil(duration / COARSE_STEP - 1e-9))


def solve_at_fitting_step(
    problem: VibrationProblem,
    *,
    max_iterations: int,
    tolerance: float,
    lowest_frequency: float,
    restore: Callable[[VibrationProblem], Progress | None] = lambda _: None,
    keep: Callable[[Progress], None] | None = None,
    monitor: Monitor = SILENT,
) -> tuple[VibrationProblem, Retargeted]:
    """Solve ``problem`` and, where its step is too coarse, the one of half the step: the last problem, and its solution."""

    def solve(stated: VibrationProblem, start: Progress | None, coarse: Retargeted | None = None) -> Retargeted:
        return solve_gauss_newton(
            stated,
            max_iterations=max_iterations + (0 if coarse is None else coarse.iterations),
            tolerance=tolerance if coarse is None else min(tolerance, 4.0 * SAME),
            lowest_frequency=lowest_frequency,
            start=start,
            hessian=None if coarse is None else coarse.hessian,
            keep=keep,
            monitor=monitor,
        )

    coarse = solve(problem, restore(problem))
    if not coarse.status.good and coarse.status is not Status.STALLED:
        return problem, coarse
    found = evaluate(problem, coarse.parameters, finer=2)
    if coarse.status.good and found.rms <= (1.0 + SAME) * coarse.rms and found.excess == 0.0:
        return problem, coarse
    monitor.report(Event("vibration", 0.0, f"at steps of {500.0 * problem.profile.dt:.3g} ms", {"rms_m": found.rms}))
    fine = refined(problem)
    return fine, solve(fine, restore(fine) or _goes_on(coarse, found, lowest_frequency), coarse)


def _goes_on(coarse: Retargeted, found: Evaluation, lowest_frequency: float) -> Progress | None:
    """The progress of the fine problem at the solution of the coarse one; None, from the start, where that cannot be simulated."""
    if not (coarse.status.good and np.isfinite(found.cost)):
        return None
    limited = found.excess > 0.0
    return Progress(
        found.parameters,
        found.point,
        found.parameters,
        np.inf if limited else found.cost,
        0.0,
        1.5 * 2.0 * np.pi * max(lowest_frequency, 0.1),
        iteration=coarse.iterations,
        history=coarse.history,
        penalty=20.0 * found.cost if limited else 0.0,
        gap=0.0,
    )
