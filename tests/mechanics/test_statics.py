"""Static torques against MuJoCo's bias force, the slope of the potential energy, and a base that the ground carries."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, Foot, Joint, Pose
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.mechanics.measures.statics import GRAVITY, static_torques
from bunraku.mechanics.tree import compile_tree

mujoco = pytest.importorskip("mujoco")


def arm(rng: np.random.Generator) -> Character:
    """A branching arm on the world: hinges about random axes, one slide."""
    parents = ["world", "0", "1", "1", "3", "4"]
    bodies, joints = [], []
    for i, parent in enumerate(parents):
        com = tuple(rng.uniform(-0.2, 0.2, 3).tolist())
        bodies.append(Body(name=str(i), mass=float(rng.uniform(0.2, 1.0)), center_of_mass=com, inertia=(0.01, 0.01, 0.01, 0, 0, 0)))
        place = Pose(position=tuple(rng.uniform(-0.3, 0.3, 3).tolist()), quaternion=tuple(rng.normal(size=4).tolist()))
        kind = "slide" if i == 3 else "hinge"
        axis = tuple(rng.normal(size=3).tolist())
        joints.append(Joint(name=f"j{i}", kind=kind, parent=parent, child=str(i), axis=axis, pose=place))
    return Character(name="arm", bodies=tuple(bodies), joints=tuple(joints))


def test_equal_to_mujocos_bias_force_at_rest() -> None:
    rng = np.random.default_rng(4)
    character = arm(rng)
    tree = compile_tree(character)
    model = mujoco.MjModel.from_xml_string(write_mjcf(character, floor=False, actuators=False))
    data = mujoco.MjData(model)
    q = rng.uniform(-1.0, 1.0, size=(30, tree.nq))
    ours = static_torques(character, tree, q)
    order = [model.joint(name).dofadr[0] for name in tree.names]
    for k, qpos in enumerate(coordinates_to_qpos(character, model, q)):
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(ours[k], data.qfrc_bias[order], atol=1e-12)


def test_pendulum_closed_form() -> None:
    character = Character(
        name="pendulum",
        bodies=(Body(name="rod", mass=2.0, center_of_mass=(0.0, 0.0, -0.5)),),
        joints=(Joint(name="swing", kind="hinge", parent="world", child="rod", axis=(0, 1, 0)),),
    )
    angle = np.linspace(-3, 3, 13)
    torque = static_torques(character, compile_tree(character), angle[:, None])[:, 0]
    np.testing.assert_allclose(torque, 2.0 * GRAVITY * 0.5 * np.sin(angle), atol=1e-12)


def test_a_follower_loads_its_driver() -> None:
    rng = np.random.default_rng(5)
    free = arm(rng)
    coupled = free.changed(couplings=(Coupling(driver="j0", follower="j2", ratio=-0.5, offset=0.2),))
    tree = compile_tree(coupled)
    q = tree.expand(("j0", "j1"), rng.uniform(-1, 1, size=(4, 2)))
    alone, together = static_torques(free, compile_tree(free), q), static_torques(coupled, tree, q)
    np.testing.assert_allclose(together[:, 0], alone[:, 0] - 0.5 * alone[:, 2], atol=1e-12)
    np.testing.assert_array_equal(together[:, 2], 0.0)


def standing() -> Character:
    corners = ((0.1, 0.05, -0.2), (0.1, -0.05, -0.2), (-0.1, 0.05, -0.2), (-0.1, -0.05, -0.2))
    bodies, joints = [Body(name="trunk", mass=4.0, center_of_mass=(0.02, 0.01, 0.2))], []
    joints.append(Joint(name="base", kind="free", parent="world", child="trunk"))
    for side, y in (("left", 0.1), ("right", -0.1)):
        bodies += [Body(name=f"{side} leg", mass=0.7, center_of_mass=(0.0, 0.0, -0.1)), Body(name=f"{side} foot", mass=0.2)]
        hip = Pose(position=(0.0, y, 0.0))
        joints.append(Joint(name=f"{side} hip", kind="hinge", parent="trunk", child=f"{side} leg", axis=(0, 1, 0), pose=hip))
        knee = Pose(position=(0.0, 0.0, -0.2))
        joints.append(
            Joint(name=f"{side} ankle", kind="hinge", parent=f"{side} leg", child=f"{side} foot", axis=(0, 1, 0), pose=knee)
        )
    feet = tuple(Foot(name=side, body=f"{side} foot", points=corners) for side in ("left", "right"))
    return Character(name="standing", bodies=tuple(bodies), joints=tuple(joints), feet=feet, home={"base.tz": 0.4})


def test_the_ground_carries_a_standing_character() -> None:
    character = standing()
    tree = compile_tree(character)
    bend = np.linspace(-0.3, 0.3, 7)
    q = np.tile(tree.home, (7, 1))
    for side in ("left", "right"):
        q[:, tree.index(f"{side} hip")], q[:, tree.index(f"{side} ankle")] = bend, -bend
    torque = static_torques(character, tree, q)
    np.testing.assert_allclose(torque[:, :6], 0.0, atol=1e-10)
    # virtual work: the two ankles together hold the moment of everything above them about the ankle axis
    for k in range(7):
        at = tree.configuration(q[k])
        ankle = at.position[tree.nodes["left foot"]]
        total, above = 0.0, 0.0
        for name, node in tree.nodes.items():
            x = (at.position[node] + at.rotation[node] @ tree.center_of_mass[node])[0]
            if "foot" not in name:
                above += tree.mass[node] * GRAVITY * (x - ankle[0])
            total += tree.mass[node]
        held = torque[k, tree.index("left ankle")] + torque[k, tree.index("right ankle")]
        assert held == pytest.approx(above, abs=1e-10)


def test_legs_are_loaded_unlike_in_the_air() -> None:
    character = standing()
    tree = compile_tree(character)
    q = tree.home[None, :].copy()
    in_the_air = static_torques(character.changed(feet=()), tree, q)
    assert abs(in_the_air[0, tree.index("base.tz")]) == pytest.approx(tree.mass.sum() * GRAVITY)
    assert abs(static_torques(character, tree, q)[0, tree.index("left ankle")]) > 0.1
