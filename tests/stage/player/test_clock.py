"""Keeping to a clock that errs and tells its time in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.stage.player import clock as clocks
from bunraku.stage.player.clock import Follower, SimulatedSoundClock


def followed(error: float, minutes: float, jitter: float = 0.0, block: float = 0.01) -> np.ndarray:
    """Differences [s] between a follower and a clock whose quartz errs, at 100 Hz; readings come late by up to ``jitter``."""
    rng, follower, off = np.random.default_rng(1), Follower(), []
    for k in range(round(minutes * 6000)):
        now = 0.01 * k
        shown = np.floor(now * (1.0 + error) / block + 1e-9) * block
        follower.read(100.0 + shown / (1.0 + error) + rng.uniform(0.0, jitter), shown)
        off.append(follower.when(now * (1.0 + error)) - 100.0 - now)
    return np.array(off)


@pytest.mark.parametrize("error", [0.0, 50e-6, -300e-6])
def test_a_quartz_that_errs_is_followed_without_drift(error: float) -> None:
    off = followed(error, 10.0)
    assert np.abs(off).max() < 1e-3
    assert np.abs(off[-6000:]).max() < 2e-5


def test_blocks_that_are_told_late_at_random_hardly_show() -> None:
    off = followed(40e-6, 5.0, jitter=0.01, block=0.02)[3000:]
    assert off.std() < 1.5e-3
    assert np.abs(np.diff(off)).max() < 1e-3
    assert abs(off.mean() - 0.005) < 1e-3


def test_a_clock_that_leaps_takes_the_motion_along_slowly() -> None:
    follower = Follower()
    for k in range(1000):
        follower.read(0.01 * k, 0.01 * k)
    before = follower.when(10.0)
    follower.read(10.5, 10.0)
    assert follower.when(10.0) - before <= 0.01 * 0.01 + 1e-9
    assert follower.show(follower.when(12.3)) == pytest.approx(12.3)


def test_an_old_reading_changes_nothing() -> None:
    follower = Follower()
    follower.read(5.0, 1.0)
    follower.read(6.0, 2.0)
    then = follower.when(3.0)
    follower.read(9.0, 2.0)
    follower.read(9.0, 1.5)
    assert follower.when(3.0) == then


def test_the_simulated_card_counts_by_its_own_quartz(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(clocks.time, "monotonic", lambda: now[0])
    card = SimulatedSoundClock(48_000.0, 480, 100e-6)
    card.start()
    now[0] += 600.0
    moment, shown = card.reading()
    assert shown == pytest.approx(600.06, abs=0.0100001)
    assert (moment - 1000.0) * (1.0 + 100e-6) == pytest.approx(shown, abs=1e-9)
    assert card.true(moment) == pytest.approx(shown, abs=1e-9)
