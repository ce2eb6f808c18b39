"""Solving an imitation: from a rigid start or from hanging still, and by a ladder of gentler problems when both end outside.

From hanging still one linearization would turn the puppet by radians: carriages go along tangents and meet. In the rigid start they
go with the wish's root as one plate. It comes first where carriages keep their range and their distance on it, and hanging still
where they do not, whatever either costs: from carriages that have collided there is no way back. If the first is still
outside the limits after a while, or goes no further, the other is tried, and the better of the two goes on.

Fast wishes lead the straight way into a corner where a string would have to push. The ladder first lets accelerations of carriages
and winches cost thirty times as much, then three times, then what was asked: each rung starts from the last and needs to be solved
only roughly. What is returned is the best result found: within the limits first, then settled, then by its cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.optimization.control.cost import LinearResidualCost, SumOfCosts, TrajectoryCost
from bunraku.optimization.control.interior import InteriorSolution, InteriorTrajectory
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.problem import PuppetProblem, acceleration_rows

LADDER = (30.0, 3.0)
"""How many times as much accelerations cost on the rungs before the last."""

TRIAL = 60
"""Iterations a start has to come within the limits before the other is tried; the better of the two then goes on."""

SAME = 1e-3
"""A rigid start that leads no carriage further than this [m] from hanging still is no other start."""

ROUGH = 10.0
"""The tolerance of the rungs before the last, in tolerances of the last."""


@dataclass(frozen=True)
class Imitation:
    """What was found: ``solution`` of the problem as asked, ``initial`` cost of hanging still, ``iterations`` over all attempts."""

    solution: InteriorSolution
    initial: float
    iterations: int
    rungs: int


def solve_puppet(
    problem: PuppetProblem,
    solver: InteriorTrajectory,
    *,
    start: tuple[Array, Array] | None = None,
    keep: Callable[[Array, Array, float], None] | None = None,
    monitor: Monitor = SILENT,
) -> Imitation:
    """Solve the problem from ``start``, else from the guesses of `starts`; climb the ladder if all end outside the limits."""
    still = problem.still
    initial = float(problem.cost.value(*still))
    mild = gentler(problem, LADDER[0])

    def attempt(by: InteriorTrajectory, x: Array, u: Array, K: Array | None = None) -> InteriorSolution:
        return by.solve(problem.dynamics, problem.cost, problem.constraints, x, u, gains=K, mild=mild, keep=keep, monitor=monitor)

    ended = (Status.CONVERGED, Status.CANCELLED)
    first, *others = ([start] if start else []) + starts(problem)
    trial = replace(solver, max_iterations=min(TRIAL, solver.max_iterations)) if others else solver
    best = attempt(trial, *first)
    iterations, rungs = best.iterations, 0
    if others and best.status not in ended and (best.violation > 0.0 or best.status is Status.STALLED):
        again = attempt(trial, *others[0])
        iterations, best = iterations + again.iterations, _settled(best, again)
    left = solver.max_iterations - trial.max_iterations
    if left > 0 and best.status is Status.MAX_ITERATIONS:
        mu = max(best.barrier, solver.barrier[1]), solver.barrier[1]
        again = attempt(replace(solver, max_iterations=left, barrier=mu), best.x, best.u)
        iterations, best = iterations + again.iterations, _settled(best, again)
    if best.violation <= 0.0 or best.status is Status.CANCELLED:
        return Imitation(best, initial, iterations, rungs)
    x, u, K = *still, None
    rough = replace(solver, relative_tolerance=min(ROUGH * solver.relative_tolerance, 0.1))
    for factor in (*LADDER, 1.0):
        last = factor == 1.0
        rung = (
            attempt(solver, x, u, K)
            if last
            else rough.solve(
                problem.dynamics, gentler(problem, factor), problem.constraints, x, u, gains=K, mild=mild, monitor=monitor
            )
        )
        x, u, K = rung.x, rung.u, rung.K
        iterations, rungs = iterations + rung.iterations, rungs + 1
        best = _better(problem, best, rung, last)
        if rung.status is Status.CANCELLED:
            best = replace(best, status=Status.CANCELLED)
            break
    return Imitation(best, initial, iterations, rungs)


def starts(problem: PuppetProblem) -> list[tuple[Array, Array]]:
    """The guesses in the order in which to try them; hanging still alone where the rigid one is the same or cannot be followed."""
    still, rigid = problem.still, problem.rigid
    rolled = problem.dynamics.simulate(problem.rest, rigid[1])
    if np.abs(rigid[1] - still[1]).max() < SAME or not rolled.good:
        return [still]
    k = np.vstack([problem.rest[problem.system.kinematic], rigid[1][:, problem.system.nu :]])
    place = {problem.system.names[j]: i for i, j in enumerate(problem.system.kinematic)}
    limits = CarriageLimits.of(problem.character)
    excess = limits.excess(k[:, [place[name] for name in limits.names]], 1.0 / problem.wish.rate)
    led = rolled.x, rolled.u
    return [led, still] if excess.range == excess.separation == 0.0 else [still, led]


def _settled(one: InteriorSolution, other: InteriorSolution) -> InteriorSolution:
    """Which of two attempts is better: it violates less, or has settled where the other has not, or costs less."""
    ranks = [(better.violation, better.status is not Status.CONVERGED, better.cost) for better in (one, other)]
    better = one if ranks[0] <= ranks[1] else other
    return replace(better, status=Status.CANCELLED) if other.status is Status.CANCELLED else better


def _better(problem: PuppetProblem, best: InteriorSolution, rung: InteriorSolution, last: bool) -> InteriorSolution:
    """Which of the two violates less, then costs less by the problem's own cost; a rung on the way has not solved the problem."""
    judged = replace(rung, cost=float(problem.cost.value(rung.x, rung.u)))
    if not last and judged.status is Status.CONVERGED:
        judged = replace(judged, status=Status.MAX_ITERATIONS)
    return judged if (judged.violation, judged.cost) < (best.violation, best.cost) else best


def gentler(problem: PuppetProblem, factor: float) -> TrajectoryCost:
    """The cost with accelerations weighing ``factor`` times as much."""
    rows = acceleration_rows(problem.dynamics)
    return SumOfCosts(problem.cost, LinearResidualCost(rows, np.full(len(rows), (factor - 1.0) * problem.weights.acceleration)))
