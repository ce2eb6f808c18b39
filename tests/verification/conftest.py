"""Performances that physics carries out, made in code: a puppet whose winches and carriages move, a cart that balances a pole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.formats.registry import read_character
from bunraku.mechanics.character_system import character_system
from bunraku.mechanics.driven_measures import measure_driven
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import Trajectory, VariationalIntegrator
from bunraku.mechanics.marionette import hang
from bunraku.motion import Certificate, Channel, Feedback, JointCurves, Performance, Provenance
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.solution import Status

RATE = 100.0


def performed(
    character: Character, trajectory: Trajectory, gains: np.ndarray | None, wish: JointCurves | None = None
) -> Performance:
    """The performance of a simulated motion, certified by the common measures."""
    system = character_system(character, torques=bool(character.motors))
    names = character.coordinates + character.prescribed
    column = {name: trajectory.q[:, i] for i, name in enumerate(system.names)}
    motion = JointCurves(names, RATE, np.column_stack([column[name] for name in names]))
    wanted = wish or JointCurves(character.coordinates, RATE, motion.values[:, : len(character.coordinates)])
    held = np.vstack([trajectory.u, trajectory.u[-1:]])
    torques = {motor.coordinate: held[:, i] for i, motor in enumerate(character.motors)}
    kinds = {string.coordinate: "length" for string in character.strings}
    channels = [Channel(name, "torque", "N", RATE, values) for name, values in torques.items()]
    channels += [Channel(name, kinds.get(name, "position"), "m", RATE, column[name]) for name in character.prescribed]
    measured = measure_driven(character, wanted, motion, torques, system=system)
    feedback = None
    if gains is not None:
        momenta = tuple(system.names[i] for i in system.dynamic)
        inputs = (*torques, *character.prescribed)
        feedback = Feedback(RATE, system.names, momenta, inputs, trajectory.state, trajectory.inputs, gains)
    return Performance(
        character,
        "moved",
        tuple(channels),
        wanted,
        motion,
        Certificate(Status.CONVERGED, measured.checks, (), measured.figures),
        Provenance("test", {}, {}, {}),
        feedback=feedback,
    )


def bump(t: np.ndarray, start: float, end: float) -> np.ndarray:
    return np.where((t > start) & (t < end), np.sin(np.pi * (t - start) / (end - start)) ** 4, 0.0)


@pytest.fixture(scope="session")
def wave() -> Performance:
    """The marionette raises a hand and a knee and shifts a carriage within 3 s; feedback by a regulator that spares the winches."""
    puppet = read_character("marionette")
    at = hang(puppet).require()
    system, N, dt = at.system, 300, 1.0 / RATE
    t = np.arange(N + 1) * dt
    k = np.tile(at.q[system.kinematic], (N + 1, 1))
    k[:, puppet.prescribed.index("l_hand_string.length")] -= 0.08 * bump(t, 0.2, 2.2)
    k[:, puppet.prescribed.index("r_knee_string.length")] -= 0.04 * bump(t, 0.8, 2.8)
    k[:, puppet.prescribed.index("r_hand_carriage.x")] += 0.05 * bump(t, 0.5, 2.5)
    integrator = VariationalIntegrator(system, dt)
    start = integrator.initial(at.q, at.q)
    made = integrator.rollout(start.q, start.p, np.zeros((N, 0)), k[1:])
    A, B = VariationalDynamics(integrator).linearize(made.state, made.inputs)
    r = np.array([100.0 if name.endswith(".length") else 1.0 for name in puppet.prescribed]) / dt**2
    Q, S = np.ones(system.nq + system.nd), np.zeros((system.nq + system.nd, system.nk))
    Q[system.kinematic] = r
    S[system.kinematic, np.arange(system.nk)] = -r
    return performed(puppet, made, time_varying_lqr(A, B, np.diag(Q), np.diag(10.0 + r), S=S).K)


def cart(stall: float = 40.0) -> Character:
    """A cart of 1 kg pulled along x, with a pole: 0.3 kg at 0.5 m; theta = 0 hangs."""
    return Character(
        name="cart",
        bodies=(
            Body(name="cart", mass=1.0, inertia=(1e-3, 1e-3, 1e-3, 0, 0, 0)),
            Body(name="pole", mass=0.3, center_of_mass=(0, 0, -0.5), inertia=(1e-3, 1e-3, 1e-4, 0, 0, 0)),
        ),
        joints=(
            Joint(name="x", kind="slide", parent="world", child="cart", axis=(1, 0, 0)),
            Joint(name="theta", kind="hinge", parent="cart", child="pole", axis=(0, 1, 0), damping=0.01),
        ),
        motors=(Motor(name="belt", coordinate="x", stall_torque=stall),),
    )


@pytest.fixture(scope="session")
def balance() -> Callable[[float], Performance]:
    """The cart holds its pole upright for 3 s while the belt pulls it to and fro; the argument is the belt's largest force [N]."""

    def make(stall: float = 40.0) -> Performance:
        character = cart(stall)
        system, N, dt = character_system(character, torques=True), 300, 1.0 / RATE
        integrator = VariationalIntegrator(system, dt)
        dynamics = VariationalDynamics(integrator)
        upright = np.array([0.0, np.pi])
        rest = integrator.initial(upright, upright)
        x0 = np.concatenate([rest.q, rest.p])
        A, B = dynamics.linearize(np.tile(x0, (N + 1, 1)), np.zeros((N, 1)))
        Q, R = np.diag([10.0, 100.0, 1.0, 1.0]), np.eye(1) * 0.1
        K = time_varying_lqr(A, B, Q, R).K
        goal = np.tile(x0, (N + 1, 1))
        goal[:, 0] += 0.2 * bump(np.arange(N + 1) * dt, 0.2, 2.2)
        found = dynamics.rollout(x0, goal, np.zeros((N, 1)), K)
        made = integrator.rollout(x0[:2], x0[2:], found.u, np.zeros((N, 0)))
        A, B = dynamics.linearize(made.state, made.inputs)
        return performed(character, made, time_varying_lqr(A, B, Q, R).K)

    return make
