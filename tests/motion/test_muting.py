"""Muted coordinates stay at home; the clip that was muted is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.motion import Clip, Gait, JointCurves
from bunraku.motion.muting import muted_clip

ROBOT = Character(
    name="c",
    bodies=(Body(name="a"), Body(name="b")),
    joints=(Joint(name="a", kind="hinge", parent="world", child="a"), Joint(name="b", kind="hinge", parent="a", child="b")),
    motors=(Motor(name="a", coordinate="a"), Motor(name="b", coordinate="b")),
    groups={"all": ("a", "b")},
    home={"b": 0.3},
)
CLIP = Clip("clip", joints=JointCurves(("a", "b"), 10.0, np.arange(8.0).reshape(4, 2)), held=("a",))


def test_the_muted_curve_is_home_and_the_others_are_as_they_were():
    made = muted_clip(ROBOT, CLIP, ["b"])
    assert made.joints is not None
    assert made.joints.column("b").tolist() == [0.3] * 4
    assert made.joints.column("a").tolist() == [0.0, 2.0, 4.0, 6.0]
    assert made.held == ("a", "b")
    assert CLIP.joints is not None
    assert CLIP.joints.column("b").tolist() == [1.0, 3.0, 5.0, 7.0]


def test_groups_gaits_and_nothing():
    walk = Clip("walk", gait=Gait(1.0, locked=("a",)))
    made = muted_clip(ROBOT, walk, ["all"])
    assert made.gait is not None
    assert made.gait.locked == ("a", "b")
    assert muted_clip(ROBOT, CLIP, []) is CLIP
    with pytest.raises(BadInput, match="'knee' is neither"):
        muted_clip(ROBOT, CLIP, ["knee"])
