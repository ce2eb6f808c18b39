"""How much of a captured motion is performed: by joints, or by places where physics moves them; limbs by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.character import Body, Character, Frame, Joint, Pose
from bunraku.mechanics.measures.coverage import FOLLOWS, HELD, MISSING, NO_JOINT, NOT_ASKED, CapturedLimb, coverage_checks
from bunraku.motion import JointCurves

T = np.arange(200) / 50.0
WAVE = 0.1 * np.sin(2 * np.pi * 0.75 * T)


def arm() -> Character:
    bodies = (Body(name="base", mass=1.0), Body(name="arm", mass=0.2, center_of_mass=(0.2, 0.0, 0.0)), Body(name="tail", mass=0.1))
    joints = (
        Joint(name="root", kind="fixed", parent="world", child="base"),
        Joint(name="lift", kind="hinge", parent="base", child="arm", axis=(0, 1, 0)),
        Joint(name="wag", kind="hinge", parent="base", child="tail", axis=(0, 0, 1)),
    )
    hand = Frame(name="hand", body="arm", pose=Pose(position=(0.4, 0.0, 0.0)))
    return Character(name="arm", bodies=bodies, joints=joints, frames=(hand,))


def performance(lift: np.ndarray, *, dynamic: bool, names: tuple[str, ...] = ("lift", "wag")) -> SimpleNamespace:
    wish = JointCurves(("lift", "wag"), 50.0, np.column_stack([WAVE, WAVE]))
    done = JointCurves(names, 50.0, np.column_stack([lift, WAVE])[:, : len(names)])
    return SimpleNamespace(character=arm(), wish=wish, followed=lambda: done, dynamic=dynamic)


LIMB = CapturedLimb("arm", 1.0, 0.8, FOLLOWS, ("lift",))


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
def test_what_physics_moves_counts_by_the_speed_of_its_places(scale: float) -> None:
    """Half the speed is half the motion; of joints half the way is three quarters."""
    by_places, by_joints = (coverage_checks(performance(scale * WAVE, dynamic=dynamic), [LIMB])[0] for dynamic in (True, False))
    assert by_places.value == pytest.approx(0.8 * scale, abs=0.01)
    assert by_joints.value == pytest.approx(0.8 * (1.0 - (1.0 - scale) ** 2), abs=0.01)


def test_a_limb_whose_joints_are_not_in_the_performance_does_nothing() -> None:
    missing = performance(WAVE, dynamic=False, names=("wag",))
    assert coverage_checks(missing, [LIMB])[0].note == "arm 0 %"
    assert coverage_checks(SimpleNamespace(wish=None), [LIMB])[0].value == pytest.approx(0.8)


def test_limbs_count_by_how_much_they_carry() -> None:
    own = performance(WAVE, dynamic=False)
    tail = CapturedLimb("tail", 0.25, 0.4, FOLLOWS, ("wag",))
    limbs = [CapturedLimb("arm", 0.75, 0.8, FOLLOWS, ("lift",)), tail, CapturedLimb("leg", 0.5, 0.9, NO_JOINT)]
    total, one, other = coverage_checks(own, limbs)
    assert total.value == pytest.approx((0.75 * 0.8 + 0.25 * 0.4) / 1.0)
    assert total.note == "arm 80 %, tail 40 %; leg: no joint of the character is left"
    assert (one.name, one.value, other.value) == ("coverage of the arm", pytest.approx(0.8), pytest.approx(0.4))
    assert coverage_checks(own, []) == ()


@pytest.mark.parametrize(
    ("followed", "states"), [(0.61, ["holds", "holds"]), (0.59, ["broken", "holds"]), (0.24, ["broken", "broken"])]
)
def test_sixty_percent_of_all_and_a_quarter_of_each_limb_are_performed(followed: float, states: list[str]) -> None:
    limb = CapturedLimb("arm", 1.0, followed, FOLLOWS, ("lift",))
    assert [check.state for check in coverage_checks(performance(WAVE, dynamic=False), [limb])] == states


@pytest.mark.parametrize(("fate", "words"), [(MISSING, "--rig"), (HELD, "--only")])
def test_a_limb_that_is_left_out_is_broken_and_says_what_to_do(fate: int, words: str) -> None:
    _, check = coverage_checks(performance(WAVE, dynamic=False), [CapturedLimb("arm", 1.0, 0.9, fate)])
    assert (check.value, check.state) == (0.0, "broken")
    assert words in check.note


@pytest.mark.parametrize(("captured", "count"), [(0.051, 2), (0.049, 1)])
def test_a_limb_with_less_than_a_twentieth_of_the_motion_is_still(captured: float, count: int) -> None:
    limbs = [CapturedLimb("arm", captured, 0.9, FOLLOWS, ("lift",)), CapturedLimb("leg", 1.0 - captured, 0.0, NO_JOINT)]
    assert len(coverage_checks(performance(WAVE, dynamic=False), limbs)) == count
    asked = [CapturedLimb("arm", 0.02 * captured, 0.9, FOLLOWS, ("lift",)), CapturedLimb("leg", 0.9, 0.0, NOT_ASKED)]
    assert len(coverage_checks(performance(WAVE, dynamic=False), asked)) == count
