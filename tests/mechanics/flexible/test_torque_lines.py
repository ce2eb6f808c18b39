"""Torque-speed lines: use is 1 on the line; torques of a motion at rest are the weight it holds."""

from __future__ import annotations

import numpy as np
import pytest

from _frames import predict_frames
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.flexible.torque_lines import no_load_speeds, torque_lines, torques_of


def test_use_is_one_on_the_line_and_grows_along_both_axes(one_rod) -> None:
    """2.5 N·m of stall torque of which 0.8 may be used, 8 rad/s without load: |torque| / 2 + |speed| / 8."""
    lines = torque_lines(one_rod(stall_torque=2.5, torque_fraction=0.8, no_load_speed=8.0), ("shoulder",))
    assert lines.any
    torque, speed = np.array([[2.0], [-2.0], [0.0], [1.0], [-0.5], [2.0]]), np.array([[0.0], [0.0], [-8.0], [4.0], [-6.0], [8.0]])
    np.testing.assert_allclose(lines.use(torque, speed)[:, 0], [1.0, 1.0, 1.0, 1.0, 1.0, 2.0], rtol=1e-15)


def test_motors_that_state_nothing_are_never_used_up(one_rod) -> None:
    quiet = torque_lines(one_rod(no_load_speed=8.0), ("shoulder",))
    assert not quiet.any
    assert quiet.use(np.array([1e9]), np.array([1e3])) == [0.0]
    stated = one_rod(stall_torque=2.0)
    assert np.isinf(no_load_speeds(stated, ("shoulder",))).all()
    assert torque_lines(stated, ("shoulder",)).use(np.array([1.0]), np.array([1e6])) == [0.5]


def test_the_torque_of_a_held_rod_is_its_moment_about_the_motor(one_rod) -> None:
    """Leaning by 0.5 rad: weights of tip and rod at the arms they have when bent; a rod loaded at its end bends as 3 s² - s³."""
    model = flexible_system(one_rod())
    path = predict_frames(model, ("tip",), np.full((41, 1), 0.5), 5e-4)
    torque, speed = torques_of(path.motion)
    assert speed == pytest.approx(0.0)
    assert np.ptp(torque) < 1e-7
    x, z = path.positions[0, 0, [0, 2]]
    sag = np.array([x - 0.5 * np.sin(0.5), z - 0.5 * np.cos(0.5)])
    steel = model.parts["rod"].reduction.segment.mass
    arm = 0.25 * np.sin(0.5) + 0.375 * sag[0]
    assert np.hypot(*sag) > 0.008
    assert torque[0, 0] == pytest.approx(-9.81 * (0.1 * x + steel * arm), rel=1e-3)
