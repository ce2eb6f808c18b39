"""Footfalls at other times: flights found, shortened on both sides alike, motions slowed down over the same way."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.gait.retiming import flights, grounded, slower
from bunraku.motion import Clip, Gait, JointCurves, Swing, Target

HOP = Gait(
    2.0, "custom", False, samples=41, distance=(0.5, 0.0),
    swings=(Swing("A", 0.1, 0.4), Swing("B", 0.3, 0.6), Swing("A", 0.5, 0.8)),
)  # fmt: skip


def test_flights_are_where_everything_is_in_the_air():
    assert np.allclose(flights(HOP, "AB"), [(0.3, 0.4), (0.5, 0.6)])
    assert flights(HOP.changed(swings=(Swing("A", 0.1, 0.3), Swing("B", 0.3, 0.5))), "AB") == []
    assert flights(HOP, "ABC") == []


def test_a_jump_with_all_feet_at_once_stays():
    jump = HOP.changed(swings=(Swing("A", 0.2, 0.5), Swing("B", 0.2, 0.5)))
    assert np.allclose(flights(jump, "AB"), [(0.2, 0.5)])
    assert grounded(jump, "AB", 1.0).swings == jump.swings


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_flights_are_shortened_on_both_sides_alike(share):
    made = grounded(HOP, "AB", share)
    before, after = np.array(flights(HOP, "AB")), np.array(flights(made, "AB"))
    if share == 1.0:
        assert len(after) == 0
        touch = sorted(time for swing in made.swings for time in (swing.start, swing.end))
        assert np.allclose(touch, [0.1, 0.35, 0.35, 0.55, 0.55, 0.8])
    else:
        assert np.allclose(np.diff(after), (1.0 - share) * np.diff(before))
        assert np.allclose(after.mean(axis=1), before.mean(axis=1))
    assert (made.duration, made.distance) == (HOP.duration, HOP.distance)


def test_a_slower_clip_goes_through_the_same_poses():
    curves = JointCurves(("a",), 20.0, np.linspace(0.0, 1.0, 41)[:, None] ** 2)
    made = slower(Clip("hop", joints=curves, gait=HOP), 1.5)
    assert made.gait.duration == pytest.approx(3.0)
    assert made.joints.duration == pytest.approx(1.5 * curves.duration)
    assert made.gait.samples == 61
    assert np.array_equal(made.joints.values, curves.values)


def test_what_has_times_of_its_own_is_not_slowed_down():
    told = HOP.changed(targets=(Target(1.0, "com", (0.2, None, None)),))
    with pytest.raises(BadInput, match="targets at times of its own"):
        slower(Clip("hop", gait=told), 1.5)
    with pytest.raises(BadInput, match="share between 0 and 1"):
        grounded(HOP, "AB", 1.5)
