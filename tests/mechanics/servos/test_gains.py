"""Gains of servos: stated ones are facts, unstated ones scale with the robot, wheels have gains of their own."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Foot, Joint, Motor, Pose
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.formats.registry import read_character
from bunraku.mechanics.servos.gains import DAMPED, FULL_TORQUE_AT, UPRIGHT, WHEEL_GAIN, mass_and_height, moved_inertia, servo_gains
from bunraku.mechanics.tree import compile_tree


def arm(**motor: object) -> Character:
    """Two links that hang from the ceiling, offset and turned, and a slide at their end."""
    return Character(
        name="arm",
        bodies=(
            Body(name="a", mass=2.0, center_of_mass=(0.1, 0.05, -0.2), inertia=(0.02, 0.025, 0.015, 0.001, 0.0, 0.002)),
            Body(name="b", mass=0.7, center_of_mass=(0.0, 0.02, -0.1), inertia=(0.004, 0.004, 0.001, 0.0, 0.0, 0.0)),
            Body(name="c", mass=0.3, center_of_mass=(0.02, 0.0, 0.01), inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0)),
        ),
        joints=(
            Joint(name="s", kind="hinge", parent="world", child="a", axis=(0.0, 1.0, 0.0), pose=Pose(position=(0.0, 0.0, 1.5))),
            Joint(
                name="e", kind="hinge", parent="a", child="b", axis=(1.0, 0.0, 0.0),
                pose=Pose(position=(0.0, 0.1, -0.4)), armature=0.05,
            ),
            Joint(name="r", kind="slide", parent="b", child="c", axis=(0.0, 0.0, 1.0), pose=Pose(position=(0.0, 0.0, -0.2))),
        ),
        motors=tuple(Motor(name=f"m{name}", coordinate=name, **motor) for name in "ser"),  # type: ignore[arg-type]
        home={"s": 0.3, "e": -0.4, "r": 0.05},
    )  # fmt: skip


def test_the_inertia_that_motors_move_is_the_diagonal_of_the_mass_matrix() -> None:
    """Of an arm that hangs from the world: against MuJoCo's own mass matrix at home."""
    import mujoco

    character = arm()
    tree = compile_tree(character)
    model = mujoco.MjModel.from_xml_string(write_mjcf(character))
    data = mujoco.MjData(model)
    for name in tree.names:
        data.qpos[model.joint(name).qposadr[0]] = character.home[name]
    mujoco.mj_forward(model, data)
    columns = [int(model.joint(motor.coordinate).dofadr[0]) for motor in character.motors]
    diagonal = []
    for column in columns:
        forces = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, forces, np.eye(model.nv)[column])
        diagonal.append(forces[column])
    np.testing.assert_allclose(moved_inertia(character, tree), diagonal, rtol=1e-9)


def test_stated_gains_are_taken_as_they_are() -> None:
    gains = servo_gains(arm(stiffness=33.0, damping=0.7, derivative="speed", stall_torque=5.0))
    assert gains.names == ("ms", "me", "mr")
    assert gains.coordinates == ("s", "e", "r")
    np.testing.assert_array_equal(gains.stiffness, 33.0)
    np.testing.assert_array_equal(gains.damping, 0.7)
    assert gains.stated.all()
    assert not gains.on_error.any()
    assert not gains.wheel.any()


def test_unstated_gains_follow_stall_torque_and_inertia() -> None:
    """By the formulas that the module states."""
    character = arm(stall_torque=5.0, torque_fraction=0.8)
    gains = servo_gains(character)
    np.testing.assert_allclose(gains.stiffness, 4.0 / FULL_TORQUE_AT)
    inertia = moved_inertia(character, compile_tree(character))
    np.testing.assert_allclose(gains.damping, 2.0 * DAMPED * np.sqrt(4.0 / FULL_TORQUE_AT * inertia))
    assert not gains.stated.any()
    assert gains.on_error.all()


def test_without_a_stall_torque_gains_scale_with_weight_and_height() -> None:
    character = arm()
    mass, height = mass_and_height(character, compile_tree(character))
    assert mass == pytest.approx(3.0)
    np.testing.assert_allclose(servo_gains(character).stiffness, UPRIGHT * 3.0 * 9.81 * height)
    heavy = character.changed(bodies=tuple(body.changed(mass=10.0 * body.mass) for body in character.bodies))
    np.testing.assert_allclose(servo_gains(heavy).stiffness, 10.0 * servo_gains(character).stiffness)


def test_legs_that_stand_carry_the_whole() -> None:
    """A block of 4 kg on two vertical legs: each hip moves half of it at the height of the block above the hip."""
    bodies = [Body(name="block", mass=4.0, center_of_mass=(0.0, 0.0, 0.5))]
    joints = [Joint(name="base", kind="free", parent="world", child="block")]
    for side, y in (("l", 0.1), ("r", -0.1)):
        bodies.append(Body(name=side, mass=1e-6))
        joints.append(
            Joint(name=side, kind="hinge", parent="block", child=side, axis=(0.0, 1.0, 0.0), pose=Pose(position=(0.0, y, 0.0)))
        )
    character = Character(
        name="biped",
        bodies=tuple(bodies),
        joints=tuple(joints),
        motors=tuple(Motor(name=side, coordinate=side) for side in "lr"),
        feet=tuple(Foot(name=side, body=side, points=((0.1, 0.0, -0.3), (-0.1, 0.0, -0.3), (0.0, 0.1, -0.3))) for side in "lr"),
    )
    np.testing.assert_allclose(moved_inertia(character, compile_tree(character)), 0.5 * 4.0 * 0.5**2, rtol=1e-5)
    bolted = character.changed(joints=(joints[0].changed(kind="fixed"), *joints[1:]))
    assert moved_inertia(bolted, compile_tree(bolted)).max() < 1e-5


def test_a_wheel_has_a_speed_gain_and_no_stiffness() -> None:
    """The gains of a position servo that its motor states beside do not matter to a wheel."""
    car = read_character("car")
    plain = car.changed(motors=tuple(motor.changed(speed_gain=None, stiffness=20.0, damping=0.3) for motor in car.motors))
    gains = servo_gains(plain)
    assert gains.wheel.all()
    np.testing.assert_array_equal(gains.stiffness, 0.0)
    np.testing.assert_array_equal(gains.damping, WHEEL_GAIN)
    assert not gains.stated.any()
    stated = servo_gains(car.changed(motors=tuple(motor.changed(speed_gain=0.25) for motor in car.motors)))
    np.testing.assert_array_equal(stated.damping, 0.25)
    assert stated.stated.all()


def test_scaled_gains_keep_their_damping_ratio() -> None:
    """Four times as stiff, twice as damped: kv / sqrt(kp) stays; wheels in proportion; also motor by motor."""
    gains = servo_gains(arm(stiffness=30.0, damping=0.6))
    stiff = gains.scaled(4.0)
    np.testing.assert_allclose(stiff.stiffness, 120.0)
    np.testing.assert_allclose(stiff.damping, 1.2)
    np.testing.assert_allclose(gains.scaled(np.array([1.0, 4.0, 0.25])).damping, [0.6, 1.2, 0.3])
    wheels = servo_gains(read_character("car"))
    np.testing.assert_allclose(wheels.scaled(2.0).damping, 2.0 * wheels.damping)


def test_unstated_gains_in_numbers() -> None:
    """All of its torque 0.185 rad away, 0.4 of critical damping, nine times the stiffness that keeps the robot upright."""
    one = Character(
        name="one",
        bodies=(Body(name="a", mass=2.0, center_of_mass=(0.0, 0.0, 0.5)),),
        joints=(Joint(name="s", kind="hinge", parent="world", child="a", axis=(0.0, 1.0, 0.0)),),
        motors=(Motor(name="s", coordinate="s", stall_torque=1.85),),
    )
    strong = servo_gains(one)
    assert strong.stiffness == pytest.approx([10.0])
    assert strong.damping == pytest.approx([2.0 * 0.4 * np.sqrt(10.0 * 0.5)])
    weak = servo_gains(one.changed(motors=(Motor(name="s", coordinate="s"),)))
    assert weak.stiffness == pytest.approx([9.0 * 2.0 * 9.81 * 0.5])
    assert WHEEL_GAIN == 0.1
