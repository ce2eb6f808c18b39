"""Performances made in code: a puppet whose winches and carriages move, a cart that balances a pole, a rod that turns quietly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bunraku.character import (
    Body,
    Character,
    ElasticMaterial,
    EndEffector,
    FlexiblePart,
    Joint,
    Motor,
    PartInterface,
    PartShape,
    Pose,
    Shape,
)
from bunraku.formats.registry import read_character
from bunraku.mechanics.flexible.judge import judge
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.places import tracked_places
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.results import Trajectory
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.measures.driven_motion import measure_driven
from bunraku.mechanics.measures.motion import measure_motion
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.servos.commands import commands_of
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import hang
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
    checks = (*common.checks, *(replace(c, threshold=None) if c.name == "lag" else c for c in timing), *measured.checks)
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


RADIUS = 0.03


@pytest.fixture(scope="session")
def make_car() -> Callable[..., Character]:
    """A box of 1 kg on four wheels of 20 g and radius 3 cm, at the corners of 0.2 m by 0.16 m; its origin 5 cm above the ground."""

    def build(kind: str = "active", drag: float = 0.0, **motor: float) -> Character:
        spin, across = 0.02 * RADIUS**2 / 2.0, 0.02 * RADIUS**2 / 4.0
        bodies = [
            Body(
                name="body", mass=1.0, inertia=(0.004, 0.006, 0.008, 0, 0, 0), shapes=(Shape(kind="box", size=(0.12, 0.06, 0.015)),)
            )
        ]
        joints = [Joint(name="base", kind="free", parent="world", child="body")]
        drawn = Shape(kind="cylinder", size=(RADIUS, 0.006), pose=Pose(quaternion=(0.5**0.5, 0.5**0.5, 0.0, 0.0)))
        tips, motors = [], []
        for i, (x, y) in enumerate(((0.1, 0.08), (0.1, -0.08), (-0.1, 0.08), (-0.1, -0.08))):
            name, axle, turns = f"wheel{i}", f"axle{i}", kind in ("active", "passive")
            bodies.append(Body(name=name, mass=0.02, inertia=(across, spin, across, 0, 0, 0), shapes=(drawn,)))
            place = {"parent": "body", "child": name, "pose": Pose(position=(x, y, -0.02))}
            if turns:
                joints.append(Joint(name=axle, kind="hinge", axis=(0.0, 1.0, 0.0), damping=drag * RADIUS**2, **place))
            else:
                joints.append(Joint(name=axle, kind="fixed", **place))
            tips.append(EndEffector(name=f"tip{i}", kind=kind, body=name, radius=RADIUS, rolling_resistance=drag))
            if kind == "active":
                line = {"stall_torque": 1.5, "no_load_speed": 60.0, "velocity": 50.0} | motor
                motors.append(Motor(name=f"motor{i}", coordinate=axle, **line))
        return Character(
            name="car",
            bodies=tuple(bodies),
            joints=tuple(joints),
            motors=tuple(motors),
            end_effectors=tuple(tips),
            home={"base.tz": 0.05},
        )

    return build


@pytest.fixture(scope="session")
def make_going() -> Callable[..., Performance]:
    """A performance over the ground from a motion (n, nq), torques by coordinate, and speeds of wheels in place of the motion's.

    Where torques are given joints are sent the commands that give them, else the plan.
    """

    def build(
        character: Character,
        motion: np.ndarray,
        rate: float,
        torques: dict[str, np.ndarray] | None = None,
        speeds: dict[str, np.ndarray] | None = None,
        figures: dict[str, float] | None = None,
    ) -> Performance:
        names = character.coordinates
        wheels = {
            joint.name for joint in character.joints for tip in character.end_effectors if tip.spins and joint.child == tip.body
        }
        channels, placed = [], []
        sent = None
        if torques:
            given = np.column_stack([torques.get(name, np.zeros(len(motion))) for name in character.driven])
            sent = commands_of(character, JointCurves(names, rate, motion), given)
        for k, name in enumerate(character.driven):
            curve = motion[:, names.index(name)]
            if name in wheels:
                told = (speeds or {}).get(name, np.gradient(curve, 1.0 / rate, edge_order=2))
                channels.append(Channel(name, "velocity", "rad/s", rate, told))
            else:
                channels.append(Channel(name, "position", "rad", rate, curve if sent is None else sent[:, k]))
                placed.append(name)
        channels += [Channel(name, "torque", "N·m", rate, values) for name, values in (torques or {}).items()]
        wish = JointCurves(tuple(placed), rate, motion[:, [names.index(name) for name in placed]])
        return Performance(
            character,
            "going",
            tuple(channels),
            wish,
            JointCurves(names, rate, motion),
            Certificate(Status.CONVERGED, (), (), figures or {}),
            Provenance("locomotion", {}, {}, {}),
        )

    return build


@pytest.fixture(scope="session")
def driving() -> Callable[..., np.ndarray]:
    """Motion (n, nq) of the car going straight on at a speed [m/s], at 200 Hz; its wheels roll."""

    def build(character: Character, speed: float, seconds: float) -> np.ndarray:
        t = np.arange(round(200 * seconds) + 1) / 200.0
        q = np.zeros((len(t), len(character.coordinates)))
        q[:, 0], q[:, 2] = speed * t, 0.05
        q[:, 6:] = speed * t[:, None] / RADIUS
        return q

    return build


@pytest.fixture(scope="session")
def beetle() -> Character:
    """The beetle with its coarse skin; its lower legs are upright at home."""
    return read_character("beetle-quick")


@pytest.fixture(scope="session")
def make_skinned() -> Callable[..., Performance]:
    """A performance of a skinned character at 200 Hz from its motion (n, nq) and torques (n, na)."""

    def build(character: Character, motion: np.ndarray, torque: np.ndarray, figures: dict[str, float] | None = None) -> Performance:
        names, driven = compile_tree(character).names, character.driven
        angles = motion[:, [names.index(name) for name in driven]]
        channels = [Channel(name, "position", "rad", 200.0, angles[:, k]) for k, name in enumerate(driven)]
        channels += [Channel(name, "torque", "N·m", 200.0, torque[:, k]) for k, name in enumerate(driven)]
        return Performance(
            character,
            "sway",
            tuple(channels),
            JointCurves(driven, 200.0, angles),
            JointCurves(names, 200.0, motion),
            Certificate(Status.CONVERGED, (), (), figures or {}),
            Provenance("skin", {}, {}, {}),
        )

    return build


@pytest.fixture(scope="session")
def swaying() -> Callable[..., np.ndarray]:
    """Motion (n, nq) of a beetle's body to and fro along x by ``reach`` [m] while its soles stay where they are and flat.

    Hip and knee of each leg put its sole where it stood, seen from the side (Newton); the ankle undoes both.
    """

    def build(character: Character, reach: float, n: int) -> np.ndarray:
        tree = compile_tree(character)
        nodes = [tree.nodes[tip.body] for tip in character.end_effectors]
        local = np.array([tip.center for tip in character.end_effectors])

        def pose(u: np.ndarray, shift: float) -> np.ndarray:
            q = tree.home.copy()
            q[0] += shift
            q[6::3], q[7::3], q[8::3] = u[:4], u[4:], -u[:4] - u[4:]
            return q

        def soles(u: np.ndarray, shift: float) -> np.ndarray:
            rotation, position = tree.poses(pose(u, shift)[None])
            return (position[0, nodes] + np.einsum("ejk,ek->ej", rotation[0, nodes], local))[:, ::2].ravel()

        t, u, out = np.arange(n) / (n - 1), np.zeros(8), []
        wanted = soles(u, 0.0)
        for shift in reach * np.sin(2.0 * np.pi * t) ** 3:
            for _ in range(3):
                slope = np.array([(soles(u + 1e-6 * e, shift) - soles(u, shift)) / 1e-6 for e in np.eye(8)]).T
                u = u + np.linalg.solve(slope, wanted - soles(u, shift))
            out.append(pose(u, shift))
        return np.array(out)

    return build
