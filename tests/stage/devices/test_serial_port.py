"""The line itself: nothing waits, whatever happens at the other end."""

from __future__ import annotations

import time

import pytest

from bunraku.stage.devices import serial_port
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.serial_port import SerialPort
from bunraku.stage.devices.simulated.blender_board import BlenderBoard
from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.servos import ServoCalibration


@pytest.fixture
def board():
    with BlenderBoard([0]) as board:
        yield board


@pytest.fixture
def line(board):
    line = SerialPort(Device(name="it", driver="serial", port=board.port, baud=115_200, servos={"a": ServoCalibration()}))
    line.open()
    yield line
    line.close()


class Looks:
    """A clock on which a millisecond passes each time someone looks at it, however busy this computer is."""

    now = 1000.0

    def monotonic(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def looks(monkeypatch) -> Looks:
    looks = Looks()
    monkeypatch.setattr(serial_port, "time", looks)
    return looks


def test_a_full_line_does_not_block(board, line, looks) -> None:
    board.fault = SimulatedFault.STALLED
    begin = looks.now
    with pytest.raises(DeviceFault, match="found no room") as slow:
        line.write(b"x" * 100)
    assert slow.value.kind is FaultKind.SLOW
    assert looks.now - begin < serial_port.WRITE_S + 0.005
    board.fault = SimulatedFault.NONE
    line.write(b"<\0\1\2>")


def test_too_much_in_the_line_is_a_fault(line, monkeypatch) -> None:
    """What a real line says about its buffer; a pseudo terminal always says 0. 115200 baud carry 345 bytes in 30 ms."""
    monkeypatch.setattr(type(line._serial), "out_waiting", 345 + 100)
    line.write(b"x" * 100)
    monkeypatch.setattr(type(line._serial), "out_waiting", 345 + 101)
    with pytest.raises(DeviceFault, match="446 bytes stand in the line's buffer") as slow:
        line.write(b"x" * 100)
    assert slow.value.kind is FaultKind.SLOW


def test_a_broken_line_is_lost_whatever_is_asked_of_it(board, line) -> None:
    board.fault = SimulatedFault.UNPLUGGED
    for ask in (
        lambda: line.write(b"x"),
        lambda: line.read(1, time.monotonic() + 1.0),
        lambda: line.read_line(10, time.monotonic() + 1.0),
        line.drop_input,
        lambda: line.drain(time.monotonic() + 1.0),
        line.open,
    ):
        with pytest.raises(DeviceFault) as lost:
            ask()
        assert lost.value.kind is FaultKind.LOST
    line.close()
    line.close()


def test_reading_ends(line, looks) -> None:
    begin = looks.now
    assert line.read(10, begin + 0.02) == b""
    assert line.read_line(10, begin + 0.04) == b""
    assert looks.now - begin == pytest.approx(0.04, abs=0.0021)


def test_what_came_while_this_program_slept_is_in_time(board, line, rig) -> None:
    import os

    os.write(board._master, b"hello\nworld")
    assert rig.until(lambda: line._serial.in_waiting == 11)
    assert line.read_line(100, time.monotonic() - 1.0) == b"hello\n"
    assert line.read(5, time.monotonic() - 1.0) == b"world"
