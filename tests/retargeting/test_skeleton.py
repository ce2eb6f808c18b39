from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.motion import SkeletonMotion
from bunraku.retargeting.skeleton import BoneMotion, bone_motion, dropped_first, first_frame_is_artificial, rest_pose


def arm(angles: np.ndarray) -> SkeletonMotion:
    """Three bones of 1 m along y, each turned about x by the same angle; one frame an angle."""
    m = len(angles)
    turns = np.repeat(Rotation.from_euler("x", angles[:, None]).as_matrix()[:, None], 3, axis=1)
    offsets = np.array([[0, 0, 2], [0, 1, 0], [0, 1, 0]], dtype=float)
    return SkeletonMotion(("a", "b", "c"), (-1, 0, 1), offsets, 120.0, np.tile(offsets, (m, 1, 1)), turns, {})


def test_world_poses_add_up_along_the_chain():
    angles = np.linspace(0.0, 1.0, 7)
    motion = bone_motion(arm(angles))
    np.testing.assert_allclose(motion.position("c")[:, 1], np.cos(angles) + np.cos(2 * angles), atol=1e-14)
    np.testing.assert_allclose(motion.position("c")[:, 2], 2 + np.sin(angles) + np.sin(2 * angles), atol=1e-14)
    np.testing.assert_allclose(motion.rotation("c"), Rotation.from_euler("x", 3 * angles[:, None]).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(rest_pose(arm(angles)).position("c"), [[0, 2, 2]], atol=1e-14)


def test_resampling_follows_a_smooth_turn_and_turns_along_with_the_world():
    t = np.arange(241) / 120.0
    motion = bone_motion(arm(0.5 * np.sin(3.0 * t)))
    new = motion.resampled(100.0)
    s = np.arange(len(new.positions)) / 100.0
    assert s[-1] == pytest.approx(2.0)
    np.testing.assert_allclose(new.rotation("c"), Rotation.from_euler("x", 1.5 * np.sin(3.0 * s)[:, None]).as_matrix(), atol=2e-6)
    W, B = Rotation.from_euler("zyx", [2.5, 1.0, 0.4]).as_matrix(), Rotation.from_euler("y", 2.8).as_matrix()
    other = BoneMotion(motion.names, motion.rate, motion.positions @ W.T, W @ motion.rotations @ B).resampled(100.0)
    np.testing.assert_allclose(other.rotations, W @ new.rotations @ B, atol=1e-12)
    np.testing.assert_allclose(other.positions, new.positions @ W.T, atol=1e-12)


def test_an_artificial_first_frame_is_told_from_a_fast_start():
    t = np.arange(200) / 120.0
    angles = 0.8 * np.cos(2 * np.pi * t)
    assert not first_frame_is_artificial(arm(angles))
    assert not first_frame_is_artificial(arm(np.zeros(50)))
    assert not first_frame_is_artificial(arm(np.exp(-20.0 * t)))
    assert first_frame_is_artificial(arm(np.concatenate([[2.5], angles])))
    assert len(dropped_first(arm(angles)).rotations) == 199
