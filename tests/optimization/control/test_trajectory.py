"""Newton on trajectories: one step on linear systems, quadratic convergence on the cart, refusals that do not crash."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control.cost import SumOfCosts, TrackingCost
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.control.trajectory import FeedbackWeights, TrajectoryNewton
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status

N, DT = 60, 0.05
Q, R, QF = np.diag([0.1, 10.0, 0.01, 0.01]), np.array([[1e-3]]), np.diag([1.0, 10.0, 0.1, 0.1])


def swing(N=N, DT=DT):
    """A swing of the pendulum to 130 degrees and back, which no trajectory follows exactly."""
    wish = np.zeros((N + 1, 4))
    t = np.arange(N + 1) * DT
    wish[:, 1] = np.radians(65) * (1 - np.cos(2 * np.pi * t / t[-1]))
    return wish


def test_one_newton_step_solves_a_linear_quadratic_problem(systems):
    rng = np.random.default_rng(1)
    A, B = np.eye(3) + 0.3 * rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    Ql, Rl, Qfl = np.diag([1.0, 2.0, 3.0]), np.diag([0.5, 0.7]), 5.0 * np.eye(3)
    x0 = np.array([1.0, -1.0, 0.5])
    cost = TrackingCost(np.zeros((31, 3)), Ql, Rl, terminal=Qfl)
    found = TrajectoryNewton(tolerance=1e-18).solve(systems.linear(A, B), cost, np.tile(x0, (31, 1)), np.zeros((30, 2)))
    gains = time_varying_lqr(np.tile(A, (30, 1, 1)), np.tile(B, (30, 1, 1)), Ql, Rl, terminal=Qfl)
    assert found.status is Status.CONVERGED
    assert found.iterations == 1
    np.testing.assert_allclose(found.cost, 0.5 * x0 @ gains.P[0] @ x0, rtol=1e-12)
    np.testing.assert_allclose(found.u, -np.einsum("kij,kj->ki", gains.K, found.x[:-1]), atol=1e-11)


@pytest.mark.parametrize("feedback", [None, FeedbackWeights(np.eye(4), np.eye(1))], ids=["own", "unit"])
def test_the_cart_converges_quadratically_to_a_stationary_minimum(systems, feedback):
    cart, cost = systems.cart_pendulum(DT), TrackingCost(swing(), Q, R, terminal=QF)
    solver = TrajectoryNewton(tolerance=1e-22, max_iterations=80)
    found = solver.solve(cart, cost, np.zeros((N + 1, 4)), np.zeros((N, 1)), feedback=feedback)
    assert found.status is Status.CONVERGED
    assert found.exponent >= 1.7  # one triple before rounding: 1.77 to 2, as the processor adds; without feedback of its own
    rng = np.random.default_rng(3)
    for _ in range(5):
        d = rng.normal(size=found.u.shape)
        J = [cost.value(*cart.simulate(found.x[0], found.u + e * d)[:2]) for e in (-1e-3, 0.0, 1e-3)]
        assert abs(J[2] - J[0]) / 2e-3 < 2e-5 * np.sqrt(N)
        assert J[0] > J[1] < J[2]


def test_all_methods_agree_on_the_optimum_and_newton_needs_the_fewest_steps(systems):
    cart = systems.cart_pendulum(DT)
    cost = SumOfCosts(TrackingCost(swing(), Q, 0.5 * R, terminal=QF), TrackingCost(swing(), 0.0 * Q, 0.5 * R, terminal=0.0 * QF))
    runs = {
        method: TrajectoryNewton(tolerance=1e-9, method=method, max_iterations=300).solve(
            cart, cost, np.zeros((N + 1, 4)), np.zeros((N, 1))
        )
        for method in ("newton", "quasi")
    }
    assert all(run.status is Status.CONVERGED for run in runs.values())
    np.testing.assert_allclose(runs["quasi"].cost, runs["newton"].cost, rtol=1e-9)
    assert runs["newton"].iterations < runs["quasi"].iterations
    slow = TrajectoryNewton(tolerance=1e-9, method="steepest", max_iterations=20).solve(
        cart, cost, runs["newton"].x, runs["newton"].u + 1e-3
    )
    assert (np.diff(slow.costs) < 0).all()
    assert slow.cost >= runs["newton"].cost * (1 - 1e-12)


def test_costs_fall_and_the_iteration_limit_is_kept(systems):
    cart, cost = systems.cart_pendulum(DT), TrackingCost(swing(), Q, R, terminal=QF)
    found = TrajectoryNewton(max_iterations=2).solve(cart, cost, np.zeros((N + 1, 4)), np.zeros((N, 1)))
    assert found.status is Status.MAX_ITERATIONS
    assert found.iterations == 2
    assert (np.diff(found.costs) < 0).all()
    assert (found.slopes < 0).all()
    assert cost.value(found.x, found.u) == found.cost


def test_a_roll_out_that_fails_is_a_step_refused(systems):
    """The map x + dt (x^3 + u) runs away in finite time: the full first step cannot be simulated."""
    runaway = systems.closed(1, 1, lambda x, u: x + 0.1 * (x**3 + u))
    cost = TrackingCost(np.full((41, 1), 2.0), np.eye(1), 1e-4 * np.eye(1))
    lazy = FeedbackWeights(np.eye(1), 100.0 * np.eye(1))
    solver = TrajectoryNewton(max_iterations=100, tolerance=1e-8)
    found = solver.solve(runaway, cost, np.zeros((41, 1)), np.zeros((40, 1)), feedback=lazy)
    assert found.status is Status.CONVERGED
    assert any(step.backtracks > 0 for step in found.steps)


def test_a_roll_out_that_says_it_failed_is_never_taken(systems):
    """The integrator reports failure beyond |u| = 0.5 though its numbers look good and the cost there is lower."""

    class Weak(type(systems.linear(np.eye(1), np.eye(1)))):
        def rollout(self, x0, xb, ub, K):
            rolled = super().rollout(x0, xb, ub, K)
            return rolled._replace(failed_at=3) if np.abs(rolled.u).max() > 0.5 else rolled

    weak = Weak(1, 1, lambda x, u: x + 0.1 * u)
    cost = TrackingCost(np.ones((21, 1)), np.eye(1), 1e-3 * np.eye(1))
    found = TrajectoryNewton(tolerance=1e-9).solve(weak, cost, np.zeros((21, 1)), np.zeros((20, 1)))
    assert found.status is Status.STALLED
    assert 0.4 < np.abs(found.u).max() <= 0.5
    assert found.cost < found.costs[0]


def test_cancelling_keeps_the_best_so_far(systems):
    class Stop(Monitor):
        seen = 0

        def report(self, event):
            self.seen += 1

        @property
        def cancelled(self):
            return self.seen > 2

    cart, cost = systems.cart_pendulum(DT), TrackingCost(swing(), Q, R, terminal=QF)
    found = TrajectoryNewton().solve(cart, cost, np.zeros((N + 1, 4)), np.zeros((N, 1)), monitor=Stop())
    assert found.status is Status.CANCELLED
    assert found.iterations == 2


def test_bad_input_says_what_is_needed(systems):
    cart, cost = systems.cart_pendulum(DT), TrackingCost(swing(), Q, R)
    with pytest.raises(BadInput, match="not known"):
        TrajectoryNewton(method="magic")
    with pytest.raises(BadInput, match=r"\(N \+ 1, 4\)"):
        TrajectoryNewton().solve(cart, cost, np.zeros((N, 4)), np.zeros((N, 1)))
    with pytest.raises(BadInput, match="not finite"):
        TrajectoryNewton().solve(cart, cost, np.full((N + 1, 4), np.nan), np.zeros((N, 1)))
    runaway = systems.closed(1, 1, lambda x, u: x + 100.0 * x**3 + 0.0 * u)
    with pytest.raises(BadInput, match="cannot be followed"):
        TrajectoryNewton().solve(runaway, TrackingCost(np.ones((31, 1)), np.eye(1), np.eye(1)), np.ones((31, 1)), np.zeros((30, 1)))
