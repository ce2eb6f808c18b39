"""From random starts every solve converges, to one motion (benchmarks/is_locomotion_robust has all); drags follow the hand."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.solution import Status
from bunraku.performers.locomotion.calmed import NUDGE, calmed, solve_from
from bunraku.performers.locomotion.interactive import DraggedPlan
from bunraku.performers.locomotion.problem import MotionProblem
from bunraku.performers.locomotion.state import state_problem


def gait_of(clip: str) -> Gait:
    gait = read_clip(clip).gait
    assert gait is not None
    return gait


def problem_of(robot: str, clip: str, samples: int) -> MotionProblem:
    return state_problem(read_character(robot), gait_of(clip), samples=samples)


def noisy(problem: MotionProblem, seed: int) -> np.ndarray:
    """Noise of 0.1 rad in the joints, 5 cm and 10 degrees in the base, at every sample; no forces."""
    rng = np.random.default_rng(seed)
    T, nv, _ = problem.shape
    z = problem.still()
    v = z[: T * nv].reshape(T, nv)
    v[:, :3] += 0.05 * rng.standard_normal((T, 3))
    v[:, 3:6] += np.deg2rad(10.0) * rng.standard_normal((T, 3))
    v[:, 6 : problem.model.nq] += 0.1 * rng.standard_normal((T, problem.model.nq - 6))
    v[:, problem.model.nq :] = 0.0
    return z


@pytest.mark.parametrize(
    ("robot", "clip"), [("swizzlebot", "swizzle"), ("creature3", "walk-tripod"), ("agilebot", "turn-in-place")]
)
def test_every_start_ends_in_one_motion(robot: str, clip: str) -> None:
    problem = problem_of(robot, clip, 12)
    found = [solve_from(problem, noisy(problem, seed)) for seed in range(3)]
    assert all(one.status is Status.CONVERGED and one.residual <= 1e-6 for one in found)
    objectives = [problem.objective(one.z) for one in found]
    assert max(objectives) <= 1.01 * min(objectives)


def test_a_calm_start_does_not_depend_on_the_noise() -> None:
    """The energy that calms has one minimum: starts 0.3 rad apart end a microradian apart, near home."""
    problem = problem_of("skatebot", "skate", 12)
    T, nq = problem.samples, problem.model.nq
    first, second = (calmed(problem, noisy(problem, seed))[:-3].reshape(T, -1)[:, :nq] for seed in range(2))
    assert np.abs(noisy(problem, 0) - noisy(problem, 1)).max() > 0.3
    assert np.abs(first - second).max() < 1e-5
    assert np.abs(first - problem.model.home)[:, 6:].max() < 0.02 + 5.0 * NUDGE


def test_skating_is_planned_from_rest() -> None:
    """The weight that waits while the shifts grow, and falls in curved valleys: without it this one takes over a thousand steps."""
    problem = problem_of("skatebot", "skate", 12)
    found = AugmentedLagrangian(max_iterations=400).solve(problem, problem.still())
    assert found.status is Status.CONVERGED
    assert found.residual <= 1e-6


def test_drags_follow_the_hand() -> None:
    """Small edits are met to 1e-4 by a few factorizations, and letting go ends where solving anew does."""
    dragged = DraggedPlan(read_character("swizzlebot"), gait_of("swizzle"), samples=12)
    for length in (0.51, 0.52, 0.53):
        plan = dragged.drag(distance=(length, None))
        assert plan.solution.status is Status.CONVERGED
        assert plan.solution.residual <= 1e-4
        assert plan.solution.factorizations <= 8
        assert plan.displacement[0] == pytest.approx(length, abs=1e-4)
    released = dragged.release()
    assert released.solution.status is Status.CONVERGED
    anew = state_problem(read_character("swizzlebot"), gait_of("swizzle").changed(distance=(0.53, 0.0)), samples=12)
    again = anew.objective(solve_from(anew, anew.still()).z)
    assert released.problem.objective(released.solution.z) == pytest.approx(again, rel=1e-2)
    assert released.problem.travel == anew.travel


def test_a_dragged_target_is_followed() -> None:
    """The centre of mass goes where its target goes, and the problem is the one that would be stated anew."""
    character, gait = read_character("agilebot"), gait_of("slalom")
    dragged = DraggedPlan(character, gait, samples=12)
    before = dragged.plan.problem.objective(dragged.plan.solution.z)
    plan = dragged.drag(targets={0: (None, 0.1, None)})
    assert plan.solution.residual <= 1e-4
    anew = state_problem(character, dragged.gait, samples=12)
    assert dragged.gait.targets[0].place == (None, 0.1, None)
    assert plan.problem.objective(plan.solution.z) == pytest.approx(anew.objective(plan.solution.z), rel=1e-12)
    assert plan.problem.objective(plan.solution.z) != pytest.approx(before, rel=1e-3)
