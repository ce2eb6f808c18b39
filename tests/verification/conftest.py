"""Performances made in code: a puppet whose winches and carriages move, a cart that balances a pole, a rod that turns quietly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartInterface, PartShape, Pose
from bunraku.formats.registry import read_character
from bunraku.mechanics.character_system import character_system
from bunraku.mechanics.driven_measures import measure_driven
from bunraku.mechanics.flexible.judge import judge
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import Trajectory, VariationalIntegrator
from bunraku.mechanics.marionette import hang
from bunraku.mechanics.measures import measure_motion
from bunraku.mechanics.prediction import predicted_motion
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Certificate, Channel, Feedback, JointCurves, Mark, Performance, Provenance
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.solution import Status
from bunraku.rhythm.timing import timing_checks

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


SPHERE = (1e-5, 1e-5, 1e-5, 0.0, 0.0, 0.0)


@pytest.fixture(scope="session")
def short_rod() -> Character:
    """A steel rod of 0.3 m and 4 mm with 0.1 kg at its tip, upright on a motor; its mesh twists 8 % too stiffly."""
    return Character(
        name="short-rod",
        bodies=(Body(name="hub", mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0, 0, 0)), Body(name="tip", mass=0.1, inertia=SPHERE)),
        joints=(
            Joint(name="shoulder", kind="hinge", parent="world", child="hub", axis=(0, 1, 0), range=(-1.0, 1.0)),
            Joint(name="rod", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, 0.3))),
        ),
        motors=(
            Motor(
                name="shoulder",
                coordinate="shoulder",
                velocity=4.0,
                acceleration=150.0,
                stall_torque=3.0,
                no_load_speed=8.0,
                continuous_torque=1.0,
            ),
        ),
        materials=(ElasticMaterial(name="steel", young=2e11, poisson=0.3, density=7850.0, strain_damping=2e-4),),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="steel",
                shape=PartShape(kind="rod", length=0.3, diameter=0.004, cell=0.006),
                base="hub",
                children=(PartInterface(body="tip"),),
            ),
        ),
    )


@pytest.fixture(scope="session")
def quiet_turn(short_rod: Character) -> Performance:
    """The rod turned by 12 degrees in 0.16 s, split over half a period of its vibration so that the halves cancel."""
    t = np.arange(61) / RATE

    def turn(at: np.ndarray) -> np.ndarray:
        s = np.clip((at - 0.17) / 0.16, 0.0, 1.0)
        return np.radians(12.0) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    flexible, names = flexible_system(short_rod), tracked_places(short_rod)
    quarter = 0.25 / flexible.parts["rod"].frequency
    wish = JointCurves(("shoulder",), RATE, turn(t)[:, None])
    played = JointCurves(("shoulder",), RATE, 0.5 * (turn(t - quarter) + turn(t + quarter))[:, None])
    phrases = (Mark("turn", 0.15, 0.35, 0.25), Mark("pause", 0.38, 0.6))
    measured = measure_flexible(flexible, wish, played, judge(flexible, wish, played, names), phrases)
    common, timing = measure_motion(short_rod, wish, played), timing_checks(wish, played, ())
    checks = (*common.checks, *(replace(c, bar=None) if c.name == "lag" else c for c in timing), *measured.checks)
    return Performance(
        short_rod,
        "turn",
        (Channel("shoulder", "position", "rad", RATE, played.values[:, 0]),),
        wish,
        predicted_motion(short_rod, played, compile_tree(short_rod)),
        Certificate(Status.CONVERGED, checks, measured.notes, {**common.figures, **measured.figures}),
        Provenance("test", {}, {}, {}),
        phrases=phrases,
    )
