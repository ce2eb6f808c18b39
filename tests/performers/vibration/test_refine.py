"""The step of a plan: chosen by what half of it does to the error, and the clip's end met exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.formats.checkpoint import Checkpoint
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.performer import make_performer
from bunraku.performers.vibration import refine
from bunraku.performers.vibration.evaluate import evaluate
from bunraku.performers.vibration.problem import VibrationWeights, refined, state_problem
from bunraku.performers.vibration.refine import SAME, coarse_step, solve_at_fitting_step
from bunraku.performers.vibration.solve import Retargeted, solve_gauss_newton

LIGHT = VibrationWeights(profile=1e-5, acceleration=1e-10)
GIVEN = {"max_iterations": 20, "tolerance": 1e-2, "lowest_frequency": 4.0}


@pytest.fixture(scope="module")
def problem(rod_character, rod_system, turn_clip):
    return state_problem(rod_character, turn_clip.joints, dt=4e-3, points=40, flexible=rod_system, weights=LIGHT)


def test_the_first_step_ends_with_the_clip():
    assert coarse_step(4.0, 50) == pytest.approx(4e-3)
    steps = 3.33 / coarse_step(3.33, 50)
    assert steps == pytest.approx(round(steps))
    assert coarse_step(3.33, 50) <= 4e-3
    assert coarse_step(1.0, 200) == pytest.approx(2e-3)


def test_the_refined_problem_has_the_same_curves_and_compares_at_the_same_times(problem):
    fine = refined(problem)
    assert fine.profile.dt == 0.5 * problem.profile.dt
    assert fine.angles(problem.wish)[::2] == pytest.approx(problem.angles(problem.wish), abs=1e-12)
    direct, finer = evaluate(fine, problem.wish), evaluate(problem, problem.wish, finer=2)
    assert finer.rms == pytest.approx(direct.rms, rel=1e-9)
    assert finer.motions[0].q == pytest.approx(direct.motions[0].q, abs=1e-12)


def test_a_halved_plan_is_as_good_as_one_made_there_at_once(problem, monkeypatch):
    """It goes on from the coarse solution with the coarse Hessian, and ends where Gauss-Newton at half the step ends."""
    monkeypatch.setattr(refine, "SAME", -1.0)
    last, found = solve_at_fitting_step(problem, **GIVEN)
    assert last.profile.dt == pytest.approx(2e-3)
    monkeypatch.undo()
    fine = refined(problem)
    at_once = solve_gauss_newton(fine, max_iterations=20, tolerance=1e-4, lowest_frequency=4.0)
    assert evaluate(fine, found.parameters).rms == pytest.approx(at_once.rms, rel=1e-2)


@pytest.mark.parametrize(("growth", "kept"), [(0.9 * SAME, True), (1.1 * SAME, False)])
def test_a_step_is_kept_where_its_error_does_not_show(problem, monkeypatch, growth, kept):
    """The RMS error extrapolated to a step of 0 is compared: 16/9 of what the squares grow by at half the step."""
    solved = solve_gauss_newton(problem, **GIVEN)
    factor = np.sqrt(1.0 + 9.0 / 16.0 * ((1.0 + growth) ** 2 - 1.0))

    def measured(stated, parameters, *, finer=1):
        return replace(evaluate(stated, parameters, finer=finer), rms=factor * solved.rms)

    monkeypatch.setattr(refine, "evaluate", measured)
    last, found = solve_at_fitting_step(problem, **GIVEN)
    assert (last is problem) is kept
    assert found.status is Status.CONVERGED


def _stalled(problem, parameters, iterations):
    return Retargeted(parameters, 1.0, 1.0, Status.STALLED, iterations, ())


def test_a_stalled_plan_goes_on_from_where_it_stands_and_within_the_iterations_asked_for(problem, monkeypatch):
    """At half the step the search begins at the parameters of the coarse one, and both together keep to the limit."""
    solved, starts = solve_gauss_newton(problem, **GIVEN), []

    def solving(stated, *, start, max_iterations, **given):
        if stated is problem:
            return _stalled(problem, solved.parameters, 19)
        starts.append(start)
        return solve_gauss_newton(stated, start=start, max_iterations=max_iterations, **given)

    monkeypatch.setattr(refine, "solve_gauss_newton", solving)
    last, found = solve_at_fitting_step(problem, **GIVEN)
    assert last is not problem
    assert starts[0].parameters is solved.parameters
    assert starts[0].iteration == 19
    assert found.iterations == 20
    assert found.cost <= evaluate(last, solved.parameters).cost


class _Stop(Monitor):
    """Cancels after a report of the second iteration at half the step."""

    cancelled = False
    halved = False

    def report(self, event):
        self.halved |= event.message.startswith("at steps of")
        self.cancelled |= self.halved and event.message.startswith("iteration")


def test_a_plan_interrupted_at_half_the_step_is_taken_up_there(rod_character, turn_clip, monkeypatch, tmp_path):
    """The coarse solution is not made again: resumed equals uninterrupted."""
    monkeypatch.setattr(refine, "SAME", -1.0)
    performer = make_performer("vibration", {"points": 40})
    whole = performer.perform(rod_character, turn_clip)
    trail, stop = Checkpoint(tmp_path / "run.npz", "key"), _Stop()
    stopped = performer.perform(rod_character, turn_clip, checkpoint=trail, monitor=stop)
    assert stopped.certificate.status is Status.CANCELLED
    steps = []

    def solving(stated, **given):
        steps.append(stated.profile.dt)
        return solve_gauss_newton(stated, **given)

    monkeypatch.setattr(refine, "solve_gauss_newton", solving)
    resumed = performer.perform(rod_character, turn_clip, checkpoint=trail)
    assert steps == [pytest.approx(2e-3)]
    assert resumed.certificate.figures["step_ms"] == pytest.approx(2.0)
    assert resumed.positions().values == pytest.approx(whole.positions().values, abs=1e-6)


def test_the_performer_chooses_4_ms_and_is_as_good_as_at_2_ms(rod_character, turn_clip):
    """Judged at 0.5 ms, the plan at the chosen step, 4 ms, is within 1 % of one made in steps of 2 ms with a tolerance of 1e-4."""
    chosen, strict = (
        make_performer("vibration", {"points": 40, **more}).perform(rod_character, turn_clip)
        for more in ({}, {"step_ms": 2.0, "tolerance": 1e-4})
    )
    rms = [made.certificate.figures["rms_error_after_m"] for made in (chosen, strict)]
    assert [made.certificate.figures["step_ms"] for made in (chosen, strict)] == pytest.approx([4.0, 2.0])
    assert rms[0] == pytest.approx(rms[1], rel=1e-2)
    assert chosen.certificate.holds
    assert chosen.duration == pytest.approx(strict.duration)
