from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.retargeting.calibration import hand_axes


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_palms_look_down_in_a_t_pose_and_inward_when_arms_hang(side):
    body = Rotation.from_euler("z", 0.7).as_matrix()
    forward, left, up = body.T
    for forearm, back_of_hand in ((side * left, up), (-up, side * left), (forward, up)):
        axes = hand_axes(body, side, forearm)
        np.testing.assert_allclose(axes[:, 0], forearm, atol=1e-12)
        np.testing.assert_allclose(axes[:, 2], back_of_hand, atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1.0, abs=1e-12)
