import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import JointCurves
from bunraku.optimization.control.cost import TrackingCost
from bunraku.optimization.control.dynamics import DiscreteDynamics, Rollout
from bunraku.optimization.control.switching import optimize_switching
from bunraku.performers.choreography.cost import PuppetCost, PuppetWeights
from bunraku.performers.choreography.feedforward import HangingPuppet
from bunraku.performers.choreography.laws import Law, smooth_step
from bunraku.performers.choreography.switching import LawSwitching

OMEGA, DT = 2.0 * np.pi, 0.01


class Pendulum(DiscreteDynamics):
    """A small pendulum under a pivot at u, held over each step: the exact map of z'' = -omega^2 (z - u)."""

    def __init__(self):
        super().__init__(2, 1)
        c, s = np.cos(OMEGA * DT), np.sin(OMEGA * DT)
        self.A = np.array([[c, s / OMEGA], [-OMEGA * s, c]])
        self.B = np.array([[1.0 - c], [OMEGA * s]])

    def rollout(self, x0, xb, ub, K):
        x, u = np.empty((len(ub) + 1, 2)), np.empty((len(ub), 1))
        x[0] = x0
        for k in range(len(ub)):
            u[k] = ub[k] - K[k] @ (x[k] - xb[k])
            x[k + 1] = self.A @ x[k] + self.B @ u[k]
        return Rollout(x, u)

    def linearize(self, x, u):
        return np.tile(self.A, (len(u), 1, 1)), np.tile(self.B, (len(u), 1, 1))

    def curvature(self, x, u, costates):
        return np.zeros((len(u), 3, 3))


def held(pivot, gain=(0.0, 0.0)):
    """The law that keeps the pivot at one place, whatever the pendulum does unless it has a gain."""
    K = np.array([gain])
    x = np.array([pivot, 0.0])
    return Law(DT, np.tile(x, (11, 1)), np.full((10, 1), pivot), np.tile(K, (10, 1, 1)), rest_x=x, rest_u=[pivot], rest_K=K)


def energy_at_the_end(steps, target=1.0):
    wish = np.tile([target, 0.0], (steps + 1, 1))
    return TrackingCost(wish, np.zeros((2, 2)), np.zeros((1, 1)), terminal=np.diag([OMEGA**2, 1.0]))


def test_two_half_steps_half_a_period_apart_leave_the_pendulum_at_rest():
    """Moving the pivot half way at tau_1 and all the way at tau_2 = tau_1 + pi / omega leaves no swing (input shaping)."""
    steps = 200
    problem = LawSwitching(
        Pendulum(), [held(0.0), held(0.5), held(1.0)], energy_at_the_end(steps), [0, 0], dt=DT, steps=steps, fade=0.2
    )
    found = optimize_switching(problem, [0.3, 0.9], tolerance=1e-14)
    assert found.times[1] - found.times[0] == pytest.approx(np.pi / OMEGA, abs=2e-6)
    assert found.cost < 1e-9
    assert problem.value(np.array([0.3, 0.9])) > 0.05


def test_one_switch_of_a_pendulum_has_the_closed_form():
    """With one switch U_k = S((t_k - tau)/b): x_N is the sum of exact responses, J its energy about 1, dJ/dtau its derivative."""
    steps, fade, tau = 150, 0.3, np.array([0.41])
    start = [0.3, 0.5]
    problem = LawSwitching(Pendulum(), [held(0.0), held(1.0)], energy_at_the_end(steps), start, dt=DT, steps=steps, fade=fade)
    S, dS, ddS = smooth_step((DT * np.arange(steps) - tau[0]) / fade)
    left = OMEGA * (steps * DT - DT * np.arange(1, steps + 1))
    # the pivot at 1 for one step of dt, left to swing for the rest: 1 - cos turned by the phase
    z = np.cos(left) - np.cos(left + OMEGA * DT)
    v = OMEGA * (np.sin(left + OMEGA * DT) - np.sin(left))
    x, dx, ddx = (np.array([z @ w, v @ w]) for w in (S, -dS / fade, ddS / fade**2))
    turn = OMEGA * steps * DT
    x += [0.3 * np.cos(turn) + 0.5 / OMEGA * np.sin(turn), 0.5 * np.cos(turn) - 0.3 * OMEGA * np.sin(turn)]
    e, M = x - [1.0, 0.0], np.diag([OMEGA**2, 1.0])
    at = problem.derivatives(tau)
    assert at.cost == pytest.approx(0.5 * e @ M @ e, rel=1e-12)
    assert at.gradient[0] == pytest.approx(e @ M @ dx, rel=1e-10)
    assert at.hessian[0, 0] == pytest.approx(dx @ M @ dx + e @ M @ ddx, rel=1e-10)


def test_gradient_and_hessian_with_feedback_match_differences():
    steps = 160
    laws = [held(0.0, (0.1, 0.02)), held(0.7, (-0.05, 0.03)), held(0.2, (0.2, 0.0)), held(1.0, (0.0, 0.01))]
    cost = TrackingCost(np.tile([1.0, 0.0], (steps + 1, 1)), np.diag([1.0, 0.2]), np.array([[0.3]]))
    problem = LawSwitching(Pendulum(), laws, cost, [0.1, -0.2], dt=DT, steps=steps, fade=0.3)
    check_differences(problem, np.array([0.31, 0.52, 0.97]), 1e-3)


def check_differences(problem, tau, h):
    """Fourth-order central differences of value and gradient."""
    at = problem.derivatives(tau)
    slope, bend = np.zeros(len(tau)), np.zeros((len(tau), len(tau)))
    for j in range(len(tau)):
        for i, c in ((1, 2 / 3), (-1, -2 / 3), (2, -1 / 12), (-2, 1 / 12)):
            moved = tau.copy()
            moved[j] += i * h
            there = problem.derivatives(moved)
            slope[j] += c * there.cost / h
            bend[j] += c * there.gradient / h
    assert np.abs(slope - at.gradient).max() <= 1e-6 * np.abs(at.gradient).max()
    assert np.abs(bend - at.hessian).max() <= 1e-6 * np.abs(at.hessian).max()
    assert np.abs(at.gradient).max() > 1e-6


@pytest.fixture(scope="module")
def puppet():
    return HangingPuppet(read_character("marionette"))


def shortened(name, end):
    curves = read_clip(name).joints
    return JointCurves(curves.names, curves.rate, curves.values[: int(end * curves.rate) + 1])


@pytest.fixture(scope="module")
def laws(puppet):
    return [puppet.follow(shortened(name, 0.4)).law for name in ("puppet-walk", "puppet-bow", "puppet-wave")]


def short_show(puppet, laws, slack_below):
    steps = 90
    rng = np.random.default_rng(3)
    wish = np.tile(puppet.x_rest, (steps + 1, 1))
    wish[:, puppet.system.dynamic] += 0.3 * rng.standard_normal(puppet.system.nd)
    weight = np.zeros_like(wish)
    weight[:, puppet.system.dynamic] = np.exp(-(((np.arange(steps + 1) - 60) / 15.0) ** 2))[:, None]
    cost = PuppetCost(puppet.dynamics, wish, weight, PuppetWeights(acceleration=1e-3, slack=3.0, slack_below=slack_below))
    return cost, LawSwitching(puppet.dynamics, laws, cost, puppet.x_rest, dt=0.01, steps=steps, fade=0.25)


def test_gradient_and_hessian_of_the_marionette_match_differences(puppet, laws):
    """With slack_below above what the hands carry at rest the hinge on the strings is at work everywhere."""
    cost, problem = short_show(puppet, laws, 2.0)
    tau = np.array([0.273, 0.548])
    rolled = problem.rollout(tau)
    assert min(cost.parts(rolled.x, rolled.u)) > 1e-5
    check_differences(problem, tau, 1e-4)


def test_carriage_velocities_change_by_the_acceleration_of_the_laws_however_early_the_switch(puppet, laws):
    """A switch in mid motion, faded over a quarter of a second: no carriage velocity jumps, the strings stay taut."""
    cost, problem = short_show(puppet, laws, 0.4)
    rolled = problem.rollout([0.2, 0.45])
    v = rolled.x[:, -puppet.system.nk :]
    k = rolled.x[:, puppet.system.kinematic]
    np.testing.assert_allclose(np.diff(k, axis=0) / 0.01, v[1:], atol=1e-12)
    np.testing.assert_allclose(np.diff(v, axis=0) / 0.01, cost.accelerations(rolled.x, rolled.u), atol=1e-8)
    assert np.abs(np.diff(v, axis=0)).max() <= 10.0 * 0.01
    assert cost.tensions(rolled.x, rolled.u).min() >= 0.1


def test_a_law_keeps_the_puppet_on_its_reference_and_brings_it_back(puppet):
    """At its samples a law passes through its reference; pushed by 2 cm of a carriage's place it comes back to rest."""
    followed = puppet.follow(shortened("puppet-bow", 0.5))
    at = followed.law(puppet.dt * np.arange(len(followed.u)))
    np.testing.assert_allclose(at(followed.x[:-1]), followed.u, atol=1e-9)
    late = followed.law(np.full(3, 1e3))
    np.testing.assert_allclose(late(np.tile(puppet.x_rest, (3, 1))), np.tile(puppet.u_rest, (3, 1)), atol=1e-9)
    K, _ = puppet.gains
    A, B = puppet.dynamics.linearize(np.tile(puppet.x_rest, (2, 1)), puppet.u_rest[None])
    moved = np.abs(np.linalg.eigvals(A[0] - B[0] @ K))
    assert moved.max() < 1.0


def test_smooth_step_is_what_its_formula_says():
    z = np.linspace(-0.2, 1.2, 141)
    S, dS, ddS = smooth_step(z)
    np.testing.assert_allclose(S + smooth_step(1.0 - z)[0], 1.0, atol=1e-13)
    inside = (z >= 0) & (z <= 1)
    np.testing.assert_allclose(dS, np.where(inside, 140.0 * (z * (1 - z)) ** 3, 0.0), atol=1e-11)
    np.testing.assert_allclose(ddS, np.where(inside, 420.0 * (z * (1 - z)) ** 2 * (1 - 2 * z), 0.0), atol=1e-10)


def test_bad_times_are_refused():
    problem = LawSwitching(Pendulum(), [held(0.0), held(1.0)], energy_at_the_end(100), [0, 0], dt=DT, steps=100, fade=0.2)
    for bad in ([0.3, 0.6], [np.nan], [1.5], [-0.1]):
        with pytest.raises(BadInput, match="switching times"):
            problem.value(np.array(bad))
