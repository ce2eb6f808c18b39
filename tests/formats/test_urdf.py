"""URDF in and out, against MuJoCo's own reading of the same text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import qpos_to_coordinates
from bunraku.formats.urdf_read import read_urdf
from bunraku.formats.urdf_write import write_urdf
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")

ROBOT = """<?xml version="1.0"?>
<!-- a comment -->
<robot name="small" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="2"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0.002" iyz="0.003"/>
    </inertial>
    <visual><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.4 0.6"/></geometry><material name="red"/></visual>
    <collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.4 0.6"/></geometry></collision>
    <visual><geometry><mesh filename="package://x/arm.stl" scale="0.1 0.1 0.1"/></geometry></visual>
  </link>
  <link name="wheel"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="finger"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="thumb"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="nail"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/>
  <joint name="arm" type="revolute">
    <parent link="base"/><child link="arm"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 1"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.1"/>
  </joint>
  <joint name="wheel" type="continuous">
    <parent link="arm"/><child link="wheel"/><origin xyz="0 1 0" rpy="0 1.5707963267948966 0"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="wheel"/><child link="finger"/><axis xyz="0 0 2"/><limit lower="0" upper="0.1" velocity="0" effort="1"/>
  </joint>
  <joint name="thumb" type="revolute">
    <parent link="finger"/><child link="thumb"/><origin rpy="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="slide" multiplier="2" offset="0.5"/>
  </joint>
  <joint name="nail" type="revolute">
    <parent link="thumb"/><child link="nail"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="thumb" multiplier="3"/>
  </joint>
  <joint name="tip_fixed" type="fixed"><parent link="nail"/><child link="tip"/><origin xyz="0.1 0 0"/></joint>
  <transmission name="t"/><gazebo/><gazebo/>
  <xacro:arm/>
</robot>
"""
FIXED = "\n<joint name='{}' type='fixed'><parent link='{}'/><child link='{}'/></joint>"
BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def mujoco_reading(text: str) -> mujoco.MjModel:
    text = re.sub(r"<visual>.*?</visual>|<collision>.*?</collision>|<xacro.*?/>", "", text, flags=re.DOTALL)
    return mujoco.MjModel.from_xml_string(text.replace("</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>'))


def assert_same_poses(character: Character, q: np.ndarray, model: mujoco.MjModel, qpos: np.ndarray) -> None:
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    at = compile_tree(character).configuration(q)
    for i in range(1, model.nbody):
        R, p = at.pose(model.body(i).name)
        np.testing.assert_allclose(R.ravel(), data.xmat[i], atol=1e-12)
        np.testing.assert_allclose(p, data.xpos[i], atol=1e-12)


def test_reading_agrees_with_mujoco() -> None:
    character, _ = read_urdf(ROBOT.encode(), file="small.urdf")
    model = mujoco_reading(ROBOT)
    rng = np.random.default_rng(3)
    for qpos in rng.uniform(-1.0, 1.0, (5, model.nq)):
        assert_same_poses(character, qpos_to_coordinates(character, model, qpos)[0], model, qpos)
    i = model.body("arm").id
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[i])
    R = R.reshape(3, 3)
    xx, yy, zz, xy, xz, yz = next(body.inertia for body in character.bodies if body.name == "arm")
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], R @ np.diag(model.body_inertia[i]) @ R.T, atol=1e-12)


def test_limits_motors_mimics_shapes_and_notes() -> None:
    character, dropped = read_urdf(ROBOT.encode(), file="small.urdf")
    axes = {axis.name: axis for axis in character.axes}
    assert axes["arm"].range == (-1.0, 2.0)
    assert axes["wheel"].range is None
    assert axes["wheel"].direction == (1.0, 0.0, 0.0)
    assert character.driven == ("arm", "wheel", "slide")
    arm, slide = character.motor_of("arm"), character.motor_of("slide")
    assert (arm.velocity, arm.stall_torque) == (3.0, 4.0)
    assert (slide.velocity, slide.stall_torque) == (None, 1.0)
    couplings = {c.follower: (c.driver, c.ratio, c.offset) for c in character.couplings}
    assert couplings == {"thumb": ("slide", 2.0, 0.5), "nail": ("slide", 6.0, 1.5)}
    joint = next(joint for joint in character.joints if joint.name == "arm")
    assert (joint.damping, joint.friction) == (0.5, 0.1)
    box, mesh = next(body.shapes for body in character.bodies if body.name == "arm")
    assert (box.kind, box.size, box.collides, box.color) == ("box", (0.1, 0.2, 0.3), True, (1.0, 0.0, 0.0, 1.0))
    assert (mesh.kind, mesh.file, mesh.collides) == ("mesh", "package://x/arm.stl", False)
    text = "\n".join(dropped)
    for word in ("<transmission> dropped", "<gazebo> dropped (2 times)", "run xacro first", "kept by name only", "velocity limit"):
        assert word in text


def test_round_trip_keeps_everything_the_format_can_hold() -> None:
    character, _ = read_urdf(ROBOT.encode(), file="small.urdf")
    text, _ = write_urdf(character)
    again, _ = read_urdf(text.encode(), file="small.urdf")
    assert again.motors == character.motors
    assert again.couplings == character.couplings
    assert again.bodies == character.bodies
    q = np.random.default_rng(4).uniform(-1.0, 1.0, len(character.coordinates))
    one, two = compile_tree(character).configuration(q), compile_tree(again).configuration(q)
    np.testing.assert_allclose(two.position, one.position, atol=1e-14)
    np.testing.assert_allclose(two.rotation, one.rotation, atol=1e-14)


def test_floating_and_planar_joints_become_chains_of_links() -> None:
    text = f"""<robot name="r"><link name="world"/><link name="a">{BODY}</link><link name="b">{BODY}</link>
      <joint name="f" type="floating"><parent link="world"/><child link="a"/><origin xyz="1 0 0" rpy="0.1 0.2 0.3"/></joint>
      <joint name="p" type="planar"><parent link="a"/><child link="b"/><axis xyz="1 0 1"/></joint></robot>"""
    character, _ = read_urdf(text.encode(), file="r.urdf")
    assert character.coordinates == ("f.tx", "f.ty", "f.tz", "f.rz", "f.ry", "f.rx", "p.tx", "p.ty", "p.rz")
    tree = compile_tree(character)
    rest = tree.configuration(np.zeros(9))
    np.testing.assert_allclose(rest.pose("b")[1], rest.pose("a")[1], atol=1e-15)
    np.testing.assert_allclose(rest.pose("b")[0], rest.pose("a")[0], atol=1e-15)
    q = np.zeros(9)
    q[6:] = 0.3, -0.2, 0.7
    moved = tree.configuration(q)
    normal = rest.pose("a")[0] @ np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    assert abs(normal @ (moved.pose("b")[1] - rest.pose("b")[1])) < 1e-15
    assert np.linalg.norm(moved.pose("b")[1] - rest.pose("b")[1]) == pytest.approx(np.hypot(0.3, 0.2))
    np.testing.assert_allclose(moved.pose("b")[0] @ rest.pose("b")[0].T @ normal, normal, atol=1e-15)
    written, notes = write_urdf(character)
    again, _ = read_urdf(written.encode(), file="r.urdf")
    assert any("free base" in note for note in notes)
    assert again.coordinates == ("p.tx", "p.ty", "p.rz")
    held = compile_tree(again).configuration(q[6:])
    R, p = tree.configuration(np.r_[np.zeros(6), q[6:]]).pose("a")
    np.testing.assert_allclose(R @ held.pose("b")[1] + p, moved.pose("b")[1], atol=1e-14)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot>\n<link name='a'/>\n<link name='b'/></robot>", ("line 3, link b", "one root")),
        ("<robot><link name='a'/>\n<link name='a'/></robot>", ("line 2, link a", "share the name")),
        (
            "<robot><link name='r'/><link name='a'/><link name='b'/>"
            + FIXED.format("x", "a", "b")
            + FIXED.format("y", "b", "a")
            + "</robot>",
            ("line", "hang on each other"),
        ),
        (
            "<robot><link name='a'/><link name='b'/>" + FIXED.format("x", "a", "b").replace("fixed", "screw") + "</robot>",
            ("line 2, joint x", "'screw'", "revolute"),
        ),
        ("<robot><link name='a'/>\n<joint name='x' type='fixed'><parent link='a'/></joint></robot>", ("line 2, joint x", "<child")),
        (
            "<robot><link name='a'/>\n<joint name='x' type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
            ("line 2, joint x", "'c'"),
        ),
        ("<robot><link name='a'><inertial>\n<mass value='nan'/></inertial></link></robot>", ("line 2, mass", "finite")),
        ("<robot><link name='a'>\n<inertial><mass value='-1'/></inertial></link></robot>", ("line 2, inertial", "negative")),
        ("<robot><link/></robot>", ("line 1, link", "'name' is missing")),
        ("<robot>\n</robt>", ("line 2", "well-formed")),
        ("<robot/>", ("line 1, robot", "no <link>")),
        ("", ("line 1", "well-formed")),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as caught:
        read_urdf(text.encode(), file="bad.urdf")
    for word in ("bad.urdf", *words):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE r SYSTEM "http://example.org/x.dtd">',
        '<!DOCTYPE r [<!ENTITY % p "x">]>',
    ],
)
def test_entities_and_document_types_are_refused(head: str) -> None:
    with pytest.raises(BadInput, match="entity"):
        read_urdf(f"{head}\n<robot name='&b;'><link name='a'/></robot>".encode(), file="bomb.urdf")


def test_depth_is_bounded() -> None:
    with pytest.raises(BadInput, match="nested deeper"):
        read_urdf(b"<robot>" * 100_000, file="deep.urdf")


def test_mimics_in_a_circle_are_refused_and_lost_ones_noted() -> None:
    joint = "<joint name='{0}' type='revolute'><parent link='{1}'/><child link='{0}'/><mimic joint='{2}'/></joint>"
    links = "<robot><link name='r'/><link name='a'/><link name='b'/>"
    circle = links + joint.format("a", "r", "b") + joint.format("b", "a", "a") + "</robot>"
    with pytest.raises(BadInput, match="circle"):
        read_urdf(circle.encode(), file="circle.urdf")
    lost = links + joint.format("a", "r", "nobody") + joint.format("b", "a", "a") + "</robot>"
    character, dropped = read_urdf(lost.encode(), file="lost.urdf")
    assert character.couplings == ()
    assert any("'nobody', which is not in the file" in note for note in dropped)


def test_nao_agrees_with_mujoco(data) -> None:
    raw = (data / "nao_kin.urdf").read_bytes()
    character, _ = read_urdf(raw, file="nao_kin.urdf")
    model = mujoco_reading(raw.decode())
    for qpos in np.random.default_rng(6).uniform(-1.0, 1.0, (3, model.nq)):
        assert_same_poses(character, qpos_to_coordinates(character, model, qpos)[0], model, qpos)
    assert sum(body.mass for body in character.bodies) == pytest.approx(model.body_subtreemass[0], rel=1e-12)
