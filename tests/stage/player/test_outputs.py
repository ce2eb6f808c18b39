"""Which servo takes which channel, and the limits of several performances together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.stage.player.conftest import NAMES, character_of, device_of, performance_of, waving

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.motion import Channel
from bunraku.stage.player.limits import common, limits_of
from bunraku.stage.player.outputs import outputs_of
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.servos import ServoCalibration

WHEEL = ServoCalibration(position_min=0, position_max=1000, neutral_deg=0.0, span_rad_s=(-6.0, 6.0))


def narrower(lower: float, upper: float, velocity: float, acceleration: float | None = 40.0) -> Character:
    """The toy with another range of its nod, and other motors."""
    who = character_of(velocity, acceleration)
    return who.changed(joints=tuple(one.changed(range=(lower, upper)) if one.name == "nod" else one for one in who.joints))


def test_a_wheel_without_a_channel_stands_still() -> None:
    still = performance_of(np.zeros((3, 3))).changed(channels=())
    outputs = outputs_of([still], device_of(servos=dict(device_of().servos) | {"wave": WHEEL}))
    assert outputs.units == ("rad", "rad", "rad/s")
    assert outputs.counts(outputs.home)[2] == 500


@pytest.mark.parametrize(
    "changes", [{"span_rad_s": (1.0, 6.0)}, {"span_rad_s": (-6.0, -0.5)}, {"soft_min": 510}, {"soft_max": 490}]
)
@pytest.mark.parametrize("told", [False, True])
def test_a_wheel_that_cannot_stand_still_is_refused(changes: dict, told: bool) -> None:
    speeds = (Channel("wave", "velocity", "rad/s", 100.0, np.full(3, 2.0)),) if told else ()
    show = performance_of(np.zeros((3, 3))).changed(channels=speeds)
    with pytest.raises(BadInput, match=r"the wheel 'wave' cannot stand still: its servo can be sent \[.*\] rad/s; correct span"):
        outputs_of([show], device_of(servos=dict(device_of().servos) | {"wave": WHEEL.changed(**changes)}))


def test_a_wheel_takes_no_places() -> None:
    with pytest.raises(BadInput, match=r"channel 'wave' is a position, its servo a wheel \(span_rad_s\)"):
        outputs_of([performance_of(waving())], device_of(servos=dict(device_of().servos) | {"wave": WHEEL}))


@pytest.mark.parametrize("turned", [False, True])
def test_the_limits_of_a_show_are_those_that_all_its_performances_keep(turned: bool) -> None:
    parts = [performance_of(waving(size=0.1), who=who) for who in (narrower(-1.2, 0.4, 4.0, None), narrower(-0.5, 1.0, 3.0))]
    outputs = outputs_of(parts[::-1] if turned else parts, device_of())
    np.testing.assert_allclose(outputs.limits.lower, [-1.2, -0.5, -1.2], atol=2e-3)
    np.testing.assert_allclose(outputs.limits.upper, [1.0, 0.4, 1.0], atol=2e-3)
    np.testing.assert_array_equal(outputs.limits.velocity, 3.0)
    np.testing.assert_array_equal(outputs.limits.acceleration, 40.0)


def test_an_idle_faster_than_the_main_one_allows_is_refused() -> None:
    slow, fast = character_of(velocity=0.5), waving(0.3, size=1.0)
    with pytest.raises(BadInput, match=r"beyond the limit of 0\.5"):
        Player(Show(performance_of(waving(3.0), who=slow), idle=performance_of(fast)), device_of())
    with pytest.raises(BadInput, match=r"beyond the limit of 0\.5"):
        Player(Show(performance_of(fast), end=performance_of(waving(3.0), who=slow)), device_of())


def test_ranges_with_nothing_in_common_are_refused() -> None:
    parts = [performance_of(np.zeros((3, 3)), who=who) for who in (narrower(-1.2, -0.2, 4.0), narrower(0.1, 1.0, 4.0))]
    with pytest.raises(BadInput, match=r"the ranges of 'nod' in the performances of this show have nothing in common"):
        outputs_of(parts, device_of())


def test_dependent_ranges_of_all_are_kept_and_the_same_one_once() -> None:
    nao = read_character("nao")
    names = ("HeadYaw", "HeadPitch")
    bound = limits_of(nao, names, ("rad", "rad"))
    free = limits_of(character_of(names=names), names, ("rad", "rad"))
    assert len(bound.dependents) == 1
    assert len(common([bound, bound]).dependents) == 1
    found = common([free, bound])
    place = np.array([1.0, found.upper[1]])
    assert not found.kept(place, np.zeros(2))
    assert free.kept(place, np.zeros(2))


def test_carriages_keep_the_largest_distance() -> None:
    names = (*NAMES, "depth")
    flat = limits_of(character_of(names=names), names, ("m",) * 4)
    near, far = (replace(flat, apart=np.array([[0, 1, 2, 3]]), distance=np.array([least])) for least in (0.1, 0.3))
    for parts in ((near, far, flat), (flat, far, near)):
        np.testing.assert_array_equal(common(parts).distance, [0.3])
        np.testing.assert_array_equal(common(parts).apart, [[0, 1, 2, 3]])
