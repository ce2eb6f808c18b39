"""MJCF in and out, against MuJoCo's own reading of the same text."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.character import Body, Carriage, Character, Coupling, Foot, Frame, Joint, Motor, Pose, Shape, String
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos, qpos_to_coordinates
from bunraku.formats.mjcf_read import read_mjcf
from bunraku.formats.mjcf_write import export_mjcf, write_mjcf
from bunraku.formats.registry import read_character
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")

EVERYTHING = """
<mujoco model="everything">
  <compiler angle="degree" eulerseq="zxY" boundmass="0.001"/>
  <default>
    <geom density="700" type="capsule" size="0.02"/>
    <joint damping="0.5"/>
    <default class="limb">
      <joint axis="0 1 0" range="-30 60" armature="0.01"/>
      <geom fromto="0 0 0 0.1 0.05 -0.2" size="0.03"/>
      <default class="tip"><joint type="slide" range="-0.1 0.2"/></default>
    </default>
    <motor ctrlrange="-2 2" gear="3"/>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <site name="mark" pos="1 2 3"/>
    <body name="base" pos="0.1 0.2 0.9" euler="10 20 30">
      <freejoint name="root"/>
      <inertial pos="0.01 0.02 0.03" mass="2" diaginertia="0.02 0.03 0.04" euler="5 6 7"/>
      <geom type="box" size="0.1 0.2 0.05"/>
      <site name="eye" pos="0.1 0 0.05" zaxis="1 1 0.2"/>
      <body childclass="limb" pos="0 0.1 0" xyaxes="1 0.2 0 0 1 0.3">
        <joint name="a" pos="0.01 0.02 0.03" ref="20"/>
        <joint name="b" axis="1 0 0.3" pos="-0.02 0 0.01" range="-20 10"/>
        <joint name="c" class="tip" axis="0 0 1" ref="0.05"/>
        <geom/>
        <geom class="main" type="sphere" size="0.04" pos="0 0 -0.2" mass="0.3"/>
        <body name="ball" pos="0.1 0.05 -0.2" axisangle="1 1 0 40">
          <joint class="main" type="ball" name="d" pos="0 0 0.02"/>
          <geom class="main" type="ellipsoid" size="0.03 0.04 0.05" pos="0.01 0 0" euler="0 30 10"/>
          <body name="still" pos="0 0 0.1"><geom class="main" type="cylinder" size="0.02 0.05" quat="0.9 0.1 0.2 0.3"/></body>
        </body>
      </body>
      <frame pos="0 -0.1 0.02" euler="15 0 25">
        <replicate count="11" offset="0.03 0 0" euler="0 0 5" sep="-">
          <body name="leaf" pos="0 0 0.05"><joint name="leaf_turn" axis="0 1 1" pos="0.01 0 0"/><geom type="sphere"/></body>
        </replicate>
      </frame>
    </body>
    <body name="arm">
      <joint axis="0 0 1" name="e"/>
      <frame pos="0.1 0.2 0.3" euler="40 0 10"><joint name="framed" axis="0 1 0" pos="0.01 0 0"/></frame>
      <geom type="box" fromto="0 0 0 0.1 0.1 0.2"/>
    </body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="e" coef="1"/></fixed></tendon>
  <equality><joint joint1="b" joint2="a" polycoef="0.1 0.5 0 0 0"/><weld body1="arm" body2="base"/></equality>
  <contact><exclude body1="arm" body2="base"/></contact>
  <actuator>
    <motor name="pull" joint="e"/>
    <position name="hold" joint="a" kp="40" kv="2" gear="2" ctrlrange="-1 1" forcerange="-5 4"/>
    <motor tendon="t"/>
  </actuator>
</mujoco>
"""


def small() -> Character:
    rng = np.random.default_rng(5)

    def pose() -> Pose:
        return Pose(position=tuple(rng.normal(size=3)), quaternion=tuple(rng.normal(size=4)))

    def body(name: str, mass: float) -> Body:
        shape = (Shape(kind="box", size=(0.1, 0.2, 0.3)),) if mass else ()
        return Body(name=name, mass=mass, inertia=(1.0, 1.1, 1.2, 0.1, 0.05, 0.02) if mass else (0.0,) * 6, shapes=shape)

    return Character(
        name="small",
        bodies=(body("a", 1.0), body("b", 0.0), body("c", 0.0), body("d", 2.0), body("e", 1.0), body("f", 0.0)),
        joints=(
            Joint(name="base", kind="free", parent="world", child="a", pose=pose(), sequence="xzy"),
            Joint(name="j1", kind="hinge", parent="a", child="b", pose=pose(), axis=(1, 2, 3), range=(-1, 2), damping=0.1),
            Joint(name="j2", kind="slide", parent="b", child="c", pose=pose(), axis=(1, 2, -3), friction=0.2),
            Joint(name="j3", kind="ball", parent="c", child="d", pose=pose()),
            Joint(name="j4", kind="universal", parent="d", child="e", pose=pose(), ranges=((-1, 1), None)),
            Joint(name="j5", kind="planar", parent="e", child="f", pose=pose()),
        ),
        motors=(Motor(name="m", coordinate="j1", stall_torque=3, torque_fraction=0.5, stiffness=20, damping=1, range=(-0.5, 0.5)),),
        couplings=(Coupling(driver="j1", follower="j2", ratio=0.5, offset=0.1),),
        frames=(Frame(name="tool", body="d", pose=pose()),),
        feet=(Foot(name="sole", body="d", points=((0, 0, -0.3),), friction=0.6),),
        may_touch=(("a", "e"),),
    )


def poses(model: mujoco.MjModel, qpos: np.ndarray) -> dict[str, np.ndarray]:
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    return {model.body(i).name or f"body_{i}": np.array([*data.xmat[i], *data.xpos[i]]) for i in range(1, model.nbody)}


def ours(character: Character, q: np.ndarray) -> dict[str, np.ndarray]:
    at = compile_tree(character).configuration(q)
    return {name: np.array([*at.rotation[i].ravel(), *at.position[i]]) for name, i in at.tree.nodes.items()}


def random_qpos(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    qpos = rng.uniform(-1.2, 1.2, model.nq)
    for kind, first in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind <= 1:
            first += 3 if kind == 0 else 0
            qpos[first : first + 4] /= np.linalg.norm(qpos[first : first + 4])
    return qpos


def test_reading_agrees_with_mujoco() -> None:
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    character, _ = read_mjcf(EVERYTHING.encode(), file="everything.xml")
    rng = np.random.default_rng(1)
    for _ in range(5):
        qpos = random_qpos(model, rng)
        q = qpos_to_coordinates(character, model, qpos)[0]
        theirs, mine = poses(model, qpos), ours(character, q)
        assert set(theirs) <= set(mine)
        for name, pose in theirs.items():
            np.testing.assert_allclose(mine[name], pose, atol=1e-12, err_msg=name)


def test_masses_and_inertias_from_geoms_agree_with_mujoco() -> None:
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    character, _ = read_mjcf(EVERYTHING.encode(), file="everything.xml")
    bodies = {body.name: body for body in character.bodies}
    for i in range(1, model.nbody):
        body = bodies[model.body(i).name or f"body_{i}"]
        R = np.empty(9)
        mujoco.mju_quat2Mat(R, model.body_iquat[i])
        R = R.reshape(3, 3)
        xx, yy, zz, xy, xz, yz = body.inertia
        assert body.mass == pytest.approx(model.body_mass[i], rel=1e-12)
        np.testing.assert_allclose(body.center_of_mass, model.body_ipos[i], atol=1e-12)
        np.testing.assert_allclose(
            [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], R @ np.diag(model.body_inertia[i]) @ R.T, atol=1e-12, err_msg=body.name
        )


def test_motors_couplings_and_ranges() -> None:
    character, dropped = read_mjcf(EVERYTHING.encode(), file="everything.xml")
    hold, pull = character.motor_of("a"), character.motor_of("e")
    assert (hold.stiffness, hold.damping, hold.range, hold.stall_torque) == (160.0, 8.0, (-0.5, 0.5), 10.0)
    assert (pull.stiffness, pull.stall_torque) == (None, 6.0)
    coupling = character.couplings[0]
    assert (coupling.driver, coupling.follower, coupling.ratio) == ("a", "b", 0.5)
    assert coupling.offset == pytest.approx(0.1 - 0.5 * np.deg2rad(20.0))
    axes = {axis.name: axis for axis in character.axes}
    assert axes["a"].range == pytest.approx(np.deg2rad([-30.0, 60.0]))
    assert axes["c"].range == (-0.1, 0.2)
    assert character.may_touch == (("arm", "base"),)
    assert character.home["a"] == pytest.approx(np.deg2rad(20.0))
    assert character.home["root.tz"] == 0.9
    text = "\n".join(dropped)
    assert [(loop.kind, loop.name) for loop in character.loops] == [("fixed", "loop_0")]
    for word in ("<tendon>", "geoms fixed to the world", "actuator (motor)"):
        assert word in text


@pytest.mark.parametrize("quaternion", [True, False])
def test_writing_keeps_kinematics_in_mujoco_and_back(quaternion: bool) -> None:
    character = small()
    text, notes = export_mjcf(character, free_base_as_quaternion=quaternion)
    assert any("body f: massless but moving" in note for note in notes)
    model = mujoco.MjModel.from_xml_string(text)
    again, _ = read_mjcf(text.encode(), file="again.xml")
    rng = np.random.default_rng(2)
    for q in rng.uniform(-1.0, 1.0, (4, len(character.coordinates))):
        qpos = coordinates_to_qpos(character, model, q)[0]
        np.testing.assert_allclose(qpos_to_coordinates(character, model, qpos)[0], q, atol=1e-12)
        mine, theirs = ours(character, q), poses(model, qpos)
        assert set(theirs) == {"a", "d", "e", "f"}  # b and c are massless and merged
        for name, pose in theirs.items():
            np.testing.assert_allclose(mine[name], pose, atol=1e-12)
            np.testing.assert_allclose(ours(again, qpos_to_coordinates(again, model, qpos)[0])[name], pose, atol=1e-12)


def test_a_free_base_and_a_ball_that_turn_through_the_singularity_keep_turning() -> None:
    """Quaternions (cos a/2, sin a/2 m) about the sequence's middle axis m are the angles (0, a, 0), past pi / 2 and past pi."""
    text = """<mujoco><worldbody><body name="trunk" quat="0.6 0 0.8 0"><joint name="root" type="free"/><geom size="0.1"/>
      <body name="head" pos="0 0 0.2"><joint name="neck" type="ball"/><geom size="0.1"/></body></body></worldbody></mujoco>"""
    character, _ = read_mjcf(text.encode(), file="f")
    model = mujoco.MjModel.from_xml_string(text)
    angle = np.linspace(0.0, 4.0, 81)
    for name, first in (("root", 3), ("neck", 7)):
        joint = next(joint for joint in character.joints if joint.name == name)
        axis = np.eye(3)["xyz".index(joint.sequence[1])]
        at = character.coordinates.index(joint.axes[-3].name)
        R_WJ = Rotation.from_quat(joint.pose.quaternion, scalar_first=True) if name == "root" else Rotation.identity()
        qpos = np.tile(model.qpos0, (len(angle), 1))
        qpos[:, first : first + 4] = (R_WJ * Rotation.from_rotvec(np.outer(angle, axis))).as_quat(scalar_first=True)
        moved = character.changed(home={})
        found = qpos_to_coordinates(moved, model, qpos)
        np.testing.assert_allclose(found[:, at : at + 3], np.outer(angle, [0.0, 1.0, 0.0]), atol=1e-7)
        back = coordinates_to_qpos(moved, model, found)[:, first : first + 4]
        np.testing.assert_allclose(np.abs(np.sum(back * qpos[:, first : first + 4], axis=1)), 1.0, atol=1e-12)


def test_written_model_states_what_the_character_states() -> None:
    model = mujoco.MjModel.from_xml_string(write_mjcf(small()))
    assert model.body_subtreemass[0] == pytest.approx(4.0 + 1e-4)
    j1 = model.joint("j1")
    np.testing.assert_array_equal(j1.range, (-1.0, 2.0))
    assert j1.damping[0] == 0.1
    assert model.joint("j2").frictionloss[0] == 0.2
    servo = model.actuator("m")
    assert (servo.gainprm[0], servo.biasprm[1], servo.biasprm[2]) == (20.0, -20.0, -1.0)
    np.testing.assert_array_equal(servo.forcerange, (-1.5, 1.5))
    np.testing.assert_array_equal(servo.ctrlrange, (-0.5, 0.5))
    np.testing.assert_array_equal(model.eq_data[0][:2], (0.1, 0.5))
    pairs = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
    names = {frozenset(model.body(i).name for i in pair) for pair in pairs}
    assert frozenset({"a", "e"}) in names
    assert frozenset({"d", "e"}) in names
    sole = next(i for i in range(model.ngeom) if model.body(model.geom_bodyid[i]).name == "d")
    assert (model.geom_friction[sole][0], model.geom_priority[sole]) == (0.6, 1)
    assert model.geom("floor").type[0] == mujoco.mjtGeom.mjGEOM_PLANE


@pytest.mark.parametrize(
    ("motor", "joint", "written"),
    [
        ((-2.0, 0.5), (-1.0, 1.0), (-1.0, 0.5)),
        ((-0.5, 0.5), (-1.0, 1.0), (-0.5, 0.5)),
        ((-2.0, 2.0), (-1.0, 1.0), (-1.0, 1.0)),
        (None, (-1.0, 1.0), (-1.0, 1.0)),
        ((-2.0, 2.0), None, (-2.0, 2.0)),
        ((1.5, 2.0), (-1.0, 1.0), None),
    ],
)
def test_a_control_range_is_what_motor_and_joint_both_allow(
    motor: tuple[float, float] | None, joint: tuple[float, float] | None, written: tuple[float, float] | None
) -> None:
    arm = Character(
        name="arm",
        bodies=(Body(name="a", mass=1.0, inertia=(0.1, 0.1, 0.1, 0, 0, 0)),),
        joints=(Joint(name="j", kind="hinge", parent="world", child="a", range=joint),),
        motors=(Motor(name="m", coordinate="j", range=motor, stall_torque=2.0, torque_fraction=0.5),),
    )
    text, notes = export_mjcf(arm)
    model = mujoco.MjModel.from_xml_string(text)
    assert bool(model.actuator_ctrllimited[0]) == (written is not None)
    if written is not None:
        np.testing.assert_allclose(model.actuator_ctrlrange[0], written)
    assert any("leave no room" in note for note in notes) == (written is None)
    assert model.actuator_gainprm[0, 0] == pytest.approx(servo_gains(arm).stiffness[0]), "the gain that the replay uses too"


def test_written_servos_have_the_gains_of_the_replay() -> None:
    """Stated or not, of legs and of wheels; and what cannot be said is noted."""
    robot = read_character("agilebot")
    stated, own = robot.motors[0], {"derivative": "speed", "stiffness": 33.0, "damping": 0.7}
    motors = (stated.changed(**own), robot.motors[1].changed(stiffness=None, damping=None), *robot.motors[2:])
    wheel = next(motor for motor in motors if motor.coordinate in robot.wheel_axles)
    mixed = robot.changed(motors=tuple(motor.changed(speed_gain=0.25) if motor is wheel else motor for motor in motors))
    text, notes = export_mjcf(mixed)
    model, gains = mujoco.MjModel.from_xml_string(text), servo_gains(mixed)
    assert gains.stiffness[0] == 33.0
    for k, name in enumerate(gains.names):
        gain, bias = model.actuator(name).gainprm, model.actuator(name).biasprm
        assert gain[0] == pytest.approx(gains.damping[k] if gains.wheel[k] else gains.stiffness[k], rel=1e-6)
        assert -bias[1] == pytest.approx(gains.stiffness[k], rel=1e-6)
        assert -bias[2] == pytest.approx(gains.damping[k], rel=1e-6)
    assert any(note.startswith(f"motor {motors[1].name}: no servo stiffness is stated") for note in notes)
    lagging = next(note for note in notes if "derivative acts on the error" in note)
    assert stated.name not in lagging
    assert motors[1].name in lagging


def test_servos_of_mujoco_come_back_as_they_were_written() -> None:
    """A position actuator damps its joint's own speed; a velocity actuator is a speed gain."""
    text = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size="1"/><body name="b"><joint name="w"/><geom size="1"/>
    <body name="c"><joint name="k"/><geom size="1"/></body></body></body></worldbody><actuator>
    <position name="p" joint="j" kp="40" kv="1.5" gear="2" ctrlrange="-1 1"/>
    <velocity name="v" joint="w" kv="0.3" gear="2" ctrlrange="-8 8" forcerange="-3 3"/>
    <position name="d" joint="k" kp="7" dampratio="1"/></actuator></mujoco>"""
    p, v, d = read_mjcf(text.encode(), file="x.xml")[0].motors
    limp = text.replace('kv="0.3"', 'kv="0"').replace('"-8 8"', '"0 0"')
    assert (read_mjcf(limp.encode(), file="x.xml")[0].motors[1].speed_gain, v.name) == (None, "v")
    assert (p.stiffness, p.damping, p.derivative, p.range) == (160.0, 6.0, "speed", (-0.5, 0.5))
    assert (v.speed_gain, v.velocity, v.stall_torque, v.stiffness, v.damping) == (1.2, 4.0, 6.0, None, None)
    assert (d.stiffness, d.damping, d.derivative) == (7.0, None, "speed")


def test_an_inertia_of_no_solid_is_repaired_and_noted() -> None:
    body = Body(name="rod", mass=1.0, inertia=(1.0, 0.1, 0.2, 0.0, 0.0, 0.0))
    joint = Joint(name="j", kind="hinge", parent="world", child="rod")
    text, notes = export_mjcf(Character(name="x", bodies=(body,), joints=(joint,)))
    assert any("no solid body" in note for note in notes)
    model = mujoco.MjModel.from_xml_string(text)
    np.testing.assert_allclose(sorted(model.body_inertia[1]), (0.1, 0.2, 0.3), rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody/></mujoco>", ("line 1", "no <body>")),
        ("<mujoco>\n<compiler coordinate='global'/></mujoco>", ("line 2, compiler", "local")),
        ("<mujoco>\n<worldbody>\n<body name='b'>\n<joint axis='0 0 0'/></body></worldbody></mujoco>", ("line 4, joint", "axis")),
        ("<mujoco>\n<worldbody><body>\n<geom size='1 x'/></body></worldbody></mujoco>", ("line 3, geom", "no number")),
        ("<mujoco><worldbody><body>\n<geom class='no' size='1'/></body></worldbody></mujoco>", ("line 2, geom", "class 'no'")),
        (
            "<mujoco><worldbody><body>\n<body><freejoint/></body></body></worldbody></mujoco>",
            ("line 2, freejoint", "directly in the world"),
        ),
        ("<mujoco>\n<include file='../x.xml'/></mujoco>", ("line 2", "folder")),
        ("<mujoco>\n<worldbody>\n<replicate count='1e9'/></worldbody></mujoco>", ("line 3, replicate", "10000")),
        ("<mujoco>\n<worldbody>", ("line 2", "well-formed")),
        ("<robot/>", ("line 1, robot", "<mujoco>")),
        ("<mujoco><worldbody><body>\n<joint range='2 1'/></body></worldbody></mujoco>", ("line 2, joint", "empty")),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as caught:
        read_mjcf(text.encode(), file="bad.xml")
    for word in ("bad.xml", *words):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


PART = "<mujocoinclude><body name='b'><joint name='j'/><geom size='1'/></body></mujocoinclude>"
INCLUDING = "<mujoco><worldbody><include file='{}'/></worldbody></mujoco>"


@pytest.fixture
def models(tmp_path):
    """Models as Meta-World keeps them: assets/sawyer_xyz/*.xml name ../objects/assets/*.xml; three folders up is not theirs."""
    folder = tmp_path / "top" / "assets" / "sawyer_xyz"
    parts = tmp_path / "top" / "assets" / "objects" / "assets"
    folder.mkdir(parents=True)
    parts.mkdir(parents=True)
    for place in (folder, parts):
        (place / "part.xml").write_text(PART)
    (folder / "loop.xml").write_text("<mujoco><include file='loop.xml'/></mujoco>")
    (tmp_path / "secret.xml").write_text(PART)
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    return folder


@pytest.mark.parametrize("name", ["part.xml", "../objects/assets/part.xml"])
def test_includes_are_read_from_the_tree(models, name: str) -> None:
    character, _ = read_mjcf(INCLUDING.format(name).encode(), file="m.xml", folder=models)
    assert character.coordinates == ("j",)


@pytest.mark.parametrize(
    ("name", "word"),
    [("../../../secret.xml", "leads out"), ("link.xml", "leads out"), ("missing.xml", "no such file"), ("loop.xml", "circle")],
)
def test_includes_are_read_from_nowhere_else(models, name: str, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        read_mjcf(INCLUDING.format(name).encode(), file="m.xml", folder=models)


@pytest.mark.parametrize("mark", [".git", "pyproject.toml", "project.yaml"])
def test_a_repository_or_a_project_is_not_left(models, mark: str) -> None:
    (models / mark).touch()
    with pytest.raises(BadInput, match="leads out"):
        read_mjcf(INCLUDING.format("../objects/assets/part.xml").encode(), file="m.xml", folder=models)


def test_the_home_folder_is_no_tree(models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(models.parent))
    with pytest.raises(BadInput, match="leads out"):
        read_mjcf(INCLUDING.format("../objects/assets/part.xml").encode(), file="m.xml", folder=models)


def test_strings_become_tendons_no_longer_than_they_are() -> None:
    """A weight of 2 kg on a string 1 m long whose hook is a point in a turned frame: it hangs, and the tendon carries it."""
    turned = Pose(position=(0.0, 0.0, 0.05), quaternion=(0.0, 1.0, 0.0, 0.0))
    character = Character(
        name="bob",
        bodies=(Body(name="bob", mass=2.0, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0)),),
        joints=(Joint(name="base", kind="free", parent="world", child="bob"),),
        frames=(Frame(name="top", body="bob", pose=turned),),
        carriages=(Carriage(name="c", home=(0.3, -0.2, 2.0)),),
        strings=(String(name="s", carriage="c", hook="top", point=(0.0, 0.0, -0.02), length=1.0),),
        home={"base.tx": 0.3, "base.ty": -0.2, "base.tz": 0.93},
    )
    text, notes = export_mjcf(character)
    assert len(notes) == 1
    assert "mocap" in notes[0]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = coordinates_to_qpos(character, model, np.array([0.3, -0.2, 0.93, 0.0, 0.0, 0.0]))[0]
    mujoco.mj_forward(model, data)
    assert data.ten_length[0] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(data.site("s.hook").xpos, [0.3, -0.2, 1.0], atol=1e-12)
    assert tuple(model.tendon_range[0]) == (0.0, 1.0)
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert data.ten_length[0] == pytest.approx(1.0, abs=1e-5)
    assert data.efc_force[0] == pytest.approx(2.0 * 9.81, rel=1e-4)
    loose = character.changed(strings=(character.strings[0].changed(length=None),), home=character.home | {"base.tz": 0.43})
    assert mujoco.MjModel.from_xml_string(export_mjcf(loose)[0]).tendon_range[0, 1] == pytest.approx(1.5, abs=1e-15)
