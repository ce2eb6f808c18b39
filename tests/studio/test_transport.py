"""The transport against a clock of our own."""

from __future__ import annotations

import pytest

from bunraku.errors import BadInput
from bunraku.studio.transport import Transport


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def transport(clock: Clock) -> Transport:
    made = Transport(clock=clock)
    made.load(4.0)
    return made


def test_it_plays_by_the_clock_at_its_speed(transport: Transport, clock: Clock) -> None:
    transport.play()
    clock.now += 1.5
    assert transport.now == pytest.approx(1.5)
    transport.set_speed(0.5)
    clock.now += 1.0
    assert transport.now == pytest.approx(2.0)
    transport.pause()
    clock.now += 10.0
    assert transport.now == pytest.approx(2.0)
    assert not transport.playing


def test_the_loop_comes_round_and_says_so(transport: Transport, clock: Clock) -> None:
    transport.set_range(1.0, 3.0)
    transport.scrub(1.0)
    transport.play()
    before = transport.round
    clock.now += 5.0
    assert transport.now == pytest.approx(2.0)
    assert transport.round == (before[0], 2)


def test_without_a_loop_it_stops_at_the_end_and_starts_again(transport: Transport, clock: Clock) -> None:
    transport.set_loop(False)
    transport.play()
    clock.now += 9.0
    assert transport.now == pytest.approx(4.0)
    assert not transport.playing
    transport.play()
    assert transport.now == pytest.approx(0.0)


def test_every_change_by_hand_has_a_stamp(transport: Transport) -> None:
    stamps = []
    for act in (
        transport.play,
        transport.pause,
        lambda: transport.scrub(1.0),
        lambda: transport.step(1),
        lambda: transport.set_speed(2.0),
    ):
        act()
        stamps.append(transport.moment.stamp)
    assert stamps == sorted(set(stamps))


def test_scrubbing_and_ranges_stay_inside(transport: Transport) -> None:
    transport.scrub(99.0)
    assert transport.now == 4.0
    transport.scrub(-1.0)
    assert transport.now == 0.0
    transport.set_range(3.99, 3.0)
    moment = transport.moment
    assert 0.0 <= moment.start < moment.end <= 4.0
    assert moment.end - moment.start >= 0.05 - 1e-12
    transport.step(-5)
    assert transport.now == pytest.approx(max(0.0, moment.start - 5 / 60.0))


def test_another_motion_keeps_the_time_if_it_can(transport: Transport) -> None:
    transport.scrub(3.0)
    transport.load(2.0)
    assert transport.now == 2.0
    assert (transport.moment.start, transport.moment.end) == (0.0, 2.0)


@pytest.mark.parametrize("speed", [0.0, -1.0, 100.0, float("nan")])
def test_speeds_that_cannot_be(transport: Transport, speed: float) -> None:
    with pytest.raises(BadInput):
        transport.set_speed(speed)
