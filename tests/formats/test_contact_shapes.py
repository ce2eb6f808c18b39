"""End effectors in MJCF and URDF: discs and balls where the plan rolls, drawn shapes out of the way, axles that turn and drag."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, EndEffector, Joint, Motor, Pose, Shape
from bunraku.formats.contact_shapes import HALF_DISC, contact_shape, split_shapes
from bunraku.formats.mjcf_read import read_mjcf
from bunraku.formats.mjcf_write import export_mjcf, write_mjcf
from bunraku.formats.urdf_read import read_urdf
from bunraku.formats.urdf_write import write_urdf
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")

RADIUS, DRAG = 0.025, 0.5
ACROSS = Pose(quaternion=(0.5**0.5, 0.5**0.5, 0.0, 0.0))


def skater() -> Character:
    """A body with a driven wheel, a free wheel with drag, a leg that ends in a ball, and one that ends in a disc."""
    drawn = Shape(kind="cylinder", size=(RADIUS, 0.006), pose=ACROSS)
    inertia = (1e-5, 2e-5, 1e-5, 0.0, 0.0, 0.0)
    bodies = [Body(name="body", mass=1.0, inertia=(0.01, 0.01, 0.01, 0, 0, 0), shapes=(Shape(kind="box", size=(0.1, 0.05, 0.02)),))]
    bodies += [Body(name=name, mass=0.02, inertia=inertia, shapes=(drawn,)) for name in ("front", "rear")]
    shank = Shape(kind="capsule", size=(0.008, 0.04), pose=Pose(position=(0.0, 0.0, -0.04)))
    knee = Shape(kind="box", size=(0.02, 0.02, 0.02))
    bodies += [Body(name=name, mass=0.05, inertia=inertia, shapes=(shank, knee)) for name in ("left", "right")]
    wheel = {"kind": "hinge", "parent": "body", "axis": (0.0, 1.0, 0.0)}
    joints = (
        Joint(name="base", kind="free", parent="world", child="body"),
        Joint(name="drive", child="front", pose=Pose(position=(0.1, 0.0, -0.05)), **wheel),
        Joint(name="roll", child="rear", pose=Pose(position=(-0.1, 0.0, -0.05)), damping=DRAG * RADIUS**2, **wheel),
        Joint(name="hip", child="left", pose=Pose(position=(0.0, 0.1, 0.0)), range=(-1.0, 1.0), **wheel),
        Joint(name="hop", kind="fixed", parent="body", child="right", pose=Pose(position=(0.0, -0.1, 0.0))),
    )
    motors = (
        Motor(name="wheel motor", coordinate="drive", stall_torque=0.4, no_load_speed=80.0, velocity=60.0),
        Motor(name="hip motor", coordinate="hip", stall_torque=1.5, velocity=6.0, stiffness=20.0, damping=0.3),
    )
    tips = (
        EndEffector(name="driven", kind="active", body="front", radius=RADIUS, friction=0.7),
        EndEffector(name="free", kind="passive", body="rear", radius=RADIUS, rolling_resistance=DRAG),
        EndEffector(name="ball", kind="ball", body="left", center=(0.0, 0.0, -0.09), radius=0.015, friction=0.9),
        EndEffector(name="disc", kind="welded", body="right", center=(0.0, 0.0, -0.09), axis=(1.0, 1.0, 0.0), radius=0.015),
    )
    return Character(name="skater", bodies=tuple(bodies), joints=joints, motors=motors, end_effectors=tips)


def test_a_tilted_disc_is_as_high_as_the_circle_it_is_planned_with() -> None:
    """Tilted by a, a disc reaches r cos(a) below its centre, plus its half width times sin(a): less than half a millimetre."""
    for tilt in (0.0, 0.4, 0.9):
        axis = (0.0, float(np.cos(tilt)), float(np.sin(tilt)))
        shape = contact_shape(EndEffector(name="w", kind="welded", body="b", axis=axis, radius=RADIUS))
        spot = f"<geom type='cylinder' size='{shape.size[0]} {shape.size[1]}' quat='{' '.join(map(str, shape.pose.quaternion))}'/>"
        body = f"<body pos='0 0 {RADIUS * np.cos(tilt) - 0.001}'><freejoint/>{spot}</body>"
        model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><geom type='plane' size='1 1 1'/>{body}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        assert data.contact.dist.min() == pytest.approx(-0.001 - HALF_DISC * np.sin(tilt), abs=1e-9)


def test_what_is_drawn_at_an_end_effector_does_not_touch() -> None:
    character = skater()
    tips = {tip.body: [tip] for tip in character.end_effectors}
    touching = {body.name: [touches for _, touches in split_shapes(body, tips.get(body.name, []))] for body in character.bodies}
    assert touching == {"body": [True], "front": [False], "rear": [False], "left": [False, True], "right": [False, True]}


def test_mjcf_writes_wheels_that_roll_and_feet_that_grip() -> None:
    character = skater()
    text, notes = export_mjcf(character)
    model = mujoco.MjModel.from_xml_string(text)
    for tip in character.end_effectors:
        geom = model.geom(tip.name)
        assert geom.friction[0] == tip.friction
        assert (geom.size[0], model.body(int(geom.bodyid[0])).name) == (tip.radius, tip.body)
    data = mujoco.MjData(model)
    data.qpos[2] = 1.0
    mujoco.mj_forward(model, data)
    disc = data.geom_xmat[model.geom("disc").id].reshape(3, 3)[:, 2]
    np.testing.assert_allclose(np.abs(disc @ np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)), 1.0, atol=1e-9)
    assert model.dof_damping[model.jnt_dofadr[model.joint("roll").id]] == pytest.approx(DRAG * RADIUS**2, rel=1e-12)
    drive = model.actuator("wheel motor")
    assert (drive.biasprm[1], drive.biasprm[2]) == (0.0, -drive.gainprm[0])
    assert tuple(drive.forcerange) == (-0.4, 0.4)
    assert tuple(drive.ctrlrange) == (-60.0, 60.0)
    assert model.actuator("hip motor").biasprm[1] == -20.0
    drawn = [i for i in range(model.ngeom) if model.geom_contype[i] or model.geom_conaffinity[i]]
    names = {model.geom(i).name for i in drawn}
    assert names >= {"floor", "driven", "free", "ball", "disc"}
    assert len(drawn) == 5 + 1 + 2, "the body and two knees"
    assert not any("end effector" in note for note in notes)


def test_mjcf_reads_back_what_it_wrote() -> None:
    character = skater()
    again, _ = read_mjcf(write_mjcf(character, floor=False).encode(), file="skater.xml")
    joints = {joint.name: joint for joint in again.joints}
    assert joints["roll"].damping == pytest.approx(DRAG * RADIUS**2, rel=1e-12)
    q = np.random.default_rng(5).uniform(-1.0, 1.0, len(character.coordinates))
    one, two = compile_tree(character).configuration(q), compile_tree(again).configuration(q)
    for body in character.bodies:
        np.testing.assert_allclose(two.pose(body.name)[1], one.pose(body.name)[1], atol=1e-12)
    solid = [shape for body in again.bodies if body.name == "front" for shape in body.shapes if shape.collides]
    assert [(shape.kind, shape.size[0]) for shape in solid] == [("cylinder", RADIUS)]


def test_urdf_turns_wheels_on_continuous_joints_and_reads_back() -> None:
    character = skater()
    text, notes = write_urdf(character)
    assert 'name="drive" type="continuous"' in text
    assert 'name="roll" type="continuous"' in text
    assert any("kind and friction" in note for note in notes)
    again, _ = read_urdf(text.encode(), file="skater.urdf")
    joints = {joint.name: joint for joint in again.joints}
    assert joints["roll"].damping == pytest.approx(DRAG * RADIUS**2, rel=1e-12)
    assert set(again.driven) == {"drive", "hip", "roll"}, "URDF cannot say that a joint has no motor"
    assert (again.motor_of("drive").stall_torque, again.motor_of("drive").velocity) == (0.4, 60.0)
    for name, kind, radius in (("front", "cylinder", RADIUS), ("left", "sphere", 0.015), ("right", "cylinder", 0.015)):
        solid = [
            shape for body in again.bodies if body.name == name for shape in body.shapes if shape.collides and shape.kind == kind
        ]
        assert any(shape.size[0] == pytest.approx(radius) for shape in solid), name
    model = mujoco.MjModel.from_xml_string(text.replace("</robot>", '<mujoco><compiler fusestatic="false"/></mujoco></robot>'))
    assert model.dof_damping[model.jnt_dofadr[model.joint("roll").id]] == pytest.approx(DRAG * RADIUS**2, rel=1e-9)
