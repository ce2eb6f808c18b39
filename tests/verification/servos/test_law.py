"""The servo in MuJoCo against closed forms of one hinge: its law, its line, deadband, gear play."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.verification.rigid.model import ForeignModel, foreign_model
from bunraku.verification.servos.roll import roll

mujoco = pytest.importorskip("mujoco")

INERTIA, H = 0.01, 0.0005
KP, KV = 4.0, 0.3


@pytest.fixture(params=["installed", "3.4.0"], autouse=True)
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything as the installed MuJoCo steps it, and as one is stepped that damps saturated motors."""
    if request.param != "installed":
        monkeypatch.setattr(mujoco, "__version__", request.param)


def wheel(**motor: float | str) -> Character:
    """A disc of inertia INERTIA about a vertical axis: nothing pulls at it but its servo."""
    return Character(
        name="disc",
        bodies=(Body(name="disc", mass=1.0, inertia=(0.01, 0.01, INERTIA, 0, 0, 0)),),
        joints=(Joint(name="turn", kind="hinge", parent="world", child="disc", axis=(0, 0, 1)),),
        motors=(Motor(name="servo", coordinate="turn", stiffness=KP, damping=KV, **motor),),
    )


def run(foreign: ForeignModel, drives: np.ndarray, angle: float = 0.0, speed: float = 0.0) -> tuple[np.ndarray, ...]:
    """Angle, speed and torque at every step under these drives."""
    model, full = foreign.model, mujoco.mjtState.mjSTATE_FULLPHYSICS
    data = mujoco.MjData(model)
    data.qpos[foreign.at.position], data.qvel[foreign.at.velocity] = angle, speed
    mujoco.mj_forward(model, data)
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    control = foreign.at.controls(foreign.servos, drives[:, None])
    states, sensed, _ = roll(model, data, foreign.at, foreign.servos, state, control)
    qpos, qvel = states[:, 1 : 1 + model.nq], states[:, 1 + model.nq : 1 + model.nq + model.nv]
    return foreign.at.angle(qpos)[:, 0], foreign.at.speed(qvel)[:, 0], sensed[:, foreign.torques][:, 0]


def rotor(foreign: ForeignModel) -> float:
    """The disc's inertia and that of the rotor which the step needs."""
    return INERTIA + float(foreign.model.dof_armature[foreign.at.velocity[0]])


def test_a_step_is_answered_as_by_a_damped_spring() -> None:
    """I q'' = kp (c - q) - kv q': q = c (1 - e^(-a t) (cos w t + a / w sin w t)), a = kv / 2I, w^2 = kp / INERTIA - a^2."""
    foreign = foreign_model(wheel(), H)
    inertia = rotor(foreign)
    t = np.arange(2000) * H
    angle, speed, torque = run(foreign, np.full(2000, KP * 0.2))
    a = KV / (2 * inertia)
    w = np.sqrt(KP / inertia - a**2)
    exact = 0.2 * (1 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t)))
    np.testing.assert_allclose(angle, exact, atol=1e-3 * 0.2 * 5)
    np.testing.assert_allclose(torque, KP * (0.2 - angle) - KV * speed, atol=1e-9)


def test_a_motor_that_gives_all_it_has_is_not_held_back_by_its_gains() -> None:
    """Far from where it should be it speeds up by tau_0 / I, and the damping that its law would have is none."""
    foreign = foreign_model(wheel(stall_torque=0.5), H)
    _, speed, torque = run(foreign, np.full(200, KP * 10.0))
    np.testing.assert_allclose(torque, 0.5, rtol=1e-9)
    np.testing.assert_allclose(speed, 0.5 / rotor(foreign) * np.arange(200) * H, rtol=1e-6)


def test_below_its_line_a_motor_with_a_line_keeps_the_same_law() -> None:
    """The slope of the line is in servo and damper, once with either sign: kp e - kv v remains."""
    foreign = foreign_model(wheel(stall_torque=5.0, no_load_speed=20.0), H)
    angle, speed, torque = run(foreign, np.full(400, KP * 0.2))
    np.testing.assert_allclose(torque, KP * (0.2 - angle) - KV * speed, atol=1e-9)
    assert np.abs(speed).max() > 0.5


@pytest.mark.parametrize("deadband", [0.0, 0.02])
def test_no_torque_is_ever_beyond_the_line(deadband: float) -> None:
    """Told to go far, tau = tau_0 (1 - v / v_0) to the last digit of the step; told to turn back, it brakes with tau_0, no more."""
    foreign = foreign_model(wheel(stall_torque=0.5, no_load_speed=8.0, deadband=deadband), H)
    drives = np.concatenate([np.full(1500, 400.0), np.full(500, -400.0)])
    _, speed, torque = run(foreign, drives)
    assert speed.max() > 7.5
    low, high = foreign.servos.torque_range(speed[:, None])
    assert (torque <= high[:, 0] + 1e-12).all()
    assert (torque >= low[:, 0] - 1e-12).all()
    np.testing.assert_allclose(torque[:1500], high[:1500, 0], atol=1e-12)
    np.testing.assert_allclose(torque[1500:1600], -0.5, atol=1e-12)


def test_a_motor_that_is_turned_faster_than_it_can_run_brakes() -> None:
    foreign = foreign_model(wheel(stall_torque=0.5, no_load_speed=8.0), H)
    _, speed, torque = run(foreign, np.full(10, 400.0), speed=10.0)
    np.testing.assert_allclose(torque, 0.5 * (1 - speed / 8.0), atol=1e-12)
    assert torque[0] < 0.0


@pytest.mark.parametrize("line", [{}, {"stall_torque": 2.0, "no_load_speed": 8.0}])
def test_within_its_deadband_a_servo_gives_nothing_and_beyond_it_that_much_less(line: dict[str, float]) -> None:
    """At rest tau = kp (e - d) for e > d, kp (e + d) for e < -d, 0 between: with and without a torque-speed line."""
    foreign = foreign_model(wheel(deadband=0.05, **line), H)
    for error, expected in ((0.04, 0.0), (-0.04, 0.0), (0.15, 0.1 * KP), (-0.25, -0.2 * KP)):
        _, _, torque = run(foreign, np.full(2, KP * error))
        assert torque[0] == pytest.approx(expected, abs=1e-12)
    # it coasts through the deadband with what speed it has: nothing drives or brakes it there
    angle, speed, torque = run(foreign, np.zeros(100), speed=0.1)
    np.testing.assert_allclose(torque[np.abs(KP * angle + KV * speed) < 0.99 * KP * 0.05], 0.0, atol=1e-12)
    assert speed[-1] == pytest.approx(0.1, rel=1e-9)


def test_a_link_with_gear_play_can_be_turned_while_the_motor_stands() -> None:
    """Free from stop to stop, and no farther: the link of a motor that holds moves by the play, and not by more."""
    play = 0.02
    foreign = foreign_model(wheel(backlash=play), H)
    model, at = foreign.model, foreign.at
    data = mujoco.MjData(model)
    link = model.body("disc").id
    for push, side in ((0.02, 0.5), (-0.02, -0.5)):
        mujoco.mj_resetData(model, data)
        data.xfrc_applied[link, 5] = push
        for _ in range(4000):
            data.ctrl[at.servo] = 0.0
            mujoco.mj_step(model, data)
        sag = push / KP
        assert data.qpos[at.position[0]] == pytest.approx(sag, rel=0.02)
        assert data.qpos[at.play_position[0]] == pytest.approx(side * play, rel=0.05)


def test_the_encoder_of_a_servo_with_play_is_on_its_output() -> None:
    """An arm sags by its weight over the stiffness, as without play: the motor turns on until the link is where it should be."""
    arm = wheel().bodies[0].changed(center_of_mass=(0.1, 0.0, 0.0))
    joint = wheel().joints[0].changed(axis=(0.0, -1.0, 0.0), damping=0.02)
    ends = []
    for play in (0.0, 0.02):
        foreign = foreign_model(wheel(backlash=play).changed(bodies=(arm,), joints=(joint,)), H)
        angle, _, torque = run(foreign, np.full(8000, KP * 0.3))
        assert torque[-1] == pytest.approx(0.1 * 9.81 * np.cos(angle[-1]), rel=1e-3)
        ends.append(angle[-1])
    assert ends[1] == pytest.approx(ends[0], abs=2e-4)
    assert ends[0] == pytest.approx(0.3 - 0.1 * 9.81 * np.cos(ends[0]) / KP, abs=1e-4)


def test_gains_that_are_set_are_those_that_are_built() -> None:
    """Every array of MuJoCo's model, to the last bit, after other gains were set on it first."""
    from bunraku.verification.worlds import World

    base = foreign_model(wheel(stall_torque=0.5, no_load_speed=8.0, deadband=0.01, backlash=0.01), H)
    reused = base.under(World(7.0)).under(World(1.0 / 7.0)).under(World(1.0)).model
    fresh = base.under(World(1.0)).model
    for name in [name for name in dir(fresh) if isinstance(getattr(fresh, name), np.ndarray)]:
        np.testing.assert_allclose(getattr(reused, name), getattr(fresh, name), rtol=1e-12, atol=1e-15, err_msg=name)
