"""Puppets and carts in MuJoCo: closed forms, weights, what feedback is worth, and what the replay must notice."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.character import Body, Carriage, Character, Joint, String
from bunraku.errors import BadInput
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import hang
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.strings.model import string_model
from bunraku.verification.strings.plan import plan_of
from bunraku.verification.strings.replay import StringPlayer, replay_strings
from bunraku.verification.strings.state import StateMap

mujoco = pytest.importorskip("mujoco")

G, RATE = 9.81, 100.0


def bob(length: float, hook: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Character:
    """A point of 2 kg on a string below a carriage at 3 m, free to move along x and z."""
    return Character(
        name="bob",
        bodies=(Body(name="rail"), Body(name="bob", mass=2.0, inertia=(1e-5, 1e-5, 1e-5, 0, 0, 0))),
        joints=(
            Joint(name="x", kind="slide", parent="world", child="rail", axis=(1, 0, 0)),
            Joint(name="z", kind="slide", parent="rail", child="bob", axis=(0, 0, 1)),
        ),
        carriages=(Carriage(name="c", home=(0.0, 0.0, 3.0)),),
        strings=(String(name="s", carriage="c", hook="bob", point=hook, length=length),),
        home={"z": 3.0 - length - hook[2]},
    )


def hoisted(x: np.ndarray, z: np.ndarray, carriage: np.ndarray, length: np.ndarray, character: Character) -> Performance:
    """A performance whose predicted motion is a closed form, not a simulation of ours."""
    values = {"x": x, "z": z, "c.x": carriage, "c.y": 0.0 * x, "s.length": length}
    names = character.coordinates + character.prescribed
    curves = JointCurves(names, RATE, np.column_stack([values[name] for name in names]))
    kinds = {"c.x": "position", "c.y": "position", "s.length": "length"}
    return Performance(
        character,
        "hoist",
        tuple(Channel(name, kind, "m", RATE, values[name]) for name, kind in kinds.items()),  # type: ignore[arg-type]
        JointCurves(("z",), RATE, z[:, None]),
        curves,
        Certificate(Status.CONVERGED, ()),
        Provenance("test", {}, {}, {}),
    )


def test_a_hoisted_weight_follows_its_winch_and_the_tendon_carries_its_inertia() -> None:
    """Of length 1 - a (1 - cos w t)/2: z = 3 - length exactly, tension = m (g + z''); up and down, MuJoCo sees both."""
    t = np.arange(201) / RATE
    a, w = 0.3, np.pi
    length = 1.0 - 0.5 * a * (1.0 - np.cos(w * t))
    result = replay_strings(hoisted(0.0 * t, 3.0 - length, 0.0 * t, length, bob(1.0)))
    run = result.open_loop
    assert not run.lost
    assert run.largest < 2e-5
    middle = (t[:-1] + t[1:]) / 2
    expected = 2.0 * (G + 0.5 * a * w * w * np.cos(w * middle))
    np.testing.assert_allclose(run.tensions[2:, 0], expected[2:], rtol=2e-3)
    assert run.slack == 0.0


def test_a_weight_dropped_faster_than_it_falls_hangs_slack() -> None:
    """The winch pays out at 2 g: the weight falls freely, g t (t + h)/2 in MuJoCo's steps h, and the string carries nothing."""
    t = np.arange(21) / RATE
    run = replay_strings(hoisted(0.0 * t, 2.0 - G * t**2, 0.0 * t, 1.0 + G * t**2, bob(1.0))).open_loop
    fallen = 2.0 - run.q[:, 1]
    np.testing.assert_allclose(fallen[3:], 0.5 * G * t[3:] * (t[3:] + 0.001), rtol=1e-3)
    assert run.slack > 0.8
    assert run.tensions[5:].max() == 0.0


def test_a_shifted_carriage_swings_the_weight_like_a_pendulum() -> None:
    """Small swings about a carriage that moves by c(t): x'' = -w0² (x - c); the closed form of c = d (1 - cos w t)/2."""
    t = np.arange(301) / RATE
    d, w, w0 = 0.01, 1.3, np.sqrt(G / 1.5)
    c = 0.5 * d * (1.0 - np.cos(w * t))
    x = 0.5 * d * (1.0 - (w0**2 * np.cos(w * t) - w**2 * np.cos(w0 * t)) / (w0**2 - w**2))
    z = 3.0 - np.sqrt(1.5**2 - (x - c) ** 2)
    run = replay_strings(hoisted(x, z, c, np.full_like(t, 1.5), bob(1.5))).open_loop
    assert run.largest < 2e-5


def test_tendons_carry_the_weight_whatever_the_hook(wave) -> None:
    offset = bob(1.0, hook=(0.0, 0.0, 0.2))
    t = np.arange(51) / RATE
    run = replay_strings(hoisted(0 * t, 0 * t + 1.8, 0 * t, 0 * t + 1.0, offset)).open_loop
    np.testing.assert_allclose(run.tensions, 2.0 * G, rtol=1e-4)
    plan = plan_of(wave)
    player = StringPlayer(plan, 10)
    (q, _), moved = player.settled()
    assert moved < 1e-6
    data = mujoco.MjData(player.foreign.model)
    player.foreign.place(data, q, np.zeros_like(q))
    for _ in range(50):
        player._step(data, plan.k[0])
    at_rest = hang(wave.character).require().tensions
    np.testing.assert_allclose(player.foreign.tensions(data), list(at_rest.values()), rtol=1e-4)


def test_the_puppet_follows_in_mujoco_and_the_step_is_small_enough(wave) -> None:
    """RMS far below 2 cm in both modes; halving the step of the simulation changes the answer by less than a tenth."""
    result, finer = replay_strings(wave), replay_strings(wave, timestep=0.0005)
    assert result.closed_loop is not None
    assert finer.closed_loop is not None
    assert set(result.points) >= {"l_hand", "r_knee", "head", "l_wrist_hook"}
    assert result.open_loop.rms < 2e-4
    assert result.closed_loop.rms < 2e-4
    assert result.closed_loop.rms == pytest.approx(finer.closed_loop.rms, rel=0.1)
    assert finer.closed_loop.stretch < 0.5 * result.closed_loop.stretch < 1e-5
    assert result.settling < 1e-6
    assert result.closed_loop.clamped == 0
    assert result.figures["replay_rms_m"] == result.closed_loop.rms
    assert result.figures["open_loop_replay_rms_m"] == result.open_loop.rms


def test_a_wrong_motion_does_not_pass(wave) -> None:
    """The channels of one motion with the prediction of another: the left hand is predicted to stay down, and does not."""
    values = wave.motion.values.copy()
    own = [name for name in wave.motion.names if name not in wave.character.prescribed]
    columns = [wave.motion.names.index(name) for name in own]
    values[:, columns] = values[0, columns]
    run = replay_strings(wave.changed(motion=JointCurves(wave.motion.names, RATE, values), feedback=None)).open_loop
    assert run.largest > 0.05


def test_states_from_measurements_are_those_of_the_integrator(wave, balance) -> None:
    """Planned velocities, put back: exactly the planned state. Velocities are second-order: the differences of the motion."""
    for performance in (wave, balance(40.0)):
        plan = plan_of(performance)
        states = StateMap(plan)
        for node in (0, 1, 120, plan.steps):
            u = plan.commands[max(node - 1, 0), : plan.system.nu]
            found = states.state(node, plan.q[node], states.v[node], u)
            np.testing.assert_allclose(found, plan.states[node], atol=2e-5)
        differences = (plan.q[2:] - plan.q[:-2]) / (2 * plan.dt)
        assert np.abs(states.v[1:-1] - differences).max() < 0.02 * max(1.0, np.abs(differences).max())


def test_feedback_beats_open_loop_on_an_upright_pole(balance) -> None:
    """Standing is unstable: pushed by 0.05 rad, the pole stays up with feedback and falls without."""
    performance = balance(40.0)
    untouched = replay_strings(performance)
    assert untouched.closed_loop is not None
    assert untouched.closed_loop.rms < 1e-3 < 10.0 * untouched.open_loop.rms
    player = StringPlayer(plan_of(performance), 10)
    q, v = player.plan.q[0] + (0.0, 0.05), np.zeros(2)
    closed, opened = player.run(q, v, feedback=True), player.run(q, v, feedback=False)
    assert closed.errors[-50:].max() < 0.01
    assert opened.lost or opened.errors.max() > 0.3


def test_a_weak_belt_is_cut_to_its_force_and_lets_the_pole_fall(balance) -> None:
    weak = balance(0.5)
    player = StringPlayer(plan_of(weak), 10)
    run = player.run(player.plan.q[0] + (0.0, 0.3), np.zeros(2), feedback=True)
    assert run.clamped > 10
    assert np.abs(run.commands[:, 0]).max() <= 0.5
    assert run.lost or run.errors[-1].max() > 0.3


def test_mujoco_s_coordinates_are_ours(wave) -> None:
    """The points of MuJoCo's bodies at our coordinates are our points, base included: three slides and three hinges."""
    plan = plan_of(wave)
    foreign = string_model(plan.character, plan.system, 0.001)
    data = mujoco.MjData(foreign.model)
    q = plan.q[0].copy()
    q[plan.system.dynamic] += 0.3 * np.random.default_rng(3).standard_normal(plan.system.nd)
    foreign.place(data, q, np.zeros_like(q))
    mujoco.mj_forward(foreign.model, data)
    found = np.array([data.site(name).xpos for name in plan.points.names])  # sites carry the names of frames
    np.testing.assert_allclose(found, plan.points.positions(q[None])[0], atol=1e-9)
    ends = np.array([data.site(f"{s.name}.hook").xpos - data.site(s.carriage).xpos for s in plan.character.strings])
    lengths = q[[plan.system.index(s.coordinate) for s in plan.character.strings]]
    np.testing.assert_allclose(foreign.stretch(data), np.linalg.norm(ends, axis=1) - lengths, atol=1e-9)


def test_what_cannot_be_replayed_is_refused(wave) -> None:
    with pytest.raises(BadInput, match=r"time step of 0\.5 s"):
        replay_strings(wave, timestep=0.5)
    assert wave.feedback is not None
    turned = dataclasses.replace(wave.feedback, coordinates=wave.feedback.coordinates[::-1])
    with pytest.raises(BadInput, match=r"the feedback's coordinates are r_knee_string\.length"):
        plan_of(wave.changed(feedback=turned))
    assert character_system(bob(1.0)).nd == 2


def test_settling_is_told_also_when_it_is_too_far() -> None:
    """A weight planned 1 cm above where its string is taut drops by that: told as it is, while the replay starts as planned."""
    n, character = 51, bob(1.0)
    player = StringPlayer(plan_of(hoisted(np.zeros(n), np.full(n, 2.01), np.zeros(n), np.ones(n), character)), 10)
    (q, v), moved = player.settled()
    assert moved == pytest.approx(0.01, abs=1e-3)
    np.testing.assert_array_equal(q, player.plan.q[0])
    assert np.abs(v).max() < 1e-5
