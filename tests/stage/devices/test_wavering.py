"""One bad answer is forgiven, bad answers are not."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bunraku.stage.devices import answers
from bunraku.stage.devices.answers import Listener
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.serial_line import SerialLineDriver, line_of

IDS = (2, 3, 4)


class Clock:
    """A time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(answers, "time", clock)
    return clock


def question(clock: Clock, faults: list[FaultKind | None], took: float = 0.0):
    """A question whose answers go wrong one after the other; every wait lasts to its end."""
    waits = []

    def ask(until: float) -> str:
        waits.append(until - clock.now)
        kind = faults.pop(0)
        if kind is None:
            clock.now += took
            return "well"
        clock.now = until
        raise DeviceFault(kind, "it", "look")

    return ask, waits


def test_one_bad_answer_is_asked_for_once_more(clock: Clock) -> None:
    ask, waits = question(clock, [FaultKind.CORRUPTED, None])
    assert Listener(0.02).ask(ask) == "well"
    assert waits == pytest.approx([0.02, 0.02])


def test_the_second_in_a_row_is_the_fault(clock: Clock) -> None:
    ask, _ = question(clock, [FaultKind.SILENT, FaultKind.CORRUPTED, None])
    with pytest.raises(DeviceFault) as found:
        Listener(0.02).ask(ask)
    assert found.value.kind is FaultKind.CORRUPTED


@pytest.mark.parametrize("kind", [FaultKind.LOST, FaultKind.SLOW, FaultKind.REFUSED, FaultKind.MISSING])
def test_what_cannot_pass_is_not_asked_again(clock: Clock, kind: FaultKind) -> None:
    ask, waits = question(clock, [kind, None])
    with pytest.raises(DeviceFault):
        Listener(0.02).ask(ask)
    assert len(waits) == 1


def test_question_and_repetition_end_within_the_budget(clock: Clock) -> None:
    begin = clock.now
    ask, waits = question(clock, [FaultKind.SILENT, FaultKind.SILENT])
    with pytest.raises(DeviceFault):
        Listener(0.04).ask(ask)
    assert waits == pytest.approx([0.04, 0.01])
    assert clock.now - begin == pytest.approx(answers.BUDGET_S)


def test_the_fourth_within_a_second_is_the_fault(clock: Clock) -> None:
    listener = Listener(0.02)
    for _ in range(3):
        ask, _ = question(clock, [FaultKind.CORRUPTED, None])
        assert listener.ask(ask) == "well"
        clock.now += 0.2
    ask, waits = question(clock, [FaultKind.CORRUPTED, None])
    with pytest.raises(DeviceFault):
        listener.ask(ask)
    assert len(waits) == 1


def test_three_a_second_are_forgiven_for_ever(clock: Clock) -> None:
    listener = Listener(0.02)
    for _ in range(30):
        ask, _ = question(clock, [FaultKind.CORRUPTED, None])
        assert listener.ask(ask) == "well"
        clock.now += 0.34


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial", "websocket"])
def test_every_driver_forgives_one(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(3, 2100))
        board.waver = 1
        for _ in range(5):
            time.sleep(0.025)
            driver.send(np.full(3, 2100))
            driver.measure()
        assert board.waver == 0


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial"])
def test_no_driver_forgives_every_second_one(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(3, 2100))
        with pytest.raises(DeviceFault) as found:  # noqa: PT012
            for _ in range(20):
                board.waver = 1
                driver.measure()
        assert found.value.kind is FaultKind.CORRUPTED


@pytest.mark.usefixtures("patient")
def test_damaged_commands_are_reported_by_the_board(rig) -> None:
    with rig.rigged("serial", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(3, 2100))
        driver.measure()
        before = len(board.commands)
        driver._line.write(line_of("P", 1, 9, 9, 9).replace(b"9 9", b"9 8"))
        driver.measure()
        assert board.damaged_lines == 0  # counted, told and forgiven
        assert len(board.commands) == before
        with pytest.raises(DeviceFault) as found:  # noqa: PT012
            for _ in range(20):
                driver._line.write(b"noise\n")
                driver.measure()
        assert found.value.kind is FaultKind.CORRUPTED
        assert "damaged lines" in str(found.value)
    assert isinstance(driver, SerialLineDriver)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial"])
def test_answers_may_come_byte_by_byte(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        board.piece = 1
        rig.opened(driver)
        driver.send(np.full(3, 2000))
        assert driver.measure() == pytest.approx(np.full(3, 2000.0), abs=1.0)
