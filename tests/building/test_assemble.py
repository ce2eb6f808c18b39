"""Robots from components: what they weigh, how they stand, and that physics agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.building.assemble import assemble
from bunraku.building.character_geometry import lowest_points
from bunraku.building.placement import connectors, place
from bunraku.building.robot import Robot
from bunraku.building.robots.builtin import ROBOTS, built_in_robot, car
from bunraku.building.solids import box_shell, capsule_shell
from bunraku.building.tips import payload
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.tree import compile_tree

# joints and end effectors of the paper's Table 1
TABLE = {
    "swizzlebot": (12, 4),
    "creature3": (9, 4),
    "brainbot": (9, 3),
    "agilebot": (16, 4),
    "skatebot": (16, 8),
    "dinobot": (17, 8),
}
MASSES = {"swizzlebot": 1.76, "agilebot": 2.08, "skatebot": 2.08, "creature3": 1.52, "walker": 1.76, "car": 1.0}


@pytest.fixture(scope="module")
def made() -> dict[str, Character]:
    return {name: assemble(built_in_robot(name)) for name in ROBOTS}


@pytest.mark.parametrize("name", TABLE)
def test_joints_and_wheels_of_the_table(made: dict[str, Character], name: str) -> None:
    character = made[name]
    axles = {f"{tip.name}.axle" for tip in character.end_effectors}
    hinges = [joint.name for joint in character.joints if joint.kind == "hinge" and joint.name not in axles]
    assert (len(hinges), len(character.end_effectors)) == TABLE[name]
    assert all(character.motor_of(joint).model for joint in hinges)


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_is_that_of_the_components(made: dict[str, Character], name: str) -> None:
    robot = built_in_robot(name)
    limbs = place(robot)
    material = robot.material
    expected = box_shell(material.density, material.wall, robot.chassis.center, robot.chassis.size).mass
    expected += sum(payload(thing.model).mass for thing in robot.chassis.carries)
    expected += sum(stage.case.servo.mass for limb in limbs for stage in limb.stages)
    expected += sum(tip.mass + (tip.case.servo.mass if tip.case else 0.0) for limb in limbs for tip in limb.tips)
    expected += sum(limb.limb.end_mass for limb in limbs)
    for link in connectors(robot, limbs):
        for start, end in zip(link.corners, link.corners[1:], strict=False):
            expected += capsule_shell(material.density, material.wall, start, end, link.radius).mass
    total = sum(body.mass for body in made[name].bodies)
    assert total == pytest.approx(expected, rel=1e-12)
    if name in MASSES:
        assert total == pytest.approx(MASSES[name], rel=0.07)


@pytest.mark.parametrize("name", ROBOTS)
def test_inertias_are_those_of_solid_bodies(made: dict[str, Character], name: str) -> None:
    for body in made[name].bodies:
        xx, yy, zz, xy, xz, yz = body.inertia
        principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert principal[0] > 0.0
        assert principal[2] <= principal[0] + principal[1] + 1e-15


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "tilted-car"])
def test_all_tips_touch_the_ground_at_home(made: dict[str, Character], name: str) -> None:
    np.testing.assert_allclose(lowest_points(made[name]), 0.0, atol=1e-12)


def test_the_tilted_car_lacks_what_the_tilt_lifts(made: dict[str, Character]) -> None:
    front, _, hind, _ = lowest_points(made["tilted-car"])
    assert front - hind == pytest.approx(0.03 * (1.0 - np.cos(np.pi / 4.0)), abs=1e-12)  # 8.787 mm
    assert front + hind == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_center_of_mass_is_above_the_support(made: dict[str, Character], name: str) -> None:
    character = made[name]
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    com = at.center_of_mass()
    assert abs(com[1]) < 1e-12
    tips = np.array([at.pose(tip.body)[1] + at.pose(tip.body)[0] @ np.array(tip.center) for tip in character.end_effectors])
    assert tips[:, 0].min() + 0.02 < com[0] < tips[:, 0].max() - 0.02
    if name == "agilebot-tall":
        assert com[2] >= 0.25


def test_axles_are_damped_by_what_the_wheel_drags(made: dict[str, Character]) -> None:
    character = made["swizzlebot"]
    for tip in character.end_effectors:
        axle = next(joint for joint in character.joints if joint.child == tip.body)
        assert axle.damping == pytest.approx(tip.rolling_resistance * tip.radius**2) == pytest.approx(0.5 * 0.025**2)
    assert not set(character.driven) & {f"{tip.name}.axle" for tip in character.end_effectors}
    assert {f"{tip.name}.axle" for tip in made["agilebot"].end_effectors} <= set(made["agilebot"].driven)


def test_limbs_turn_about_what_they_say(made: dict[str, Character]) -> None:
    """A positive hip angle of Swizzlebot's left leg swings its wheel outwards by the length of the leg."""
    character = made["swizzlebot"]
    tree = compile_tree(character)
    q = tree.home.copy()
    before = tree.configuration(q).pose("LF")[1]
    hip = tree.configuration(q).pose("LF.hip_link")[1]
    q[tree.index("LF.hip")] += 1e-6
    speed = (tree.configuration(q).pose("LF")[1] - before) / 1e-6
    np.testing.assert_allclose(speed, np.cross([1.0, 0.0, 0.0], before - hip), atol=1e-6)
    assert speed[1] > 0.1


@pytest.mark.parametrize("name", ["walker", "creature3", "agilebot", "skatebot"])
def test_it_stands_in_foreign_physics(made: dict[str, Character], name: str) -> None:
    """MuJoCo: servos told to stay at home; after 0.4 s the robot is still up, level, and its motors carry it within their lines."""
    mujoco = pytest.importorskip("mujoco")
    from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
    from bunraku.formats.mjcf_write import write_mjcf

    character = made[name]
    model = mujoco.MjModel.from_xml_string(write_mjcf(character, timestep_s=0.001))
    data = mujoco.MjData(model)
    home = np.array([character.home.get(coordinate, 0.0) for coordinate in character.coordinates])
    data.qpos[:] = coordinates_to_qpos(character, model, home[None])[0]
    for motor in character.motors:
        data.actuator(motor.name).ctrl[0] = character.home.get(motor.coordinate, 0.0)
    for _ in range(400):
        mujoco.mj_step(model, data)
    base = model.joint("base").qposadr[0]
    height, up = data.qpos[base + 2], 1.0 - 2.0 * (data.qpos[base + 4] ** 2 + data.qpos[base + 5] ** 2)
    assert height == pytest.approx(character.home["base.tz"], abs=0.015)
    assert up > np.cos(np.radians(4.0))
    torque = {motor.name: abs(float(data.actuator(motor.name).force[0])) for motor in character.motors}
    assert max(torque[motor.name] / (motor.continuous_torque or np.inf) for motor in character.motors) < 1.0


def wheel_base(robot: Robot, x: float) -> Robot:
    front, hind = robot.limbs
    return robot.changed((replace(front, tips=(replace(front.tips[0], offset=(x, 0.08, -0.02)),)), hind))


def test_wheels_that_overlap_are_named() -> None:
    assemble(wheel_base(car(), -0.035))
    with pytest.raises(BadInput, match=r"'LF' and 'LH' overlap at home: 55.0 mm apart, their radii need 60.0 mm"):
        assemble(wheel_base(car(), -0.045))


def test_limbs_that_collide_are_named() -> None:
    robot = built_in_robot("swizzlebot")
    hips = tuple(replace(limb.stages[0], rest=-1.3, offset=(limb.stages[0].offset[0], 0.03, 0.0)) for limb in robot.limbs)
    bent = [replace(limb, stages=(hip, *limb.stages[1:])) for limb, hip in zip(robot.limbs, hips, strict=True)]
    with pytest.raises(BadInput, match=r"limbs 'LF' and 'RF' collide at home|overlap at home"):
        assemble(robot.changed(bent))


def test_what_weighs_nothing_is_named() -> None:
    robot = built_in_robot("walker")
    with pytest.raises(BadInput, match="weigh nothing"):
        assemble(replace(robot, material=replace(robot.material, density=0.0)))
    bare = replace(robot.limbs[0], tips=(replace(robot.limbs[0].tips[0], radius=0.0),))
    with pytest.raises(BadInput, match="'LF' has mass 0 kg and radius 0 m"):
        assemble(robot.changed((bare, robot.limbs[1])))
    with pytest.raises(BadInput, match="nothing is left"):
        assemble(replace(robot, chassis=replace(robot.chassis, size=(0.2, 0.1, 0.004))))
    with pytest.raises(BadInput, match="two limbs of 'walker' are called 'LF'"):
        assemble(robot.changed((robot.limbs[0], robot.limbs[0])))


def test_unknown_components_of_a_robot_are_named() -> None:
    robot = built_in_robot("walker")
    stages = (replace(robot.limbs[0].stages[0], servo="HAL 9000"), *robot.limbs[0].stages[1:])
    with pytest.raises(BadInput, match="no servo 'HAL 9000'"):
        assemble(robot.changed((replace(robot.limbs[0], stages=stages), robot.limbs[1])))
    with pytest.raises(BadInput, match=r"'batmobile' is no built-in robot.*swizzlebot"):
        built_in_robot("batmobile")
