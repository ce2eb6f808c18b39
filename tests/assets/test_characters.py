"""The built-in characters: the NAO's facts against its sources, and that both stand."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_geoms import volume
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.registry import built_in, read_character
from bunraku.mechanics.tree import compile_tree
from bunraku.motion.limits import MotionLimits

mujoco = pytest.importorskip("mujoco")

FRAMES = {"torso", "pelvis", "head"} | {
    f"{s}_{part}" for s in "lr" for part in ("hand", "elbow", "shoulder", "foot", "knee", "hip")
}
GROUPS = {"legs", "arms", "head", "left_arm", "right_arm", "left_leg", "right_leg"}


@pytest.fixture(scope="module", params=["nao", "humanoid"])
def character(request) -> Character:
    return read_character(request.param)


@pytest.fixture(scope="module")
def nao() -> Character:
    return read_character("nao")


def simulated(character: Character) -> tuple[mujoco.MjModel, mujoco.MjData]:
    text, notes = export_mjcf(character)
    assert all("derivative acts on the error" in note for note in notes), notes
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = coordinates_to_qpos(character, model, compile_tree(character).home)[0]
    return model, data


def test_both_are_there() -> None:
    assert {"nao", "humanoid"} <= set(built_in("character"))


def test_names_that_others_rely_on(character) -> None:
    assert {frame.name for frame in character.frames} >= FRAMES
    assert set(character.groups) >= GROUPS
    driven = set(character.driven)
    assert all(set(names) <= driven for names in character.groups.values())
    bodies = {body.name for body in character.bodies}
    assert {name for pair in character.may_touch for name in pair} <= bodies
    assert {frame.name for frame in character.frames} & bodies <= {"torso"}


def test_home_is_within_all_limits_with_the_soles_on_the_ground(character) -> None:
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    values = np.array([[tree.home[tree.index(name)] for name in character.driven]])
    assert MotionLimits.of(character).excess(np.repeat(values, 4, axis=0), 100.0).relative == 0.0
    ground = []
    for foot in character.feet:
        node = tree.nodes[foot.body]
        points = at.position[node] + np.array(foot.points) @ at.rotation[node].T
        np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-12)
        ground.append(points)
    corners, com = np.concatenate(ground), at.center_of_mass()
    margins = (
        com[0] - corners[:, 0].min(),
        corners[:, 0].max() - com[0],
        com[1] - corners[:, 1].min(),
        corners[:, 1].max() - com[1],
    )
    assert min(margins) > 0.05
    assert abs(com[1]) < 1e-4


def test_at_home_no_parts_interpenetrate_and_soles_are_the_lowest_shapes(character) -> None:
    model, data = simulated(character)
    data.qpos[2] += 1e-6
    mujoco.mj_forward(model, data)
    touching = {tuple(model.body(model.geom_bodyid[g]).name for g in pair.geom) for pair in data.contact if pair.dist < 0}
    assert touching == set()


def test_it_stands_for_three_seconds(character) -> None:
    model, data = simulated(character)
    data.ctrl[:] = [compile_tree(character).home[character.coordinates.index(name)] for name in character.driven]
    start = data.qpos[:7].copy()
    for _ in range(int(3.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(data.qpos[:3], start[:3], atol=0.005)
    assert abs(data.qpos[3:7] @ start[3:7]) > np.cos(0.01)
    assert np.abs(data.qvel).max() < 0.02


def test_left_and_right_are_mirror_images(character) -> None:
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    for part in ("hand", "elbow", "shoulder", "foot", "knee", "hip"):
        left, right = at.pose(f"l_{part}")[1], at.pose(f"r_{part}")[1]
        np.testing.assert_allclose(left * (1, -1, 1), right, atol=2e-4)


def test_humanoid_masses_follow_from_its_shapes_and_motors() -> None:
    character = read_character("humanoid")
    assert len(character.motors) == 27
    for body in character.bodies:
        shells = 110.0 * sum(volume(shape.kind, shape.size) for shape in body.shapes)
        motors = (body.mass - shells - (0.25 if body.name == "trunk" else 0.0)) / 0.082
        assert motors == pytest.approx(round(motors), abs=0.01), body.name
    total = sum(body.mass for body in character.bodies)
    assert total == pytest.approx(5.83, abs=0.01)
    servos = sum(2 if "two" in motor.model else 1 for motor in character.motors)
    housed = sum(
        (body.mass - 110.0 * sum(volume(s.kind, s.size) for s in body.shapes) - (0.25 if body.name == "trunk" else 0.0)) / 0.082
        for body in character.bodies
    )
    assert housed == pytest.approx(servos, abs=0.05)


def test_nao_limits_are_those_of_the_maker(nao, data) -> None:
    rows = [row for row in csv.reader((data / "nao_joints.csv").read_text().splitlines()) if not row[0].startswith(("#", "name"))]
    assert [row[0] for row in rows] == list(nao.coordinates[6:])
    axes = {axis.name: axis for axis in nao.axes}
    for name, lower, upper, velocity, effort in rows:
        assert axes[name].range == (float(lower), float(upper))
        if name != "RHipYawPitch":
            motor = nao.motor_of(name)
            assert (motor.velocity, motor.stall_torque, motor.rate, motor.delay) == (float(velocity), float(effort), 100.0, 0.01)
            assert (motor.acceleration, motor.no_load_speed, motor.continuous_torque) == (None, None, None)
    assert len(nao.motors) == 25
    coupling = nao.couplings[0]
    assert (coupling.driver, coupling.follower, coupling.ratio, coupling.offset) == ("LHipYawPitch", "RHipYawPitch", 1.0, 0.0)


def test_nao_head_pitch_depends_on_head_yaw(nao) -> None:
    limits = MotionLimits.of(nao)
    yaw, pitch = nao.driven.index("HeadYaw"), nao.driven.index("HeadPitch")
    values = np.zeros((5, len(nao.motors)))
    values[:, yaw] = np.deg2rad([0.0, 62.45, -62.45, 119.52, 57.095])
    lower, upper = limits.bounds(values)
    np.testing.assert_allclose(np.rad2deg(lower[:, pitch]), (-38.5, -24.64, -24.64, -25.73, -26.07), atol=1e-3)
    np.testing.assert_allclose(np.rad2deg(upper[:, pitch]), (29.5, 17.19, 17.19, 18.91, 18.05), atol=1e-2)


def test_nao_kinematics_and_masses_are_those_of_its_description(nao, data) -> None:
    """Hands, feet, head and every link of the legs and arms stand where MuJoCo's reading of the maker's file puts them."""
    text = (data / "nao_kin.urdf").read_text()
    text = re.sub(r"</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>', text)
    model = mujoco.MjModel.from_xml_string(text)
    reading = mujoco.MjData(model)
    tree = compile_tree(nao)
    rng = np.random.default_rng(10)
    shared = [body.name for body in nao.bodies if not body.name.endswith("_fingers")]
    for _ in range(5):
        q = rng.uniform(-1.0, 1.0, tree.nq)
        q[:6] = 0.0
        q[[tree.index("LHand"), tree.index("RHand")]] = 0.0
        reading.qpos[:] = 0.0
        for name in tree.names[6:]:
            reading.joint(name).qpos[0] = q[tree.index(name)]
        mujoco.mj_kinematics(model, reading)
        at = tree.configuration(q)
        frames = {"l_hand": "l_gripper", "r_hand": "r_gripper", "l_foot": "l_sole", "r_foot": "r_sole", "gaze": "gaze"}
        for ours, theirs in (frames | {name: name for name in shared}).items():
            R, p = at.pose(ours)
            np.testing.assert_allclose(p, reading.body(theirs).xpos, atol=1e-10)
            np.testing.assert_allclose(R.ravel(), reading.body(theirs).xmat, atol=1e-10)
    assert sum(body.mass for body in nao.bodies) == pytest.approx(model.body_subtreemass[0], abs=1e-9)
    for body in nao.bodies:
        if body.name in shared and "ankle" not in body.name:
            assert body.mass == model.body(body.name).mass[0]
            np.testing.assert_allclose(body.center_of_mass, model.body(body.name).ipos, atol=1e-12)


def test_nao_sources_are_acknowledged(nao) -> None:
    for word in ("BSD-3-Clause", "ros-naoqi/nao_robot", "Freiburg", "Aldebaran"):
        assert word in nao.source
    assert not any(shape.kind == "mesh" for body in nao.bodies for shape in body.shapes)
