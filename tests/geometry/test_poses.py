"""Poses: the axioms of a group, names that cancel, agreement with 4 x 4 matrices."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse, move
from bunraku.geometry.rotations import exponential


def samples(count: int, seed: int) -> Rigid:
    """Random poses, half of them near the identity."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(count) % 2, 1.0, 1e-9)[:, None]
    return exponential(size * rng.normal(size=(count, 3))), size * rng.normal(size=(count, 3))


def matrix(X: Rigid) -> np.ndarray:
    """The pose as 4 x 4 matrices."""
    M = np.zeros((*X[1].shape[:-1], 4, 4))
    M[..., :3, :3], M[..., :3, 3], M[..., 3, 3] = X[0], X[1], 1.0
    return M


def test_group_axioms():
    X, Y, Z = (samples(40, seed) for seed in (0, 1, 2))
    identity = np.broadcast_to(np.eye(4), (40, 4, 4))
    np.testing.assert_allclose(matrix(compose(X, inverse(X))), identity, atol=2e-15)
    np.testing.assert_allclose(matrix(compose(inverse(X), X)), identity, atol=2e-15)
    np.testing.assert_allclose(matrix(compose(compose(X, Y), Z)), matrix(compose(X, compose(Y, Z))), atol=1e-14)
    np.testing.assert_allclose(matrix(inverse(compose(X, Y))), matrix(compose(inverse(Y), inverse(X))), atol=1e-14)
    assert compose() is NO_MOVE or compose() == NO_MOVE


def test_agreement_with_matrices():
    X, Y = samples(40, 3), samples(40, 4)
    np.testing.assert_allclose(matrix(compose(X, Y)), matrix(X) @ matrix(Y), atol=1e-14)
    np.testing.assert_allclose(matrix(inverse(X)), np.linalg.inv(matrix(X)), atol=1e-14)


def test_frames_cancel_and_points_move():
    X_WA, X_AB = ((R[1], p[1]) for R, p in (samples(2, 3), samples(2, 5)))
    p_B = np.random.default_rng(4).normal(size=(7, 3))
    np.testing.assert_allclose(move(compose(X_WA, X_AB), p_B), move(X_WA, move(X_AB, p_B)), atol=1e-14)
    np.testing.assert_array_equal(move(X_AB, np.zeros(3)), X_AB[1])


def test_the_pose_of_a_frame_in_itself_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        NO_MOVE[1][0] = 1.0
