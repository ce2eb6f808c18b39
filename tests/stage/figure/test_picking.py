"""Picking against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Shape
from bunraku.formats.registry import read_character
from bunraku.stage.figure.motion import drawn_pose, picked


def two_boxes() -> Character:
    near = Body(name="near", mass=1.0, shapes=(Shape(kind="box", size=(0.1, 0.1, 0.1)),))
    far = Body(name="far", mass=1.0, shapes=(Shape(kind="box", size=(0.2, 0.2, 0.2)),))
    turned = Pose(position=(1.0, 0.0, 0.0), quaternion=(np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)))
    joints = (
        Joint(name="a", kind="fixed", parent="world", child="near"),
        Joint(name="b", kind="fixed", parent="world", child="far", pose=turned),
    )
    return Character(name="boxes", bodies=(near, far), joints=joints)


def test_the_nearest_box_is_met_where_its_face_is() -> None:
    motion = drawn_pose(two_boxes())
    found = picked(motion, 0, (-3.0, 0.02, 0.03), (2.0, 0.0, 0.0))
    assert found is not None
    assert found.body == "near"
    assert found.point == pytest.approx([-0.1, 0.02, 0.03])
    assert found.local == pytest.approx([-0.1, 0.02, 0.03])
    found = picked(motion, 0, (3.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    assert found is not None
    assert found.body == "far"
    assert found.point[0] == pytest.approx(1.0 + 0.2 * np.sqrt(2.0))
    assert np.abs(found.local) == pytest.approx([0.2, 0.2, 0.0], abs=1e-6)


def test_a_ray_that_passes_by_meets_nothing() -> None:
    motion = drawn_pose(two_boxes())
    assert picked(motion, 0, (-3.0, 0.5, 0.0), (1.0, 0.0, 0.0)) is None
    assert picked(motion, 0, (3.0, 0.0, 0.0), (1.0, 0.0, 0.0)) is None


def test_every_body_of_a_robot_can_be_picked_from_some_side() -> None:
    character = read_character("walker")
    motion = drawn_pose(character)
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(600):
        away = rng.normal(size=3)
        away *= 2.0 / np.linalg.norm(away)
        aim = motion.lower[0] + rng.random(3) * (motion.upper[0] - motion.lower[0])
        found = picked(motion, 0, aim + away, -away)
        if found is not None:
            seen.add(found.body)
            assert (found.point >= motion.lower[0] - 0.05).all()
            assert (found.point <= motion.upper[0] + 0.05).all()
    assert len(seen) >= 0.8 * len([body for body in character.bodies if body.shapes])
