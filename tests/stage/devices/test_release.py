"""Letting go: each servo is told, asked, told again, and named when it stays driven."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.stage.devices import serial_port
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.drivers import make_driver
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.serial_port import insist
from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.servos import ServoCalibration

IDS = (2, 3, 4, 5, 6)


class Attempts:
    """A command that fails at these attempts; a clock on which each attempt takes ``takes`` [s]."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failing: set[int], takes: float = 0.0) -> None:
        self.tried, self._failing, self._takes, self.now = 0, failing, takes, 0.0
        self.pauses: list[float] = []
        monkeypatch.setattr(serial_port, "time", self)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def __call__(self) -> None:
        self.tried += 1
        self.now += self._takes
        if self.tried in self._failing:
            raise DeviceFault(FaultKind.SLOW, "here", "no room")


@pytest.mark.parametrize(
    ("failing", "tried", "out"),
    [(set(), 2, True), ({1}, 3, True), ({2}, 3, True), ({1, 2, 3}, 5, True), ({1, 2, 3, 4}, 5, True), (set(range(9)), 5, False)],
)
def test_a_safe_command_goes_out_twice_within_five_attempts(
    monkeypatch: pytest.MonkeyPatch, failing: set[int], tried: int, out: bool
) -> None:
    command = Attempts(monkeypatch, failing)
    assert insist(command) is out
    assert command.tried == tried
    assert len(command.pauses) == len([k for k in failing if 1 <= k <= tried])


@pytest.mark.parametrize(("takes", "tried"), [(0.021, 2), (0.019, 3), (0.041, 1), (0.039, 2)])
def test_no_attempt_begins_after_40_ms(monkeypatch: pytest.MonkeyPatch, takes: float, tried: int) -> None:
    command = Attempts(monkeypatch, set(range(9)), takes)
    assert not insist(command)
    assert command.tried == tried


def deaf_dynamixels(board, deaf: dict[int, int]) -> None:
    """Servos that do not hear their next so many commands to switch their torque."""
    obey = board._write_table

    def write_table(servo_id: int, address: int, data: bytes) -> int:
        if address == 64 and deaf.get(servo_id, 0):
            deaf[servo_id] -= 1
            return 0
        return obey(servo_id, address, data)

    board._write_table = write_table


@pytest.mark.usefixtures("patient")
def test_dynamixels_that_did_not_hear_are_told_each_and_named_if_that_does_not_help(rig, monkeypatch) -> None:
    monkeypatch.setattr("bunraku.stage.devices.dynamixel.LIMP_S", 1.0)
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: all(board.torque))
        deaf_dynamixels(board, {3: 2, 6: 3})
        driver.release()
        assert rig.until(lambda: board.torque == (False, True, False, False, True))
        assert driver.check_release() == "", "told again, each twice"
        assert not any(board.torque)
        board.put(4, 64, 1, 1)
        deaf_dynamixels(board, {4: 99})
        assert driver.check_release() == "puppet does not confirm that s4 is released; cut the power"


@pytest.mark.usefixtures("patient")
def test_a_servo_that_does_not_answer_hides_no_other(rig, monkeypatch) -> None:
    monkeypatch.setattr("bunraku.stage.devices.dynamixel.LIMP_S", 0.5)
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        deaf_dynamixels(board, {6: 2})
        board.missing_id = 2
        board.fault = SimulatedFault.MISSING
        driver.release()
        assert driver.check_release() == "puppet does not confirm that s2 is released; cut the power"
        assert board.torque[1:] == (False,) * 4


@pytest.mark.usefixtures("patient")
def test_channels_with_a_pulse_are_told_each_and_named_if_that_does_not_help(rig) -> None:
    with rig.rigged("maestro", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 6000))
        assert rig.until(lambda: set(board.pulses.values()) == {6000})
        aim, deaf = board._aim, {3: 2, 6: 3}

        def hard_of_hearing(first: int, data: bytes, now: float) -> None:
            kept = {channel: pulse for channel, pulse in board.pulses.items() if deaf.get(channel)}
            aim(first, data, now)
            for channel in set(kept) & set(range(first, first + len(data) // 2)):
                deaf[channel] -= 1
                board.pulses[channel] = kept[channel]

        board._aim = hard_of_hearing
        driver.release()
        assert rig.until(lambda: board.pulses == {2: 0, 3: 6000, 4: 0, 5: 0, 6: 6000})
        assert driver.check_release() == ""
        assert set(board.pulses.values()) == {0}
        board.pulses[4] = board.pulses[5] = 6000
        deaf |= {4: 99, 5: 99}
        assert driver.check_release() == "puppet does not confirm that s4, s5 are released; cut the power"


@pytest.mark.usefixtures("patient")
def test_a_board_that_got_a_damaged_stop_is_told_again(rig) -> None:
    with rig.rigged("serial", IDS) as (board, driver):
        rig.opened(driver)
        board.wait = lambda now: None  # its own patience would do it too
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: board.driving)
        write, damaged = driver._line.write, []

        def noisy(data: bytes) -> None:
            if data.startswith(b"S") and len(damaged) < 2:
                damaged.append(data)
                data = b"T" + data[1:]
            write(data)

        driver._line.write = noisy
        driver.release()
        assert len(damaged) == 2
        assert driver.check_release() == ""
        assert rig.until(lambda: not board.driving)


@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial"])
def test_a_machine_that_is_gone_is_said_to_be_driven(rig, name: str) -> None:
    with rig.rigged(name, IDS, patient=False) as (board, driver):
        rig.opened(driver)
        board.fault = SimulatedFault.UNPLUGGED
        driver.release()
        assert driver.check_release() == "puppet does not confirm that s2, s3, s4, s5, s6 are released; cut the power"


def test_a_client_that_is_gone_was_not_reached_by_the_stop(rig) -> None:
    with rig.rigged("websocket", IDS) as (puppet, driver):
        rig.opened(driver)
        driver.release()
        assert driver.check_release() == ""
        puppet.fault = SimulatedFault.UNPLUGGED
        assert rig.until(lambda: driver._queue is None)
        driver.release()
        assert driver.check_release().startswith("puppet was not reached by the stop")


def test_wheels_whose_line_took_nothing_turn_on() -> None:
    servos = {"neck": ServoCalibration(id=0), "wheel": ServoCalibration(id=1, span_rad_s=(-6.0, 6.0))}
    driver = make_driver(Device(name="puppet", driver="blender-live", port="/dev/null", servos=servos))
    assert driver.check_release() == ""
    driver.release()
    assert driver.check_release() == "puppet: the line took no command, so its wheels turn on; cut their power"
    driver = make_driver(Device(name="puppet", driver="blender-live", port="/dev/null", servos={"neck": ServoCalibration(id=0)}))
    driver.release()
    assert driver.check_release() == "", "the protocol has no way to let go of others"
