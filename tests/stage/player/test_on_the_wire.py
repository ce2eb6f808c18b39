"""What a simulated Dynamixel bus hears: a spoilt show, a stop in the middle, through the real driver and its packets.

Player and machine live in a time of our own, so that no command is late and no servo behind, however busy this computer is; the
line is as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.stage.devices.conftest import PATIENCE_MS, patience, until
from tests.stage.player.conftest import NAMES, character_of, performance_of, waving

from bunraku.motion import Channel
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.drivers import make_driver
from bunraku.stage.devices.dynamixel import DynamixelDriver
from bunraku.stage.devices.simulated import machine as machine_module
from bunraku.stage.devices.simulated import servos as servos_module
from bunraku.stage.player import clock as clock_module
from bunraku.stage.player import player as player_module
from bunraku.stage.player.clock import MonotonicClock
from bunraku.stage.player.cues import Cue, Cues
from bunraku.stage.player.described import described_device
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.player.rehearsal import simulated_machine


@pytest.fixture(autouse=True)
def patient() -> Iterator[None]:
    with patience():
        yield


class OwnTime:
    """A clock that stands still, but for who waits by it."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def own_time(monkeypatch: pytest.MonkeyPatch) -> OwnTime:
    """The time of the player, its clock, the machine and its servos."""
    time = OwnTime()
    for module in (player_module, clock_module, machine_module, servos_module):
        monkeypatch.setattr(module, "time", time)
    return time


class StopAt(Cues):
    """Waits as it should, in its own time, and stops the show at a period."""

    def __init__(self, period: int, time: OwnTime) -> None:
        super().__init__()
        self._left, self._time = period, time

    def wait(self, until: float, spin: float) -> list[Cue]:
        self._left -= 1
        self._time.now = max(self._time.now, until)
        return [Cue("estop", "the test")] if self._left == 0 else []


def opened(device: Device) -> Driver:
    """The driver of a device, open, and patient: a busy computer is no silence of the machine."""
    driver = make_driver(device.model_copy(update={"timeout_ms": PATIENCE_MS}))
    if isinstance(driver, DynamixelDriver):
        driver._watchdog = 127
    driver.open()
    return driver


@pytest.mark.parametrize("spoilt", [False, True])
def test_the_bus_hears_nothing_outside_the_limits_and_goes_limp_at_a_stop(spoilt: bool, own_time: OwnTime) -> None:
    show = performance_of(waving(1.0))
    device = described_device([show], "dynamixel")
    with simulated_machine(device) as bus:
        player = Player(Show(show), device.changed(port=bus.port))
        if spoilt:  # after all checks, as a broken memory would
            rng = np.random.default_rng(5)
            player._tables["main"] = rng.choice([np.nan, np.inf, -50.0, 0.3, 4.0], player._tables["main"].shape)
        driver = opened(player.device)
        with StopAt(90, own_time) as cues:
            record = player.run(driver, MonotonicClock(), cues)
        assert until(lambda: not any(bus.torque)), "limp"  # type: ignore[attr-defined]
        heard = np.array([counts for _, ids, counts in bus.commands if ids == device.ids])
        driver.close()
    assert record.stopped
    values = player.outputs.values(heard)
    one = player.outputs.resolution
    assert len(heard) >= 2
    assert (values >= -1.2 - 1e-9).all()
    assert (values <= 1.0 + 1e-9).all()
    # the first entries are the driver's own: goals where the servos stand
    assert (np.abs(np.diff(values, axis=0)) <= 4.0 / 100.0 + one).all()
    assert record.ended == "emergency stop by the test"
    assert (record.tape.ticks, record.missed, record.skipped) == (89, 0, 0)
    np.testing.assert_array_equal(heard[-1], record.tape.counts[-1])


def test_wheels_on_the_live_protocol_stand_still_after_a_stop(own_time: OwnTime) -> None:
    speeds = tuple(Channel(n, "velocity", "rad/s", 100.0, np.full(200, 2.0)) for n in NAMES)
    show = performance_of(np.zeros((200, 3)), who=character_of(velocity=6.0, acceleration=30.0)).changed(channels=speeds)
    device = described_device([show], "blender-live")
    with simulated_machine(device) as board:
        player = Player(Show(show), device.changed(port=board.port))
        driver = opened(player.device)
        with StopAt(90, own_time) as cues:
            record = player.run(driver, MonotonicClock(), cues)
        still, one = player.outputs.counts(np.zeros(3)), player.outputs.resolution.max()
        assert until(lambda: (np.abs(np.array(board.servos.target) - still) <= 1).all())
        stands = player.outputs.values(np.array(board.servos.target))
        driver.close()
    assert record.stopped
    assert player.outputs.values(record.tape.counts[-1]).max() > 1.0, "it was stopped in full motion"
    np.testing.assert_allclose(stands, 0.0, atol=0.5 * one)
