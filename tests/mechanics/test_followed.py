"""How much of a wish is followed, and how large gestures are that outrun their motors."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.measures.followed import followed_checks, share_followed, share_moved
from bunraku.mechanics.measures.travel import excess_travel, gesture_scales, travel_checks
from bunraku.motion import JointCurves, MotionLimits

T = np.arange(200) / 50.0
WISH = np.column_stack([np.sin(2 * np.pi * 0.5 * T), 0.5 * np.sin(2 * np.pi * 0.7 * T), 0.01 * np.sin(T)])
NAMES = ("a", "b", "c")
HOME = np.zeros(3)


def limits(velocity: float) -> MotionLimits:
    free = np.full(3, np.inf)
    return MotionLimits(NAMES, -free, free, np.full(3, velocity), free, free)


@pytest.mark.parametrize(("scale", "share"), [(1.0, 1.0), (0.5, 0.75), (0.0, 0.0), (-1.0, 0.0)])
def test_the_share_of_a_scaled_wish_is_known(scale: float, share: float) -> None:
    about = WISH - WISH.mean(axis=0)
    total, joint = followed_checks(NAMES, WISH.mean(axis=0) + scale * about, WISH, HOME)
    assert total.value == pytest.approx(share)
    assert joint.value == pytest.approx(share)
    assert total.state == ("holds" if scale >= 0.5 else "broken")


def test_a_joint_that_drops_out_is_named_though_the_others_follow() -> None:
    values = WISH.copy()
    values[:, 1] = 0.0
    total, joint = followed_checks(NAMES, values, WISH, HOME)
    assert total.holds
    assert joint.broken
    assert joint.note == "b"


def test_a_wish_that_stands_still_is_missed_by_what_moves() -> None:
    still = np.ones((50, 2))
    moving = still + np.outer(np.sin(np.linspace(0.0, 20.0, len(still))), [0.0, 0.1])
    (check,) = followed_checks(("a", "b"), moving, still, np.ones(2))
    assert check.broken
    assert "b does not" in check.note
    assert followed_checks(("a", "b"), still, still, np.ones(2))[0].state == "does not apply"


@pytest.mark.parametrize(("gone", "state"), [(1.0, "holds"), (0.9, "holds"), (0.4, "broken"), (0.0, "broken"), (2.5, "broken")])
def test_a_pose_that_is_held_must_be_the_wished_one(gone: float, state: str) -> None:
    pose = np.tile([1.0, -0.5], (50, 1))
    (check,) = followed_checks(("a", "b"), gone * pose, pose, np.zeros(2))
    assert check.state == state
    assert check.value == pytest.approx(max(0.0, 1.0 - (1.0 - gone) ** 2))
    (check,) = followed_checks(("a", "b"), pose, 0.0 * pose, np.zeros(2))
    assert check.broken, "at home was asked for"


def test_gestures_that_outrun_their_motors_keep_half_their_size() -> None:
    figures: dict[str, float] = {}
    for scale, state in ((0.7, "holds"), (0.3, "broken")):
        made = JointCurves(NAMES, 50.0, scale * WISH)
        outruns, least = travel_checks(made, WISH, limits(2.0), figures)
        assert least.state == state
        assert least.value == pytest.approx(scale)
        assert "a by" in outruns.note
    assert figures["joints_too_fast"] == 2.0 - (excess_travel(WISH, 50.0, limits(2.0))[1] == 0.0)
    calm = travel_checks(JointCurves(NAMES, 50.0, WISH), WISH, limits(50.0), figures)
    assert [check.state for check in calm] == ["does not apply"]
    assert gesture_scales(np.ones((5, 1)), np.zeros((5, 1)))[0] == 1.0


def test_the_excess_of_a_stroke_is_its_worst_part() -> None:
    """Kadane's sum by hand: fast, slow, fast within one stroke."""
    steps = np.array([0.3, 0.05, 0.3, -0.5, 0.0, 0.2])
    wish = np.concatenate([[0.0], np.cumsum(steps)])[:, None].repeat(3, axis=1)
    assert excess_travel(wish, 1.0, limits(0.1)) == pytest.approx(np.full(3, 0.4))


def test_what_does_something_else_follows_nothing_and_no_less() -> None:
    total, joint = followed_checks(NAMES, WISH + 50.0, WISH, HOME)
    assert total.value == 0.0
    assert joint.value == 0.0
    assert total.broken


def test_the_share_of_the_wish_in_one_number() -> None:
    about = WISH - WISH.mean(axis=0)
    assert share_followed(WISH.mean(axis=0) + 0.5 * about, WISH) == pytest.approx(0.75)
    assert share_followed(WISH - 9.0, WISH) == 0.0
    assert share_followed(np.ones((5, 2)), np.zeros((5, 2))) == 1.0, "nothing to follow"


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_of_a_slower_motion_the_share_that_moves_is_its_scale(scale: float) -> None:
    assert share_moved(3.0 + scale * WISH, WISH, 50.0) == pytest.approx(scale)
    assert share_moved(-WISH, WISH, 50.0) == 0.0
    drift = np.linspace(0.0, 1.0, 200)[:, None]
    assert share_moved(scale * drift, drift, 50.0) == pytest.approx(scale), "the mean speed counts as much as any other"


def test_a_hand_that_is_lifted_and_does_not_wave_is_hardly_moved() -> None:
    lifted = 0.1 * np.tanh(T - 2.0)[:, None]
    waved = lifted + 0.03 * np.sin(2 * np.pi * 5.0 * T)[:, None]
    assert share_followed(lifted, waved) > 0.9, "by its places it seems to be all there"
    assert share_moved(lifted, waved, 50.0) < 0.05
    assert share_moved(waved, waved, 50.0) == pytest.approx(1.0)


def test_what_trembles_faster_than_people_move_is_no_loss() -> None:
    wish = WISH + 0.01 * np.sin(2 * np.pi * 15.0 * T)[:, None]
    assert share_moved(WISH, wish, 50.0) == pytest.approx(1.0, abs=0.02)
