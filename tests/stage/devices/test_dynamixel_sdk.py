"""The simulated bus as the vendor's SDK sees it, with the SDK's own port: an independent client."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bunraku.stage.devices.simulated.dynamixel_bus import DynamixelBus
from bunraku.stage.devices.simulated.fault import SimulatedFault

sdk = pytest.importorskip("dynamixel_sdk")

IDS = tuple(range(1, 27))


@pytest.fixture
def bus():
    with DynamixelBus(IDS, start=2000) as bus:
        yield bus


@pytest.fixture
def port(bus, monkeypatch):
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 1000)  # a busy computer is no fault
    port = sdk.PortHandler(bus.port)
    assert port.setBaudRate(1_000_000)
    yield port
    port.closePort()


def test_ping_every_servo(bus, port) -> None:
    handler = sdk.PacketHandler(2.0)
    for servo_id in IDS:
        assert handler.ping(port, servo_id) == (1060, sdk.COMM_SUCCESS, 0)


def test_a_missing_servo_does_not_answer_the_sdk(bus, port, monkeypatch) -> None:
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 16)
    bus.fault = SimulatedFault.MISSING
    handler = sdk.PacketHandler(2.0)
    assert handler.ping(port, bus.missing_id)[1] == sdk.COMM_RX_TIMEOUT


def test_a_corrupted_answer_is_one_to_the_sdk(bus, port) -> None:
    bus.fault = SimulatedFault.CORRUPTED
    assert sdk.PacketHandler(2.0).ping(port, 1)[1] == sdk.COMM_RX_CORRUPT


def test_sync_write_and_sync_read_of_26(bus, port) -> None:
    handler = sdk.PacketHandler(2.0)
    on = sdk.GroupSyncWrite(port, handler, 64, 1)
    goal = sdk.GroupSyncWrite(port, handler, 116, 4)
    present = sdk.GroupSyncRead(port, handler, 132, 4)
    for servo_id in IDS:
        assert on.addParam(servo_id, [1])
        assert goal.addParam(servo_id, list((1900 + 10 * servo_id).to_bytes(4, "little")))
        assert present.addParam(servo_id)
    assert on.txPacket() == sdk.COMM_SUCCESS
    assert goal.txPacket() == sdk.COMM_SUCCESS
    wanted, end = [1900 + 10 * servo_id for servo_id in IDS], time.monotonic() + 5.0
    found: list[int] = []
    while found != wanted and time.monotonic() < end:
        assert present.txRxPacket() == sdk.COMM_SUCCESS
        found = [present.getData(servo_id, 132, 4) for servo_id in IDS]
    assert found == wanted
    assert bus.commands[0][1:] == (IDS, tuple(1900 + 10 * servo_id for servo_id in IDS))


def test_single_reads_and_writes_with_their_errors(bus, port) -> None:
    handler = sdk.PacketHandler(2.0)
    assert handler.write1ByteTxRx(port, 3, 64, 1) == (sdk.COMM_SUCCESS, 0)
    assert handler.write4ByteTxRx(port, 3, 116, 2100) == (sdk.COMM_SUCCESS, 0)
    assert handler.read4ByteTxRx(port, 3, 116) == (2100, sdk.COMM_SUCCESS, 0)
    assert handler.write4ByteTxRx(port, 3, 116, 5000) == (sdk.COMM_SUCCESS, 6)  # data limit error
    assert handler.write1ByteTxRx(port, 3, 11, 1) == (sdk.COMM_SUCCESS, 7)  # access error: torque is on
    bus.break_servo(3)
    assert handler.read1ByteTxRx(port, 3, 70) == (0x20, sdk.COMM_SUCCESS, 0x80)
    assert handler.reboot(port, 3)[0] == sdk.COMM_SUCCESS
    assert handler.read1ByteTxRx(port, 3, 70) == (0, sdk.COMM_SUCCESS, 0)


def test_stuffed_bytes_come_back(bus, port) -> None:
    """FF FF FD within the data of a status packet is stuffed and taken out again."""
    bus.put(5, 132, 4, 0)
    bus.servos.target[4] = bus.servos._x[4] = np.float64(0xFDFFFF)
    assert sdk.PacketHandler(2.0).read4ByteTxRx(port, 5, 132) == (0xFDFFFF, sdk.COMM_SUCCESS, 0)
