"""The model of the replay: the torque-speed line, tilted wheels, sensors, and what is sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.verification.ground.model import TIMESTEP, GroundModel, ground_model
from bunraku.verification.ground.plan import contact_points, ground_plan
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.drives import tick_drives
from bunraku.verification.worlds import World

mujoco = pytest.importorskip("mujoco")

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS
RADIUS, SPIN = 0.03, 0.02 * 0.03**2 / 2.0


def in_the_air(car) -> tuple[GroundModel, Any, float]:
    """The model of a car held up without gravity, and the inertia of a wheel with its rotor."""
    ground = ground_model(car)
    ground.model.opt.gravity[:] = 0.0
    data = mujoco.MjData(ground.model)
    data.qpos[2] = 1.0
    return ground, data, SPIN + ground.servos.gains.damping[0] * TIMESTEP


def test_a_motor_speeds_up_along_its_line_and_brakes_with_all_its_torque(make_car) -> None:
    """I dv/dt = tau_0 (1 - v / v_0): v = v_0 (1 - exp(-tau_0 t / (I v_0))); told to turn back, v falls by tau_0 / I."""
    ground, data, inertia = in_the_air(make_car("active", stall_torque=0.02, no_load_speed=40.0))
    steps = 200
    for _ in range(steps):
        data.ctrl[ground.at.servo] = [1e3, 1e3, -1e3, -1e3]
        mujoco.mj_step(ground.model, data)
    speed = 40.0 * (1.0 - np.exp(-0.02 * steps * TIMESTEP / (inertia * 40.0)))
    np.testing.assert_allclose(data.qvel[6:], [speed, speed, -speed, -speed], rtol=0.02)
    before = data.qvel[6]
    for _ in range(10):
        data.ctrl[ground.at.servo] = [-1e3, -1e3, 1e3, 1e3]
        mujoco.mj_step(ground.model, data)
    assert data.qvel[6] == pytest.approx(before - 10 * TIMESTEP * 0.02 / inertia, rel=0.01)
    torque = ground.read(data.sensordata[None], "torques", 1)[0, :, 0]
    np.testing.assert_allclose(torque, [-0.02, -0.02, 0.02, 0.02], rtol=1e-9)


def test_utilisation_is_one_on_the_line_and_when_braking_with_all(make_car) -> None:
    servos = ServoBank.of(make_car("active", stall_torque=2.0, no_load_speed=10.0))
    torque = np.array([[2.0, 1.0, -1.0, -2.0], [1.0, -1.0, 0.0, 0.5]])
    speed = np.array([[0.0, 5.0, -5.0, 7.0], [-9.0, 2.0, 3.0, 1.0]])
    np.testing.assert_allclose(servos.utilisation(torque, speed), [[1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.0, 0.35]], atol=1e-12)


@pytest.mark.parametrize("roll", [0.0, 0.3, 0.8])
def test_a_tilted_wheel_touches_where_it_is_planned_to(make_car, roll: float) -> None:
    """The disc of the model touches at e = centre + r a x t, to within its half width of half a millimetre."""
    car = make_car("passive")
    ground = ground_model(car)
    data = mujoco.MjData(ground.model)
    q = np.zeros((1, len(car.coordinates)))
    q[0, car.coordinates.index("base.rx")] = roll
    q[0, 2] = 0.08 * np.sin(roll) + 0.02 * np.cos(roll) + RADIUS * np.cos(roll) - 0.0002
    data.qpos[:] = coordinates_to_qpos(car, ground.model, q)[0]
    mujoco.mj_forward(ground.model, data)
    sensed = data.sensordata[None]
    center, axis = ground.read(sensed, "center", 3), ground.read(sensed, "axis", 3)
    e = contact_points(car, None, center, axis)[0]
    touched = {int(g): data.contact.pos[i] for i, pair in enumerate(data.contact.geom) for g in pair}
    tip = ground.model.geom("tip1").id
    assert tip in touched
    assert e[1, 2] == pytest.approx(-0.0002, abs=1e-9)
    assert np.linalg.norm(touched[tip] - e[1]) < 0.0008


def test_the_ground_carries_the_weight_and_sensors_say_so(make_car) -> None:
    car = make_car("passive")
    ground = ground_model(car)
    data = mujoco.MjData(ground.model)
    data.qpos[2] = 0.05
    state = np.empty(mujoco.mj_stateSize(ground.model, FULL))
    mujoco.mj_getState(ground.model, data, state, FULL)
    states, sensed = ground.steps(ground.model, data, state, np.zeros((400, ground.model.nu)))
    force = ground.read(sensed, "force", 4)[-1]
    np.testing.assert_allclose(force[:, 1:].sum(axis=0), [0.0, 0.0, 1.08 * 9.81], atol=1e-3)
    np.testing.assert_allclose(ground.read(sensed, "com", 3)[-1, 0], [0.0, 0.0, 0.05 - 0.08 * 0.02 / 1.08], atol=2e-4)
    assert ground.read(sensed, "others", 1)[-1, 0, 0] == 0.0
    states[-1, 3] = 0.01
    _, sensed = ground.steps(ground.model, data, states[-1], np.zeros((1, ground.model.nu)))
    assert ground.read(sensed, "others", 1)[0, 0, 0] > 0.0


def test_what_is_sent_is_what_the_channels_hold(make_car, make_going, driving) -> None:
    """Speeds of wheels and places of joints as in the channels, whatever the plan; planned angles where there is no channel."""
    car = make_car("active")
    q = driving(car, 0.0, 0.2)
    speeds = {"axle0": np.full(len(q), 3.0), "axle1": np.full(len(q), -2.0)}
    sent = ground_plan(make_going(car, q, 200.0, {"axle0": np.full(len(q), 0.3)}, speeds=speeds)).sent
    np.testing.assert_array_equal(sent.values[:, :2], np.tile([3.0, -2.0], (len(q), 1)))
    assert sent.rate == 200.0


def test_a_slower_motor_lags_by_what_its_delay_is_longer(make_car, make_going, driving) -> None:
    car = make_car("active")
    late = car.changed(motors=(car.motors[0].changed(delay=0.03), *(motor.changed(delay=0.01) for motor in car.motors[1:])))
    q = driving(late, 0.0, 0.2)
    q[:, 6:] = (np.arange(len(q))[:, None] / 200.0) ** 2
    plan, servos = ground_plan(make_going(late, q, 200.0)), ServoBank.of(late)
    drives = tick_drives(servos, plan.sent, World(), np.array([0.08, 0.1])) / servos.gains.damping
    assert drives[1, 0] == pytest.approx(drives[0, 1], rel=1e-12)
    assert drives[1, 1] == pytest.approx(0.2, rel=1e-6)
