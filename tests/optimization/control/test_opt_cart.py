"""The golden swing-up of the cart-pendulum: four stages, each iteration and each optimum as an independent program found them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from frame_graph import system_of_graph

from bunraku.mechanics.dynamics.forces import CoordinateForce
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.control.cost import TrackingCost
from bunraku.optimization.control.trajectory import FeedbackWeights, TrajectoryNewton
from bunraku.optimization.solution import Status

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def stages(golden):
    """The four stages solved one after the other, and the golden record."""
    graph = json.loads((golden / "marionette" / "cart_pendulum.json").read_text())
    record = json.loads((golden / "marionette" / "opt_cart.json").read_text())["iterations"]
    free = system_of_graph(graph)
    helped = system_of_graph(graph, (CoordinateForce(free.names[1], "theta-force"),), ("theta-force",))
    t = np.arange(0.0, 10.0, 0.01)
    wish = np.zeros((len(t), 4))
    wish[:, 1] = np.where((t >= 3) & (t <= 7), (1 - np.cos(2 * np.pi / 4 * (t - 3))) * np.radians(130) / 2, 0.0)
    Q = np.diag([0.01, 100.0, 0.01, 0.01])
    x, u = np.zeros((len(t), 4)), np.zeros((len(t) - 1, 2))
    solver = TrajectoryNewton(tolerance=1e-6, quasi_iterations=4)
    found = []
    for stage in range(4):
        if stage < 3:
            dynamics, R = (
                VariationalDynamics(VariationalIntegrator(helped, 0.01, tolerance=1e-11)),
                np.diag([0.01, (0.01, 100.0, 1e6)[stage]]),
            )
        else:
            dynamics, R = VariationalDynamics(VariationalIntegrator(free, 0.01, tolerance=1e-11)), np.array([[0.01]])
            u = u[:, :1]
            x = dynamics.simulate(x[0], u).x
        cost = TrackingCost(wish, Q, R, terminal=Q)
        if stage == 1:
            helped_dynamics, helped_cost = dynamics, cost
        found.append(solver.solve(dynamics, cost, x, u, feedback=FeedbackWeights(np.eye(4), np.eye(len(R)))))
        x, u = found[-1].x, found[-1].u
    return found, [[row for row in record if row["stage"] == stage] for stage in range(4)], helped_dynamics, helped_cost


@pytest.mark.parametrize("stage", range(4))
def test_each_stage_ends_at_the_golden_optimum(stages, stage):
    found, record = stages[0][stage], stages[1][stage]
    assert found.status is Status.CONVERGED
    assert found.cost == pytest.approx(record[-1]["cost0"], rel=1e-9)


@pytest.mark.parametrize(("stage", "comparable"), [(0, 6), (1, 4), (2, 4), (3, 5)])
def test_iterations_take_the_golden_steps(stages, stage, comparable):
    """Stages 1 and 2 until the Newton matrix turns indefinite, where the other program goes on with it and we fall back."""
    found, record = stages[0][stage], stages[1][stage][:comparable]
    assert [(s.method, s.backtracks) for s in found.steps[:comparable]] == [(row["method"], row["armijo"]) for row in record]
    np.testing.assert_allclose(found.costs[:comparable], [row["cost0"] for row in record], rtol=1e-9 if stage < 2 else 2e-6)
    np.testing.assert_allclose(found.slopes[:comparable], [row["dcost0"] for row in record], rtol=1e-8 if stage < 2 else 1e-2)


def test_the_last_trajectory_is_the_golden_one(stages, golden):
    data = np.load(golden / "marionette" / "opt_cart.npz")
    np.testing.assert_allclose(stages[0][3].x, data["Xopt"], atol=2e-6)
    np.testing.assert_allclose(stages[0][3].u, data["Uopt"], atol=2e-5)


def test_newton_ends_quadratically(stages):
    """The swing-up with a helped pendulum again, as far as rounding goes."""
    found, _, dynamics, cost = stages
    tight = TrajectoryNewton(tolerance=1e-18).solve(dynamics, cost, found[0].x, found[0].u)
    assert tight.status is Status.CONVERGED
    assert tight.exponent >= 1.8
