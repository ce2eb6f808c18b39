"""What the built-in flexible characters promise, on motions whose numbers are known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.mechanics.flexible.judge import Judged, TrackedError
from bunraku.mechanics.integrators.driven.outputs import OutputTargets
from bunraku.motion import Mark
from bunraku.verification.flexible.promises import SPILL, effective_tilt, phrase_rms, promises_of

STEP = 2e-3


def leaning(angle: np.ndarray) -> np.ndarray:
    """Rotations about y by the angles (n,): z leans towards x."""
    c, s, o, i = np.cos(angle), np.sin(angle), 0.0 * angle, 0.0 * angle + 1.0
    return np.stack([np.stack([c, o, s], -1), np.stack([o, i, o], -1), np.stack([-s, o, c], -1)], -2)


def error(distance: np.ndarray, names: tuple[str, ...], seen: OutputTargets) -> TrackedError:
    return TrackedError(STEP * np.arange(len(distance)), names, distance, 0.0 * distance, seen, None)


def verdict(after: TrackedError, before: TrackedError | None = None, targets: OutputTargets | None = None) -> Judged:
    return Judged(targets or after.seen, before, after)


@pytest.fixture
def still():
    """300 samples of two places that stand still, off by a given profile (n,) [m]."""

    def make(profile, names=("ball", "root")):
        n, m = len(profile), len(names)
        seen = OutputTargets(np.zeros((n, m, 3)), np.tile(np.eye(3), (n, m, 1, 1)))
        return error(np.tile(np.asarray(profile)[:, None], (1, m)), names, seen)

    return make


@pytest.mark.parametrize("push", [0.0, 1.5, -4.0])
def test_a_vessel_pushed_along_is_tilted_against_effective_gravity(push) -> None:
    """Upright under a horizontal acceleration a: atan(a / g). Leaning by that angle into it: not at all."""
    t = STEP * np.arange(200)
    path = np.stack([0.3 + 0.1 * t + 0.5 * push * t**2, 0.0 * t, 0.0 * t + 0.2], axis=1)
    lean = np.arctan2(push, 9.81)
    inner = slice(2, -2)  # one-sided differences at the ends
    np.testing.assert_allclose(effective_tilt(path, leaning(0.0 * t), STEP)[inner], abs(lean), atol=1e-9)
    np.testing.assert_allclose(effective_tilt(path, leaning(0.0 * t + lean), STEP)[inner], 0.0, atol=1e-9)
    np.testing.assert_allclose(effective_tilt(path, leaning(0.0 * t - lean), STEP)[inner], 2 * abs(lean), atol=1e-9)
    falling = np.stack([0.0 * t, 0.0 * t, -0.5 * 9.81 * t**2 - 1.0 * t**2], axis=1)
    np.testing.assert_allclose(effective_tilt(falling, leaning(0.0 * t), STEP)[inner], np.pi, atol=1e-9)


def test_a_pause_is_judged_without_its_corners(still, quiet_turn) -> None:
    """1 mm from 50 ms inside the pause, 1 m in its corners: 1 mm."""
    performance = quiet_turn.changed(phrases=(Mark("pause", 0.2, 0.5),))
    t = STEP * np.arange(300)
    inside = (t >= 0.2499) & (t <= 0.4501)
    found = still(np.where(inside, 1e-3, 1.0))
    assert phrase_rms(found, performance, "pause") == pytest.approx(1e-3)
    assert np.isnan(phrase_rms(found, performance, "dance"))


@pytest.mark.parametrize(
    ("name", "phrase", "check", "bar"),
    [
        ("one-rod", "pause", "tip off in the pause, RMS", 1.5e-4),
        ("two-rods", "after the stop", "places off after the stop, RMS", 3e-4),
    ],
)
def test_rods_promise_stillness(still, quiet_turn, name, phrase, check, bar) -> None:
    performance = quiet_turn.changed(phrases=(Mark(phrase, 0.2, 0.5),))
    for share in (0.99, 1.01):
        made = promises_of(name, performance, verdict(still(np.full(300, share * bar))))
        (found,) = [one for one in made.checks if one.name == check]
        assert found.threshold == bar
        assert found.value == pytest.approx(share * bar)
        assert found.holds is (share < 1)
    nothing = promises_of(name, quiet_turn.changed(phrases=()), verdict(still(np.zeros(300))))
    assert not all(one.holds for one in nothing.checks)


@pytest.mark.parametrize(
    ("name", "low", "high", "most"), [("drummer", 0.05, 0.12, 0.01), ("boxer", 0.05, 0.12, 0.015), ("rapper", 0.2, 0.4, 0.01)]
)
def test_figures_promise_peaks_before_and_after(still, quiet_turn, name, low, high, most) -> None:
    """The wish must shake enough to be worth it, not beyond what is sensible, and the performance hardly."""
    for before, after, good in (
        (1.01 * low, 0.99 * most, True),
        (0.99 * low, most, False),
        (1.01 * high, most, False),
        (low, 1.01 * most, False),
    ):
        made = promises_of(name, quiet_turn, verdict(still([0.0, after]), still([before, 0.0])))
        assert all(check.holds for check in made.checks) is good
    assert not all(check.holds for check in promises_of(name, quiet_turn, verdict(still([0.0, most]))).checks)


def test_freezing_is_no_way_out(still, quiet_turn) -> None:
    """A motor 2.9 or 3.1 degrees from its wish, RMS."""
    (channel,) = quiet_turn.channels
    for degrees in (2.9, 3.1):
        off = quiet_turn.wish.values[:, 0] + np.radians(degrees)
        changed = quiet_turn.changed(channels=(dataclasses.replace(channel, values=off),))
        made = promises_of("drummer", changed, verdict(still([0.0, 0.0])))
        (check,) = [one for one in made.checks if one.name == "motor deviation, RMS"]
        assert np.degrees(check.value) == pytest.approx(degrees)
        assert check.note == "most: shoulder"
        assert check.holds is (degrees < 3)


def test_the_bartender_does_not_spill(quiet_turn) -> None:
    """A glass that leans by 20, 10 and 8 degrees as wished, as performed and as its rest: spilled, not spilled, 2 degrees more.

    The same lean at another time is as far from the rest as it ever is: peaks alone do not tell.
    """
    n = 100

    def glass(degrees: float) -> OutputTargets:
        bump = np.radians(degrees) * np.sin(np.linspace(0.0, np.pi, n)) ** 2
        return OutputTargets(np.zeros((n, 1, 3)), leaning(bump)[:, None])

    before, after, rest = (error(np.zeros((n, 1)), ("glass",), glass(d)) for d in (20.0, 10.0, 8.0))
    made = promises_of("bartender", quiet_turn, verdict(after, before, rest.seen))
    assert made.figures == {
        "peak_tilt_deg_before": pytest.approx(20.0, rel=1e-3),
        "peak_tilt_deg_after": pytest.approx(10.0, rel=1e-3),
        "peak_tilt_deg_target": pytest.approx(8.0, rel=1e-3),
    }
    assert np.degrees(SPILL) == pytest.approx(12.72, abs=0.01)
    assert all(check.holds for check in made.checks)
    wobbling = promises_of("bartender", quiet_turn, verdict(error(np.zeros((n, 1)), ("glass",), glass(11.5)), before, rest.seen))
    assert [check.name for check in wobbling.checks if not check.holds] == ["tilt beyond the quasi-static one"]
    tipped = OutputTargets(rest.seen.positions, rest.seen.rotations[::-1].copy())
    tipped.rotations[:] = np.roll(tipped.rotations, 30, axis=0)
    late = promises_of("bartender", quiet_turn, verdict(error(np.zeros((n, 1)), ("glass",), tipped), before, rest.seen))
    assert late.figures["peak_tilt_deg_after"] == pytest.approx(late.figures["peak_tilt_deg_target"])
    assert [check.name for check in late.checks if not check.holds] == ["tilt beyond the quasi-static one"]
    calm = promises_of("bartender", quiet_turn, verdict(after, None, rest.seen))
    assert set(calm.figures) == {"peak_tilt_deg_after", "peak_tilt_deg_target"}
    assert [check.name for check in calm.checks if not check.holds] == ["tilt of the glass as wished"]
