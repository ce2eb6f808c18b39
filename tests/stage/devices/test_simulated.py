"""The simulated machines themselves: motion in closed form, watchdogs, limits, and bytes that mean nothing."""

from __future__ import annotations

import math
import os
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.stage.blender_servo import servo_command
from bunraku.stage.devices.maestro import set_multiple_targets
from bunraku.stage.devices.serial_line import line_of
from bunraku.stage.devices.simulated.blender_board import BlenderBoard
from bunraku.stage.devices.simulated.dynamixel_bus import DynamixelBus, packet
from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.devices.simulated.maestro_board import MaestroBoard
from bunraku.stage.devices.simulated.serial_board import SerialBoard
from bunraku.stage.devices.simulated.servos import FirstOrderServos


def sync_write(address: int, length: int, rows: dict[int, int]) -> bytes:
    body = address.to_bytes(2, "little") + length.to_bytes(2, "little")
    return packet(
        0xFE, 0x83, body + b"".join(bytes([servo_id]) + value.to_bytes(length, "little") for servo_id, value in rows.items())
    )


def test_servos_approach_their_goal_as_the_formula_says() -> None:
    servos = FirstOrderServos([100.0, 100.0], tau_s=0.05)
    begin = servos._then
    servos.target[:], servos.driven[:] = 400.0, (True, False)
    for k in range(1, 40):
        now = begin + 0.003 * k
        assert servos.advance(now) == pytest.approx([400.0 - 300.0 * math.exp(-0.003 * k / 0.05), 100.0])
    assert servos.advance(begin) == pytest.approx(servos.advance(begin))  # no way back in time


def test_the_bus_watchdog_stops_a_servo_where_it_is() -> None:
    """98 = 5: 100 ms after the last instruction; then no goal is taken until 98 is 0."""
    bus = DynamixelBus([1], start=1000, tau_s=0.2)
    begin = time.monotonic()
    heard = bytearray(sync_write(64, 1, {1: 1}) + sync_write(98, 1, {1: 5}) + sync_write(116, 4, {1: 2000}))
    bus.servos._then = begin
    bus.hear(heard, begin)
    bus.servos._then = begin
    bus.servos._x[:] = 1000.0
    bus.wait(begin + 0.5)
    there = 2000.0 - 1000.0 * math.exp(-0.1 / 0.2)
    assert bus.servos.target[0] == pytest.approx(there, rel=1e-3)
    assert bus.get(1, 98, 1) == 0xFF
    bus.hear(bytearray(sync_write(116, 4, {1: 2000})), begin + 0.5)
    assert bus.servos.target[0] == pytest.approx(there, rel=1e-3)
    bus.hear(bytearray(sync_write(98, 1, {1: 0}) + sync_write(116, 4, {1: 2000})), begin + 0.6)
    assert bus.servos.target[0] == 2000.0
    assert [counts for _, _, counts in bus.commands] == [(2000,), (2000,), (2000,)]


def test_torque_on_takes_the_present_position_as_goal_and_limits_hold() -> None:
    bus = DynamixelBus([1, 2], start=1000)
    now = time.monotonic()
    bus.hear(bytearray(sync_write(116, 4, {1: 3000, 2: 3000}) + sync_write(64, 1, {1: 1, 2: 1})), now)
    assert bus.servos.target == pytest.approx([1000.0, 1000.0])
    bus.put(2, 48, 4, 2500)
    bus.hear(bytearray(sync_write(116, 4, {1: 3000, 2: 3000})), now)
    assert bus.servos.target == pytest.approx([3000.0, 1000.0])
    assert bus.commands[-1][1:] == ((1, 2), (3000, 3000))


def test_a_maestro_goes_home_on_nonsense() -> None:
    board = MaestroBoard([0, 1, 2])
    board.hear(bytearray(set_multiple_targets(0, [6000, 6100, 6200])), 0.0)
    assert board.pulses == {0: 6000, 1: 6100, 2: 6200}
    board.hear(bytearray(b"\x84\x01\x84\x01\x00\x2e"), 0.0)  # a command breaks off another
    assert board.pulses == {0: 0, 1: 0x2E << 7, 2: 0}
    assert board.hear(bytearray(b"\xa1\xa1"), 0.0) == [b"\x10\x00", b"\x00\x00"]
    board.hear(bytearray(set_multiple_targets(1, [6000, 6000, 6000])), 0.0)  # there is no channel 3
    assert set(board.pulses.values()) == {0}
    assert board.hear(bytearray(b"\xa1"), 0.0) == [b"\x10\x00"]


MACHINES = {
    "dynamixel": (lambda: DynamixelBus([1, 2]), sync_write(116, 4, {1: 300, 2: 301}), b"\0" * 5000),
    "maestro": (lambda: MaestroBoard([1, 2]), set_multiple_targets(1, [300, 301]), b"\xa2"),
    "serial": (lambda: SerialBoard([1, 2]), line_of("I", 100, 1, 2) + line_of("P", 1, 300, 301), b"\n"),
    "blender": (lambda: BlenderBoard([1, 2]), servo_command(1, 300) + servo_command(2, 301), b""),
}


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=60, deadline=None)
@given(noise=st.binary(max_size=200), cut=st.integers(1, 50))
def test_a_command_is_found_after_any_noise_and_in_any_pieces(name: str, noise: bytes, cut: int) -> None:
    """``end`` is what ends whatever the noise may have begun."""
    make, command, end = MACHINES[name]
    machine, heard = make(), bytearray()
    stream = noise + end + command
    for k in range(0, len(stream), cut):
        heard += stream[k : k + cut]
        machine.hear(heard, 1.0)
    told: dict[int, int] = {}
    for _, ids, counts in machine.commands[-2:]:
        told.update(zip(ids, counts, strict=False))
    assert (told[1], told[2]) == (300, 301)


def test_a_port_stays_the_same_when_the_plug_is_drawn_and_put_back() -> None:
    with SerialBoard([1]) as board:
        port = board.port
        assert os.path.exists(port)
        board.fault = SimulatedFault.UNPLUGGED
        assert not os.path.lexists(port)
        board.fault = SimulatedFault.NONE
        assert board.port == port
        assert os.path.exists(port)
    assert not os.path.lexists(port)


def test_arrival_times_are_of_the_monotonic_clock() -> None:
    with BlenderBoard([1]) as board:
        before = time.monotonic()
        with open(board.port, "wb", buffering=0) as line:
            line.write(servo_command(1, 400))
        for _ in range(1000):
            if board.commands:
                break
            time.sleep(0.002)
        arrival, ids, counts = board.commands[0]
        assert before <= arrival <= time.monotonic()
        assert (ids, counts) == ((1,), (400,))
        assert np.isfinite(board.positions).all()
