"""The step of a plan: chosen by what half of it does to the error, and the clip's end met exactly."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.optimization.solution import Status
from bunraku.performers.performer import make_performer
from bunraku.performers.vibration import refine
from bunraku.performers.vibration.evaluate import evaluate
from bunraku.performers.vibration.problem import VibrationWeights, refined, state_problem
from bunraku.performers.vibration.refine import SAME, coarse_step, solve_at_fitting_step
from bunraku.performers.vibration.solve import solve_gauss_newton

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


def test_a_step_that_does_not_show_is_kept(problem, monkeypatch):
    monkeypatch.setattr(refine, "SAME", np.inf)
    last, found = solve_at_fitting_step(problem, **GIVEN)
    assert last is problem
    assert found.status is Status.CONVERGED
    assert SAME == 1e-3


def test_the_performer_chooses_the_step_and_says_the_same_as_at_2_ms(rod_character, turn_clip):
    """Judged at 0.5 ms, the plan at the chosen step is within 1 % of one made in steps of 2 ms with a tolerance of 1e-4."""
    chosen, strict = (
        make_performer("vibration", {"points": 40, **more}).perform(rod_character, turn_clip)
        for more in ({}, {"step_ms": 2.0, "tolerance": 1e-4})
    )
    rms = [made.certificate.figures["rms_error_after_m"] for made in (chosen, strict)]
    assert rms[0] == pytest.approx(rms[1], rel=1e-2)
    assert chosen.certificate.holds
    assert chosen.duration == pytest.approx(strict.duration)
