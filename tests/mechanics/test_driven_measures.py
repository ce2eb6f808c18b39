"""Measures of motions that physics makes: tensions and torques given back in closed form, and small lies that are seen."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Carriage, Character, Frame, Joint, Motor, Pose, String
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.measures.driven_motion import DYNAMICS_THRESHOLD, measure_driven, replayed, tracked_frames
from bunraku.mechanics.measures.imitation import body_points, point_checks
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.marionette import hang, tensions
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import JointCurves

RATE, GRAVITY, N = 100.0, 9.81, 60


class Puppet:
    """The marionette, moved by its winches and one carriage for 0.6 s, simulated once."""

    def __init__(self) -> None:
        self.character = read_character("marionette")
        self.rest = hang(self.character).require()
        self.system = character_system(self.character, torques=True)
        q, k0 = self.rest.q, self.rest.q[self.system.kinematic]
        integrator = VariationalIntegrator(self.system, 1.0 / RATE)
        t = np.arange(1, N + 1)[:, None] / RATE
        rise = np.clip(t / 0.6, 0.0, 1.0) ** 3
        k = np.tile(k0, (N, 1))
        names = [self.system.names[i] for i in self.system.kinematic]
        k[:, [names.index(s.coordinate) for s in self.character.strings]] -= 0.03 * rise
        k[:, 0] += 0.05 * rise[:, 0]
        self.run = integrator.rollout(q, integrator.initial(q, q).p, np.zeros((N, self.system.nu)), k)
        assert self.run.steps == N

    def motion(self, q: np.ndarray) -> JointCurves:
        names = self.character.coordinates + self.character.prescribed
        return JointCurves(names, RATE, q[:, [self.system.index(name) for name in names]])

    def measured(self, q: np.ndarray, **options):
        motion = self.motion(q)
        wish = JointCurves(self.character.coordinates, RATE, self.motion(self.run.q).values[:, : len(self.character.coordinates)])
        return {check.name: check for check in measure_driven(self.character, wish, motion, {}, **options).checks}


@pytest.fixture(scope="module")
def puppet() -> Puppet:
    return Puppet()


def bucket(mass: float = 2.0) -> Character:
    """A weight that can only rise and sink, on a string straight above it."""
    return Character(
        name="bucket",
        bodies=(Body(name="bucket", mass=mass, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0)),),
        joints=(Joint(name="z", kind="slide", parent="world", child="bucket", axis=(0.0, 0.0, 1.0)),),
        frames=(Frame(name="top", body="bucket", pose=Pose(position=(0.0, 0.0, 0.1))),),
        carriages=(Carriage(name="pulley", home=(0.0, 0.0, 2.0), winch_range=(0.1, 3.0), winch_velocity=5.0),),
        strings=(String(name="rope", carriage="pulley", hook="top"),),
        home={"z": 0.9},
    )


def hauled(acceleration: float, mass: float = 2.0):
    """The bucket from rest, its rope wound in with a constant acceleration; system and simulation."""
    character = bucket(mass)
    system = character_system(character, torques=True)
    q = character_home(character, system)
    integrator = VariationalIntegrator(system, 1.0 / RATE)
    k = np.tile(q[system.kinematic], (N, 1))
    t = np.arange(1, N + 1) / RATE
    k[:, -1] -= 0.5 * acceleration * t * (t + 1.0 / RATE)
    return character, system, integrator.rollout(q, integrator.initial(q, q).p, np.zeros((N, 0)), k)


@pytest.mark.parametrize("acceleration", [0.0, 3.0, -5.0])
def test_a_rope_carries_weight_and_acceleration(acceleration) -> None:
    """T = m (g + a), exactly: the rope's length l_0 - a t (t + dt) / 2 has the second difference -a dt^2 from the first step on."""
    _, system, run = hauled(acceleration)
    found = replayed(system, run.q, RATE, np.zeros((N, 0)))
    assert found.residual.max() < 1e-9
    np.testing.assert_allclose(found.tensions[:, 0], 2.0 * (GRAVITY + acceleration), rtol=1e-6)


def test_wound_out_faster_than_it_falls_the_rope_would_have_to_push() -> None:
    character, system, run = hauled(-GRAVITY - 2.0)
    np.testing.assert_allclose(replayed(system, run.q, RATE, np.zeros((N, 0))).tensions, -2.0 * 2.0, rtol=1e-5)
    names = character.coordinates + character.prescribed
    motion = JointCurves(names, RATE, run.q[:, [system.index(name) for name in names]])
    measures = measure_driven(character, JointCurves(("z",), RATE, motion.values[:, :1]), motion, {})
    least = next(check for check in measures.checks if check.name == "least tension")
    assert not least.holds
    assert least.value == pytest.approx(-4.0, rel=1e-5)


def test_hanging_still_the_strings_carry_the_weight(puppet) -> None:
    q = np.tile(puppet.rest.q, (5, 1))
    found = replayed(puppet.system, q, RATE, np.zeros((4, puppet.system.nu)))
    np.testing.assert_allclose(found.tensions, np.tile(list(puppet.rest.tensions.values()), (4, 1)), rtol=1e-5)
    at = puppet.system.tree.configuration(puppet.system.tree_configuration(puppet.rest.q))
    up = 0.0
    for string, pull in zip(puppet.character.strings, found.tensions[0], strict=True):
        R, p = at.pose(string.hook)
        line = at.pose(string.carriage)[1] - p - R @ np.array(string.point)
        up += pull * line[2] / np.linalg.norm(line)
    assert up == pytest.approx(GRAVITY * sum(body.mass for body in puppet.character.bodies), rel=1e-6)


def test_a_simulated_motion_gives_its_tensions_back(puppet) -> None:
    found = replayed(puppet.system, puppet.run.q, RATE, np.zeros((N, puppet.system.nu)))
    exact = tensions(puppet.system, puppet.run)
    assert np.ptp(exact, axis=0).max() > 0.1
    np.testing.assert_allclose(found.tensions, exact, atol=1e-4)
    checks = puppet.measured(puppet.run.q)
    assert checks["dynamics residual"].value < 1e-8
    assert checks["string length residual"].value < 1e-10
    assert checks["least tension"].value == pytest.approx(exact.min(), abs=1e-4)
    assert checks["imitation error"].value < 1e-12
    assert all(check.holds for check in checks.values() if check.threshold is not None)


def test_the_margin_is_asked_for(puppet) -> None:
    least = puppet.measured(puppet.run.q)["least tension"].value
    assert puppet.measured(puppet.run.q, tension_margin=least - 1e-3)["least tension"].holds
    assert not puppet.measured(puppet.run.q, tension_margin=least + 1e-3)["least tension"].holds


def test_one_sample_shifted_is_no_motion_of_the_system(puppet) -> None:
    """A knee off by 10 urad in one sample is seen in that step, and an order larger in the next, from the velocity it fakes."""
    q = puppet.run.q.copy()
    q[30, puppet.system.index("l_knee")] += 1e-5
    found = replayed(puppet.system, q, RATE, np.zeros((N, puppet.system.nu)))
    assert found.residual[29] == pytest.approx(1e-5, rel=1e-3)
    assert found.residual[30] > 0.9e-5
    assert found.residual[:29].max() < 1e-8
    assert found.residual[33:].max() < 1e-8
    check = puppet.measured(q)["dynamics residual"]
    assert check.value >= found.residual.max() > DYNAMICS_THRESHOLD
    assert not check.holds


def test_a_string_a_micrometre_shorter_than_said_is_seen(puppet) -> None:
    q = puppet.run.q.copy()
    q[40, puppet.system.index("r_knee_string.length")] -= 1e-6
    check = puppet.measured(q)["string length residual"]
    assert check.value == pytest.approx(1e-6, rel=1e-3)
    assert not check.holds


def test_the_imitation_error_is_the_root_mean_square_of_the_points(puppet) -> None:
    """The whole puppet 3 cm beside its wish: every point is off by that."""
    motion = puppet.motion(puppet.run.q)
    wish = motion.values[:, : len(puppet.character.coordinates)].copy()
    wish[:, puppet.character.coordinates.index("base.ty")] += 0.03
    measures = measure_driven(puppet.character, JointCurves(puppet.character.coordinates, RATE, wish), motion, {})
    errors = {check.name: check.value for check in measures.checks if check.name.startswith("imitation error")}
    assert len(errors) == 1 + len(tracked_frames(puppet.character)) == 6
    assert list(errors.values()) == pytest.approx([0.03] * 6, rel=1e-9)


def pushed(stall: float | None) -> tuple[Character, np.ndarray]:
    """A mass of 2 kg on a level rail, pushed with 3 N for 20 steps and with -1 N after."""
    joint = Joint(name="x", kind="slide", parent="world", child="mass", axis=(1.0, 0.0, 0.0))
    character = Character(
        name="slider",
        bodies=(Body(name="mass", mass=2.0),),
        joints=(joint,),
        motors=(Motor(name="push", coordinate="x", stall_torque=stall),),
    )
    return character, np.where(np.arange(N) < 20, 3.0, -1.0)[:, None]


def test_only_the_push_that_made_a_motion_explains_it() -> None:
    """In closed form x_{k+1} - 2 x_k + x_{k-1} = dt^2 u_k / m; a newton more arrives dt^2 / m further in each step."""
    character, u = pushed(None)
    system = character_system(character, torques=True)
    x = np.cumsum(np.cumsum(np.concatenate([[0.0], u[:, 0] / 2.0 / RATE**2])))[:, None]
    assert replayed(system, x, RATE, u).residual.max() < 1e-12
    np.testing.assert_allclose(replayed(system, x, RATE, u + 1.0).residual, 0.5 / RATE**2, rtol=1e-6)


@pytest.mark.parametrize(("stall", "kept"), [(3.001, True), (2.9, False)])
def test_a_motor_beyond_its_stall_torque_is_seen(stall, kept) -> None:
    character, u = pushed(stall)
    system = character_system(character, torques=True)
    run = VariationalIntegrator(system, 1.0 / RATE).rollout([0.0], [0.0], u, np.zeros((N, 0)))
    curves, held = JointCurves(("x",), RATE, run.q), np.concatenate([u[:, 0], u[-1:, 0]])
    checks = {check.name: check for check in measure_driven(character, curves, curves, {"x": held}).checks}
    assert checks["motor torque excess"].holds is kept
    assert checks["motor torque excess"].value == pytest.approx(max(0.0, 3.0 - stall), abs=1e-12)
    assert checks["dynamics residual"].holds
    wrong = {check.name: check for check in measure_driven(character, curves, curves, {"x": held + 1.0}).checks}
    assert wrong["dynamics residual"].value == pytest.approx(1.0 / 2.0 / RATE**2, rel=1e-6)
    assert not wrong["dynamics residual"].holds


def test_a_motor_gives_less_the_faster_it_turns() -> None:
    """4 N at rest and none at 1 m/s: after 19 steps of 3 N on 2 kg it moves with 0.3 m/s, where 2.8 N are left."""
    character, u = pushed(4.0)
    character = character.changed(motors=(character.motors[0].changed(no_load_speed=1.0),))
    system = character_system(character, torques=True)
    run = VariationalIntegrator(system, 1.0 / RATE).rollout([0.0], [0.0], u, np.zeros((N, 0)))
    curves, held = JointCurves(("x",), RATE, run.q), np.concatenate([u[:, 0], u[-1:, 0]])
    check = next(c for c in measure_driven(character, curves, curves, {"x": held}).checks if c.name == "motor torque excess")
    assert check.broken
    assert check.value == pytest.approx(0.2, abs=0.03)
    assert check.note == "push at 0.19 s"


def test_a_carriage_beyond_what_it_can_do_is_seen() -> None:
    """Carried at 0.5 m/s from the first step on: 50 m/s^2 at 100 Hz; and the rope let out by 5 mm, in one step, at 0.5 m/s."""
    slow = Carriage(
        name="pulley", home=(0.0, 0.0, 2.0), x_range=(-0.1, 0.05), velocity=0.4, acceleration=20.0, winch_range=(0.1, 1.0),
        winch_velocity=0.2, winch_acceleration=30.0,
    )  # fmt: skip
    character = bucket().changed(carriages=(slow,))
    names = character.coordinates + character.prescribed
    values = np.tile([0.9, 0.0, 0.0, 1.0], (21, 1))
    values[:, 1] = 0.5 * np.arange(21) / RATE
    values[-1, 3] += 0.005
    motion = JointCurves(names, RATE, values)
    measures = measure_driven(character, None, motion, {})
    checks = {check.name: check for check in measures.checks}
    for name, value in (
        ("range", 0.05),
        ("speed", 0.1),
        ("acceleration", 30.0),
        ("winch speed", 0.3),
        ("winch acceleration", 20.0),
    ):
        check = checks[f"carriage {name} excess"]
        assert check.value == pytest.approx(value), name
        assert check.broken, name
        assert check.note, name
    assert checks["carriage separation excess"].holds
    assert checks["speed at the end"].value == pytest.approx(0.5)
    assert measures.figures["carriage speed [m/s]"] == pytest.approx(0.5)
    assert measures.figures["carriage acceleration [m/s^2]"] == pytest.approx(50.0)
    assert measures.figures["winch speed [m/s]"] == pytest.approx(0.5)
    assert checks["imitation error"].state == "does not apply"


def test_limbs_that_touch_are_said_without_a_promise(puppet) -> None:
    check = puppet.measured(puppet.run.q)["self-collision clearance"]
    assert check.threshold is None
    assert np.isfinite(check.value)


def test_a_motion_that_leaves_out_a_coordinate_is_refused(puppet) -> None:
    motion = puppet.motion(puppet.run.q)
    short = JointCurves(motion.names[:-1], RATE, motion.values[:, :-1])
    with pytest.raises(BadInput, match="no curve for"):
        measure_driven(puppet.character, short, short, {})


def test_a_joint_beyond_its_range_is_seen():
    """A cart held still 0.02 m beyond the end of its range: the excess is those 0.02 m."""
    cart = read_character("cart-pendulum")
    slide = next(axis for axis in cart.axes if axis.kind == "slide")
    values = np.zeros((4, len(cart.coordinates)))
    values[:, cart.coordinates.index(slide.name)] = slide.range[1] + 0.02
    motion = JointCurves(cart.coordinates, 100.0, values)
    torques = {motor.coordinate: np.zeros(4) for motor in cart.motors}
    checks = {check.name: check for check in measure_driven(cart, motion, motion, torques).checks}
    assert checks["joint range excess"].value == pytest.approx(0.02)
    assert not checks["joint range excess"].holds
    assert checks["dynamics residual"].holds


def test_all_points_are_measured_not_only_the_tracked_ones(puppet: Puppet) -> None:
    """A forearm alone turned by a right angle: no tracked point but the hand moves, and the elbows' bodies count too."""
    character = puppet.character
    assert set(tracked_frames(character)) < set(body_points(character, compile_tree(character)))
    motion = JointCurves(
        character.coordinates, 100.0, np.tile(np.array([character.home.get(n, 0.0) for n in character.coordinates]), (3, 1))
    )
    names = [name for name in character.coordinates if name.startswith("l_shoulder")]
    turned = JointCurves((names[0],), 100.0, np.full((3, 1), 2.5))
    same = JointCurves((names[0],), 100.0, motion.chosen((names[0],)).values)
    assert all(check.holds and check.value == 0.0 for check in point_checks(character, same, motion))
    every, worst = point_checks(character, turned, motion)
    assert worst.broken
    assert worst.note.split(",")[0].startswith("l_")
    assert every.value < worst.value
    free = character.changed(strings=(), carriages=())
    assert all(check.threshold is None for check in point_checks(free, turned, motion))
