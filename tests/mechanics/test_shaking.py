"""Shaking: the share of energy above 8 Hz, its amplitude and the reversals of curves that are known."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.measures.shaking import place_shaking_check, reversals, shaking_checks, shaking_of, shaking_of_places
from bunraku.motion import JointCurves

RATE = 100.0
T = np.arange(401) / RATE
WAVE = 0.4 * np.sin(2 * np.pi * 0.75 * T)
TREMBLE = 0.01 * np.sin(2 * np.pi * 12.0 * T)


def seen(values: np.ndarray) -> tuple[float, float, float]:
    share, amplitude, back = shaking_of(values[:, None], RATE, np.array([2e-3]))
    return float(share[0]), float(amplitude[0]), float(back[0])


def test_two_sines_share_the_energy_of_their_velocities() -> None:
    share, amplitude, back = seen(WAVE + TREMBLE)
    slow, fast = (0.4 * 0.75) ** 2, (0.01 * 12.0) ** 2
    assert share == pytest.approx(fast / (slow + fast), rel=0.05)
    assert amplitude == pytest.approx(0.01 / np.sqrt(2.0), rel=0.03)
    assert 3.0 < back < 25.0


def test_a_gesture_does_not_shake() -> None:
    share, amplitude, back = seen(WAVE)
    assert share < 1e-3
    assert amplitude < 2e-3
    assert back == pytest.approx(1.5, abs=0.3)


def test_a_steady_turn_is_no_jump_at_its_ends() -> None:
    assert seen(3.0 * T)[0] < 1e-12


@pytest.mark.parametrize(("width", "count"), [(0.05, 6), (0.15, 2), (2.0, 0)])
def test_reversals_are_those_larger_than_the_width(width: float, count: int) -> None:
    corners = [0.0, 1.0, 0.9, 1.0, 0.0, 0.1, 0.0, 1.0]
    assert reversals(np.array(corners), width) == count
    dense = np.interp(np.linspace(0, 7, 701), np.arange(8.0), corners)
    assert reversals(dense, width) == count


def test_what_trembles_after_a_turn_turns_back_no_more() -> None:
    assert reversals(np.array([0.0, 1.0, 0.0, 0.1, 0.0, 0.1, 0.0]), 0.15) == 1
    assert reversals(np.array([0.0, -1.0, 0.0, -0.1, 0.0, -0.1, 0.0]), 0.15) == 1


def test_checks_break_where_a_joint_trembles_and_name_it() -> None:
    curves = JointCurves(("calm", "nervous"), RATE, np.column_stack([WAVE, 0.25 * WAVE + TREMBLE]))
    shaking, back = shaking_checks(curves, curves.values)
    assert shaking.broken
    assert back.broken
    assert shaking.note.startswith("nervous")
    assert shaking.note.endswith("% in the wish")
    assert "%" not in back.note
    assert back.value == pytest.approx(float(back.note.split()[1]), rel=0.01), "the wish turns back as often: it is the same"
    calm = shaking_checks(JointCurves(("calm",), RATE, WAVE[:, None]), WAVE[:, None])
    assert all(check.holds for check in calm)


def test_what_is_below_the_resolution_does_not_count() -> None:
    fine = JointCurves(("fine",), RATE, (0.1 * TREMBLE)[:, None])
    assert all(check.holds for check in shaking_checks(fine, fine.values))
    assert all(check.threshold is None for check in shaking_checks(fine, None))


def test_a_moment_is_too_short_to_shake() -> None:
    assert shaking_checks(JointCurves(("a",), RATE, TREMBLE[:20, None]), None)[0].state == "does not apply"


def arc(turn: np.ndarray) -> np.ndarray:
    """Places (n, 1, 3) of a hand on an arm of 0.3 m at angles (n,), the arm level at 0."""
    return 0.3 * np.column_stack([np.cos(turn), 0.0 * turn, -np.sin(turn)])[:, None]


def test_a_hand_on_an_arc_shakes_no_more_than_its_arm() -> None:
    """To and fro at 5 Hz: along the level arm that is 10 Hz and nothing else, but the hand moves down and up."""
    places = arc(0.2 * np.sin(2 * np.pi * 5.0 * T))
    along, _, down = shaking_of(places[:, 0], RATE, np.full(3, 2e-4)).share
    assert along > 0.9
    assert down < 0.01
    check = place_shaking_check(("hand",), places, places, RATE)
    assert check.holds
    assert check.value == pytest.approx(shaking_of_places(places, RATE)[0][0])
    assert check.value < 0.05
    assert check.note.startswith("hand")


def test_shaking_of_a_place_does_not_depend_on_the_axes() -> None:
    places = arc(WAVE + TREMBLE)
    other = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    for seen_from, seen_from_there in zip(shaking_of_places(places, RATE), shaking_of_places(places @ other, RATE), strict=True):
        np.testing.assert_allclose(seen_from_there, seen_from, rtol=1e-9)


def test_a_hand_that_trembles_shakes_and_is_named() -> None:
    places = np.concatenate([arc(WAVE), arc(0.25 * WAVE + TREMBLE)], axis=1)
    check = place_shaking_check(("calm", "nervous"), places, places, RATE)
    assert check.broken
    assert check.note.startswith("nervous")
    assert place_shaking_check(("still",), arc(0.01 * TREMBLE), arc(WAVE), RATE).holds
    assert place_shaking_check(("hand",), places[:20], places[:20], RATE).state == "does not apply"


@pytest.mark.parametrize(("unit", "resolved"), [("rad", 2e-3), ("m", 2e-4)])
def test_a_tremble_counts_from_what_a_servo_resolves(unit: str, resolved: float) -> None:
    for part, felt in ((0.9, False), (1.1, True)):
        values = part * np.sqrt(2.0) * resolved * np.sin(2 * np.pi * 12.0 * T)[:, None]
        shaking, _ = shaking_checks(JointCurves(("a",), RATE, values), values, unit=unit)
        assert shaking.broken is felt
        place = np.pad(values[:, None] * 2e-4 / resolved, ((0, 0), (0, 0), (0, 2)))
        check = place_shaking_check(("a",), place, place, RATE)
        assert (check.broken, bool(check.note)) == (felt, felt)
