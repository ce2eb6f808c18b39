"""Left and right: a mirrored pose puts every wheel and foot where the reflection of its twin is."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.assemble import assemble
from bunraku.building.mirror import mirror_map
from bunraku.building.robots.builtin import ROBOTS, built_in_robot
from bunraku.character import Character, Pose
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.tree import compile_tree

FLIP = np.array([1.0, -1.0, 1.0])


@pytest.mark.parametrize("name", ROBOTS)
def test_a_mirrored_pose_is_the_reflection(name: str) -> None:
    character = read_character(name)
    mirror = mirror_map(character)
    other, sign = mirror.of(character.coordinates)
    tree = compile_tree(character)
    q = np.random.default_rng(3).normal(0.0, 0.7, tree.nq)
    np.testing.assert_array_equal((sign * (sign * q[other])[other]), q)  # twice mirrored is as before
    one, two = tree.configuration(q), tree.configuration(sign * q[other])
    tips = {tip.name: tip for tip in character.end_effectors}
    for tip in character.end_effectors:
        twin = tips[mirror.end_effectors[tip.name]]
        R, p = one.pose(tip.body)
        S, r = two.pose(twin.body)
        np.testing.assert_allclose((p + R @ np.array(tip.center)) * FLIP, r + S @ np.array(twin.center), atol=1e-12)
        np.testing.assert_allclose(np.abs((R @ np.array(tip.axis) * FLIP) @ (S @ np.array(twin.axis))), 1.0, atol=1e-12)
    np.testing.assert_allclose(one.center_of_mass() * FLIP, two.center_of_mass(), atol=1e-9)


def test_the_base_changes_side_heading_and_roll() -> None:
    mirror = mirror_map(read_character("walker"))
    signs = {name: sign for name, (other, sign) in mirror.coordinates.items() if name.startswith("base.") and other == name}
    assert signs == {"base.tx": 1.0, "base.ty": -1.0, "base.tz": 1.0, "base.rz": -1.0, "base.ry": 1.0, "base.rx": -1.0}
    assert mirror.coordinates["LF.roll"] == ("RF.roll", -1.0)
    assert mirror.coordinates["LF.knee"] == ("RF.knee", 1.0)
    assert mirror.end_effectors == {"LF": "RF", "RF": "LF", "LH": "RH", "RH": "LH"}


def test_half_a_pair_has_no_permutation() -> None:
    with pytest.raises(BadInput, match=r"the mirror of 'LF.hip' is 'RF.hip'"):
        mirror_map(read_character("swizzlebot")).of(["LF.hip", "LF.knee"])


def walker() -> Character:
    return assemble(built_in_robot("walker"))


def test_a_moved_joint_has_no_mirror() -> None:
    character = walker()
    joints = tuple(
        joint.changed(pose=Pose(position=(0.1, 0.07, 0.0))) if joint.name == "LF.roll" else joint for joint in character.joints
    )
    with pytest.raises(BadInput, match=r"not symmetric: nothing mirrors the joint 'LF.roll' at \[0.1, 0.07, 0.0\] m"):
        mirror_map(character.changed(joints=joints))


def test_other_asymmetries_are_named() -> None:
    character = walker()
    with pytest.raises(BadInput, match=r"at home 'LF.hip' is 0.1 and its mirror 'RF.hip' 0.6"):
        mirror_map(character.changed(home=character.home | {"LF.hip": 0.1}))
    heavier = tuple(body.changed(mass=body.mass + 0.01) if body.name == "LF.knee_link" else body for body in character.bodies)
    with pytest.raises(BadInput, match=r"the masses of 'LF.knee_link' and 'RF.knee_link'"):
        mirror_map(character.changed(bodies=heavier))
    tips = tuple(tip.changed(radius=0.02) if tip.name == "RH" else tip for tip in character.end_effectors)
    with pytest.raises(BadInput, match="no end effector mirrors 'LH'"):
        mirror_map(character.changed(end_effectors=tips))
    joints = tuple(joint.changed(range=(-0.1, 2.0)) if joint.name == "LH.hip" else joint for joint in character.joints)
    with pytest.raises(BadInput, match=r"the ranges of 'LH.hip' and 'RH.hip' differ"):
        mirror_map(character.changed(joints=joints))
