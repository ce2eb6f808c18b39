"""Ways between poses: within the limits, smooth, and no longer than they need to be."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stage.player.conftest import NAMES, character_of

from bunraku.stage.player.limits import limits_of
from bunraku.stage.player.ramp import GENTLE, SHORTEST, way

RATE = 200.0


def rates(start: np.ndarray, rows: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = np.vstack([start, rows, end])
    v = np.diff(x, axis=0) * RATE
    return v, np.diff(np.vstack([np.zeros_like(start), v, np.zeros_like(end)]), axis=0) * RATE


@pytest.mark.parametrize("acceleration", [40.0, 3.0])
def test_rest_to_rest_reaches_the_gentle_share_of_a_limit_and_not_more(acceleration: float) -> None:
    limits = limits_of(character_of(acceleration=acceleration), NAMES, ("rad",) * 3)
    start, end = np.array([-1.0, 0.0, 0.3]), np.array([0.9, 0.1, -0.3])
    v, a = rates(start, way(start, end, limits, RATE), end)
    shares = np.abs(v).max() / 4.0, np.abs(a).max() / acceleration
    assert max(shares) <= GENTLE * (1.0 + 1e-3)
    assert max(shares) >= GENTLE * 0.97


def test_from_a_motion_the_speed_goes_on_and_the_limits_hold() -> None:
    limits = limits_of(character_of(), NAMES, ("rad",) * 3)
    start, end, speed = np.zeros(3), np.array([0.3, -0.2, 0.0]), np.array([1.5, 0.5, -0.7])
    rows = way(start, end, limits, RATE, speed)
    v, _ = rates(start, rows, end)
    np.testing.assert_allclose(v[0], speed, atol=0.06)
    inner = np.diff(v, axis=0) * RATE
    assert np.abs(v).max() <= 4.0
    assert np.abs(inner).max() <= 40.0
    assert (rows >= -1.2).all()
    assert (rows <= 1.0).all()


def test_a_speed_that_cannot_be_kept_within_the_range_starts_from_rest() -> None:
    limits = limits_of(character_of(), NAMES, ("rad",) * 3)
    start = np.array([0.999, 0.0, 0.0])
    rows = way(start, np.zeros(3), limits, RATE, np.array([3.9, 0.0, 0.0]))
    assert (rows <= 1.0).all()


def test_nothing_to_do_takes_no_time_and_little_takes_the_shortest() -> None:
    limits = limits_of(character_of(), NAMES, ("rad",) * 3)
    assert len(way(np.ones(3) * 0.1, np.ones(3) * 0.1, limits, RATE)) == 0
    assert len(way(np.zeros(3), np.ones(3) * 0.01, limits, RATE)) == round(SHORTEST * RATE) - 1


@pytest.mark.parametrize("speed", [-0.05, 0.05, -1.0])
def test_a_way_that_must_be_there_is_there_also_where_no_quintic_fits(speed: float) -> None:
    """At the end of the range, with a small speed inwards: what comes back to where it was would go beyond."""
    limits = limits_of(character_of(), NAMES, ("rad",) * 3)
    start, moving = np.array([1.0, 0.0, 0.0]), np.array([speed, 0.0, 0.0])
    rows = way(start, start, limits, RATE, moving, always=True)
    assert len(rows) >= round(SHORTEST * RATE) - 1
    assert (rows <= 1.0).all()
    still = way(start, start, limits, RATE, None, moving, always=True)
    assert len(still) >= round(SHORTEST * RATE) - 1
