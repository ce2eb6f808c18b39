"""Every driver against its machine while all is well."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bunraku.errors import BadInput, MissingExtra
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.drivers import DRIVERS, make_driver, open_driver
from bunraku.stage.devices.dry_run import DryRunDriver
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.simulated.blender_board import BlenderBoard
from bunraku.stage.servos import ServoCalibration

ALL = ["dynamixel", "maestro", "serial", "blender-live", "websocket"]
ANSWERING = ["dynamixel", "maestro", "serial", "websocket"]
IDS = (4, 1, 2, 9, 0)

pytestmark = pytest.mark.usefixtures("patient")


def test_every_name_of_a_device_has_a_driver() -> None:
    names = Device.model_fields["driver"].annotation.__args__
    assert set(names) == set(DRIVERS)


@pytest.mark.parametrize("name", ALL)
def test_every_command_arrives_as_it_was_sent(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        before = len(board.commands)
        sent = rig.frames(len(IDS), 12)
        for row in sent:
            driver.send(row)
            time.sleep(0.002)
        assert rig.until(lambda: rig.all_told(board, driver)[-1:] == [tuple(sent[-1].tolist())])
        del board.commands[:before]
        assert rig.all_told(board, driver)[-12:] == [tuple(row.tolist()) for row in sent]
        times = [t for t, _, _ in board.commands]
        assert times == sorted(times)


@pytest.mark.parametrize("name", ANSWERING)
def test_a_driver_measures_where_the_machine_is(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        goal = np.array([2100, 2200, 2300, 2400, 2500])

        def there() -> bool:
            driver.send(goal)
            measured = driver.measure()
            return measured is not None and np.abs(measured - goal).max() < 0.6

        assert rig.until(there, seconds=60.0)
        if name != "maestro":  # which reports its pulses, not its servos
            order = [board.ids.index(servo_id) for servo_id in IDS]
            assert board.positions[order] == pytest.approx(goal, abs=1.0)


@pytest.mark.parametrize("name", ["dynamixel", "serial", "websocket"])
def test_opening_moves_nothing(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        assert driver.measure() == pytest.approx(np.full(5, 2000.0))
        assert board.positions == pytest.approx(np.full(5, 2000.0))


def test_opening_moves_no_servo_that_keeps_its_goal(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        board.keeps_goal = True
        for servo_id in IDS:
            board.put(servo_id, 116, 4, 3000)
        board.servos.target[:] = 3000.0
        rig.opened(driver)
        time.sleep(0.02)
        assert board.positions == pytest.approx(np.full(5, 2000.0))
        assert all(board.torque)


def test_a_pose_that_is_held_is_said_again(rig) -> None:
    """So that a board of the live protocol that was restarted learns it, one servo a frame."""
    with rig.rigged("blender-live", IDS) as (board, driver):
        driver.open()
        for _ in range(1 + len(IDS)):
            driver.send(np.full(5, 2100))
        assert rig.until(lambda: sum(len(ids) for _, ids, _ in board.commands) == 2 * len(IDS))
        said = [servo_id for _, ids, _ in board.commands for servo_id in ids]
        assert sorted(said[len(IDS) :]) == sorted(IDS)


def test_a_maestro_whose_pulses_are_off_does_not_know(rig) -> None:
    with rig.rigged("maestro", IDS) as (_, driver):
        rig.opened(driver)
        assert driver.measure() is None
        driver.send(np.full(5, 6000))
        assert driver.measure() == pytest.approx(np.full(5, 6000.0))


def test_the_live_protocol_measures_nothing(rig) -> None:
    with rig.rigged("blender-live", IDS) as (_, driver):
        driver.open()
        driver.send(np.full(5, 300))
        assert driver.measure() is None


@pytest.mark.parametrize("name", ["dynamixel", "serial", "websocket"])
def test_sensors_are_reported_behind_the_servos_and_not_moved(rig, name: str) -> None:
    with rig.rigged(name, (3, 1), sensors=(7, 5)) as (board, driver):
        rig.opened(driver)

        def there() -> bool:
            driver.send(np.array([2200, 2100]))
            return np.abs(driver.measure() - [2200, 2100, 2000, 2000]).max() < 0.6

        assert rig.until(there, seconds=60.0)
        assert {servo_id for _, ids, _ in board.commands for servo_id in ids} == {1, 3}


@pytest.mark.parametrize("name", ["maestro", "blender-live"])
def test_sensors_that_cannot_be_read_are_refused(rig, name: str) -> None:
    with rig.rigged(name, (3, 1), sensors=(7,)) as (_, driver), pytest.raises(BadInput, match="sensor7"):
        driver.open()


@pytest.mark.parametrize("name", ALL)
def test_release_and_close_never_raise(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (_, driver):
        if name != "websocket":
            driver.release()
            driver.close()
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        driver.release()
        driver.close()
        driver.close()
        driver.release()
        with pytest.raises(DeviceFault) as lost:
            driver.send(np.full(5, 2100))
        assert lost.value.kind is FaultKind.LOST


def test_released_dynamixels_are_limp(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: all(board.torque))
        driver.release()
        assert rig.until(lambda: not any(board.torque))
        assert rig.until(lambda: not any(board.get(servo_id, 98, 1) for servo_id in IDS))


def test_released_maestros_send_no_pulse(rig) -> None:
    with rig.rigged("maestro", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 6000))
        assert rig.until(lambda: set(board.pulses.values()) == {6000})
        driver.release()
        assert rig.until(lambda: set(board.pulses.values()) == {0})


def test_released_boards_drive_nothing(rig) -> None:
    with rig.rigged("serial", IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: board.driving)
        driver.release()
        assert rig.until(lambda: not board.driving)


LIMP = {
    "dynamixel": lambda board: not any(board.torque) and not any(board.get(servo_id, 98, 1) for servo_id in IDS),
    "maestro": lambda board: set(board.pulses.values()) == {0},
    "serial": lambda board: not board.driving,
}


def refusing_writes(driver, failing: set[int]) -> list[bytes]:
    """Let the line refuse the writes of these numbers, counted from 0 on; the list fills with all that is tried."""
    tried: list[bytes] = []
    write = driver._line.write

    def wavering(data: bytes) -> None:
        tried.append(data)
        if len(tried) - 1 in failing:
            raise DeviceFault(FaultKind.SLOW, "here", "no room on the line")
        write(data)

    driver._line.write = wavering
    return tried


@pytest.mark.parametrize("failing", [{0}, {0, 1}, {1}, {0, 2}], ids=str)
@pytest.mark.parametrize("name", LIMP)
def test_release_tells_every_servo_though_writes_fail(rig, name: str, failing: set[int]) -> None:
    with rig.rigged(name, IDS) as (board, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: not LIMP[name](board))
        tried = refusing_writes(driver, failing)
        driver.release()
        assert rig.until(lambda: LIMP[name](board), seconds=1.0)
        said = [data for k, data in enumerate(tried) if k not in failing]
        assert said.count(said[0]) == 2


@pytest.mark.parametrize("name", LIMP)
def test_release_gives_up_on_a_line_that_takes_nothing(rig, name: str) -> None:
    with rig.rigged(name, IDS) as (_, driver):
        rig.opened(driver)
        tried = refusing_writes(driver, set(range(1000)))
        driver.release()
        assert 2 <= len(tried) <= 5


def wheeled(port: str, **changes: object) -> Device:
    """A board of the live protocol with a wheel that stands still at 400, and a joint."""
    wheel = ServoCalibration(id=1, position_min=200, position_max=600, span_rad_s=(-6.0, 6.0)).changed(**changes)
    servos = {"neck": ServoCalibration(id=0), "wheel": wheel}
    return Device(name="puppet", driver="blender-live", port=port, baud=115_200, servos=servos)


def one_by_one(board: BlenderBoard) -> list[tuple[int, int]]:
    """What a board was told, servo by servo: how it came together depends on when the board was listening."""
    return [told for _, ids, counts in list(board.commands) for told in zip(ids, counts, strict=True)]


def test_released_wheels_stand_still_on_the_live_protocol(rig) -> None:
    with BlenderBoard([0, 1]) as board:
        driver = open_driver(wheeled(board.port))
        driver.send(np.array([300, 550]))
        assert rig.until(lambda: list(board.servos.target) == [300, 550])
        driver.release()
        assert rig.until(lambda: list(board.servos.target) == [300, 400])
        driver.send(np.array([300, 400]))
        assert rig.until(lambda: one_by_one(board)[-2:] == [(0, 300), (1, 400)]), "and all is said anew"
        driver.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"span_rad_s": (1.0, 6.0)}, r"cannot be commanded to stand still: 0 rad/s is at 120, .* \[200, 600\]"),
        ({"position_min": 32, "position_max": 600}, "cannot be commanded to stand still: 0 rad/s is at 316"),
    ],
)
def test_a_wheel_that_could_not_be_stopped_is_refused(rig, changes: dict, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        make_driver(wheeled("/dev/null", **changes)).open()


def test_released_clients_stop(rig) -> None:
    with rig.rigged("websocket", IDS) as (puppet, driver):
        rig.opened(driver)
        driver.send(np.full(5, 2100))
        assert rig.until(lambda: not puppet.stopped)
        puppet._patience = 1e9
        driver.release()
        assert rig.until(lambda: puppet.stopped)


def test_the_dry_run_keeps_the_log() -> None:
    device = Device(name="nobody", driver="dry-run", servos={"a": ServoCalibration(), "b": ServoCalibration()})
    driver = open_driver(device)
    assert isinstance(driver, DryRunDriver)
    assert driver.measure() is None
    driver.send(np.array([300, 400]))
    driver.send(np.array([301, 401]))
    assert [counts for _, counts in driver.log] == [(300, 400), (301, 401)]
    assert driver.measure() == pytest.approx([301.0, 401.0])
    driver.release()
    assert driver.released
    driver.close()
    with pytest.raises(DeviceFault):
        driver.send(np.array([300, 400]))


@pytest.mark.parametrize("name", ["dynamixel", "maestro", "serial", "blender-live"])
def test_a_device_without_its_port_is_refused(name: str) -> None:
    servos = {"a": ServoCalibration(id=0)}
    with pytest.raises(BadInput, match="names no port"):
        make_driver(Device(name="x", driver=name, servos=servos)).open()
    with pytest.raises(DeviceFault, match="look at the plug") as lost:
        open_driver(Device(name="x", driver=name, port="/dev/there-is-no-such-line", servos=servos))
    assert lost.value.kind is FaultKind.LOST


@pytest.mark.parametrize("name", ["dynamixel", "serial", "blender-live"])
def test_a_line_too_slow_for_its_servos_is_refused(name: str) -> None:
    servos = {f"s{i}": ServoCalibration(id=i) for i in range(26)}
    with pytest.raises(BadInput, match=r"26 servos at 100 Hz need .* baud"):
        make_driver(Device(name="x", driver=name, port="/dev/null", baud=57_600, servos=servos)).open()


@pytest.mark.parametrize(
    ("rate", "baud", "said"),
    [
        (10.0, 57_600, r"need 144 bytes a frame and 430 for their answers, 75 ms at 57600 baud \(at most 50\), that is 86000 baud"),
        (100.0, 200_000, r"and 430 for their answers, 22 ms at 200000 baud \(at most 50\), that is 359000 baud"),
    ],
)
def test_answers_that_share_the_bus_must_fit_too(rate: float, baud: int, said: str) -> None:
    servos = {f"s{k}": ServoCalibration(id=k, position_max=4095) for k in range(26)}
    device = Device(name="x", driver="dynamixel", port="/dev/none", baud=baud, rate_hz=rate, servos=servos)
    with pytest.raises(BadInput, match=said):
        make_driver(device).open()
    with pytest.raises(DeviceFault, match="cannot be opened"):  # which is looked at next
        make_driver(device.changed(baud=400_000)).open()


def test_gains_ask_in_each_period_and_that_must_fit() -> None:
    servos = {f"s{k}": ServoCalibration(id=k, position_max=4095) for k in range(25)}
    device = Device(name="x", driver="dynamixel", port="/dev/none", baud=400_000, rate_hz=100.0, servos=servos)
    with pytest.raises(BadInput, match=r"and 430 for their answers, .* that is 569000 baud"):
        make_driver(device.changed(sensors={"knee": ServoCalibration(id=25, position_max=4095)})).open()
    with pytest.raises(DeviceFault, match="cannot be opened"):
        make_driver(device).open()


def test_a_missing_extra_is_named(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "serial", None)
    device = Device(name="x", driver="serial", port="/dev/null", servos={"a": ServoCalibration()})
    with pytest.raises(MissingExtra, match=r"bunraku\[hardware\]"):
        make_driver(device).open()


def test_a_line_is_taken_by_one_program_only(rig) -> None:
    with rig.rigged("serial", IDS) as (_, driver):
        rig.opened(driver)
        with pytest.raises(DeviceFault, match="another program"):
            make_driver(driver.device).open()
