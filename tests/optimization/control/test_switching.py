"""Switching times: gradient and Hessian against differences, closed forms, and optima under the order."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control.switching import ContinuousSwitching, RunningCost, SwitchedDynamics, TerminalCost, no_running_cost
from bunraku.optimization.control.switching_newton import optimize_switching
from bunraku.optimization.solution import Status

Q = np.diag([1.0, 0.3])


def pendulum(spring, damping, force, beat=0.0):
    """A pendulum: x'' = -spring sin x - damping x' + force + beat sin 3t."""
    return SwitchedDynamics(
        lambda t, x: np.array([x[1], -spring * np.sin(x[0]) - damping * x[1] + force + beat * np.sin(3 * t)]),
        lambda t, x: np.array([[0.0, 1.0], [-spring * np.cos(x[0]), -damping]]),
        lambda t, x, rho: np.array([[rho[1] * spring * np.sin(x[0]), 0.0], [0.0, 0.0]]),
        (lambda t, x: np.array([0.0, 3 * beat * np.cos(3 * t)])) if beat else None,
    )


def near(wish, weight=1.0, drift=0.0):
    """The rate weight (1 + drift t) / 2 |x - wish|^2_Q."""
    w = np.array(wish)
    return RunningCost(
        lambda t, x: weight * (1 + drift * t) * 0.5 * (x - w) @ Q @ (x - w),
        lambda t, x: weight * (1 + drift * t) * Q @ (x - w),
        lambda t, x: weight * (1 + drift * t) * Q,
        (lambda t, x: weight * drift * 0.5 * (x - w) @ Q @ (x - w)) if drift else None,
    )


def end_at(wish, weight):
    w = np.array(wish)
    return TerminalCost(lambda x: 0.5 * weight * (x - w) @ (x - w), lambda x: weight * (x - w), lambda x: weight * np.eye(2))


MODES = [pendulum(9.0, 0.2, 4.0), pendulum(9.0, 0.5, -3.0), pendulum(4.0, 1.0, 1.0)]
MOVING = [pendulum(9.0, 0.2, 4.0, 2.0), pendulum(9.0, 0.5, -3.0), pendulum(4.0, 1.0, 1.0, -1.0)]
CONTINUOUS = {
    "one cost": ContinuousSwitching(MODES, near([0.4, 0.0]), end_at([0.2, 0.0], 2.0), [0.3, 0.0], end=3.0),
    "a cost each, time in all": ContinuousSwitching(
        MOVING, [near([0.4, 0.0]), near([-0.3, 0.1], 2.0, 0.3), near([0.1, 0.0])], end_at([0.2, 0.0], 2.0), [0.3, 0.0], end=3.0
    ),
}
TAU = np.array([0.92, 1.87])


def differences(problem, tau, h):
    """Fourth-order differences: the gradient of the cost, and the Hessian of the gradient."""
    gradient, hessian = np.zeros(len(tau)), np.zeros((len(tau), len(tau)))
    for i in range(len(tau)):
        for k, c in ((1, 2 / 3), (2, -1 / 12)):
            d = np.zeros(len(tau))
            d[i] = k * h
            gradient[i] += c / h * (problem.value(tau + d) - problem.value(tau - d))
            hessian[i] += c / h * (problem.derivatives(tau + d).gradient - problem.derivatives(tau - d).gradient)
    return gradient, hessian


@pytest.mark.parametrize("problem", CONTINUOUS.values(), ids=CONTINUOUS)
def test_gradient_and_hessian_agree_with_differences_to_a_millionth(problem):
    at = problem.derivatives(TAU)
    gradient, hessian = differences(problem, TAU, 2e-3)
    assert at.cost == pytest.approx(problem.value(TAU), rel=1e-9)
    assert np.abs(at.gradient - gradient).max() <= 1e-6 * np.abs(gradient).max()
    assert np.abs(at.hessian - hessian).max() <= 1e-6 * np.abs(hessian).max()


def test_two_constant_speeds_have_closed_forms():
    """With x' = a, then b: x(end) = x0 + a tau + b (T - tau), so J = x(end)^2 / 2 has J' = x(end) (a - b), J'' = (a - b)^2."""
    still = [
        SwitchedDynamics(lambda t, x, v=v: np.array([v]), lambda t, x: np.zeros((1, 1)), lambda t, x, rho: np.zeros((1, 1)))
        for v in (2.0, -1.0)
    ]
    last = TerminalCost(lambda x: 0.5 * float(x @ x), lambda x: x, lambda x: np.eye(1))
    at = ContinuousSwitching(still, no_running_cost(1), last, [0.5], end=3.0).derivatives(np.array([0.7]))
    arrival = 0.5 + 2.0 * 0.7 - 1.0 * 2.3
    np.testing.assert_allclose([at.cost, at.gradient[0], at.hessian[0, 0]], [arrival**2 / 2, arrival * 3.0, 9.0], atol=1e-10)
    np.testing.assert_allclose(at.states, [[1.9]], atol=1e-10)


def test_three_modes_are_timed_optimally():
    problem = CONTINUOUS["one cost"]
    found = optimize_switching(problem, [1.0, 2.0], tolerance=1e-13)
    assert found.status is Status.CONVERGED
    assert (np.diff(found.costs) < 0).all()
    assert found.cost < problem.value(np.array([1.0, 2.0]))
    D = np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(found.gradient, D.T @ found.multipliers, atol=1e-5)
    assert (found.multipliers >= -1e-8).all()
    rng = np.random.default_rng(0)
    for _ in range(5):
        near_by = np.sort(np.clip(found.times + 1e-2 * rng.normal(size=2), 0.0, 3.0))
        assert problem.value(near_by) >= found.cost - 1e-9


def test_the_order_is_kept_when_a_mode_is_not_wanted():
    """The middle mode only costs: it shrinks to the least duration, and the multiplier says what shrinking more would pay."""
    bad = [near([0.4, 0.0]), near([0.4, 0.0], 50.0), near([0.4, 0.0])]
    problem = ContinuousSwitching(MODES, bad, end_at([0.2, 0.0], 0.1), [0.3, 0.0], end=3.0, tolerance=1e-9)
    found = optimize_switching(problem, [0.8, 2.2], least_duration=0.25, tolerance=1e-9)
    assert found.status is Status.CONVERGED
    assert found.times[1] - found.times[0] == pytest.approx(0.25, abs=1e-9)
    assert found.multipliers[1] > 0.1
    shorter = optimize_switching(problem, found.times, least_duration=0.249, tolerance=1e-9)
    assert (found.cost - shorter.cost) / 0.001 == pytest.approx(found.multipliers[1], rel=2e-2)


def test_bad_times_are_refused():
    problem = CONTINUOUS["one cost"]
    for times in ([2.0, 1.0], [1.0, 4.0], [np.nan, 1.0], [1.0]):
        with pytest.raises(BadInput):
            problem.derivatives(np.array(times))
    with pytest.raises(BadInput, match="less than"):
        optimize_switching(problem, [1.0, 1.05], least_duration=0.2)
