"""Solving the space-time step: from the rest pose, or again after the skin was seen to act otherwise."""

from __future__ import annotations

from dataclasses import replace

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, AugmentedSolution, Warm
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.skin.spacetime.effect import NO_EFFECT, SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.problem import SpacetimeProblem
from bunraku.performers.skin.spacetime.state import state_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights

SOLVER = AugmentedLagrangian(loose=1e-3, damping=1e-6, steady=4)
"""The solver unless another is given."""

RESUMED, LIGHTER, RESUMED_DAMPING = 2, 100.0, 1e-3
"""How often a solve that stalled is resumed, by what its weight is divided then, and the damping it begins with."""

WARM_WEIGHT = 10.0
"""Most weight, in first weights, that planning again begins with: heavier rows lead along narrow curved ways."""

GROWTH = 1.1
"""Factor on the weight of the motion to follow after each pass over the frames (the paper's 10 %)."""


def plan_spacetime(
    character: Character,
    gait: Gait,
    tracks: Tracks | None = None,
    effect: SkinEffect = NO_EFFECT,
    *,
    weights: SpacetimeWeights | None = None,
    margin: float = 0.0,
    kinematic_only: bool = False,
    stance: Array | None = None,
    solver: AugmentedLagrangian | None = None,
    monitor: Monitor = SILENT,
) -> SpacetimePlan:
    """Plan the motion of a character whose bodies carry their shares of skin; see `state_spacetime` for what goes in."""
    problem = state_spacetime(
        character, gait, tracks, effect, weights=weights, margin=margin, kinematic_only=kinematic_only, stance=stance
    )
    return solve_spacetime(problem, solver=solver, monitor=monitor)


def solve_spacetime(
    problem: SpacetimeProblem, start: Array | None = None, *, solver: AugmentedLagrangian | None = None, monitor: Monitor = SILENT
) -> SpacetimePlan:
    """Solve a stated problem from ``start`` (unknowns z), or from the rest pose carried along."""
    return SpacetimePlan(problem, _solved(solver or SOLVER, problem, problem.still() if start is None else start, None, monitor))


def _solved(
    solver: AugmentedLagrangian, problem: SpacetimeProblem, start: Array, warm: Warm | None, monitor: Monitor
) -> AugmentedSolution:
    """The solution; a solve that stalls short of its tolerance is resumed with a smaller weight, its multipliers kept."""
    solution = solver.solve(problem, start, warm=warm, monitor=monitor)
    steps, factors = solution.iterations, solution.factorizations
    for _ in range(RESUMED):
        if solution.status is not Status.STALLED:
            break
        weight = max(solution.weight / LIGHTER, solver.first_weight)
        again = Warm(solution.shifts * (solution.weight / weight), weight, RESUMED_DAMPING)
        solution = solver.solve(problem, solution.z, warm=again, monitor=monitor)
        steps, factors = steps + solution.iterations, factors + solution.factorizations
    return replace(solution, iterations=steps, factorizations=factors)


def replan(
    plan: SpacetimePlan,
    effect: SkinEffect | None = None,
    *,
    joints: Array | None = None,
    growth: float = GROWTH,
    solver: AugmentedLagrangian | None = None,
    monitor: Monitor = SILENT,
) -> SpacetimePlan:
    """The plan again after a pass over the frames: other effect of the skin, another motion to follow; shifts are kept.

    ``joints`` (T, nq): the motion of the frames at the plan's samples, NaN where it is not to be followed. The weight of following
    grows by ``growth``.
    """
    old = plan.problem
    tracks = old.tracks if joints is None else replace(old.tracks, joints=joints)
    weights = old.weights if tracks.joints is None else old.weights.leaning(growth)
    problem = old.changed(effect=old.effect if effect is None else effect, tracks=tracks, weights=weights)
    solver, warm = solver or SOLVER, plan.solution.warm
    weight = min(warm.weight, WARM_WEIGHT * solver.first_weight)
    warm = Warm(warm.shifts * (warm.weight / weight), weight, warm.damping)
    return SpacetimePlan(problem, _solved(solver, problem, plan.solution.z, warm, monitor))
