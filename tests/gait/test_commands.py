"""Gaits from velocity and turning alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.gait.commands import candidates, fastest, gait_for, walk_for
from bunraku.gait.patterns import footfalls
from bunraku.motion import Gait


def test_slow_legs_crawl_fast_legs_trot_and_the_stride_is_that_of_animals(walker):
    slow, fast = gait_for(walker, (0.06, 0.0)), gait_for(walker, (0.3, 0.0))
    assert (slow.pattern, fast.pattern) == ("crawl", "trot")
    froude = 0.3**2 / (9.81 * 0.16)
    assert fast.distance[0] == pytest.approx(2.4 * 0.16 * froude**0.34)
    assert fast.duration == pytest.approx(fast.distance[0] / 0.3)
    assert slow.swing_height < fast.swing_height < 0.25 * 0.16


def test_cycles_keep_the_times_that_survive_a_replay(walker, tripod):
    """The gaits of the measured walks: a crawl at 0.1 m/s in 1.2 s, trots of 0.6 and 0.4 s, a tripod's walk in 0.8 s."""
    assert gait_for(walker, (0.1, 0.0)).duration == pytest.approx(1.2, rel=0.05)
    assert gait_for(walker, (0.1 / 0.6, 0.0)).duration == pytest.approx(0.6, rel=0.05)
    assert gait_for(walker, (0.45, 0.0)).duration == pytest.approx(0.4, rel=0.08)
    assert gait_for(tripod, (0.125, 0.0)).duration == pytest.approx(0.8, rel=0.05)
    assert gait_for(tripod, (0.125, 0.0)).pattern == "crawl"


def test_every_gait_made_has_footfalls(walker, tripod, skater):
    for character in (walker, tripod, skater):
        for velocity, turn in (((0.05, 0.0), 0.0), ((0.1, 0.05), 0.2), ((0.0, 0.0), 0.4)):
            made = gait_for(character, velocity, turn)
            assert not footfalls(character, made).notes
            assert made.turn == pytest.approx(turn * made.duration)


@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.3, -2.0])
def test_the_distance_is_that_of_the_arc(walker, turn):
    made = gait_for(walker, (0.1, 0.04), turn)
    t = (np.arange(20000) + 0.5) / 20000 * made.duration
    c, s = np.cos(turn * t), np.sin(turn * t)
    wanted = made.duration * np.mean([0.1 * c - 0.04 * s, 0.1 * s + 0.04 * c], axis=1)
    np.testing.assert_allclose(made.distance, wanted, rtol=1e-8)


def test_wheels_roll_swizzle_or_stroke(robot, skater):
    corners = {"lf": (0.1, 0.06), "rf": (0.1, -0.06), "lh": (-0.1, 0.06), "rh": (-0.1, -0.06)}
    driven = gait_for(robot(corners, wheels=(0.0,), kind="active"), (0.25, 0.0), 0.5)
    assert (driven.pattern, driven.duration) == ("roll", 1.0)
    free = robot(corners, wheels=(0.0,), kind="passive")
    assert gait_for(free, (0.42, 0.0)).pattern == "roll"
    assert 1.1 < gait_for(free, (0.42, 0.0)).duration < gait_for(free, (0.05, 0.0)).duration < 2.1
    assert gait_for(free, (0.0, 0.0), 0.3).distance is None
    assert gait_for(skater, (0.25, 0.0)).pattern == "trot"
    with pytest.raises(BadInput, match="cannot go by itself"):
        gait_for(robot({}, belly=True), (0.1, 0.0))


def test_standing_is_a_gait(walker):
    made = gait_for(walker)
    assert (made.pattern, made.distance, made.turn) == ("roll", (0.0, 0.0), 0.0)


def test_what_the_motors_cannot_follow_is_refused_with_the_limit(walker, robot):
    limit = fastest(walker, "trot")
    assert limit == pytest.approx(2.0 * 6.0 * 0.16 * 0.3 / (1.5 * 0.7))
    assert gait_for(walker, (0.99 * limit, 0.0)).pattern == "trot"
    with pytest.raises(BadInput, match=f"its motors allow {limit:.3g} m/s: go slower"):
        gait_for(walker, (1.01 * limit, 0.0))
    car = robot({"a": (0.1, 0.0)}, wheels=(0.0,), kind="active")
    assert fastest(car, "roll") == pytest.approx(0.015 * 20.0)
    assert fastest(robot({"a": (0.1, 0.0)}, wheels=(0.0,), kind="passive"), "roll") == math.inf
    with pytest.raises(BadInput, match="finite"):
        gait_for(walker, (math.nan, 0.0))


def test_a_turn_counts_the_speed_of_the_feet(walker):
    """Turning in place at w moves a foot at distance d from the axis with w d."""
    d = math.hypot(0.1, 0.06)
    limit = fastest(walker, "trot")
    gait_for(walker, turn_rate=0.99 * limit / d)
    with pytest.raises(BadInput, match="go slower"):
        gait_for(walker, turn_rate=1.01 * limit / d)


def test_the_best_of_these(walker, tripod, skater, robot):
    wish = Gait(1.0, "best", distance=(0.1, 0.0))
    assert [one.pattern for one in candidates(walker, wish)] == ["crawl", "trot", "pace", "bound"]
    assert [one.pattern for one in candidates(skater, wish)] == ["roll", "crawl", "trot", "pace", "bound"]
    biped = robot({"l": (0.0, 0.06), "r": (0.0, -0.06)})
    assert [one.pattern for one in candidates(biped, wish)] == ["crawl"]
    tried = [one.pattern for one in candidates(tripod, wish)]
    assert tried[0] == "crawl"
    assert "trot" not in tried
    assert candidates(walker, Gait(1.0, "trot")) == (Gait(1.0, "trot"),)


def test_a_walk_from_rest_to_rest_goes_at_its_speed_between_first_and_last_step(walker):
    v, w, cycles = 0.03, 0.2, 3
    gait = walk_for(walker, (v, 0.0), w, cycles=cycles)
    swings = footfalls(walker, gait).swings
    going = gait.duration * (max(end for _, _, end in swings) - min(start for _, start, _ in swings))
    assert gait.turn == pytest.approx(w * going)
    assert gait.distance == pytest.approx((v * math.sin(w * going) / w, v * (1.0 - math.cos(w * going)) / w))
    with pytest.raises(BadInput, match="makes steps of"):
        walk_for(walker, (2.0, 0.0))
