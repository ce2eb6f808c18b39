"""Euler angles of all six sequences, at and near the singularity; scipy as an independent program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.errors import BadInput
from bunraku.geometry import euler
from bunraku.geometry.rotations import exponential


@pytest.mark.parametrize("sequence", euler.SEQUENCES)
def test_both_ways_equal_scipy(sequence):
    angles = np.random.default_rng(0).uniform(-1.0, 1.0, size=(4, 50, 3)) * np.array([3.1, 1.55, 3.1])
    R = euler.euler_matrix(angles, sequence)
    np.testing.assert_allclose(
        R, Rotation.from_euler(sequence.upper(), angles.reshape(-1, 3)).as_matrix().reshape(R.shape), atol=2e-15
    )
    back, distance = euler.euler_angles(R, sequence)
    np.testing.assert_allclose(distance, np.pi / 2 - np.abs(angles[..., 1]), atol=1e-14)
    assert np.max(np.abs(back - angles) * distance[..., None]) < 1e-14


@pytest.mark.parametrize("sequence", euler.SEQUENCES)
@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-12, 1e-8, 1e-5])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_matrix_comes_back_at_and_near_the_singularity(sequence, off, side):
    angles = np.array([[0.7, side * (np.pi / 2 - off), -2.1], [-3.0, side * (np.pi / 2 - off), 0.0]])
    R = euler.euler_matrix(angles, sequence)
    found, distance = euler.euler_angles(R, sequence)
    np.testing.assert_allclose(euler.euler_matrix(found, sequence), R, atol=2e-15)
    np.testing.assert_allclose(distance, off, atol=1e-15)


@pytest.mark.parametrize("sequence", euler.SEQUENCES)
def test_a_smooth_curve_has_smooth_angles_through_wraps_and_past_the_singularity(sequence):
    t = np.linspace(0.0, 1.0, 400)
    angles = np.column_stack([9.0 * t, 2.8 * np.sin(3.0 * t), -7.0 * t**2 + 0.3])
    R = euler.euler_matrix(angles, sequence)
    found, distance = euler.euler_curve(R, sequence, start=angles[0])
    np.testing.assert_allclose(found, angles, atol=1e-9)
    np.testing.assert_allclose(distance, np.abs(np.pi / 2 - np.abs(angles[:, 1])), atol=1e-12)


def test_a_curve_resting_on_the_singularity_keeps_its_last_angle():
    for side in (-1.0, 1.0):
        angles = np.column_stack([np.linspace(0.0, 1.0, 30), np.full(30, side * np.pi / 2), np.full(30, 0.4)])
        R = euler.euler_matrix(angles, "zyx")
        R[np.abs(R) < 1e-15] = 0.0
        found, distance = euler.euler_curve(R, "zyx", start=angles[0])
        assert (distance == 0.0).all()
        np.testing.assert_allclose(euler.euler_matrix(found, "zyx"), R, atol=2e-15)
        np.testing.assert_allclose(found, angles, atol=1e-12)


def test_roll_pitch_yaw_is_about_fixed_axes_as_in_urdf():
    rpy = np.array([0.3, -0.5, 1.1])
    x, y, z = np.eye(3)
    R = exponential(rpy[2] * z) @ exponential(rpy[1] * y) @ exponential(rpy[0] * x)
    np.testing.assert_allclose(euler.roll_pitch_yaw_matrix(rpy), R, atol=1e-15)
    np.testing.assert_allclose(euler.roll_pitch_yaw(R), rpy, atol=1e-15)
    np.testing.assert_allclose(R, Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-15)


def test_an_unknown_sequence_is_refused():
    with pytest.raises(BadInput, match="'xyx' is no sequence of turns; choose one of xyz"):
        euler.euler_matrix(np.zeros(3), "xyx")
