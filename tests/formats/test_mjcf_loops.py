"""Closed chains in MJCF and URDF: what MuJoCo's connect and weld mean, and that ours come back."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Tendon
from bunraku.formats.mjcf_read import read_mjcf
from bunraku.formats.mjcf_write import export_mjcf, write_mjcf
from bunraku.formats.urdf_read import read_urdf
from bunraku.formats.urdf_write import write_urdf
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.loops import close_loops, loop_gaps, mobility
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")

LEGS = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a" pos="0.1 0 0.5" euler="0 0.3 0"><joint name="qa" axis="0 1 0" ref="0.2"/><geom size="0.02" pos="0 0 -0.2"/>
 <body name="b" pos="0 0 -0.3"><joint name="qb" axis="0 1 0"/><geom size="0.02" pos="0 0.01 -0.2"/></body></body>
<body name="c" pos="0.4 0 0.5"><joint name="qc" axis="0 1 0"/><geom size="0.02" pos="0 0 -0.2"/></body>
</worldbody><equality>{}</equality></mujoco>"""


def anchors(model, data, k):
    """World places of both anchors of an equality between bodies, as MuJoCo has them."""
    one, two = model.eq_obj1id[k], model.eq_obj2id[k]
    places = []
    for body, point in ((one, model.eq_data[k, :3]), (two, model.eq_data[k, 3:6])):
        places.append(data.xpos[body] + data.xmat[body].reshape(3, 3) @ point)
    return places


@pytest.mark.parametrize(("second", "name"), [('body2="c"', "c"), ("", "world")])
def test_a_connect_between_bodies_is_a_ball_that_is_closed_at_zero(second, name) -> None:
    text = LEGS.format(f'<connect name="k" body1="b" {second} anchor="0.05 0.02 -0.3"/>')
    character, notes = read_mjcf(text.encode(), file="legs.xml")
    assert notes == ()
    loop = character.loops[0]
    assert (loop.name, loop.kind, loop.parent, loop.child) == ("k", "ball", "b", name)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    tree = compile_tree(character)
    rng = np.random.default_rng(0)
    for q in (tree.home, *rng.uniform(-1.0, 1.0, (3, 3))):
        data.qpos[[model.joint(coordinate).qposadr[0] for coordinate in tree.names]] = q
        mujoco.mj_kinematics(model, data)
        theirs = np.linalg.norm(np.subtract(*anchors(model, data, 0)))
        assert loop_gaps(character, tree, q)["k"][0] == pytest.approx(theirs, abs=1e-9)
    assert loop_gaps(character, tree, tree.home)["k"][0] < 1e-12


def test_two_connects_are_a_hinge_and_a_weld_is_fixed() -> None:
    pair = '<connect name="k" body1="b" body2="c" anchor="0 0 -0.3"/><connect body1="b" body2="c" anchor="0 0.1 -0.3"/>'
    character, _ = read_mjcf(LEGS.format(pair).encode(), file="legs.xml")
    assert [(loop.name, loop.kind) for loop in character.loops] == [("k", "hinge")]
    assert np.abs(np.array(character.loops[0].axis)) == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)
    system = character_system(character)
    assert (system.nc, mobility(system, character_home(character, system))) == (2, 1)
    character, _ = read_mjcf(LEGS.format('<weld body1="b" body2="c" anchor="0.1 0 0"/>').encode(), file="legs.xml")
    tree = compile_tree(character)
    assert character.loops[0].kind == "fixed"
    assert max(loop_gaps(character, tree, tree.home)["loop_0"]) < 1e-7
    given = '<weld body1="b" body2="c" relpose="0.3 0 0.1 0.9 0.1 0.3 0.2"/>'
    character, _ = read_mjcf(LEGS.format(given).encode(), file="legs.xml")
    assert np.array(character.loops[0].pose.position) == pytest.approx([0.3, 0.0, 0.1])
    np.testing.assert_allclose(
        character.loops[0].pose.quaternion, np.array([0.9, 0.1, 0.3, 0.2]) / np.linalg.norm([0.9, 0.1, 0.3, 0.2])
    )


def test_what_closes_nothing_is_noted() -> None:
    text = LEGS.format('<connect body1="b" body2="c" anchor="0 0 0" active="false"/><connect body1="wing" anchor="0 0 0"/>')
    character, notes = read_mjcf(text.encode(), file="legs.xml")
    assert character.loops == ()
    assert len(notes) == 2


def linkage(kind: str) -> Character:
    part = {"mass": 0.2, "center_of_mass": (0.1, 0.0, 0.0), "inertia": (1e-4, 2e-4, 2e-4, 0.0, 0.0, 0.0)}
    turned = Pose(position=(0.2, 0.01, 0.0), quaternion=(0.9, 0.1, -0.3, 0.2))
    joints = (
        Joint(name="a", kind="ball", parent="world", child="a", pose=Pose(position=(0.0, 0.0, 1.0)), sequence="xyz"),
        Joint(name="b", kind="free", parent="world", child="b"),
    )
    more = {"axis": (0.2, 0.9, -0.3)} if kind == "hinge" else {}
    loop = Joint(name="close", kind=kind, parent="a", child="b", pose=turned, child_pose=Pose(position=(0.0, 0.0, 0.1)), **more)
    tendon = Tendon(name="pull", moment_arms={"a.x": 0.01, "a.z": -0.02}, max_tension=30.0)
    bodies = (Body(name="a", **part), Body(name="b", **part))
    home = {"a.x": 0.3, "a.y": -0.4, "b.tx": 0.2, "b.tz": 1.0}
    return Character(name="linkage", bodies=bodies, joints=joints, loops=(loop,), tendons=(tendon,), home=home)


@pytest.mark.parametrize("kind", ["ball", "hinge", "fixed"])
def test_loops_come_back_from_mjcf_and_mean_the_same_to_mujoco(kind) -> None:
    """MuJoCo's residuals vanish where ours do, its rows forbid what ours forbid, and the reader finds the same joint."""
    character = linkage(kind)
    text, notes = export_mjcf(character, free_base_as_quaternion=False, floor=False, self_collision=False)
    assert notes == ()
    again, _ = read_mjcf(text.encode(), file="x")
    assert [(loop.name, loop.kind, loop.parent, loop.child) for loop in again.loops] == [("close", kind, "a", "b")]
    assert again.frames == ()
    system = character_system(character)
    q = character_home(character, system)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    order = [model.joint(name).dofadr[0] for name in system.names]
    data.qpos[order] = q
    mujoco.mj_forward(model, data)
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert np.abs(data.efc_pos[rows]).max() < 1e-9
    theirs = data.efc_J.reshape(data.nefc, model.nv)
    tangent = np.linalg.svd(system.constraint_jacobian(q))[2][system.nc :]
    assert np.abs(theirs[rows][:, order] @ tangent.T).max() < 1e-9
    assert np.linalg.matrix_rank(theirs[rows][:, order], tol=1e-8) == system.nc
    ours, back = (close_loops(c, compile_tree(c)) for c in (character, again))
    assert len(ours.constraints) == len(back.constraints)


def test_tendons_turn_joints_in_mujoco_as_they_do_here() -> None:
    character = linkage("ball")
    model = mujoco.MjModel.from_xml_string(write_mjcf(character, free_base_as_quaternion=False, floor=False))
    data = mujoco.MjData(model)
    data.ctrl[:] = 7.0
    mujoco.mj_forward(model, data)
    system = character_system(character)
    order = [model.joint(name).dofadr[0] for name in system.names]
    assert model.actuator("pull").ctrlrange.tolist() == [0.0, 30.0]
    np.testing.assert_allclose(data.qfrc_actuator[order], system.force(system.home, np.zeros(system.nq), [7.0]), atol=1e-12)


def test_what_mujoco_has_no_equality_for_is_noted() -> None:
    loop = Joint(name="rail", kind="slide", parent="a", child="b", range=(-1.0, 1.0))
    _, notes = export_mjcf(linkage("ball").changed(loops=(loop,)))
    assert any("rail" in note and "not written" in note for note in notes)


def test_a_second_parent_in_urdf_closes_a_loop() -> None:
    def joint(name, parent, child, kind="revolute"):
        ends = f"<parent link='{parent}'/><child link='{child}'/><axis xyz='0 1 0'/>"
        return f"<joint name='{name}' type='{kind}'>{ends}<limit lower='-1' upper='1' effort='2' velocity='3'/></joint>"

    links = "".join(f"<link name='{name}'/>" for name in "rabc")
    text = (
        f"<robot name='x'>{links}{joint('j', 'r', 'a')}{joint('k', 'a', 'b')}{joint('l', 'r', 'c')}{joint('m', 'c', 'b')}</robot>"
    )
    character, notes = read_urdf(text.encode(), file="x.urdf")
    assert [loop.name for loop in character.loops] == ["m"]
    assert {motor.coordinate for motor in character.motors} == {"j", "k", "l"}
    assert any("second parent" in note for note in notes)
    assert "loops dropped: URDF has no place for them" in write_urdf(character)[1]
