"""Solving a motion problem from coarse to fine, from the rest pose or from another plan."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.commands import candidates
from bunraku.gait.patterns import footfalls
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.locomotion.footing import footed, footholds, lifted, smoothed
from bunraku.performers.locomotion.plan import MotionPlan, resampled
from bunraku.performers.locomotion.problem import MotionProblem, Weights
from bunraku.performers.locomotion.state import stages, state_problem
from bunraku.performers.locomotion.tipping import Tipping, tipping_of

ROUGH = 1e-4
"""Largest violation of a row in the plans that only lead to the one on terrain."""


@dataclass(frozen=True)
class Planned:
    """The finest plan, the gait it is of, the iterations of each stage, and notes a reader must see."""

    plan: MotionPlan
    gait: Gait
    iterations: tuple[int, ...]
    notes: tuple[str, ...] = ()


def plan_motion(
    character: Character,
    gait: Gait,
    *,
    solver: AugmentedLagrangian | None = None,
    weights: Weights | None = None,
    least_force: float = 0.5,
    monitor: Monitor = SILENT,
) -> Planned:
    """Plan a gait; the pattern "best" tries each that the character can go and keeps the one that survives best."""
    solver = solver or AugmentedLagrangian()
    if gait.pattern == "best":
        return _best(character, gait, solver, weights, least_force, monitor)
    goes = any(gait.distance or ()) or bool(gait.turn)
    if gait.pattern == "roll" and goes and not any(tip.spins for tip in character.end_effectors):
        raise BadInput(
            f"the pattern roll keeps every foot on the ground, and {character.name!r} has no wheel that turns; "
            "give the pattern crawl or trot"
        )
    model = centroidal_model(character, locked=gait.locked)
    pattern = footfalls(character, gait)
    rough = dataclasses.replace(solver, tolerance=max(solver.tolerance, ROUGH), stationarity=max(solver.stationarity, 10.0 * ROUGH))
    plan: MotionPlan | None = None
    flat: MotionPlan | None = None
    spent = []
    counts = stages(gait, pattern)
    for k, samples in enumerate(counts):

        def stated(one: Gait, count: int = samples) -> MotionProblem:
            return state_problem(
                character, one, samples=count, pattern=pattern, model=model, weights=weights, least_force=least_force
            )

        problem = stated(gait if gait.terrain is None else gait.changed(terrain=smoothed(gait.terrain)))
        if gait.terrain is not None and flat is None:
            level = stated(gait.changed(terrain=None))
            flat = MotionPlan(level, rough.solve(level, level.still(), monitor=monitor))
            spent.append(flat.solution.iterations)
        if flat is not None and gait.terrain is not None:
            problem = footed(problem, footholds(flat, problem, gait.terrain), gait.terrain)
        if plan is None:
            start = problem.still() if flat is None else lifted(problem, resampled(flat, problem))
        else:
            start = resampled(plan, problem)
        monitor.report(Event("locomotion", k / len(counts), f"planning {samples} samples, {problem.size} unknowns"))
        last = gait.terrain is None or k == len(counts) - 1
        plan = MotionPlan(problem, (solver if last else rough).solve(problem, start, monitor=monitor))
        spent.append(plan.solution.iterations)
        if plan.solution.status is Status.CANCELLED:
            break
    if plan is None:
        raise BadInput("a gait without any stage arrived")
    return Planned(plan, gait, tuple(spent), pattern.notes)


def _best(
    character: Character, gait: Gait, solver: AugmentedLagrangian, weights: Weights | None, least_force: float, monitor: Monitor
) -> Planned:
    """The candidate that survives its replay best: all are planned with few samples, then in order with all, and judged again.

    First come those that keep the centre of mass over the support (`Tipping.safe`), by objective; then the others, by the time
    outside. The first whole plan that converges and is safe is taken. After one that is not safe only candidates that looked safe
    are tried, after one that does not converge every other; then the best of the whole plans is taken, by the same order.
    """
    tried: list[tuple[tuple[bool, bool, float], Gait, str]] = []
    for one in candidates(character, gait):
        pattern = footfalls(character, one)
        coarse = dataclasses.replace(one, samples=min(stages(one, pattern)))
        planned = plan_motion(character, coarse, solver=solver, weights=weights, least_force=least_force, monitor=monitor)
        if planned.plan.solution.status.good:
            rank, tips = _rank(planned.plan)
            value = planned.plan.problem.objective(planned.plan.solution.z)
            tried.append((rank, one, f"{one.pattern} {value:.4g}, outside the support for {tips.time:.1f} sqrt(h/g)"))
    if not tried:
        raise BadInput(
            f"no footfall pattern lets {character.name!r} go as asked; ask for less, or name a pattern to see what fails"
        )
    tried.sort(key=lambda candidate: candidate[0])
    whole: list[tuple[tuple[bool, bool, float], Planned]] = []
    for (_, unsafe, _), one, _ in tried:
        if unsafe and whole and not min(whole, key=lambda plan: plan[0])[0][0]:
            break
        finest = plan_motion(character, one, solver=solver, weights=weights, least_force=least_force, monitor=monitor)
        whole.append((_rank(finest.plan)[0], finest))
        if whole[-1][0][:2] == (False, False) or finest.plan.solution.status is Status.CANCELLED:
            break
    best = finest if finest.plan.solution.status is Status.CANCELLED else min(whole, key=lambda plan: plan[0])[1]
    words = "; ".join(words for _, _, words in tried)
    return dataclasses.replace(best, notes=(*best.notes, f"the footfalls were chosen by stability, then by objective: {words}"))


def _rank(plan: MotionPlan) -> tuple[tuple[bool, bool, float], Tipping]:
    """The order of plans, the best least: not converged, not safe, the objective of a safe one or the time outside; its tipping."""
    tips = tipping_of(plan)
    value = plan.problem.objective(plan.solution.z) if tips.safe else tips.time
    return (not plan.solution.status.good, not tips.safe, value), tips
