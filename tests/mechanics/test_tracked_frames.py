"""By which points an imitation is judged: hands, hooks, frames, or centres of mass, and that a wrong angle is seen in each."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.registry import read_character
from bunraku.mechanics.measures.driven_motion import measure_driven, tracked_frames
from bunraku.motion import JointCurves


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("marionette", ("l_hand", "r_hand", "l_knee", "r_knee", "head")),
        ("puppet-arm", ("wrist_hook",)),
        ("cart-pendulum", ("bob",)),
        ("double-pendulum", ("elbow", "bob")),
    ],
)
def test_roles_then_hooks_then_frames(name, points) -> None:
    assert tracked_frames(read_character(name)) == points


def error(character: Character, angle: float) -> float:
    """The imitation error of a pendulum that hangs still while the wish holds it at an angle."""
    motion = JointCurves(character.coordinates, 100.0, np.zeros((4, 2)))
    wish = JointCurves(("theta",), 100.0, np.full((4, 1), angle))
    measured = measure_driven(character, wish, motion, {"x": np.zeros(4)})
    return next(check.value for check in measured.checks if check.name == "imitation error")


def test_a_pendulum_at_the_wrong_angle_is_a_chord_away() -> None:
    cart = read_character("cart-pendulum")
    assert error(cart, 0.3) == pytest.approx(2.0 * 0.5 * np.sin(0.15), rel=1e-12)
    bare = cart.changed(frames=())
    assert tracked_frames(bare) == ("rail.center", "cart.center", "pendulum.center")
    assert error(bare, 0.3) == pytest.approx(2.0 * 0.39 * np.sin(0.15) / np.sqrt(3.0), rel=1e-12)
