"""A crouch: soles flat on the ground, the base lower by what was asked, legs bent outwards."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Gait
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.stance import crouched
from bunraku.performers.skin.spacetime.state import state_spacetime


def test_the_crouch_stands_flat_on_the_ground(robot: Character) -> None:
    """Thighs of 0.1 m that pointed down by 0.6 rad end at asin(sin 0.6 - drop / 0.1), feet upright, farther out."""
    model, q = centroidal_model(robot), crouched(robot, 0.02)
    seen = kinematics(model, np.stack([model.home, q]))
    angle = np.arcsin(np.sin(0.6) - 0.2)
    assert seen.contact[1, :, 2] == pytest.approx(0.0, abs=1e-7)
    assert q[7::3] == pytest.approx(angle, abs=1e-4)
    assert q[8::3] == pytest.approx(-angle, abs=1e-4)
    assert q[2] == pytest.approx(model.home[2] - 0.02, abs=1e-12)
    out = np.linalg.norm(seen.contact[1, :, :2], axis=1) - np.linalg.norm(seen.contact[0, :, :2], axis=1)
    assert out == pytest.approx(0.1 * (np.cos(angle) - np.cos(0.6)), abs=1e-4)


def test_the_skin_rests_at_home_whatever_the_stance(robot: Character) -> None:
    """Standing in the crouch takes the skin's stiffness times the way from home."""
    stance = crouched(robot, 0.02)
    gait = Gait(1.0, samples=12)
    soft = state_spacetime(robot, gait, stance=stance)
    stiff = soft.changed(effect=SkinEffect(stiffness=0.5 * np.eye(18)))
    more = (stiff.torques(stiff.still()) - soft.torques(soft.still()))[:, 6:]
    assert more == pytest.approx(np.tile(0.5 * (stance - centroidal_model(robot).home)[6:], (12, 1)), abs=1e-12)
    assert np.abs(more).max() > 0.05


def test_a_stance_in_the_air_is_refused(robot: Character) -> None:
    stance = centroidal_model(robot).home.copy()
    stance[2] += 0.01
    with pytest.raises(BadInput, match="off the ground"):
        state_spacetime(robot, Gait(1.0, samples=12), stance=stance)
    with pytest.raises(BadInput, match="cannot stand"):
        crouched(robot, 0.3)
