"""How far bodies are from where they were wished to be."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.motion import JointCurves
from bunraku.verification.body_errors import body_errors


def test_of_a_flexible_character_before_and_after_are_those_of_its_certificate(quiet_turn):
    found = body_errors(quiet_turn)
    assert found.names == ("tip",)
    assert found.before is not None
    figures = quiet_turn.certificate.figures
    assert np.sqrt((found.after[:, 0] ** 2).mean()) == pytest.approx(figures["rms_error_after_m.tip"], rel=1e-9)
    assert np.sqrt((found.before[:, 0] ** 2).mean()) == pytest.approx(figures["rms_error_before_m.tip"], rel=1e-9)
    assert found.after.max() < 0.5 * found.before.max()


def test_of_what_physics_moves_it_is_the_distance_from_the_wished_pose(balance):
    made = balance(40.0)
    shifted = JointCurves(("x",), made.motion.rate, made.motion.column("x")[:, None] - 0.1)
    found = body_errors(made.changed(wish=shifted))
    assert found.before is None
    assert found.names == ("cart", "pole")
    np.testing.assert_allclose(found.after, 0.1, atol=1e-12)
    assert len(found.after) == len(found.times) == len(made.motion.values)


def test_a_gait_has_no_path_of_bodies_to_stray_from(make_car, make_going, driving):
    car = make_car()
    found = body_errors(make_going(car, driving(car, 0.1, 0.5), 200.0))
    assert found.names == ()
    assert found.after.shape == (101, 0)
    assert "gait" in found.note
