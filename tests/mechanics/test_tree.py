"""Forward kinematics, Jacobians and centre of mass of the built-in characters, against MuJoCo and by slope."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, Joint
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.formats.registry import built_in, read_character
from bunraku.formats.unbent import unbent
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")

NAMES = built_in("character")


@pytest.fixture(scope="module", params=NAMES)
def character(request) -> Character:
    return read_character(request.param)


@pytest.fixture(scope="module")
def configurations(character) -> np.ndarray:
    return np.random.default_rng(7).uniform(-1.2, 1.2, (6, len(character.coordinates)))


def simulated(character: Character, quaternion: bool = True) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(write_mjcf(character, free_base_as_quaternion=quaternion))
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("quaternion", [True, False])
def test_poses_of_bodies_and_frames_equal_mujocos(character, configurations, quaternion) -> None:
    model, data = simulated(character, quaternion)
    tree = compile_tree(character)
    many = tree.poses(configurations)
    for k, q in enumerate(configurations):
        data.qpos[:] = coordinates_to_qpos(character, model, q)[0]
        mujoco.mj_kinematics(model, data)
        at = tree.configuration(q)
        for body in character.bodies:
            node = tree.nodes[body.name]
            np.testing.assert_allclose(at.position[node], data.body(body.name).xpos, atol=1e-10)
            np.testing.assert_allclose(at.rotation[node].ravel(), data.body(body.name).xmat, atol=1e-10)
            np.testing.assert_array_equal(many[0][k, node], at.rotation[node])
            np.testing.assert_array_equal(many[1][k, node], at.position[node])
        for frame in character.frames:
            R, p = at.pose(frame.name)
            np.testing.assert_allclose(p, data.site(frame.name).xpos, atol=1e-10)
            np.testing.assert_allclose(R.ravel(), data.site(frame.name).xmat, atol=1e-10)


def test_centre_of_mass_and_jacobians_equal_mujocos(character, configurations) -> None:
    model, data = simulated(character, quaternion=False)
    tree = compile_tree(unbent(character))
    columns = [int(model.joint(name).dofadr[0]) for name in tree.names]
    linear, angular = np.empty((3, model.nv)), np.empty((3, model.nv))
    for q in configurations:
        data.qpos[:] = coordinates_to_qpos(character, model, q)[0]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        at = tree.configuration(q)
        np.testing.assert_allclose(at.center_of_mass(), data.subtree_com[0], atol=1e-10)
        for frame in character.frames:
            mujoco.mj_jacSite(model, data, linear, angular, model.site(frame.name).id)
            Jv, Jw = at.jacobian(frame.name)
            np.testing.assert_allclose(Jv, linear[:, columns], atol=1e-10)
            np.testing.assert_allclose(Jw, angular[:, columns], atol=1e-10)


def test_jacobian_by_slope(character) -> None:
    """|x(q + h d) - x(q) - h J d| falls with h²: its logarithm has slope 2 over the steps."""
    tree = compile_tree(character)
    rng = np.random.default_rng(8)
    q, d = rng.uniform(-1.0, 1.0, (2, tree.nq))
    at = tree.configuration(q)
    steps = np.logspace(-2, -4, 5)
    chosen = {"l_hand", "r_foot", "head", "hand", "thumb_tip", "little_tip"} & {frame.name for frame in character.frames}
    if not chosen:
        pytest.skip("no limb that ends in a frame")
    for frame in sorted(chosen):
        Jv, Jw = at.jacobian(frame)
        R, p = at.pose(frame)
        x, y, z = Jw @ d
        W = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        moved = [tree.configuration(q + h * d).pose(frame) for h in steps]
        for errors in (
            [np.linalg.norm(m[1] - p - h * Jv @ d) for m, h in zip(moved, steps, strict=True)],
            [np.linalg.norm(m[0] - R - h * W @ R) for m, h in zip(moved, steps, strict=True)],
        ):
            assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.05)


def test_joints_may_come_in_any_order_and_followers_follow() -> None:
    bodies = tuple(Body(name=name, mass=1.0) for name in "abc")
    joints = (
        Joint(name="third", kind="hinge", parent="b", child="c", axis=(0, 1, 0)),
        Joint(name="second", kind="slide", parent="a", child="b", axis=(1, 0, 0)),
        Joint(name="first", kind="hinge", parent="world", child="a"),
    )
    couplings = (Coupling(driver="second", follower="third", ratio=2.0, offset=0.1),)
    tree = compile_tree(Character(name="x", bodies=bodies, joints=joints, couplings=couplings, home={"second": 0.3}))
    assert tree.names == ("third", "second", "first")
    np.testing.assert_allclose(tree.home, (0.7, 0.3, 0.0))
    q = tree.expand(("first", "second"), np.array([[np.pi / 2, 0.5]]))[0]
    np.testing.assert_allclose(q, (1.1, 0.5, np.pi / 2))
    np.testing.assert_allclose(tree.configuration(q).pose("c")[1], (0.0, 0.5, 0.0), atol=1e-15)
    with pytest.raises(BadInput, match="no coordinate 'fourth'"):
        tree.expand(("fourth",), np.zeros((1, 1)))
    with pytest.raises(BadInput, match="no frame or body 'nose'"):
        tree.node("nose")
