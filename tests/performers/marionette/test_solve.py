"""The ladder: climbed only from outside the limits, and the best result is returned, judged by the problem's own cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import JointCurves
from bunraku.optimization.control.interior import InteriorSolution
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.performers.marionette.problem import cut_wish, state_puppet_problem
from bunraku.performers.marionette.solve import LADDER, solve_puppet


@dataclass(frozen=True)
class Scripted:
    """A solver that answers what it is told, and notes the price of accelerating at each attempt."""

    answers: list
    relative_tolerance: float = 1e-3
    max_iterations: int = 10
    barrier: tuple[float, float] = (3e-3, 1e-4)
    seen: list = field(default_factory=list)

    def solve(self, dynamics, cost, constraints, x, u, **_):
        shaken = u + 1e-3 * (-1.0) ** np.arange(len(u))[:, None]
        self.seen.append(cost.value(x, shaken))
        violation, status, lift = self.answers[len(self.seen) - 1]
        moved = u + lift
        K = np.zeros((len(u), dynamics.nu, dynamics.nx))
        return InteriorSolution(
            x, moved, K, cost.value(x, moved), violation, (np.zeros((len(u), 0)), np.zeros(0)), 1e-4, status, ()
        )


@pytest.fixture(scope="module")
def problem():
    wish = cut_wish(read_clip("arm-wave").joints, rate=100.0, duration=0.2)
    return state_puppet_problem(read_character("puppet-arm"), wish)


def test_a_motion_within_the_limits_is_kept_converged_or_not(problem):
    """The arm's shoulder is fixed: no start but hanging still."""
    solver = Scripted([(0.0, Status.MAX_ITERATIONS, 0.0)])
    assert solve_puppet(problem, solver).rungs == 0
    assert len(solver.seen) == 1


def test_the_better_start_goes_on_when_neither_settles_soon(turning):
    """The first ends outside the limits, the second, lifted by 1 mm, within; lifted by another 1 mm it has settled."""
    going = Status.MAX_ITERATIONS
    solver = Scripted([(0.2, going, 0.02), (0.0, going, 0.001), (0.0, Status.CONVERGED, 0.001)], max_iterations=100)
    found = solve_puppet(turning, solver).solution
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.u, turning.still[1] + 0.002, atol=1e-12)


@pytest.fixture(scope="module")
def turning():
    """The marionette turns by 1 rad: rigid start and hanging still are two."""
    puppet, t = read_character("marionette"), np.linspace(0.0, 1.0, 101)
    name = next(f"{joint.name}.rz" for joint in puppet.joints if joint.parent == "world")
    return state_puppet_problem(puppet, JointCurves((name,), 100.0, (t * t * (3.0 - 2.0 * t))[:, None]))


@pytest.mark.parametrize(
    ("answers", "attempts", "status"),
    [
        ([(0.0, Status.CONVERGED, 0.0)], 1, Status.CONVERGED),
        ([(0.0, Status.MAX_ITERATIONS, 0.0)], 1, Status.MAX_ITERATIONS),  # within the limits it goes on, and starts no more
        ([(0.1, Status.MAX_ITERATIONS, 0.0), (0.0, Status.CONVERGED, 0.01)], 2, Status.CONVERGED),
        ([(0.2, Status.INFEASIBLE, 0.0), (0.0, Status.MAX_ITERATIONS, 0.0)], 2, Status.MAX_ITERATIONS),
        ([(0.0, Status.STALLED, 0.0), (0.3, Status.INFEASIBLE, 0.0)], 2, Status.STALLED),
        ([(0.1, Status.MAX_ITERATIONS, 0.0), (0.0, Status.CANCELLED, 0.0)], 2, Status.CANCELLED),
    ],
)
def test_the_other_start_is_tried_when_the_first_does_not_settle(turning, answers, attempts, status):
    solver = Scripted(answers)
    found = solve_puppet(turning, solver)
    assert len(solver.seen) == attempts
    assert (found.solution.status, found.solution.violation, found.rungs) == (status, 0.0, 0)
    assert len(set(solver.seen)) == attempts  # from different starts


def test_accelerations_cost_less_from_rung_to_rung_and_end_as_asked(problem):
    outside = (0.5, Status.INFEASIBLE, 0.0)
    solver = Scripted([outside] * 4)
    found = solve_puppet(problem, solver)
    straight, *rungs = solver.seen
    assert found.rungs == len(LADDER) + 1 == len(rungs)
    assert rungs[0] > rungs[1] > rungs[2] == pytest.approx(straight)


def test_the_least_violation_wins_then_the_cost_of_the_problem(problem):
    converged = Status.CONVERGED
    solver = Scripted([(0.5, Status.INFEASIBLE, 0.0), (0.0, converged, 0.02), (0.0, converged, -0.019), (0.2, Status.STALLED, 0.0)])
    found = solve_puppet(problem, solver).solution
    assert found.violation == 0.0
    x, u = problem.still
    assert found.cost == pytest.approx(problem.cost.value(x, u + 0.02 - 0.019))  # each rung starts where the last ended
    assert found.status is Status.MAX_ITERATIONS  # a gentler problem was solved, not this one


def test_cancelling_on_a_rung_keeps_the_best(problem):
    solver = Scripted([(0.5, Status.INFEASIBLE, 0.0), (0.0, Status.CANCELLED, 0.0)])
    found = solve_puppet(problem, solver).solution
    assert (found.violation, found.status) == (0.0, Status.CANCELLED)


def test_options_for_strings_are_refused_without_strings():
    artist = replace(MarionettePerformer(), blend=3.0)
    with pytest.raises(BadInput, match="blend is for characters on strings"):
        artist.perform(read_character("cart-pendulum"), read_clip("stand-up"))


def test_a_settling_wish_ends_at_rest_in_the_hanging_pose(problem):
    """One second added: 0.6 s back to the hanging pose, then 0.4 s of it."""
    wish = cut_wish(read_clip("arm-wave").joints, rate=100.0, duration=2.0)
    settling = state_puppet_problem(read_character("puppet-arm"), wish, settle=1.0)
    rest = settling.rest[: settling.system.nq]
    assert settling.steps == len(wish.values) - 1 + 100
    np.testing.assert_allclose(settling.q[-41:], np.tile(rest, (41, 1)), atol=1e-12)
    assert np.abs(settling.q[-80] - rest).max() > 1e-3
