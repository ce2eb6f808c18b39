"""The interior point method on trajectories, against quadratic programs that another solver solves, and all its ways to end."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control import interior
from bunraku.optimization.control.constraints import InputBounds, StateBounds, TrajectoryConstraint
from bunraku.optimization.control.cost import REGULAR, TrackingCost
from bunraku.optimization.control.interior import WILD, InteriorTrajectory
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.monitor import SilentMonitor
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.optimization.solution import Status

N, DT = 40, 0.1
A, B = np.array([[1.0, DT], [0.0, 1.0]]), np.array([[0.5 * DT**2], [DT]])
Q, R, QF = np.diag([1.0, 0.1]), np.array([[0.01]]), np.diag([100.0, 100.0])
X0 = np.array([-1.5, 0.0])
COST = TrackingCost(np.zeros((N + 1, 2)), Q, R, terminal=QF)
TIGHT = InteriorTrajectory(tolerance=1e-11, barrier=(1e-2, 1e-9))
PUSH = InputBounds([-1.0], [1.0])


def program(u_max, v_max=np.inf):
    """The double integrator condensed onto its inputs, solved as a quadratic program."""
    F, free = np.zeros((N + 1, 2, N)), [X0]
    for k in range(N):
        F[k + 1] = A @ F[k]
        F[k + 1][:, k] += B[:, 0]
        free.append(A @ free[-1])
    free = np.array(free)
    P, q = R[0, 0] * np.eye(N), np.zeros(N)
    for k in range(N + 1):
        W = QF if k == N else Q
        P, q = P + F[k].T @ W @ F[k], q + F[k].T @ W @ free[k]
    rows = {"A": F[:, 1], "lower": -v_max - free[:, 1], "upper": v_max - free[:, 1]}
    solved = solve_quadratic(QuadraticProgram(P, q, **rows, x_lower=-u_max, x_upper=u_max))
    assert solved.is_optimal(1e-8)
    return solved.x


def solve(systems, constraints, solver=TIGHT, u=None, **options):
    u = np.zeros((N, 1)) if u is None else u
    return solver.solve(systems.linear(A, B), COST, constraints, np.tile(X0, (N + 1, 1)), u, **options)


def inside(found, constraints):
    """Largest g over all rows."""
    both = [constraint.values(found.x, found.u) for constraint in constraints]
    return max(max(float(g.max(initial=-np.inf)), float(last.max(initial=-np.inf))) for g, last in both)


class Stop(SilentMonitor):
    """Cancels after a number of reports."""

    def __init__(self, after):
        self.left = after

    def report(self, event):
        self.left -= 1

    @property
    def cancelled(self):
        return self.left <= 0


def test_input_bounds_give_the_optimum_of_the_quadratic_program(systems):
    found, exact = solve(systems, [PUSH]), program(1.0)
    assert found.status is Status.CONVERGED
    assert np.count_nonzero(np.abs(exact) > 1.0 - 1e-9) > 5
    np.testing.assert_allclose(found.u[:, 0], exact, atol=1e-5)
    assert found.cost == pytest.approx(COST.value(found.x, found.u), rel=1e-14)


def test_state_bounds_also_those_at_the_end(systems):
    rows = [PUSH, StateBounds([-np.inf, -0.5], [np.inf, 0.5])]
    found = solve(systems, rows)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.u[:, 0], program(1.0, 0.5), atol=1e-5)
    assert found.multipliers[1].shape == (2,)


def test_every_answer_is_strictly_inside(systems):
    """Also a loose one, and one that was stopped on the way after it had come inside."""
    rows = [PUSH, StateBounds([-np.inf, -0.5], [np.inf, 0.5])]
    for solver in (TIGHT, InteriorTrajectory(relative_tolerance=1e-2, barrier=(1e-2, 1e-3)), InteriorTrajectory(max_iterations=8)):
        found = solve(systems, rows, solver)
        assert inside(found, rows) < 0.0
        assert found.violation == 0.0


def test_the_barrier_costs_what_the_theory_says(systems):
    """A convex problem with m rows: the cost at the barrier's minimum exceeds the optimum by at most m mu."""
    exact = solve(systems, [PUSH]).cost
    gaps = [
        solve(systems, [PUSH], InteriorTrajectory(tolerance=1e-9, barrier=(1e-2, mu))).cost - exact for mu in (1e-2, 1e-3, 1e-4)
    ]
    for mu, gap in zip((1e-2, 1e-3, 1e-4), gaps, strict=True):
        assert 0.0 < gap <= 2 * N * mu
    assert gaps[1] < 0.2 * gaps[0]
    assert gaps[2] < 0.2 * gaps[1]


@pytest.mark.parametrize("push", [3.0, -4.0])
def test_a_start_outside_ends_inside_at_the_same_optimum(systems, push):
    found = solve(systems, [PUSH], u=np.full((N, 1), push))
    assert found.steps[0].violation > 0.9
    assert found.status is Status.CONVERGED
    assert inside(found, [PUSH]) < 0.0
    np.testing.assert_allclose(found.u[:, 0], program(1.0), atol=1e-5)


def test_what_cannot_be_met_is_said_to_be_infeasible(systems):
    """With |u| <= 0.05 the mass moves 0.4 m at most; it is asked to arrive 1.5 m away. Also bounds that contradict each other."""
    arrive = Arrive(-0.01)
    for rows in ([InputBounds([-0.05], [0.05]), arrive], [PUSH, InputBounds([1.5], [2.0])]):
        found = solve(systems, rows, InteriorTrajectory(max_iterations=300))
        assert found.status is Status.INFEASIBLE
        assert found.violation > 0.1
        assert found.iterations < 300


class Arrive(TrajectoryConstraint):
    """The last place is at least ``place``."""

    def __init__(self, place):
        self.place = place

    def values(self, x, u):
        return np.zeros((len(u), 0)), np.array([self.place - x[-1, 0]])

    def jacobians(self, x, u):
        return np.zeros((len(u), 0, x.shape[1] + u.shape[1])), np.array([[-1.0, 0.0]])

    def curvature(self, x, u, weights, last):
        nw = x.shape[1] + u.shape[1]
        return np.zeros((len(u), nw, nw)), np.zeros((x.shape[1], x.shape[1]))


def test_a_row_at_the_end_alone_is_met(systems):
    """Without it the mass ends within a millimetre of 0; with it at 0.05 m, no nearer than it must."""
    assert abs(solve(systems, [PUSH]).x[-1, 0]) < 1e-3
    found = solve(systems, [PUSH, Arrive(0.05)])
    assert found.status is Status.CONVERGED
    assert found.x[-1, 0] == pytest.approx(0.05, abs=1e-6)
    assert found.x[-1, 0] > 0.05


def test_cancelled_it_hands_back_a_motion(systems):
    found = solve(systems, [PUSH], monitor=Stop(4))
    assert found.status is Status.CANCELLED
    assert found.iterations == 4
    np.testing.assert_allclose(found.x[1:], found.x[:-1] @ A.T + found.u @ B.T, atol=1e-13)
    assert found.cost < found.steps[0].cost


def test_kept_every_tenth_step_and_taken_up_again(systems):
    rows = [PUSH, StateBounds([-np.inf, -0.5], [np.inf, 0.5])]
    kept = []
    whole = solve(systems, rows, keep=lambda x, u, mu: kept.append((x.copy(), u.copy(), mu)))
    assert len(kept) == whole.iterations // 10 >= 1
    x, u, mu = kept[0]
    assert mu == whole.steps[9].barrier
    assert COST.value(x, u) == pytest.approx(whole.steps[10].cost, rel=1e-14)
    again = InteriorTrajectory(tolerance=1e-11, barrier=(max(mu, 1e-9), 1e-9))
    taken_up = again.solve(systems.linear(A, B), COST, rows, x, u)
    assert taken_up.status is Status.CONVERGED
    assert taken_up.iterations < whole.iterations
    assert taken_up.cost == pytest.approx(whole.cost, rel=1e-9)
    np.testing.assert_allclose(taken_up.u, whole.u, atol=1e-6)


def swing(systems):
    """A cart that is to carry its pendulum up to 1 rad, with a force bound that matters."""
    n, dynamics = 60, systems.cart_pendulum(0.03)
    wish = np.zeros((n + 1, 4))
    wish[:, 1] = 1.0 * np.sin(np.pi * np.arange(n + 1) / n)
    cost = TrackingCost(wish, np.diag([0.1, 100.0, 0.1, 0.1]), np.array([[0.001]]))
    return dynamics, cost, np.zeros((n + 1, 4)), np.zeros((n, 1))


def test_the_answer_of_a_nonlinear_problem_is_stationary(systems):
    """DJ + G' z = 0 along every input, by costates; z > 0; z s = mu: the conditions of the barrier problem."""
    dynamics, cost, x, u = swing(systems)
    bounds = InputBounds([-40.0], [40.0])
    found = InteriorTrajectory(tolerance=1e-12, barrier=(1e-1, 1e-4), max_iterations=200).solve(dynamics, cost, [bounds], x, u)
    assert found.status is Status.CONVERGED
    A, B = dynamics.linearize(found.x, found.u)
    w, chi = cost.gradient(found.x, found.u)
    z, s = found.multipliers[0], -bounds.values(found.x, found.u)[0]
    slope = (w + np.einsum("kr,krj->kj", z, bounds.jacobians(found.x, found.u)[0]))[:, 4]
    for k in range(len(u) - 1, -1, -1):
        assert abs(slope[k] + B[k, :, 0] @ chi) < 1e-4
        chi = w[k, :4] + A[k].T @ chi
    assert (z > 0.0).all()
    np.testing.assert_allclose(z * s, 1e-4, rtol=1e-2)
    assert np.count_nonzero(s < 1e-3) > 3


def test_second_derivatives_lead_to_the_same_optimum_in_fewer_steps(systems):
    dynamics, cost, x, u = swing(systems)
    options = {"tolerance": 1e-10, "barrier": (1e-1, 1e-3), "max_iterations": 200}
    gauss, newton = (
        InteriorTrajectory(curvature=share, **options).solve(dynamics, cost, [InputBounds([-40.0], [40.0])], x, u)
        for share in (0.0, 1.0)
    )
    assert gauss.status is Status.CONVERGED
    assert newton.status is Status.CONVERGED
    assert newton.cost == pytest.approx(gauss.cost, rel=1e-8)
    assert newton.iterations <= gauss.iterations


@pytest.mark.parametrize("feedback", ["mild", "none"])
def test_steps_whose_own_gains_diverge_are_followed_with_milder_ones_or_none(systems, feedback):
    """A system that follows one feedback only, and not that of the barrier problem, is led to the same optimum."""
    dynamics, weights = systems.linear(A, B), (Q + REGULAR * np.eye(2), R + REGULAR)
    steps = [np.tile(part, (N, 1, 1)) for part in (A, B)]
    followed = time_varying_lqr(*steps, *weights, terminal=QF).K if feedback == "mild" else np.zeros((N, 1, 2))
    simulate, tried = dynamics.rollout, []

    def rollout(x0, xb, ub, K):
        tried.append(K)
        good = len(tried) == 1 or np.allclose(K, followed, atol=1e-9)
        return simulate(x0, xb, ub, K) if good else simulate(x0, xb, ub, K)._replace(failed_at=0)

    dynamics.rollout = rollout
    found = TIGHT.solve(dynamics, COST, [PUSH], np.tile(X0, (N + 1, 1)), np.zeros((N, 1)))
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.u[:, 0], program(1.0), atol=1e-5)
    kinds = {K.tobytes() for K in tried if not np.allclose(K, followed, atol=1e-9)}
    assert len(kinds) > 3  # each step was tried with its own gains


def test_a_motion_that_follows_its_own_gains_needs_no_others(systems):
    dynamics = systems.linear(A, B)
    simulate, tried = dynamics.rollout, []
    dynamics.rollout = lambda x0, xb, ub, K: (tried.append(K), simulate(x0, xb, ub, K))[1]
    found = TIGHT.solve(dynamics, COST, [PUSH], np.tile(X0, (N + 1, 1)), np.zeros((N, 1)))
    assert found.status is Status.CONVERGED
    assert all(np.abs(K).max() > 0.0 for K in tried[1:])


def test_stopped_outside_it_comes_back_from_where_it_stands(systems):
    """Iterates are outside, though never wildly, until the limit is reached; what is handed back is inside, far below the start."""
    dynamics, cost, x, u = swing(systems)
    rows = [InputBounds([-40.0], [40.0]), Slow()]
    best = InteriorTrajectory(max_iterations=300, barrier=(1e-1, 1e-4)).solve(dynamics, cost, rows, x, u).cost
    for limit in (2, 3, 5):
        found = InteriorTrajectory(max_iterations=limit, barrier=(1e-1, 1e-4)).solve(dynamics, cost, rows, x, u)
        assert found.status is Status.MAX_ITERATIONS
        assert found.steps[-1].violation > 0.05
        assert max(step.violation for step in found.steps) <= WILD  # a full first step would go to 15
        assert inside(found, rows) < 0.0
        assert best < found.cost < best + 0.3 * (found.steps[0].cost - best)
        assert found.cost == pytest.approx(cost.value(found.x, found.u), rel=1e-12)
        np.testing.assert_allclose(dynamics.simulate(found.x[0], found.u).x, found.x, atol=1e-6)


def test_stalled_outside_and_brought_back_it_has_not_settled(systems, monkeypatch):
    """What is handed back is not where no step improved, so it is no more than the best so far."""
    dynamics, cost, x, u = swing(systems)
    limits = [InputBounds([-40.0], [40.0]), Slow()]
    advance, calls = interior._Run.advance, []

    def stalling(run, *state):
        calls.append(run.cost is cost)
        return None if calls[-1] and sum(calls) > 3 else advance(run, *state)

    monkeypatch.setattr(interior._Run, "advance", stalling)
    found = InteriorTrajectory(barrier=(1e-1, 1e-4)).solve(dynamics, cost, limits, x, u)
    assert found.steps[-1].violation > 0.05
    assert inside(found, limits) < 0.0
    assert found.status is Status.MAX_ITERATIONS


class Slow(TrajectoryConstraint):
    """The cart is no faster than 1 m/s."""

    def values(self, x, u):
        return x[:-1, 2:3] ** 2 - 1.0, np.zeros(0)

    def jacobians(self, x, u):
        G = np.zeros((len(u), 1, x.shape[1] + u.shape[1]))
        G[:, 0, 2] = 2.0 * x[:-1, 2]
        return G, np.zeros((0, x.shape[1]))

    def curvature(self, x, u, weights, last):
        nw = x.shape[1] + u.shape[1]
        return np.zeros((len(u), nw, nw)), np.zeros((x.shape[1], x.shape[1]))


def test_options_and_guesses_that_make_no_sense_are_refused(systems):
    with pytest.raises(BadInput, match="barrier must fall"):
        InteriorTrajectory(barrier=(1e-4, 1e-3))
    with pytest.raises(BadInput, match="not finite"):
        solve(systems, [PUSH], u=np.full((N, 1), np.nan))
    with pytest.raises(BadInput, match="cannot be followed"):
        TIGHT.solve(systems.linear(50.0 * A, B), COST, [PUSH], np.tile(X0, (N + 1, 1)), np.zeros((N, 1)))
