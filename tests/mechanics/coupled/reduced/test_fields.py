"""Static answers of a skin at home: who does work on whom."""

import numpy as np
import pytest

from bunraku.mechanics.coupled.reduced.fields import skin_fields
from bunraku.mechanics.coupled.share import skin_share
from bunraku.mechanics.coupled.stiffness import joint_stiffness


@pytest.fixture(scope="module")
def fields(whole):
    return skin_fields(whole, skin_share(whole), modes=30)


@pytest.fixture(scope="module")
def stiffness(whole):
    return whole.solid.stiffness()


def test_nothing_loads_nodes_that_follow_a_joint(whole, fields, stiffness):
    forces = stiffness @ fields.joints
    assert np.abs(forces[whole.free]).max() < 1e-9 * np.abs(forces).max()
    expected = joint_stiffness(whole)[6:, 6:]
    assert np.abs(fields.torque - expected).max() < 1e-8 * np.abs(expected).max()


def test_a_patch_moves_as_told_and_the_others_stay(whole, fields, stiffness):
    assert np.abs(whole.patches @ fields.patches - np.eye(3 * whole.n_patches)).max() < 1e-10
    energy = fields.patches.T @ (stiffness @ fields.patches)
    assert np.abs(energy - fields.stiff).max() < 1e-9 * np.abs(fields.stiff).max()


def test_modes_sway_on_their_own(whole, fields, stiffness):
    Phi = fields.modes
    assert np.abs(whole.patches @ Phi).max() < 1e-9 * np.abs(Phi).max()
    assert np.abs(Phi[whole.held]).max() == 0.0
    assert np.abs(Phi.T @ (whole.mass @ Phi) - np.eye(Phi.shape[1])).max() < 1e-7
    squares = Phi.T @ (stiffness @ Phi)
    assert np.abs(squares - np.diag(fields.frequencies**2)).max() < 1e-6 * fields.frequencies[-1] ** 2
    between = fields.patches.T @ (stiffness @ Phi)
    assert np.abs(between).max() < 1e-7 * np.sqrt(np.diag(fields.stiff).max()) * fields.frequencies[-1]
