"""Inequalities: the double integrator under input bounds is a quadratic program, which another solver solves exactly."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control.constrained import ConstrainedTrajectory
from bunraku.optimization.control.constraints import InputBounds, StateBounds, TrajectoryConstraint
from bunraku.optimization.control.cost import TrackingCost
from bunraku.optimization.control.trajectory import TrajectoryNewton
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.optimization.solution import Status

N, DT = 40, 0.1
A, B = np.array([[1.0, DT], [0.0, 1.0]]), np.array([[0.5 * DT**2], [DT]])
Q, R, QF = np.diag([1.0, 0.1]), np.array([[0.01]]), np.diag([100.0, 100.0])
X0 = np.array([-1.5, 0.0])


def program(u_max, v_max=np.inf):
    """The same problem condensed onto the inputs."""
    F = np.zeros((N + 1, 2, N))
    free = [X0]
    for k in range(N):
        F[k + 1] = A @ F[k]
        F[k + 1][:, k] += B[:, 0]
        free.append(A @ free[-1])
    free = np.array(free)
    P, q = R[0, 0] * np.eye(N), np.zeros(N)
    for k in range(N + 1):
        W = QF if k == N else Q
        P, q = P + F[k].T @ W @ F[k], q + F[k].T @ W @ free[k]
    solved = solve_quadratic(
        QuadraticProgram(P, q, A=F[:, 1], lower=-v_max - free[:, 1], upper=v_max - free[:, 1], x_lower=-u_max, x_upper=u_max)
    )
    assert solved.is_optimal(1e-8)
    return solved.x


def solve(systems, constraints, **options):
    cost = TrackingCost(np.zeros((N + 1, 2)), Q, R, terminal=QF)
    solver = ConstrainedTrajectory(newton=TrajectoryNewton(tolerance=1e-12), **options)
    return solver.solve(systems.linear(A, B), cost, constraints, np.tile(X0, (N + 1, 1)), np.zeros((N, 1)))


def test_input_bounds_give_the_optimum_of_the_quadratic_program(systems):
    found = solve(systems, [InputBounds([-1.0], [1.0])], tolerance=1e-8)
    exact = program(1.0)
    assert found.status is Status.CONVERGED
    assert found.violation <= 1e-8
    assert np.count_nonzero(np.abs(exact) > 1.0 - 1e-9) > 5
    np.testing.assert_allclose(found.trajectory.u[:, 0], exact, atol=2e-6)


def test_state_and_input_bounds_together(systems):
    found = solve(systems, [InputBounds([-1.0], [1.0]), StateBounds([-np.inf, -0.5], [np.inf, 0.5])], tolerance=1e-8)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.trajectory.u[:, 0], program(1.0, 0.5), atol=5e-6)
    np.testing.assert_allclose(found.trajectory.x[:, 1].max(), 0.5, atol=1e-7)


def test_multipliers_make_the_lagrangian_stationary(systems):
    """DJ + G^T mu = 0 along every input direction, mu >= 0, mu g = 0."""
    bounds = InputBounds([-1.0], [1.0])
    found = solve(systems, [bounds], tolerance=1e-8)
    x, u = found.trajectory.x, found.trajectory.u
    cost = TrackingCost(np.zeros((N + 1, 2)), Q, R, terminal=QF)
    w, chi = cost.gradient(x, u)
    w = w + np.einsum("kr,krj->kj", found.multipliers[0][0], bounds.jacobians(x, u)[0])
    for k in range(N - 1, -1, -1):
        assert abs(w[k, 2] + B[:, 0] @ chi) < 1e-6
        chi = w[k, :2] + A.T @ chi
    g = bounds.values(x, u)[0]
    assert (found.multipliers[0][0] >= 0.0).all()
    assert np.abs(found.multipliers[0][0] * g).max() < 1e-6


class KeepClear(TrajectoryConstraint):
    """Stay outside a circle of radius 0.5 about (0, 0.1) in the plane of the first two states: not convex."""

    CENTRE = np.array([0.0, 0.1])

    def values(self, x, u):
        return 0.25 - np.sum((x[:-1, :2] - self.CENTRE) ** 2, axis=1)[:, None], np.zeros(0)

    def jacobians(self, x, u):
        J = np.zeros((len(u), 1, x.shape[1] + u.shape[1]))
        J[:, 0, :2] = -2.0 * (x[:-1, :2] - self.CENTRE)
        return J, np.zeros((0, x.shape[1]))

    def curvature(self, x, u, weights, last):
        H = np.zeros((len(u), x.shape[1] + u.shape[1], x.shape[1] + u.shape[1]))
        H[:, 0, 0] = H[:, 1, 1] = -2.0 * weights[:, 0]
        return H, np.zeros((x.shape[1], x.shape[1]))


def test_a_detour_round_an_obstacle_touches_it(systems):
    point = systems.linear(np.kron(A, np.eye(2)), np.kron(B, np.eye(2)))
    x0 = np.array([-1.0, 0.0, 0.0, 0.0])
    cost = TrackingCost(
        np.tile([1.0, 0.0, 0.0, 0.0], (N + 1, 1)), np.diag([0.1, 0.1, 0, 0]), 0.1 * np.eye(2), terminal=100 * np.eye(4)
    )
    solver = ConstrainedTrajectory(newton=TrajectoryNewton(tolerance=1e-9))
    found = solver.solve(point, cost, [KeepClear()], np.tile(x0, (N + 1, 1)), np.zeros((N, 2)))
    assert found.status is Status.CONVERGED
    nearest = np.linalg.norm(found.trajectory.x[:, :2] - KeepClear.CENTRE, axis=1).min()
    assert 0.5 - 2e-6 < nearest < 0.51


def test_what_cannot_be_kept_is_called_infeasible(systems):
    outside = StateBounds([0.0, -np.inf], [1.0, np.inf])
    found = solve(systems, [outside], max_rounds=4)
    assert found.status is Status.INFEASIBLE
    assert found.violation >= 1.4


def test_bad_bounds_are_refused(systems):
    with pytest.raises(BadInput, match="lower below"):
        InputBounds([1.0], [0.0])
    with pytest.raises(BadInput, match="growth above 1"):
        ConstrainedTrajectory(growth=1.0)
    with pytest.raises(BadInput, match="2 variables"):
        solve(systems, [InputBounds([-1.0, -1.0], [1.0, 1.0])])
