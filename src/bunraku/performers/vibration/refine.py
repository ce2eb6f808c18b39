"""The step of the plan, chosen by what it does to the error: 4 ms, and half of it where that is too coarse.

A midpoint step of h makes a vibration of frequency w slower by (w h)^2 / 12, so a plan at a large step cancels a vibration that is
not quite there. How much that matters depends on how much was to be cancelled, and is measured: the solution is simulated again at
h / 2. What vibrates because of h goes with h^2: 3/4 of it shows at h / 2, so the square of the error grows from h to a step of 0 by
16/9 of what it grows from h to h / 2. Where the RMS error extrapolated like this is larger by more than 0.1 %, a motor at h / 2 is
beyond its torque-speed line, or no step at h leads further, Gauss-Newton goes on at h / 2 from there, with the gradients of the
fine problem and the last Hessian of the coarse one, whose parameters are the same.

What is compared is one solution at several steps. The rule does not see that the optimum at h / 2 may be another, better one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.vibration.evaluate import Evaluation, evaluate, first_point
from bunraku.performers.vibration.problem import VibrationProblem, refined
from bunraku.performers.vibration.solve import Progress, Retargeted, solve_gauss_newton

COARSE_STEP, FINER_STEP = 4e-3, 2e-3
"""Steps [s] of a plan: the one tried first, and the one where that is too coarse."""

SAME = 1e-3
"""A step is fine enough when the RMS error extrapolated to a step of 0 is larger by no more than this, relative."""


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
    saved: Mapping[str, NDArray[np.float64]] | None = None,
    keep: Callable[[Progress], None] | None = None,
    monitor: Monitor = SILENT,
) -> tuple[VibrationProblem, Retargeted]:
    """Solve ``problem`` and, where its step is too coarse, the one of half the step: the last problem, and its solution.

    ``max_iterations`` of both together. ``saved``: arrays of a checkpoint, of either problem.
    """

    def solve(
        stated: VibrationProblem, start: Progress | None, coarse: Retargeted | None = None, current: Evaluation | None = None
    ) -> Retargeted:
        return solve_gauss_newton(
            stated,
            max_iterations=max_iterations,
            tolerance=tolerance if stated is problem else min(tolerance, 4.0 * SAME),
            lowest_frequency=lowest_frequency,
            start=start,
            current=current,
            hessian=None if coarse is None or not coarse.status.good else coarse.hessian,
            keep=keep,
            monitor=monitor,
        )

    start = None if saved is None else Progress.restored(problem, saved)
    if saved is not None and start is None:
        fine = refined(problem)
        start = Progress.restored(fine, saved)
        if start is not None:
            return fine, solve(fine, start)
    coarse = solve(problem, start)
    if not coarse.status.settled:
        return problem, coarse
    halved = evaluate(problem, coarse.parameters, finer=2)
    if coarse.status.good and _same(coarse, halved):
        return problem, coarse
    monitor.report(Event("vibration", 0.0, f"at steps of {500.0 * problem.profile.dt:.3g} ms", {"rms_m": halved.rms}))
    fine = refined(problem)
    current = halved if np.isfinite(halved.cost) else None
    return fine, solve(fine, _continued(fine, coarse, halved, lowest_frequency), coarse, current)


def _same(coarse: Retargeted, halved: Evaluation) -> bool:
    """Whether the RMS error grows by no more than SAME towards a step of 0, and every motor keeps to its line at half the step."""
    limit = ((1.0 + SAME) ** 2 - 1.0) * coarse.rms**2
    return halved.excess == 0.0 and 16.0 / 9.0 * (halved.rms**2 - coarse.rms**2) <= limit


def _continued(fine: VibrationProblem, coarse: Retargeted, halved: Evaluation, lowest_frequency: float) -> Progress:
    """The progress of the fine problem at the coarse solution, ``halved`` there; from the wish where that cannot be simulated."""
    rate = 1.5 * 2.0 * np.pi * max(lowest_frequency, 0.1)
    if not np.isfinite(halved.cost):
        return Progress(fine.wish, first_point(fine), fine.wish, np.inf, 0.0, rate, iteration=coarse.iterations)
    limited = halved.excess > 0.0
    return Progress(
        halved.parameters,
        halved.point,
        halved.parameters,
        np.inf if limited else halved.cost,
        0.0,
        rate,
        iteration=coarse.iterations,
        history=coarse.history,
        penalty=20.0 * halved.cost if limited else 0.0,
        gap=0.0 if coarse.status.good else np.inf,
    )
