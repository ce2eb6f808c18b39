from __future__ import annotations

import pytest

from bunraku.retargeting.names import find_role, find_side, plain_name

HABITS = {
    "MotionBuilder": [
        "Hips",
        "LHipJoint",
        "LeftUpLeg",
        "LeftLeg",
        "LeftFoot",
        "Spine",
        "Head",
        "LeftShoulder",
        "LeftArm",
        "LeftForeArm",
        "LeftHand",
    ],
    "Mixamo": [
        "mixamorig:Hips",
        "mixamorig:LeftUpLeg",
        "mixamorig:LeftLeg",
        "mixamorig:LeftFoot",
        "mixamorig:Head",
        "mixamorig:LeftShoulder",
        "mixamorig:LeftArm",
        "mixamorig:LeftForeArm",
        "mixamorig:LeftHand",
        "mixamorig:LeftHandIndex1",
    ],
    "Unity": [
        "Hips",
        "LeftUpperLeg",
        "LeftLowerLeg",
        "LeftFoot",
        "Head",
        "LeftShoulder",
        "LeftUpperArm",
        "LeftLowerArm",
        "LeftHand",
    ],
    "Unreal": ["pelvis", "thigh_l", "calf_l", "foot_l", "head", "clavicle_l", "upperarm_l", "lowerarm_l", "hand_l"],
    "3ds Max": [
        "Bip01 Pelvis",
        "Bip01 L Thigh",
        "Bip01 L Calf",
        "Bip01 L Foot",
        "Bip01 Head",
        "Bip01 L Clavicle",
        "Bip01 L UpperArm",
        "Bip01 L Forearm",
        "Bip01 L Hand",
    ],
    "Poser": ["hip", "lThigh", "lShin", "lFoot", "head", "lCollar", "lShldr", "lForeArm", "lHand", "lThumb1"],
    "Blender": ["pelvis", "thigh.L", "shin.L", "foot.L", "head", "shoulder.L", "upper_arm.L", "forearm.L", "hand.L"],
    "plain": ["hips", "left_hip", "left_knee", "left_ankle", "head", "left_shoulder", "left_elbow", "left_wrist"],
}


@pytest.mark.parametrize("habit", HABITS)
def test_every_habit_gives_a_whole_arm_and_leg(habit):
    names = HABITS[habit]
    left = [name for name in names if find_side(name) == "left"]
    roles = {role: find_role(role, "left", names) for role in ("hip", "knee", "foot", "shoulder", "elbow", "hand")}
    assert None not in roles.values()
    assert len(set(roles.values())) == 6
    assert [name for name in left if name in roles.values()] == list(roles.values())
    assert find_role("head", "", names) is not None
    assert find_role("pelvis", "", names) == names[0]
    assert find_role("hand", "right", names) is None


def test_the_clavicle_is_not_the_shoulder_where_there_is_an_upper_arm():
    assert find_role("shoulder", "left", HABITS["MotionBuilder"]) == "LeftArm"
    assert find_role("shoulder", "left", HABITS["Blender"]) == "upper_arm.L"
    assert find_role("shoulder", "left", HABITS["plain"]) == "left_shoulder"


def test_side_number_and_prefix_do_not_count():
    assert plain_name("mixamorig:LeftForeArm") == "forearm" == plain_name("Bip01 R Forearm") == plain_name("fore_arm.L")
    assert (find_side("thigh_r"), find_side("RThumb"), find_side("Hips"), find_side("Reel")) == ("right", "right", "", "")
