"""Folding the skin by its joints: torques are slopes of the energy, joints that do not feel each other fold together."""

import numpy as np
import pytest

from bunraku.mechanics.coupled.reduced.folding import fold, groups_of_joints
from bunraku.mechanics.coupled.stiffness import joint_stiffness

KNEES = [1, 4, 7, 10]


def test_only_joints_with_skin_across_them_are_folded(whole):
    assert groups_of_joints(joint_stiffness(whole)[6:, 6:], np.zeros((12, 12), dtype=bool)) == [KNEES]


def test_joints_that_feel_each_other_are_apart():
    K, none = np.diag([1.0, 2.0, 3.0, 0.0]), np.zeros((4, 4), dtype=bool)
    K[0, 1] = K[1, 0] = 0.1
    assert groups_of_joints(K, none) == [[0, 2], [1]]


def test_joints_of_one_limb_are_apart():
    carries = np.zeros((4, 4), dtype=bool)
    carries[0, 1] = carries[2, 3] = True
    assert groups_of_joints(np.eye(4), carries) == [[0, 2], [1, 3]]


def test_torque_is_the_slope_of_the_energy(whole):
    """At 0.4 rad, against a central difference; and far from the linear answer."""
    a, d = 0.4, 1e-3
    found = fold(whole, KNEES, np.array([a - d, a, a + d]))
    energy = [whole.solid.energy((now.x - whole.mesh.nodes).ravel()) for now in found]
    assert found[1].torque[6 + np.array(KNEES)].sum() == pytest.approx((energy[2] - energy[0]) / (2 * d), rel=1e-5)
    f = whole.solid.force((found[1].x - whole.mesh.nodes).ravel())
    assert np.linalg.norm(f[whole.free]) <= 1e-5 * np.linalg.norm(f[whole.held])
    assert np.abs(found[1].x[whole.glue] - whole.glue_at(found[1].q)[0]).max() == 0.0
    linear = joint_stiffness(whole)[7, 7] * a
    assert abs(found[1].torque[7] / linear - 1.0) > 0.01
