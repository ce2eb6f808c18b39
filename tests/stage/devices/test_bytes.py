"""The bytes on the line: the vendors' examples, and checksums against independent programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.stage.blender_servo import servo_command
from bunraku.stage.devices.blender_live import sayable
from bunraku.stage.devices.maestro import frame_of_targets, set_multiple_targets, set_target
from bunraku.stage.devices.serial_line import line_of, words_of
from bunraku.stage.devices.simulated.dynamixel_bus import crc16, packet


def test_the_maestro_manual() -> None:
    assert set_target(2, 4 * 1500) == bytes.fromhex("84 02 70 2e")
    assert set_multiple_targets(3, [0, 4 * 1500]) == bytes.fromhex("9f 02 03 00 00 70 2e")


def test_the_blender_add_on() -> None:
    assert servo_command(0, 375) == bytes.fromhex("3c 00 01 77 3e")


def test_maestro_frames_join_neighbours() -> None:
    assert frame_of_targets([3, 4, 8], [0, 6000, 6000]) == bytes.fromhex("9f 02 03 00 00 70 2e") + bytes.fromhex("84 08 70 2e")
    assert frame_of_targets([8, 4, 3], [6000, 6000, 0]) == frame_of_targets([3, 4, 8], [0, 6000, 6000])


def test_a_micro_maestro_gets_single_commands() -> None:
    """It does not know 9f."""
    assert frame_of_targets([0, 2, 1], [6000, 0, 6000]) == bytes.fromhex("84 00 70 2e 84 01 70 2e 84 02 00 00")


@given(st.dictionaries(st.integers(0, 23), st.integers(0, 0x3FFF), min_size=1))
def test_maestro_frames_say_every_target(told: dict[int, int]) -> None:
    """Read back by the rules of the manual, byte by byte."""
    data, found = list(frame_of_targets(list(told), list(told.values()))), {}
    while data:
        command = data.pop(0)
        number, first = (data.pop(0), data.pop(0)) if command == 0x9F else (1, data.pop(0))
        assert command in (0x84, 0x9F)
        for channel in range(first, first + number):
            low, high = data.pop(0), data.pop(0)
            assert low < 0x80
            assert high < 0x80
            found[channel] = low + 128 * high
    assert found == told


@given(st.binary(max_size=300))
def test_the_crc_of_the_simulated_bus_is_the_vendors(data: bytes) -> None:
    import dynamixel_sdk

    assert crc16(data) == dynamixel_sdk.Protocol2PacketHandler().updateCRC(0, data, len(data))


def test_a_ping_of_the_protocol_description() -> None:
    """The instruction packet printed there for ID 1, and its status packet."""
    assert packet(1, 0x01) == bytes.fromhex("ff ff fd 00 01 03 00 01 19 4e")
    assert packet(1, 0x55, bytes.fromhex("00 06 04 26")) == bytes.fromhex("ff ff fd 00 01 07 00 55 00 06 04 26 65 5d")


def test_the_checksum_of_a_line() -> None:
    """The check value of CRC-16/CCITT-FALSE, and the loop that the docstring gives to makers."""
    import binascii

    assert binascii.crc_hqx(b"123456789", 0xFFFF) == 0x29B1
    line = line_of("P", 17, 350, 412)
    crc = 0xFFFF
    for byte in b"P 17 350 412":
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    assert line == b"P 17 350 412*%04X\n" % crc


@given(st.lists(st.integers(-99_999, 99_999), max_size=40), st.data())
def test_no_line_with_a_wrong_bit_is_read(numbers: list[int], data: st.DataObject) -> None:
    line = line_of("M", *numbers)
    assert words_of(line) == ["M", *map(str, numbers)]
    place, bit = data.draw(st.integers(0, len(line) - 1)), data.draw(st.integers(0, 7))
    wrong = line[:place] + bytes([line[place] ^ 1 << bit]) + line[place + 1 :]
    assert words_of(wrong) is None


def test_positions_that_the_blender_library_cannot_read(rig) -> None:
    """A byte 3c begins a command anew on its receiver: a neighbour is sent, on the side that was allowed just before."""
    with rig.rigged("blender-live", [0, 7]) as (board, driver):
        driver.open()
        for position in range(300, 330):
            driver.send(np.array([position, 4000]))
        assert rig.until(lambda: board.commands and board.commands[-1][2][0] == 329)
        told = [counts[ids.index(0)] for _, ids, counts in board.commands if 0 in ids]
        assert list(dict.fromkeys(told)) == [*range(300, 316), *range(317, 330)]
        assert board.dropped == 0


@given(st.integers(0, 15_359), st.integers(0, 15_359))
def test_a_position_that_is_moved_stays_between_its_neighbours_in_time(position: int, before: int) -> None:
    """So a limit that both keep, whichever it is, is kept by what is sent."""
    before = before + 1 if before & 0xFF == 0x3C else before
    sent = sayable(position, before)
    assert sent is not None
    assert sent & 0xFF != 0x3C
    assert min(position, before) <= sent <= max(position, before)
    assert abs(sent - position) <= 1


def test_no_limit_of_the_machine_is_left_for_a_byte(rig) -> None:
    """316 = 0x013c is the highest position that may be told, and the lowest."""
    with rig.rigged("blender-live", [0, 1]) as (board, driver):
        driver.open()
        for up, down in ((300, 330), (316, 316), (310, 320), (316, 316)):
            driver.send(np.array([up, down]))
        assert rig.until(lambda: len(board.commands) >= 4 and board.commands[-1][2][-1] == 317)
        told = {servo: [c[ids.index(servo)] for _, ids, c in board.commands if servo in ids] for servo in (0, 1)}
        assert max(told[0]) == 315
        assert min(told[1]) == 317


@pytest.mark.parametrize(("first", "later"), [(316, 315), (3900, 3901)])
def test_a_first_position_that_cannot_be_said_is_not_sent_as_another(rig, first: int, later: int) -> None:
    """316 = 0x013c and 3900 = 0x0f3c may be the ends of what a character allows: neither neighbour is known to be."""
    with rig.rigged("blender-live", [0, 1]) as (board, driver):
        driver.open()
        for row in ([300, first], [300, first], [301, first], [302, later]):
            driver.send(np.array(row))
        assert rig.until(lambda: board.commands and 302 in board.commands[-1][2])
        assert {c[ids.index(1)] for _, ids, c in board.commands if 1 in ids} == {later}


def test_an_id_that_the_blender_library_cannot_read(rig) -> None:
    with rig.rigged("blender-live", [60]) as (_, driver), pytest.raises(BadInput, match="id 60"):
        driver.open()
