from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.errors import BadInput
from bunraku.formats.bvh import read_bvh
from bunraku.formats.registry import read_character
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Audio, Clip, Mark, MotionLimits, SkeletonMotion
from bunraku.retargeting.guess import guess_rig
from bunraku.retargeting.inverse_kinematics import Solver
from bunraku.retargeting.retarget import retarget

EXACT = Solver(temporal_weight=0.0, home_weight=0.0)
CMU = {
    "18_08": {"left arm end": (0.09, 0.13), "right arm end": (0.09, 0.15), "head": (0.03, 0.0)},
    "18_11": {"left arm end": (1.04, 0.14), "right arm end": (1.61, 0.35), "head": (0.03, 0.0)},
    "18_15": {"left arm end": (3.06, 0.94), "right arm end": (3.33, 0.97), "head": (0.04, 0.0)},
    "79_06": {"left arm end": (0.11, 0.0), "right arm end": (0.95, 0.16), "head": (0.03, 0.0)},
    "02_05": {"left arm end": (2.83, 0.92), "right arm end": (2.64, 0.56), "head": (1.20, 0.59)},
}
"""As measured on the first 600 frames: error over all of them [cm RMS], and the share that NAO cannot reach (a joint at its end)"""


def moved(skeleton: SkeletonMotion, turn: np.ndarray, shift: np.ndarray) -> SkeletonMotion:
    """The whole recording turned and shifted in the world."""
    turns, moves = skeleton.rotations.copy(), skeleton.translations.copy()
    turns[:, 0] = turn @ turns[:, 0]
    moves[:, 0] = moves[:, 0] @ turn.T + shift
    return replace(skeleton, rotations=turns, translations=moves)


def mirrored(skeleton: SkeletonMotion) -> SkeletonMotion:
    """The recording seen in a mirror: y to -y, left to right."""
    M = np.diag([1.0, -1.0, 1.0])

    def other(name: str) -> str:
        pairs = {"Left": "Right", "Right": "Left"}
        return next((b + name.removeprefix(a) for a, b in pairs.items() if name.startswith(a)), name)

    at = [skeleton.names.index(other(name)) for name in skeleton.names]
    return replace(
        skeleton,
        offsets=skeleton.offsets[at] @ M,
        translations=skeleton.translations[:, at] @ M,
        rotations=M @ skeleton.rotations[:, at] @ M,
    )


def test_a_character_follows_its_own_motion_exactly(captured, puppet):
    clip, q = captured
    result = retarget(clip, puppet, solver=EXACT)
    np.testing.assert_allclose(result.clip.joints.values, q, atol=1e-7)
    assert max(error.worst for error in result.report.targets) < 1e-8
    assert not result.report.dropped_first_frame


def test_a_waist_follows_the_chest_seen_from_the_pelvis(puppet_maker, skeleton_of, motion_of):
    character = puppet_maker(waist=True)
    tree = compile_tree(character)
    q = motion_of(tree, 4, 30, 50.0)
    result = retarget(Clip("waist", skeleton=skeleton_of(tree, q, 50.0)), character, solver=EXACT)
    np.testing.assert_allclose(result.clip.joints.values, q, atol=1e-7)


def test_turning_and_moving_the_person_changes_nothing(captured, puppet):
    clip, _ = captured
    there = retarget(clip, puppet, rate=40.0).clip.joints.values
    turn = Rotation.from_euler("z", 2.1).as_matrix()
    for upright in (False, True):
        rig = guess_rig(clip.skeleton, puppet).rig.changed(upright=upright)
        a = retarget(clip, puppet, rig=rig, rate=40.0).clip.joints.values
        other = clip.changed(skeleton=moved(clip.skeleton, turn, np.array([3.0, -2.0, 0.5])))
        b = retarget(other, puppet, rig=rig, rate=40.0).clip.joints.values
        np.testing.assert_allclose(b, a, atol=1e-9)
    assert np.abs(np.diff(there, axis=0)).max() > 0.01


def test_a_mirrored_person_gives_mirrored_curves(captured, puppet):
    clip, _ = captured
    straight = retarget(clip, puppet).clip.joints
    seen = retarget(clip.changed(skeleton=mirrored(clip.skeleton)), puppet).clip.joints
    for name in straight.names:
        other = {"l": "r", "r": "l"}.get(name[0], name[0]) + name[1:]
        sign = 1.0 if name.endswith("pitch") else -1.0
        np.testing.assert_allclose(seen.column(other), sign * straight.column(name), atol=1e-8)


def test_another_size_of_person_and_other_bone_axes_change_nothing(captured, puppet):
    clip, _ = captured
    skeleton = clip.skeleton
    big = replace(skeleton, offsets=7.0 * skeleton.offsets, translations=7.0 * skeleton.translations)
    B = Rotation.from_euler("xyz", [0.3, 1.0, -2.0]).as_matrix()
    turns, moves, offsets = skeleton.rotations @ B, skeleton.translations.copy(), skeleton.offsets.copy()
    for bone, parent in enumerate(skeleton.parents):
        if parent >= 0:
            turns[:, bone], moves[:, bone] = B.T @ turns[:, bone], moves[:, bone] @ B
            offsets[bone] = offsets[bone] @ B
    rest = np.tile(np.eye(3), (len(skeleton.names), 1, 1))
    rest[0] = B  # the rest pose in the new axes: not zero rotations, so it goes into an artificial first frame
    odd = replace(skeleton, offsets=offsets, translations=np.concatenate([skeleton.offsets[None] @ B, moves]),
                  rotations=np.concatenate([rest[None], turns]))  # fmt: skip
    odd_moves = odd.translations.copy()
    odd_moves[0, 0] = skeleton.offsets[0]
    odd = replace(odd, translations=odd_moves)
    a = retarget(clip, puppet).clip.joints.values
    np.testing.assert_allclose(retarget(clip.changed(skeleton=big), puppet).clip.joints.values, a, atol=1e-9)
    found = retarget(clip.changed(skeleton=odd), puppet)
    assert found.report.dropped_first_frame
    assert found.report.calibration == "its first frame"
    np.testing.assert_allclose(found.clip.joints.values, a, atol=1e-9)


def test_bones_without_a_rest_pose_are_calibrated_over_the_clip(captured, puppet):
    clip, q = captured
    skeleton = clip.skeleton
    B = Rotation.random(len(skeleton.names), random_state=11).as_matrix()
    turns, moves, offsets = skeleton.rotations @ B, skeleton.translations.copy(), skeleton.offsets.copy()
    for bone, parent in enumerate(skeleton.parents):
        if parent >= 0:
            turns[:, bone] = B[parent].T @ turns[:, bone]
            moves[:, bone], offsets[bone] = moves[:, bone] @ B[parent], offsets[bone] @ B[parent]
    odd = replace(skeleton, rotations=turns, translations=moves, offsets=offsets)
    found = retarget(clip.changed(skeleton=odd), puppet, solver=EXACT)
    assert found.report.calibration == "the mean of the clip"
    for name in ("l_shoulder_pitch", "l_shoulder_roll", "r_elbow_yaw", "r_elbow_roll"):
        np.testing.assert_allclose(found.clip.joints.column(name), q[:, puppet.driven.index(name)], atol=1e-7)
    rig = found.rig.changed(calibration="rest")
    with pytest.raises(BadInput, match="does not stand upright"):
        retarget(clip.changed(skeleton=odd), puppet, rig=rig)


def test_held_joints_stay_and_the_voice_is_passed_on(captured, puppet):
    audio, word = Audio(np.zeros(1000), 1000.0), Mark("hello", 0.1, 0.4)
    clip = captured[0].changed(audio=audio, words=(word,), held=("head_yaw",))
    character = puppet.changed(
        groups={"left": tuple(name for name in puppet.coordinates if name.startswith("l_"))}, home={"head_yaw": 0.2}
    )
    found = retarget(clip, character).clip
    assert found.audio is audio
    assert found.words == (word,)
    assert (found.joints.column("head_yaw") == 0.2).all()
    found = retarget(clip, character, held=("left",))
    assert found.report.held == character.groups["left"]
    assert np.ptp(found.clip.joints.column("l_elbow_roll")) == 0.0 < np.ptp(found.clip.joints.column("head_yaw"))
    with pytest.raises(BadInput, match="held: 'tail' is neither a group nor a coordinate"):
        retarget(clip, character, held=("tail",))


def test_no_joint_jumps_beyond_v_h_when_asked(captured, puppet_maker):
    slow = puppet_maker(velocity=0.8)
    limits = MotionLimits.of(slow)
    free = retarget(captured[0], slow).clip.joints
    assert limits.excess(free.values, free.rate).velocity.max() > 0.1
    bound = retarget(captured[0], slow, speed_factor=1.0)
    assert limits.excess(bound.clip.joints.values, bound.clip.joints.rate).velocity.max() < 1e-9
    assert bound.report.speed_ratio == pytest.approx(1.0, abs=1e-9)


def test_where_nothing_can_be_reached_no_error_is_claimed(captured, puppet):
    """Elbows that can hardly bend: every frame ends at a range, so the error where reachable does not exist, and it is said."""
    stiff = puppet.changed(
        joints=tuple(joint.changed(range=(2.0, 2.001)) if joint.name.endswith("elbow_roll") else joint for joint in puppet.joints),
        home={name: 2.0 for name in puppet.coordinates if name.endswith("elbow_roll")},
    )
    report = retarget(captured[0], stiff).report
    arm, head = report.target("left arm end"), report.target("head")
    assert arm.unreachable == 1.0
    assert np.isnan(arm.rms_reachable)
    assert arm.rms > 0.01
    assert "no frame was reachable" in arm.sentence
    assert arm.sentence in report.sentences
    assert head.unreachable < 1.0
    assert head.rms_reachable < 0.01


def test_bad_wishes_are_refused(captured, puppet):
    with pytest.raises(BadInput, match="no skeleton"):
        retarget(Clip("empty"), puppet)
    with pytest.raises(BadInput, match="speed factor"):
        retarget(captured[0], puppet, speed_factor=0.0)
    rig = guess_rig(captured[0].skeleton, puppet).rig
    with pytest.raises(BadInput, match="'Tail'"):
        retarget(captured[0], puppet, rig=rig.changed(head=rig.head.changed(bone="Tail")))


@pytest.mark.shared
@pytest.mark.parametrize("name", list(CMU))
def test_real_recordings_on_nao(data, name):
    clip = read_bvh((data / f"cmu_{name}.bvh").read_bytes(), file=name)
    skeleton = clip.skeleton
    clip = clip.changed(skeleton=replace(skeleton, translations=skeleton.translations[:600], rotations=skeleton.rotations[:600]))
    nao = read_character("nao")
    limits = MotionLimits.of(nao)
    natural = retarget(clip, nao)
    assert natural.report.dropped_first_frame
    assert natural.report.status.good
    for part, (centimetres, share) in CMU[name].items():
        error = natural.report.target(part)
        assert error.rms_reachable < 0.02
        assert error.rms < 1.05 * centimetres / 100 + 2e-4
        assert error.unreachable < share + 0.02
    curves = natural.clip.joints
    assert limits.excess(curves.values, curves.rate).range.max() < 1e-9
    assert natural.report.speed_ratio < 3.0
    bound = retarget(clip, nao, speed_factor=1.0).clip.joints
    assert limits.excess(bound.values, bound.rate).velocity.max() < 1e-9
    assert all(np.ptp(curves.column(name)) == 0.0 for name in natural.report.held)
