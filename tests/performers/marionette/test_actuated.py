"""Characters with fewer motors than coordinates: optimal where the answer is known, standing where only physics can tell."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.motion.curves import JointCurves
from bunraku.optimization.monitor import SilentMonitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.actuated import actuated_system, solve_actuated, state_problem


@pytest.fixture(scope="module")
def cart():
    return read_character("cart-pendulum")


@pytest.fixture(scope="module")
def stood(cart):
    return solve_actuated(cart, read_clip("stand-up").need_joints("the test"))


def slider(stall: float | None = None) -> Character:
    """A mass of 2 kg on a level rail."""
    joint = Joint(name="x", kind="slide", parent="world", child="mass", axis=(1.0, 0.0, 0.0))
    motor = Motor(name="push", coordinate="x", stall_torque=stall)
    return Character(name="slider", bodies=(Body(name="mass", mass=2.0),), joints=(joint,), motors=(motor,))


def ramp(metres: float) -> JointCurves:
    return JointCurves(("x",), 50.0, metres * np.clip(np.linspace(-0.2, 1.2, 51), 0.0, 1.0)[:, None])


def test_on_a_linear_system_the_answer_is_the_least_squares_solution():
    """The motion from rest is linear in the pushes: the normal equations over all of them at once give the same pushes."""
    found = solve_actuated(slider(), ramp(0.3))
    problem, dynamics = found.problem, VariationalDynamics(found.integrator)
    N = len(found.u)
    response = np.array([dynamics.simulate(problem.wish[0], row[:, None]).x.ravel() for row in np.eye(N)]) - np.tile(
        problem.wish[0], N + 1
    )
    weights = np.concatenate([np.tile(np.diag(problem.Q), N), np.diag(problem.terminal)])
    wanted = (problem.wish - problem.wish[0]).ravel()
    u = np.linalg.solve(response * weights @ response.T + problem.R[0, 0] * np.eye(N), response * weights @ wanted)
    assert found.status is Status.CONVERGED
    assert found.iterations == 1
    np.testing.assert_allclose(found.u[:, 0], u, atol=1e-7 * np.abs(u).max())


def test_a_weak_motor_gives_all_it_has_and_no_more():
    free, weak = solve_actuated(slider(), ramp(0.3)), solve_actuated(slider(1.0), ramp(0.3), effort_weight=1e-3)
    assert np.abs(free.u).max() > 1.0
    assert weak.status is Status.CONVERGED
    assert 0.99 < np.abs(weak.u).max() <= 1.0
    assert weak.violation == 0.0


def test_a_motor_is_kept_within_its_torque_speed_line():
    """|u| / stall + |v| / no-load speed <= 1 over every step, met where it binds; by stall torque alone it would be exceeded."""
    plain, wish = slider(20.0), ramp(0.3)
    lined = plain.changed(motors=(plain.motors[0].changed(no_load_speed=0.5),))
    shares = []
    for who in (plain, lined):
        found = solve_actuated(who, wish, effort_weight=1e-3)
        assert found.status is Status.CONVERGED
        assert found.violation == 0.0
        v = np.diff(found.positions.values[:, 0]) / found.integrator.dt
        shares.append((np.abs(found.u[:, 0]) / 20.0 + np.abs(v) / 0.5).max())
    assert shares[0] > 1.02
    assert 0.99 < shares[1] <= 1.0


def test_the_price_of_a_motion_does_not_depend_on_the_rate():
    costs = [solve_actuated(slider(), ramp(0.3), rate=rate).cost_final for rate in (100.0, 200.0, 400.0)]
    assert abs(costs[2] - costs[1]) < 0.6 * abs(costs[1] - costs[0])
    assert costs[2] == pytest.approx(costs[1], rel=0.02)


def test_the_pendulum_stands_and_hangs_again_within_all_limits(stood, cart):
    theta, place = stood.positions.column("theta"), stood.positions.column("x")
    off = np.abs(np.degrees(theta - np.pi))
    assert stood.status is Status.CONVERGED
    assert off[350:551].max() < 3.0  # two seconds
    v = np.diff(stood.positions.values[-2:], axis=0)[0] / 0.01
    assert abs(np.degrees(theta[-1])) < 3.0
    assert np.abs(v).max() < 0.1
    assert np.abs(stood.u).max() <= cart.motors[0].stall_torque
    assert np.abs(place).max() <= 0.8
    assert stood.violation == 0.0
    assert stood.cost_final < 0.05 * stood.cost_initial


def test_the_motion_is_one_of_the_character(stood):
    """The inputs alone, step by step from each state, lead to the next state."""
    integrator, nq = stood.integrator, stood.system.nq
    for k in range(0, len(stood.u), 37):
        step = integrator.step(stood.x[k, :nq], stood.x[k, nq:], stood.u[k])
        np.testing.assert_allclose(np.append(step.q2, step.p2), stood.x[k + 1], atol=1e-9)


def test_no_disturbance_of_the_pushes_pays(cart):
    """A local optimum, of a motor strong enough never to meet its limit: with the feedback as a helper every bump costs."""
    strong = cart.changed(motors=(cart.motors[0].changed(stall_torque=100.0),))
    found = solve_actuated(strong, read_clip("stand-up").need_joints("the test"), effort_weight=10.0)
    assert np.abs(found.u).max() < 99.0
    dynamics, cost = VariationalDynamics(found.integrator), found.problem.cost
    rng, t = np.random.default_rng(3), np.linspace(0.0, 1.0, len(found.u))
    for _ in range(10):
        bump = rng.normal() * np.exp(-(((t - rng.uniform()) / 0.02) ** 2))
        run = dynamics.rollout(found.x[0], found.x, found.u + bump[:, None], found.K)
        assert cost.value(run.x, run.u) > found.cost_final


def test_feedback_brings_a_disturbed_performance_back(stood):
    dynamics = VariationalDynamics(stood.integrator)
    start = stood.x[0] + np.array([0.02, 0.1, 0.05, 0.01])
    closed = dynamics.rollout(start, stood.x, stood.u, stood.K).x[-1] - stood.x[-1]
    opened = dynamics.rollout(start, stood.x, stood.u, 0.0 * stood.K).x[-1] - stood.x[-1]
    assert np.abs(closed[:2]).max() < 0.01
    assert np.abs(opened[1]) > 1.0


def test_foreign_physics_stands_it_up_with_the_same_pushes_and_feedback(stood, cart):
    """MuJoCo at 1 ms; momenta of the discrete step are M v plus half a step of the gravity's impulse."""
    mujoco = pytest.importorskip("mujoco")
    text = export_mjcf(cart)[0]
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = 0.001
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    at = [model.joint(name).qposadr[0] for name in ("x", "theta")]
    worst = 0.0
    for k, (u, K) in enumerate(zip(stood.u, stood.K, strict=True)):
        q, v = data.qpos[at], data.qvel[at]
        L = stood.system.lagrangian_derivatives(q, v)
        x = np.concatenate([q, L.vv @ v + 0.005 * L.q])
        data.qfrc_applied[at[0]] = (u - K @ (x - stood.x[k]))[0]
        for _ in range(10):
            mujoco.mj_step(model, data)
        worst = max(worst, abs(data.qpos[at[1]] - stood.x[k + 1, 1]))
    assert np.degrees(worst) < 5.0
    assert abs(np.degrees(data.qpos[at[1]])) < 3.0


def test_the_same_options_stand_up_a_double_pendulum():
    """The wish of the cart's pendulum, for the upper link, with the passive elbow straight."""
    theta = read_clip("stand-up").need_joints("the test").column("theta")
    wish = JointCurves(("shoulder", "elbow"), 100.0, np.stack([theta, 0.0 * theta], axis=1))
    found = solve_actuated(read_character("double-pendulum"), wish)
    q = np.degrees(found.positions.values)
    assert found.status is Status.CONVERGED
    assert np.abs(q[350:551] - [180.0, 0.0]).max() < 3.0
    assert np.abs(q[-1]).max() < 3.0
    assert np.abs(found.u).max() <= 4.0


def test_coordinates_without_a_wish_are_asked_to_stay_home(cart):
    problem = state_problem(cart, read_clip("stand-up").need_joints("the test"), rest_weight=0.5)
    np.testing.assert_array_equal(problem.wish[:, 0], 0.0)
    assert problem.Q[0, 0] == pytest.approx(0.5 * problem.Q[1, 1])
    assert problem.wish[:, 1].max() == pytest.approx(np.pi, abs=1e-3)


def test_cancelling_keeps_the_best_so_far(cart):
    class Stop(SilentMonitor):
        @property
        def cancelled(self) -> bool:
            return True

    found = solve_actuated(cart, read_clip("stand-up").need_joints("the test"), monitor=Stop())
    assert found.status is Status.CANCELLED
    assert np.isfinite(found.x).all()


def test_what_it_is_not_for():
    wish = ramp(0.1)
    with pytest.raises(BadInput, match="strings"):
        actuated_system(read_character("puppet-arm"))
    with pytest.raises(BadInput, match="nothing can move it"):
        solve_actuated(slider().changed(motors=()), wish)
    with pytest.raises(BadInput, match="'y'"):
        solve_actuated(slider(), JointCurves(("y",), 50.0, wish.values))
    with pytest.raises(BadInput, match="three samples"):
        solve_actuated(slider(), JointCurves(("x",), 100.0, np.zeros((1, 1))))
