"""What a simulated Dynamixel bus hears: a spoilt show, a stop in the middle, through the real driver and its packets."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.stage.player.conftest import NAMES, character_of, performance_of, waving

from bunraku.motion import Channel
from bunraku.stage.devices.drivers import open_driver
from bunraku.stage.player.clock import MonotonicClock
from bunraku.stage.player.cues import Cue, Cues
from bunraku.stage.player.described import described_device
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.player.rehearsal import simulated_machine
from bunraku.stage.player.undisturbed import undisturbed


class StopAt(Cues):
    """Waits as it should, and stops the show at a period."""

    def __init__(self, period: int) -> None:
        super().__init__()
        self._left = period

    def wait(self, until: float, spin: float) -> list[Cue]:
        self._left -= 1
        found = super().wait(until, spin)
        return [Cue("estop", "the test")] if self._left == 0 else found


@pytest.mark.parametrize("spoilt", [False, True])
def test_the_bus_hears_nothing_outside_the_limits_and_goes_limp_at_a_stop(spoilt: bool) -> None:
    show = performance_of(waving(1.0))
    device = described_device([show], "dynamixel").changed(missed_deadlines=1000, timeout_ms=50.0)
    with undisturbed():
        bus = simulated_machine(device)
        bus.__enter__()
    try:
        player = Player(Show(show), device.changed(port=bus.port))
        if spoilt:  # after all checks, as a broken memory would
            rng = np.random.default_rng(5)
            player._tables["main"] = rng.choice([np.nan, np.inf, -50.0, 0.3, 4.0], player._tables["main"].shape)
        driver = open_driver(player.device)
        with StopAt(90) as cues:
            record = player.run(driver, MonotonicClock(), cues)
        time.sleep(0.2)
        heard = np.array([counts for _, ids, counts in bus.commands if ids == device.ids])
        torque = bus.torque  # type: ignore[attr-defined]
        driver.close()
    finally:
        bus.__exit__(None, None, None)
    assert record.stopped
    values = player.outputs.values(heard)
    one = player.outputs.resolution
    assert len(heard) >= 2
    assert (values >= -1.2 - 1e-9).all()
    assert (values <= 1.0 + 1e-9).all()
    # the first entries are the driver's own: goals where the servos stand
    assert (np.abs(np.diff(values, axis=0)) <= 4.0 / 100.0 + one).all()
    if record.ended == "emergency stop by the test":  # and not by a computer too busy to answer
        assert record.tape.ticks <= 90
        np.testing.assert_array_equal(heard[-1], record.tape.counts[-1])
        assert not any(torque), "limp"


def test_wheels_on_the_live_protocol_stand_still_after_a_stop() -> None:
    speeds = tuple(Channel(n, "velocity", "rad/s", 100.0, np.full(200, 2.0)) for n in NAMES)
    show = performance_of(np.zeros((200, 3)), who=character_of(velocity=6.0, acceleration=30.0)).changed(channels=speeds)
    device = described_device([show], "blender-live").changed(missed_deadlines=1000)
    with simulated_machine(device) as board:
        player = Player(Show(show), device.changed(port=board.port))
        driver = open_driver(player.device)
        with StopAt(90) as cues:
            record = player.run(driver, MonotonicClock(), cues)
        time.sleep(0.2)
        told = player.outputs.values(np.array(board.servos.goal))
        driver.close()
    assert record.stopped
    assert player.outputs.values(record.tape.counts[-1]).max() > 1.0, "it was stopped in full motion"
    np.testing.assert_allclose(told, 0.0, atol=0.5 * player.outputs.resolution.max())
