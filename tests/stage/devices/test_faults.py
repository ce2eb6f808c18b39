"""Each named fault at each driver: a DeviceFault of the right kind, a stated safe state, in time; and the way back."""

from __future__ import annotations

import contextlib
import os
import threading
import time

import numpy as np
import pytest

from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.serial_line import line_of
from bunraku.stage.devices.simulated.fault import SimulatedFault

IDS = (2, 3, 4, 5, 6)

K, F = FaultKind, SimulatedFault
SEEN = {
    "dynamixel": {F.CORRUPTED: K.CORRUPTED, F.MISSING: K.MISSING, F.HALF: K.CORRUPTED, F.STALLED: K.SLOW, F.LATE: K.SILENT},
    "maestro": {F.CORRUPTED: K.CORRUPTED, F.MISSING: K.MISSING, F.HALF: K.CORRUPTED, F.STALLED: K.SLOW, F.LATE: K.SILENT},
    "serial": {F.CORRUPTED: K.CORRUPTED, F.MISSING: K.MISSING, F.HALF: K.CORRUPTED, F.STALLED: K.SLOW, F.LATE: K.SILENT},
    "websocket": {F.CORRUPTED: K.CORRUPTED, F.MISSING: K.MISSING, F.HALF: K.CORRUPTED, F.STALLED: K.SILENT, F.LATE: K.SILENT},
    "blender-live": {F.STALLED: K.SLOW},
}
"""What a fault of the machine looks like from here. Who never answers (blender-live) shows no more."""
for kinds in SEEN.values():
    kinds[F.UNPLUGGED] = K.LOST
CASES = [(name, fault) for name, kinds in SEEN.items() for fault in kinds]
LENIENT = [(name, fault) for name, fault in CASES if fault is not F.LATE]
"""Faults whose kind does not hang on the time that a busy computer takes."""


def drive(driver, goal: np.ndarray, seconds: float) -> DeviceFault | None:
    """Send at 100 Hz, without measuring, until a fault."""
    end, k = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        k += 1
        try:
            driver.send(goal + k % 2)
        except DeviceFault as fault:
            return fault
        time.sleep(0.01)
    return None


def safe(board, name: str) -> bool:
    """Whether the machine is in the state that the driver's release, or its own watchdog, promises."""
    if name == "dynamixel":
        where = board.positions
        return (
            all(not on or board.get(servo_id, 98, 1) == 0xFF for servo_id, on in zip(IDS, board.torque, strict=True))
            and len(where) > 0
        )
    if name == "maestro":
        return not any(board.pulses.values())
    if name == "serial":
        return board.positions is not None and not board.driving
    return name == "blender-live" or board.stopped


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("name", "fault"), LENIENT)
def test_a_fault_is_told_by_its_kind_and_there_is_a_way_back(rig, name: str, fault: SimulatedFault) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        goal = np.full(len(IDS), 2100)
        driver.send(goal)
        assert rig.until(lambda: any(2100 in counts for _, _, counts in list(board.commands)))  # its watchdog is set by then
        board.fault = fault
        found = drive(driver, goal, 8.0)
        assert found is not None
        assert found.kind is SEEN[name][fault]
        assert str(found).startswith("puppet at")
        assert "\n" not in str(found)
        driver.release()
        reachable = fault not in (F.UNPLUGGED, F.STALLED) or name not in ("maestro",)
        assert not reachable or rig.until(lambda: safe(board, name))
        board.fault = F.NONE
        driver.close()
        if name == "websocket":
            driver.device = driver.device.model_copy(update={"port": driver.url.split(":")[2].split("/")[0]})
        rig.opened(driver)
        before = len(board.commands)
        driver.send(goal + 50)
        assert rig.until(lambda: any(goal[0] + 50 in counts for _, _, counts in board.commands[before:]))


@pytest.mark.usefixtures("patient")
def test_a_maestro_with_its_own_timeout_stops_when_unplugged(rig) -> None:
    with rig.rigged("maestro", IDS) as (board, driver):
        board._timeout = 0.1
        rig.opened(driver)
        driver.send(np.full(len(IDS), 2100))
        assert rig.until(lambda: any(board.pulses.values()))
        board.fault = F.UNPLUGGED
        assert rig.until(lambda: board.positions is not None and not any(board.pulses.values()))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial", "websocket"])
def test_a_missing_servo_is_found_when_opening(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        board.missing_id = 5
        board.fault = F.MISSING
        if name == "websocket":
            driver._wait = 0.5
        with pytest.raises(DeviceFault, match=r"\b5\b") as found:
            driver.open()
        assert found.value.kind is FaultKind.MISSING


@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial"])
def test_who_does_not_answer_at_all_is_silent(rig, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bunraku.stage.devices.simulated.machine.LATE_S", 60.0)
    with rig.rigged(name, IDS, patient=False) as (board, driver):
        board.fault = F.LATE
        with pytest.raises(DeviceFault) as found:
            driver.open()
        assert found.value.kind is FaultKind.SILENT


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial", "websocket"])
def test_a_wait_for_an_answer_ends_when_someone_presses_stop(rig, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pressed(Exception):
        pass

    asked = []

    def third_time() -> None:
        asked.append(name)
        if len(asked) == 3:
            raise Pressed

    monkeypatch.setattr("bunraku.stage.devices.simulated.machine.LATE_S", 60.0)
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(len(IDS), 2100))
        assert rig.until(lambda: board.commands)
        board.fault = F.LATE
        if name == "websocket":
            driver._heard = -np.inf
            driver._unanswered.clear()
        driver.hear = third_time
        with pytest.raises(Pressed):
            driver.measure()
        assert len(asked) == 3
        driver.hear = None
        driver.release()
        assert rig.until(lambda: safe(board, name)), "released all the same"


@pytest.mark.usefixtures("patient")
def test_the_first_servo_missing_is_not_taken_for_silence(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        board.missing_id = IDS[0]
        board.fault = F.MISSING
        with pytest.raises(DeviceFault, match=f"servo {IDS[0]} ") as found:
            driver.measure()
        assert found.value.kind is FaultKind.MISSING


@pytest.mark.usefixtures("patient")
def test_an_overloaded_servo_is_named(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        board.break_servo(4, 0x20)
        with pytest.raises(DeviceFault, match="servo 4 reports overload") as found:
            driver.measure()
        assert found.value.kind is FaultKind.REFUSED
        driver.close()
        with pytest.raises(DeviceFault, match="servo 4 reports overload"):
            driver.open()


@pytest.mark.usefixtures("patient")
def test_a_servo_that_its_watchdog_stopped_is_a_fault_and_one_unwatched_is_armed_again(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        driver.measure()
        board.put(3, 98, 1, 0)
        driver._watched = 0.0
        driver.measure()
        assert rig.until(lambda: board.get(3, 98, 1) == driver._watchdog)
        board.put(4, 98, 1, 0xFF)
        driver._watched = 0.0
        with pytest.raises(DeviceFault, match="servo 4 stopped by itself") as found:
            driver.measure()
        assert found.value.kind is FaultKind.REFUSED


@pytest.mark.usefixtures("patient")
def test_after_a_pause_the_servos_take_goals_again(rig) -> None:
    """The watchdog has stopped them meanwhile; who paused by intent goes on by sending."""
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        driver._watchdog = 1
        driver._armed = False
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: board.positions is not None and board.get(3, 98, 1) == 0xFF)
        driver._watchdog = 25
        driver._fed = 0.0
        driver.send(np.full(5, 2200))
        assert rig.until(lambda: board.servos.target.tolist() == [2200.0] * 5)


@pytest.mark.usefixtures("patient")
def test_servos_that_would_not_follow_are_refused(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        board.put(3, 11, 1, 1)
        with pytest.raises(DeviceFault, match="servo 3 is in operating mode 1"):
            driver.open()
        board.put(3, 11, 1, 3)
        board.put(5, 48, 4, 3000)
        with pytest.raises(DeviceFault, match="servo 5 takes 0 to 3000"):
            driver.open()
        board.put(5, 48, 4, 4095)
        board.put(6, 0, 2, 350)
        with pytest.raises(DeviceFault, match="servo 6 is of model 350"):
            driver.open()


@pytest.mark.usefixtures("patient")
def test_a_board_in_trouble_or_restarted_says_so(rig) -> None:
    with rig.rigged("serial", IDS) as (board, driver):
        rig.opened(driver)
        board.trouble = "hot"
        with pytest.raises(DeviceFault, match="it says: hot") as found:
            driver.measure()
        assert found.value.kind is FaultKind.REFUSED
        board.trouble = ""
        board.restart()
        with pytest.raises(DeviceFault, match="it says: order"):
            driver.measure()


NOISE = {
    "dynamixel": b"\xff\xff\xfd\x00\x05\x00\x20" * 50,  # must not keep the vendor's handler in its loop
    "serial": line_of("A", 10_000, 0),  # well formed, and no answer to anything
}


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.usefixtures("patient")
def test_a_machine_that_never_stops_talking_is_a_fault(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        ended, talking, faults = threading.Event(), threading.Event(), []
        board.hear = lambda heard, now: []

        def babble() -> None:
            while not ended.is_set():
                with contextlib.suppress(BlockingIOError):
                    while not ended.is_set():
                        os.write(board._master, NOISE[name])
                talking.set()  # the line is full
                time.sleep(0.0003)

        def measure() -> None:
            try:
                driver.measure()
            except DeviceFault as fault:
                faults.append(fault.kind)

        threads = [threading.Thread(target=one, daemon=True) for one in (babble, measure)]
        threads[0].start()
        assert talking.wait(60.0)
        threads[1].start()
        threads[1].join(60.0)
        alive = threads[1].is_alive()
        ended.set()
        threads[0].join()
        assert not alive
        assert faults == [FaultKind.CORRUPTED]


def test_lines_that_answer_nothing_are_read_so_often_and_no_more(rig) -> None:
    """Each comes before the end of its wait, so that time alone would not end it."""
    with rig.rigged("serial", IDS) as (_, driver):
        rig.opened(driver)
        read = []
        driver._line.read_line = lambda longest, until: read.append(until) or (line_of("A", 10_000, 0) if len(read) < 999 else b"")
        with pytest.raises(DeviceFault, match="none of them answers"):
            driver.measure()
        assert len(read) <= 2 * 16


@pytest.mark.usefixtures("patient")
def test_numbers_beyond_all_counts_are_damage(rig) -> None:
    with rig.rigged("serial", IDS) as (board, driver):
        rig.opened(driver)
        board._state = lambda number: line_of("M", number, 0, *(10**400 for _ in IDS))
        with pytest.raises(DeviceFault, match="no whole numbers") as found:
            driver.measure()
        assert found.value.kind is FaultKind.CORRUPTED


@pytest.mark.usefixtures("patient")
def test_torque_that_was_switched_on_is_switched_off_when_opening_fails(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        obey = board._sync_read
        board._sync_read = lambda parameters: [] if any(board.torque) else obey(parameters)
        with pytest.raises(DeviceFault):
            driver.open()
        assert rig.until(lambda: not any(board.torque)), "nobody holds the servos now"


@pytest.mark.usefixtures("patient")
def test_a_maestro_that_is_only_asked_misses_its_channel(rig) -> None:
    with rig.rigged("maestro", IDS) as (board, driver):
        rig.opened(driver)
        board.fault = F.MISSING
        with pytest.raises(DeviceFault, match=f"no channel {board.missing_id}") as found:
            driver.measure()
        assert found.value.kind is FaultKind.MISSING
