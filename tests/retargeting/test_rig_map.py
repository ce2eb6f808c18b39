from __future__ import annotations

import pytest

from bunraku.errors import BadInput
from bunraku.retargeting.guess import guess_rig
from bunraku.retargeting.rig_map import read_rig_map, write_rig_map


def test_the_guess_finds_both_arms_trunk_and_head_and_says_what_is_missing(captured, puppet):
    guess = guess_rig(captured[0].skeleton, puppet)
    assert [limb.name for limb in guess.rig.limbs] == ["left arm", "right arm"]
    assert guess.rig.limbs[1].bones == ("RightArm", "RightForeArm", "RightHand")
    assert guess.rig.limbs[1].frames == ("r_shoulder", "r_elbow", "r_hand")
    assert {limb.turn for limb in guess.rig.limbs} == {"twist"}
    assert (guess.rig.chest.bone, guess.rig.chest.frame) == ("Spine1", "torso")
    assert (guess.rig.pelvis.bone, guess.rig.head.bone) == ("Hips", "Head")
    assert "bone of the left knee" in guess.missing
    assert "frame of the right foot" in guess.missing


def test_a_map_reads_back_equal(captured, puppet):
    rig = guess_rig(captured[0].skeleton, puppet).rig
    rig = rig.changed(head=rig.head.changed(lever=0.07, offset=(0.6, 0.0, 0.8, 0.0)), upright=True)
    data = write_rig_map(rig)
    assert data.startswith(b"bunraku: rig/1")
    assert read_rig_map(data, file="a.rig.yaml") == rig


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("bunraku: clip/1\n", "rig file is needed"),
        ("bunraku: rig/1\nchest: {bone: A, frame: b}\n", "nothing would move"),
        ("bunraku: rig/1\nchest: {bone: A, frame: b}\nhead: {bone: H, frame: h, weight: 2}\n", "weight"),
        ("bunraku: rig/1\nchest: {bone: A, frame: b}\nhead: {bone: H, frame: h, aim_weight: -2}\n", "aim_weight"),
        (
            "bunraku: rig/1\nchest: {bone: A, frame: b}\n"
            "limbs:\n- {name: left leg, hangs_on: pelvis, bones: [a, b, c], frames: [a, b, c]}\n",
            "pelvis",
        ),
    ],
)
def test_a_bad_map_is_refused_with_its_place(text, complaint):
    with pytest.raises(BadInput, match=complaint) as caught:
        read_rig_map(text.encode(), file="a.rig.yaml")
    assert "a.rig.yaml" in str(caught.value)
