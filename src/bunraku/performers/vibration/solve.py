"""Globalized Gauss-Newton for vibration: lifted, with an observer, and adaptive.

A plain Gauss-Newton method linearizes about the violently vibrating motion of the input and fails for characters of several
flexible parts. Here the configurations are lifted to unknowns of their own, and the first linearization is about the wish at rest,
which obeys no physics; its defects are closed to first order by the step. Then, as long as the true motion does not follow the
prediction, the next linearization is about a simulation at the new parameters that an observer of rate w pulls towards the
predicted one, and without that pull. Where the true motion follows, it is taken itself, and the method becomes Levenberg and
Marquardt's with the true cost as judge.

Adaptive: w starts at 1.5 times the lowest frequency of the character and falls by 0.6 whenever it was used; a step counts as
following when the true cost is at most twice the predicted one, or half of the best so far. When five observed steps have led
nowhere, or an observed simulation fails, it goes on from the best true motion, damped.

Frugal: the Hessian takes most of the time, and hardly changes near the end. At a true motion the gradient that holds there comes
first, from the adjoint, for far less. If the last Hessian promises to change cost and RMS error by less than half and a quarter of
the tolerance from there, that is the end. If the step before led to the cost that it promised, within 5 %, a step
with the last Hessian is tried, shortened where it is too soft along the step, and taken if it brings about what it promises.
Otherwise the Hessian is made anew, from the same step matrices as the gradient. A step that changes cost and RMS error by
less than the tolerance is the last one; so is one that brings the promised cost and changes the RMS
error by less than `VISIBLE` times the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.flexible.torque_lines import torques_of
from bunraku.mechanics.integrators.driven.linearization import Linearization
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.vibration.evaluate import (
    TORQUE_SHARE,
    Evaluation,
    Normal,
    Point,
    evaluate,
    first_point,
    linearized,
    normal_equations,
    observed,
    slope,
)
from bunraku.performers.vibration.problem import VibrationProblem
from bunraku.performers.vibration.step import DenseRows, gauss_newton_step
from bunraku.performers.vibration.torques import torque_rows

FOLLOWS = 2.0
"""The true motion follows the prediction when its cost is at most this many times the predicted one."""

OBSERVED = 5
"""So many observed steps without a better true motion end the lifted phase."""

MOST_DAMPING = 1e4

NEAR = 5e-2
"""A Hessian is tried again when the true cost was within this part of the promised one."""

SETTLED = 0.5
"""The end is believed of a Hessian made elsewhere when it promises less than this part of the tolerance."""

VISIBLE = 5e-3
"""The tolerance is one of the RMS error or of this [m], whichever is larger: at 1 % a change of 0.05 mm, which nobody sees.

Only where the cost is what was promised, within the tolerance: what is left to win is then of that size.
"""

LEAST_PART = 0.1
"""A step with a kept Hessian that must be shortened to less of itself is not taken."""

PROVED = (0.5, 1.5)
"""A kept Hessian is right when its step brought so many times what it promised: one that is k times too stiff brings 2 - 1 / k."""


@dataclass(frozen=True, eq=False)
class Progress:
    """Where the method stands: the point to linearize about at ``parameters``, the best true motion, damping, observer.

    ``history``: for each iteration the cost of the best true motion and the RMS error [m] there; ``tried``: observed steps that led
    nowhere in a row; ``penalty`` of torque beyond the motors' lines, 0 until it is needed. ``model``: the point that the last
    Hessian was made about; ``gap``: the part by which the true cost was off the one that the last step promised.
    """

    parameters: Array
    point: Point
    best: Array
    best_cost: float
    damping: float
    rate: float
    tried: int = 0
    iteration: int = 0
    history: tuple[tuple[float, float], ...] = ()
    penalty: float = 0.0
    model: Point | None = None
    gap: float = np.inf

    def arrays(self) -> dict[str, Array]:
        """As arrays for a checkpoint."""
        counts = [float(self.tried), float(self.iteration), float(self.point.true)]
        numbers = [self.best_cost, self.damping, self.rate, *counts, self.penalty, self.gap]
        arrays = {"parameters": self.parameters, "best": self.best, "numbers": np.array(numbers)}
        arrays["history"] = np.array(self.history, dtype=np.float64).reshape(-1, 2)
        for name, point in (("", self.point), ("model ", self.model or self.point)):
            for s, (q, lam) in enumerate(zip(point.q, point.lam, strict=True)):
                arrays |= {f"{name}q{s}": q, f"{name}lam{s}": lam}
        return arrays

    @staticmethod
    def restored(problem: VibrationProblem, arrays: Mapping[str, Array]) -> Progress | None:
        """From the arrays of a checkpoint; None when they are not of this problem."""
        S = len(problem.scenarios)
        keys = {"parameters", "best", "numbers", "history"}
        keys |= {f"{name}{s}" for name in ("q", "lam", "model q", "model lam") for s in range(S)}
        if (
            set(arrays) != keys
            or len(arrays["numbers"]) != 8
            or arrays["parameters"].shape != problem.wish.shape
            or len(arrays["q0"]) != problem.profile.steps + 1
        ):
            return None
        cost, damping, rate, tried, iteration, true, penalty, gap = (float(x) for x in arrays["numbers"])
        point, model = (
            Point(tuple(arrays[f"{name}q{s}"] for s in range(S)), tuple(arrays[f"{name}lam{s}"] for s in range(S)), bool(true))
            for name in ("", "model ")
        )
        history = tuple((float(a), float(b)) for a, b in arrays["history"])
        counts = (int(tried), int(iteration))
        return Progress(arrays["parameters"], point, arrays["best"], cost, damping, rate, *counts, history, penalty, model, gap)


@dataclass(frozen=True, eq=False)
class Retargeted:
    """The best parameters found, the cost there and how it ended; ``history`` of cost and RMS error [m] per iteration.

    ``hessian``: the last one made.
    """

    parameters: Array
    cost: float
    rms: float
    status: Status
    iterations: int
    history: tuple[tuple[float, float], ...]
    notes: tuple[str, ...] = field(default=())
    hessian: Array | None = field(default=None, repr=False)


def solve_gauss_newton(
    problem: VibrationProblem,
    *,
    max_iterations: int = 20,
    tolerance: float = 1e-3,
    lowest_frequency: float = 2.0,
    start: Progress | None = None,
    current: Evaluation | None = None,
    hessian: Array | None = None,
    keep: Callable[[Progress], None] | None = None,
    monitor: Monitor = SILENT,
) -> Retargeted:
    """Minimise F. Converged when a step from a true motion promises, or brings, less than ``tolerance`` of cost and RMS error.

    ``lowest_frequency`` [Hz] of the character. ``start``, ``keep``: of a checkpoint. ``current``: the true motion at ``start``, if
    known; ``hessian``: one of nearly the same problem to begin with. If the optimum needs more torque than the motors have, it goes
    on from there with torque constraints in its steps, judged by the cost and a penalty.
    """
    rate = 1.5 * 2.0 * np.pi * max(lowest_frequency, 0.1)
    now = start or Progress(problem.wish, first_point(problem), problem.wish, np.inf, 0.0, rate)
    status, notes = Status.MAX_ITERATIONS, []
    current = evaluate(problem, now.parameters) if current is None and now.point.true else current
    kept = None if hessian is None else Normal(hessian, np.zeros(len(hessian)), np.nan, ())
    if kept is None and now.model is not None and _near(now):
        kept = normal_equations(problem, linearized(problem, now.model), now.parameters)
    while now.iteration < max_iterations:
        if monitor.cancelled:
            status = Status.CANCELLED
            break
        lines = linearized(problem, now.point)
        step = _again(problem, now, current, kept, lines, tolerance)
        if step is None:
            kept = normal_equations(problem, lines, now.parameters, current)
            step = _iterate(problem, replace(now, model=now.point), current, kept, tolerance, monitor)
        now, current, ended = step
        figures = {"cost": now.best_cost, "rms_m": now.history[-1][1] if now.history else np.nan, "observer": now.rate}
        monitor.report(Event("vibration", now.iteration / max_iterations, f"iteration {now.iteration}", figures))
        if ended is not None and ended.good and now.penalty == 0.0 and current is not None and current.excess > 0.0:
            notes.append(f"rows of torque were needed: without them a motor would use {current.excess:.2f} more than it has")
            now = replace(now, penalty=20.0 * current.cost, best_cost=np.inf, damping=0.0)
            ended = None
        if keep is not None:
            keep(now)
        if ended is not None:
            status = ended
            break
    rms = now.history[-1][1] if now.history else np.inf
    last = None if kept is None else kept.hessian
    return Retargeted(now.best, now.best_cost, rms, status, now.iteration, now.history, tuple(notes), last)


def _iterate(
    problem: VibrationProblem, now: Progress, current: Evaluation | None, normal: Normal, tolerance: float, monitor: Monitor
) -> tuple[Progress, Evaluation | None, Status | None]:
    """One linearization and the steps tried from it: the progress, the true motion it stands at, if any, and an end, if any."""
    if current is not None:
        return _from_true(problem, now, current, normal, tolerance, monitor)
    change, _ = gauss_newton_step(problem, normal, now.parameters, now.damping)
    trial, promised = problem.with_free(now.parameters, change), normal.predicted(change)
    evaluation = evaluate(problem, trial)
    step, better = _noted(now, evaluation), evaluation.cost < now.best_cost
    halved = better and evaluation.cost <= 0.5 * now.best_cost and now.iteration >= 2
    if better and (halved or evaluation.cost <= FOLLOWS * max(promised, 0.0)):
        step = replace(step, parameters=trial, point=evaluation.point, damping=0.0, tried=0, gap=_gap(evaluation, promised))
        return step, evaluation, None
    tried = 0 if better else now.tried + 1
    point = None
    if tried < OBSERVED:
        changes = problem.curves.spread(change, len(problem.profile.motors))
        references = tuple(line.q + line.follow(changes) for line in normal.lines)
        point = observed(problem, trial, references, now.rate)
    if point is not None:
        return replace(step, parameters=trial, point=point, damping=1e-2, rate=0.6 * now.rate, tried=tried), None, None
    return _fallen_back(problem, step)


def _again(
    problem: VibrationProblem,
    now: Progress,
    current: Evaluation | None,
    kept: Normal | None,
    lines: tuple[Linearization, ...],
    tolerance: float,
) -> tuple[Progress, Evaluation | None, Status | None] | None:
    """The end, or a step, by the last Hessian, as `_iterate`; None where it is not to be trusted, and where no motion is true."""
    if current is None or kept is None or not now.penalty == now.damping == 0.0 or problem.limits.violation(now.parameters) >= 1e-7:
        return None
    normal = kept.moved(slope(problem, lines, now.parameters), current.cost, lines)
    change, _ = gauss_newton_step(problem, normal, now.parameters, 0.0)
    trial, hoped = problem.with_free(now.parameters, change), current.cost - normal.predicted(change)
    small = SETTLED * tolerance
    if (
        hoped <= small * current.cost
        and _rms_change(problem, now.parameters, current, trial, normal.predicted(change)) <= 0.5 * small
    ):
        return _noted(now, current), current, Status.CONVERGED
    if not _near(now):
        return None
    evaluation = evaluate(problem, trial)
    won = current.cost - evaluation.cost
    if won < PROVED[0] * hoped and np.isfinite(won):
        along = float(normal.gradient @ change)
        part = 0.5 * along / (along + won)  # the lowest point of the parabola through cost and slope here, and the cost there
        if not LEAST_PART <= part <= 1.0:
            return None
        trial, hoped = problem.with_free(now.parameters, part * change), -0.5 * part * along
        evaluation = evaluate(problem, trial)
        won = current.cost - evaluation.cost
    if not PROVED[0] * hoped <= won <= PROVED[1] * hoped:
        return None
    gap = _gap(evaluation, current.cost - hoped)
    step = replace(_noted(now, evaluation), parameters=trial, point=evaluation.point, gap=gap)
    return step, evaluation, Status.CONVERGED if _small(problem, current, evaluation, won, current.cost, gap, tolerance) else None


def _from_true(
    problem: VibrationProblem, now: Progress, current: Evaluation, normal: Normal, tolerance: float, monitor: Monitor
) -> tuple[Progress, Evaluation | None, Status | None]:
    """Levenberg and Marquardt: damped more and more until the merit falls."""
    rows = _torque_rows(problem, current, normal) if now.penalty > 0.0 else None
    merit, damping = current.merit(now.penalty), now.damping
    while True:
        change, _ = gauss_newton_step(problem, normal, now.parameters, damping, rows)
        trial, promised = problem.with_free(now.parameters, change), normal.predicted(change)
        still = _rms_change(problem, now.parameters, current, trial, promised) <= 0.1 * tolerance
        if still and merit - promised <= 0.1 * tolerance * merit and problem.limits.violation(now.parameters) < 1e-7:
            ended = replace(_noted(now, current), iteration=now.iteration + 1)
            return ended, current, Status.CONVERGED
        evaluation = evaluate(problem, trial)
        after = evaluation.merit(now.penalty)
        if after < merit or (problem.limits.violation(now.parameters) >= 1e-7 and np.isfinite(after)):
            ratio = (merit - after) / max(merit - promised, 1e-300)
            calmer = damping / 10.0 if ratio > 0.5 else damping if ratio > 0.2 else max(10.0 * damping, 1e-3)
            calmer = 0.0 if calmer < 1e-5 else calmer
            gap = _gap(evaluation, promised)
            done = ratio > 0.2 and _small(problem, current, evaluation, merit - after, merit, gap, tolerance)
            step = replace(_noted(now, evaluation), parameters=trial, point=evaluation.point, damping=calmer, gap=gap)
            return step, evaluation, Status.CONVERGED if done else None
        damping = max(10.0 * damping, 1e-2)
        if damping > MOST_DAMPING or monitor.cancelled:
            small = merit - promised <= tolerance * merit
            step = replace(_noted(now, current), iteration=now.iteration + 1)
            return step, current, Status.CONVERGED if small else Status.STALLED


def _small(
    problem: VibrationProblem, current: Evaluation, evaluation: Evaluation, won: float, merit: float, gap: float, tolerance: float
) -> bool:
    """Whether a step from ``current`` to ``found`` that brought ``won`` of ``merit``, off the promise by ``gap``, is the last."""
    change = abs(evaluation.rms - current.rms)
    if won <= tolerance * merit and change <= tolerance * current.rms:
        return True
    weighted = _rms_change(problem, current.parameters, current, evaluation.parameters, evaluation.cost) * current.rms
    return gap <= tolerance and max(change, weighted) <= tolerance * VISIBLE


def _rms_change(problem: VibrationProblem, parameters: Array, current: Evaluation, trial: Array, promised: float) -> float:
    """The relative change of the RMS error that the cost ``promised`` at ``trial`` means: regularizers are no part of it."""
    here = current.cost - problem.regularizer(parameters)[0]
    there = promised - problem.regularizer(trial)[0]
    return 0.5 * abs(there - here) / max(here, 1e-300)


def _near(now: Progress) -> bool:
    """Whether the last Hessian may still be right."""
    return now.gap <= NEAR and now.penalty == now.damping == 0.0


def _gap(evaluation: Evaluation, promised: float) -> float:
    """The part by which the true cost is off the promised one."""
    return abs(evaluation.cost - promised) / max(evaluation.cost, 1e-300)


def _noted(now: Progress, evaluation: Evaluation) -> Progress:
    """The progress one iteration later, the best replaced if ``found`` is better."""
    merit = evaluation.merit(now.penalty)
    better = merit < now.best_cost
    rms = evaluation.rms if better or not now.history else now.history[-1][1]
    cost = merit if better else now.best_cost
    return replace(
        now,
        best=evaluation.parameters if better else now.best,
        best_cost=cost,
        iteration=now.iteration + 1,
        history=(*now.history, (cost, rms)),
    )


def _torque_rows(problem: VibrationProblem, current: Evaluation, normal: Normal) -> DenseRows:
    """Rows of torque near the lines, of all scenarios."""
    rows = [
        torque_rows(line, problem.curves, problem.lines, *torques_of(motion), TORQUE_SHARE)
        for line, motion in zip(normal.lines, current.motions, strict=True)
    ]
    return DenseRows(np.vstack([A for A, _ in rows]), np.concatenate([upper for _, upper in rows]))


def _fallen_back(problem: VibrationProblem, now: Progress) -> tuple[Progress, Evaluation | None, Status | None]:
    """On from the best true motion, or from the input's if there is none."""
    evaluation = evaluate(problem, now.best)
    if not np.isfinite(evaluation.cost):
        return now, None, Status.STALLED
    return (
        replace(now, parameters=now.best, point=evaluation.point, best_cost=evaluation.cost, damping=1e-2, tried=0),
        evaluation,
        None,
    )
