"""The marionette with twelve servos: more inputs, a better imitation, and no servo beyond its torque-speed line."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.motion import Clip, JointCurves
from bunraku.performers.marionette.limits import MotorLines
from bunraku.performers.marionette.problem import state_puppet_problem
from bunraku.performers.performer import make_performer

PLAIN, SERVOS = read_character("marionette"), read_character("marionette", overlay="marionette-motors")


def swing() -> JointCurves:
    """Both elbows and a hip swing out within half a second, faster than strings alone lead them."""
    s = np.linspace(0.0, 1.0, 41)
    bump = np.sin(np.pi * s) ** 2
    return JointCurves(("l_elbow", "r_elbow", "l_hip.y"), 100.0, np.column_stack([-1.0 * bump, -0.6 * bump, -0.5 * bump]))


def test_the_overlay_adds_twelve_inputs_and_nothing_else() -> None:
    system = state_puppet_problem(SERVOS, swing(), blend=0.0).system
    assert system.nu == 12
    assert (system.nd, system.nk) == (22, 18)
    assert SERVOS.bodies == PLAIN.bodies
    assert SERVOS.strings == PLAIN.strings
    assert all(motor.available_torque(0.0) == 0.18 and motor.available_torque(10.5) == 0.0 for motor in SERVOS.motors)


def test_rows_are_the_torque_speed_line_and_their_derivatives_are_exact() -> None:
    problem = state_puppet_problem(SERVOS, swing(), blend=0.0)
    lines = MotorLines(SERVOS, problem.dynamics)
    x, u = problem.still
    rng = np.random.default_rng(0)
    u = u[:6] + np.hstack([0.05 * rng.standard_normal((6, 12)), 1e-5 * rng.standard_normal((6, 18))])
    rolled = problem.dynamics.rollout(x[0], x[:7], u, np.zeros((6, problem.dynamics.nu, problem.dynamics.nx)))
    assert rolled.good
    g = lines.values(rolled.x, rolled.u)[0].reshape(6, 12, 4).max(axis=2)
    q = rolled.x[:, [problem.system.index(motor.coordinate) for motor in SERVOS.motors]]
    share = np.abs(rolled.u[:, :12]) / 0.18 + np.abs(np.diff(q, axis=0)) * 100.0 / 10.5
    np.testing.assert_allclose(g, share - 1.0, atol=1e-12)

    weights = rng.standard_normal((1, 48))
    n = problem.dynamics.nx

    def value(w: np.ndarray) -> float:
        one = problem.dynamics.rollout(w[:n], w[None, :n].repeat(2, axis=0), w[None, n:], np.zeros((1, problem.dynamics.nu, n)))
        return float((weights * lines.values(one.x, one.u)[0]).sum())

    G = lines.jacobians(rolled.x[2:4], rolled.u[2:3])[0]
    H = lines.curvature(rolled.x[2:4], rolled.u[2:3], weights, np.zeros(0))[0][0]
    at = np.concatenate([rolled.x[2], rolled.u[2]])
    direction = rng.standard_normal(len(at)) * 1e-3
    direction[problem.system.kinematic] = direction[n + 12 :] = 0.0
    slope, bend = float((weights @ G[0] @ direction)[0]), float(direction @ H @ direction)
    errors = []
    for h in (1.0, 0.5, 0.25):
        ahead, back = value(at + h * direction), value(at - h * direction)
        errors.append((abs((ahead - back) / (2 * h) - slope), abs((ahead + back - 2 * value(at)) / h**2 - bend)))
    assert errors[-1][0] < 1e-6 * abs(slope)
    assert errors[-1][1] < 1e-3 * abs(bend)


def test_servos_lower_the_cost_and_stay_within_their_lines() -> None:
    options = {"blend": 0.0, "max_iterations": 40}
    plain, servos = (make_performer("marionette", options).perform(who, Clip("swing", joints=swing())) for who in (PLAIN, SERVOS))
    assert servos.certificate.figures["final cost"] < 0.95 * plain.certificate.figures["final cost"]
    assert servos.certificate.check("imitation error").value < plain.certificate.check("imitation error").value
    assert servos.certificate.check("motor torque excess").value == 0.0
    assert servos.certificate.check("least tension").holds
    torques = {channel.name: channel.values for channel in servos.channels if channel.kind == "torque"}
    assert len(torques) == 12
    motion = servos.motion
    assert motion is not None
    used = 0.0
    for motor in SERVOS.motors:
        speed = np.diff(motion.values[:, motion.names.index(motor.coordinate)]) * motion.rate
        line = np.array([motor.available_torque(float(v)) for v in speed])
        assert (np.abs(torques[motor.coordinate][:-1]) <= line).all()
        used = max(used, float((np.abs(torques[motor.coordinate][:-1]) / 0.18).max()))
    assert used > 0.3


def test_a_wrong_overlay_name_is_refused() -> None:
    with pytest.raises(Exception, match="no-such-motors"):
        read_character("marionette", overlay="no-such-motors")
