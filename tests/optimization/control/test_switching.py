"""Switching times: optima under the order, multipliers of durations, a saddle left downhill, bad times refused."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control.switching import SwitchingDerivatives, SwitchingProblem, optimize_switching
from bunraku.optimization.solution import Status


class Coasting(SwitchingProblem):
    """x' = v_i from 0 over 3 s, J = (x(3) - 1)^2 / 2 + sum_i (1 - cos(tau_i - best_i)): closed forms, negative curvature too."""

    def __init__(self, speeds, best):
        super().__init__(0.0, 3.0)
        self.speeds, self.best = np.array(speeds), np.array(best)

    def end_error(self, tau):
        return float(self.speeds @ np.diff(np.concatenate([[0.0], tau, [3.0]]))) - 1.0

    def value(self, times):
        tau = self.check(times)
        return 0.5 * self.end_error(tau) ** 2 + float((1.0 - np.cos(tau - self.best)).sum())

    def derivatives(self, times):
        tau = self.check(times)
        turn, error = self.speeds[:-1] - self.speeds[1:], self.end_error(tau)
        gradient = error * turn + np.sin(tau - self.best)
        hessian = np.outer(turn, turn) + np.diag(np.cos(tau - self.best))
        return SwitchingDerivatives(self.value(tau), gradient, hessian, tau[:, None])


def test_three_modes_are_timed_optimally():
    problem = Coasting([1.0, -0.5, 0.4], [0.9, 2.0])
    solution = optimize_switching(problem, [0.2, 2.9], tolerance=1e-13)
    assert solution.status is Status.CONVERGED
    assert (np.diff(solution.costs) < 0).all()
    D = np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(solution.gradient, D.T @ solution.multipliers, atol=1e-6)
    assert (solution.multipliers >= -1e-8).all()
    rng = np.random.default_rng(0)
    for _ in range(5):
        near_by = np.sort(np.clip(solution.times + 1e-2 * rng.normal(size=2), 0.0, 3.0))
        assert problem.value(near_by) >= solution.cost - 1e-12


def test_a_start_of_negative_curvature_is_left_downhill():
    """At 2.9 the cosine about 0.4 bends down: Newton's step would go up, to its top."""
    problem = Coasting([0.5, 0.4], [0.4])
    assert problem.derivatives(np.array([2.9])).hessian[0, 0] < 0.0
    solution = optimize_switching(problem, [2.9], tolerance=1e-13)
    assert solution.status is Status.CONVERGED
    assert solution.times[0] == pytest.approx(0.4, abs=0.1)


def test_the_order_is_kept_when_a_mode_is_not_wanted():
    """The middle mode wants to end before it begins: it shrinks to its least duration, at the price that the multiplier says."""
    problem = Coasting([0.3, 0.3, 0.3], [1.8, 1.2])
    solution = optimize_switching(problem, [0.8, 2.2], least_duration=0.25, tolerance=1e-12)
    assert solution.status is Status.CONVERGED
    assert solution.times[1] - solution.times[0] == pytest.approx(0.25, abs=1e-9)
    assert solution.multipliers[1] > 0.1
    shorter = optimize_switching(problem, solution.times, least_duration=0.249, tolerance=1e-12)
    assert (solution.cost - shorter.cost) / 0.001 == pytest.approx(solution.multipliers[1], rel=2e-2)


def test_bad_times_are_refused():
    problem = Coasting([1.0, -0.5, 0.4], [0.9, 2.0])
    for times in ([2.0, 1.0], [1.0, 4.0], [np.nan, 1.0]):
        with pytest.raises(BadInput):
            problem.derivatives(np.array(times))
    with pytest.raises(BadInput, match="less than"):
        optimize_switching(problem, [1.0, 1.05], least_duration=0.2)
    with pytest.raises(BadInput, match="nothing to optimize"):
        optimize_switching(problem, [])
    with pytest.raises(BadInput, match="the end must come after"):
        SwitchingProblem.__init__(problem, 3.0, 3.0)
