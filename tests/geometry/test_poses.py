"""Poses: the axioms of a group, names that cancel."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry import poses
from bunraku.geometry.rotations import exponential, quaternion_of_vector


def samples(count: int, seed: int) -> np.ndarray:
    """Random poses, half of them near the identity."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(count) % 2, 1.0, 1e-9)[:, None]
    return poses.pose(exponential(size * rng.normal(size=(count, 3))), size * rng.normal(size=(count, 3)))


def test_group_axioms():
    X, Y, Z = (samples(40, seed) for seed in (0, 1, 2))
    identity = np.broadcast_to(np.eye(4), X.shape)
    np.testing.assert_allclose(poses.compose(X, poses.inverse(X)), identity, atol=2e-15)
    np.testing.assert_allclose(poses.compose(poses.inverse(X), X), identity, atol=2e-15)
    np.testing.assert_allclose((X @ Y) @ Z, X @ (Y @ Z), atol=1e-14)
    np.testing.assert_allclose(poses.inverse(X @ Y), poses.inverse(Y) @ poses.inverse(X), atol=1e-14)
    np.testing.assert_array_equal(poses.compose(), np.eye(4))
    np.testing.assert_allclose(poses.inverse(X), np.linalg.inv(X), atol=1e-14)


def test_frames_cancel_and_points_move():
    X_WA, X_AB = samples(2, 3)
    X_WB = poses.compose(X_WA, X_AB)
    p_B = np.random.default_rng(4).normal(size=(7, 3))
    np.testing.assert_allclose(poses.move(X_WB, p_B), poses.move(X_WA, poses.move(X_AB, p_B)), atol=1e-14)
    np.testing.assert_allclose(poses.relative(X_WA, X_WB), X_AB, atol=1e-14)
    np.testing.assert_array_equal(poses.move(X_AB, np.zeros((1, 3)))[0], poses.position_of(X_AB))


def test_difference_leads_from_one_pose_to_the_other():
    X, Y = samples(10, 5), samples(10, 6)
    d = poses.difference(X, Y)
    np.testing.assert_allclose(poses.position_of(X) + d[:, :3], poses.position_of(Y), atol=1e-15)
    np.testing.assert_allclose(exponential(d[:, 3:]) @ poses.rotation_of(X), poses.rotation_of(Y), atol=5e-15)


def test_quaternions_go_in_and_come_out():
    q = quaternion_of_vector(np.array([0.1, 0.2, -0.3]))
    X = poses.pose_of_quaternion(q, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(poses.quaternion_of(X), q, atol=1e-15)
    np.testing.assert_array_equal(X[3], [0.0, 0.0, 0.0, 1.0])
    with pytest.raises(BadInput, match="needs a rotation"):
        poses.pose(np.eye(4), None)
