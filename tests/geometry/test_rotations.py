"""Rotations: group axioms with near-identity samples, exact inverses near 0 and pi, scipy as an independent program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from bunraku.errors import BadInput
from bunraku.geometry import rotations as rot
from bunraku.optimization.derivative_check import check_jacobian

ANGLES = (0.0, 1e-300, 1e-200, 1e-160, 1e-12, 1e-8, 1e-4, 0.049, 0.051, 1.0, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-8, np.pi - 1e-12)


def vectors(seed: int = 0) -> np.ndarray:
    """Rotation vectors of random axes, and the coordinate axes, at every angle above."""
    axes = np.random.default_rng(seed).normal(size=(20, 3))
    axes = np.concatenate([axes / np.linalg.norm(axes, axis=1, keepdims=True), np.eye(3), -np.eye(3)])
    return np.concatenate([angle * axes for angle in ANGLES])


def test_exponential_gives_rotations_equal_to_scipy():
    R = rot.exponential(vectors())
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=4e-15)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=4e-15)
    np.testing.assert_allclose(R, Rotation.from_rotvec(vectors()).as_matrix(), atol=4e-15)


def test_logarithm_inverts_the_exponential_near_zero_and_near_pi():
    v = vectors()
    back = rot.logarithm(rot.exponential(v))
    angle = np.linalg.norm(v, axis=1)
    np.testing.assert_allclose(back[angle <= 1.0], v[angle <= 1.0], rtol=1e-14, atol=2e-16)
    np.testing.assert_allclose(back[angle > 1.0], v[angle > 1.0], atol=2e-14)


def test_tiny_turns_keep_their_relative_accuracy():
    v = np.array([3e-9, -4e-9, 0.0])
    np.testing.assert_allclose(rot.logarithm(rot.exponential(v)), v, rtol=1e-15)
    np.testing.assert_allclose(rot.vector_of_quaternion(rot.quaternion_of_vector(v)), v, rtol=1e-15)


def test_half_a_turn_gives_the_axis_up_to_sign():
    axis = np.array([0.6, 0.0, -0.8])
    found = rot.logarithm(rot.axis_angle(axis, np.pi))
    assert np.linalg.norm(found) == pytest.approx(np.pi, abs=1e-15)
    np.testing.assert_allclose(np.abs(found @ axis), np.pi, rtol=1e-15)


def test_quaternions_are_canonical_and_the_same_rotation():
    rng = np.random.default_rng(1)
    q = rng.normal(size=(500, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    special = [[0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 0, -1], [-1, 0, 0, 0], [0, 0.6, -0.8, 0], [1e-17, 0, 1, 0]]
    q = np.concatenate([q, np.array(special, dtype=float)])
    back = rot.quaternion_of_matrix(rot.matrix_of_quaternion(q))
    first = np.array([row[np.flatnonzero(row)[0]] for row in back])
    assert (first > 0.0).all()
    np.testing.assert_allclose(np.abs(np.sum(back * q, axis=1)), 1.0, atol=1e-15)
    np.testing.assert_allclose(back[:500], rot.canonical(q)[:500], atol=1e-15)
    np.testing.assert_array_equal(rot.matrix_of_quaternion(q), rot.matrix_of_quaternion(-q))


def test_group_axioms_of_quaternions_and_matrices():
    v = vectors(2)
    rng = np.random.default_rng(5)
    a, b, c = (rot.quaternion_of_vector(v[rng.permutation(len(v))]) for _ in range(3))
    times = rot.multiply_quaternions
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(times(times(a, b), c), times(a, times(b, c)), atol=2e-15)
    np.testing.assert_allclose(times(a, rot.conjugate(a)), np.broadcast_to(identity, a.shape), atol=1e-15)
    np.testing.assert_array_equal(times(a, identity), a)
    product = rot.matrix_of_quaternion(a) @ rot.matrix_of_quaternion(b)
    np.testing.assert_allclose(rot.matrix_of_quaternion(times(a, b)), product, atol=3e-15)


def test_leading_axes_are_kept():
    v = vectors()[:24].reshape(2, 3, 4, 3)
    R = rot.exponential(v)
    assert R.shape == (2, 3, 4, 3, 3)
    assert rot.quaternion_of_matrix(R).shape == (2, 3, 4, 4)
    np.testing.assert_array_equal(R[1, 2, 3], rot.exponential(v[1, 2, 3]))
    np.testing.assert_array_equal(rot.logarithm(R)[1, 2, 3], rot.logarithm(R[1, 2, 3]))


def test_left_jacobian_by_the_slope_test_and_at_the_switch_of_series():
    for angle in (1e-3, 0.049, 0.051, 1.3, 3.0):
        v = angle * np.array([0.36, 0.48, -0.8])
        inverse = rot.exponential(v).T
        report = check_jacobian(lambda x, m=inverse: rot.logarithm(rot.exponential(x) @ m), rot.left_jacobian, v, seed=4)
        assert report.holds, (angle, str(report))
    v = np.array([0.03, 0.04, 0.0])
    np.testing.assert_allclose(rot.left_jacobian(v * (1 - 1e-9)), rot.left_jacobian(v * (1 + 1e-9)), atol=2e-10)
    np.testing.assert_allclose(rot.left_jacobian(v) @ v, v, rtol=1e-14, atol=1e-17)


def test_slerp_turns_at_constant_speed_the_short_way_and_equals_scipy():
    rng = np.random.default_rng(7)
    q0, q1 = rot.canonical(rng.normal(size=4)), rot.canonical(rng.normal(size=4))
    share = np.linspace(0.0, 1.0, 11)
    path = rot.matrix_of_quaternion(rot.slerp(q0, -q1, share))
    ends = Rotation.from_quat(np.stack([q0, q1]), scalar_first=True)
    np.testing.assert_allclose(path, Slerp([0.0, 1.0], ends)(share).as_matrix(), atol=3e-15)
    steps = rot.angle_between(path[:-1], path[1:])
    np.testing.assert_allclose(steps, rot.angle_between(path[0], path[-1]) / 10.0, rtol=1e-12)
    near = rot.quaternion_of_vector(np.array([1e-9, 0.0, 0.0]))
    half = rot.slerp([1.0, 0.0, 0.0, 0.0], near, 0.5)
    np.testing.assert_allclose(rot.vector_of_quaternion(half), [0.5e-9, 0.0, 0.0], rtol=1e-14)


def test_nearest_rotation_undoes_small_errors_and_never_mirrors():
    R = rot.exponential(np.array([0.3, -1.2, 2.0]))
    rng = np.random.default_rng(8)
    np.testing.assert_allclose(rot.nearest_rotation(1.7 * R), R, atol=1e-15)
    E = 1e-4 * rng.normal(size=(3, 3))
    found = rot.nearest_rotation(R + E)
    best = np.linalg.norm(found - R - E)
    for _ in range(50):
        other = rot.exponential(1e-4 * rng.normal(size=3)) @ found
        assert np.linalg.norm(other - R - E) >= best
    assert np.linalg.det(rot.nearest_rotation(np.diag([1.0, 1.0, -0.5]))) == pytest.approx(1.0)


def test_bad_input_says_what_is_needed():
    with pytest.raises(BadInput, match="length zero is no rotation"):
        rot.matrix_of_quaternion([0.0, 0.0, 0.0, 0.0])
    with pytest.raises(BadInput, match=r"shape \(4,\); the last axes must be \(3,\)"):
        rot.exponential(np.zeros(4))
    with pytest.raises(BadInput, match="axis of length zero"):
        rot.axis_angle([0.0, 0.0, 0.0], 1.0)


def test_the_least_turn_turns_by_the_angle_between():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 50, 3))
    R = rot.least_turn(a, b)
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b)]
    np.testing.assert_allclose(np.einsum("mab,mb->ma", R, unit[0]), unit[1], atol=1e-14)
    np.testing.assert_allclose(rot.angle_between(np.eye(3), R), np.arccos(np.sum(unit[0] * unit[1], axis=1)), atol=1e-14)


@pytest.mark.parametrize("start", [(0.0, 0.0, 1.0), (0.6, 0.0, -0.8), (1.0, -2.0, 0.5)])
def test_the_least_turn_of_equal_and_of_opposite_directions(start):
    a = np.array(start)
    np.testing.assert_array_equal(rot.least_turn(a, 3.0 * a), np.eye(3))
    R = rot.least_turn(a, -2.0 * a)
    np.testing.assert_allclose(R @ a, -a, atol=1e-15 * 4)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.trace(R) == pytest.approx(-1.0), "half a turn"
    with pytest.raises(BadInput, match="length zero"):
        rot.least_turn(a, np.zeros(3))
