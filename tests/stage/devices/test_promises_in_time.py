"""The numbers that a machine's safety hangs on, as the guide states them: 100 ms until a machine that hears nothing stops."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

from bunraku.live.websocket import serve_websocket
from bunraku.stage.devices import answers, serial_port, websocket
from bunraku.stage.devices.dynamixel import DynamixelDriver
from bunraku.stage.devices.serial_line import SerialLineDriver
from bunraku.stage.devices.websocket import WebsocketDriver

IDS = (2, 3, 4)
PATIENCE = [(100.0, 100), (1000.0, 100), (40.0, 100), (39.0, 103), (20.0, 200)]
"""Rate [Hz] and how long a machine waits for a command before it stops by itself [ms]: four periods, 100 ms at least."""


def test_a_fault_is_seen_and_the_safe_state_commanded_within_100_ms() -> None:
    assert (answers.LISTEN_S, answers.BUDGET_S, serial_port.WRITE_S) == (0.02, 0.05, 0.02)
    assert (answers.FORGIVEN, answers.WINDOW_S) == (3, 1.0)
    assert answers.LISTEN_S + answers.BUDGET_S + serial_port.WRITE_S < 0.1, "and 10 ms for a busy computer"


@pytest.mark.parametrize(("rate", "patience_ms"), PATIENCE)
def test_the_watchdog_of_a_servo_bus(rig, rate: float, patience_ms: int) -> None:
    driver = DynamixelDriver(rig.device_of("dynamixel", IDS, "/dev/none").model_copy(update={"rate_hz": rate}))
    assert driver._watchdog == -(-patience_ms // 20), "in ticks of 20 ms"


@pytest.mark.usefixtures("patient")
def test_every_servo_gets_the_watchdog_with_the_first_command(rig) -> None:
    with rig.rigged("dynamixel", IDS) as (board, driver):
        board.wait = lambda now: None
        driver._watchdog = DynamixelDriver(driver.device)._watchdog
        rig.opened(driver)
        assert [board.get(servo_id, 98, 1) for servo_id in IDS] == [0, 0, 0], "not before"
        driver.send(np.full(3, 2100))
        assert rig.until(lambda: [board.get(servo_id, 98, 1) for servo_id in IDS] == [5, 5, 5])


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(("rate", "patience_ms"), PATIENCE)
def test_the_patience_of_a_board(rig, rate: float, patience_ms: int) -> None:
    with rig.rigged("serial", IDS) as (_, driver):
        driver = SerialLineDriver(driver.device.model_copy(update={"rate_hz": rate}))
        told = []
        write = driver._line.write
        driver._line.write = lambda data: (told.append(data), write(data))
        rig.opened(driver)
        assert told[0].startswith(f"I {patience_ms} 2 3 4*".encode())
        driver.close()


@pytest.mark.parametrize(("rate", "patience_ms"), PATIENCE)
def test_the_patience_of_a_client(rig, rate: float, patience_ms: int) -> None:
    from websockets.sync.client import connect

    device = rig.device_of("websocket", IDS, "0").model_copy(update={"rate_hz": rate})
    driver = WebsocketDriver(device, token=rig.token, tell=lambda line: None)
    driver._listen()
    try:
        with connect(driver.url, compression=None, open_timeout=60, proxy=None) as client:
            assert json.loads(client.recv(timeout=60))["patience_ms"] == patience_ms
    finally:
        driver.close()
    assert (websocket.READY_S, websocket.MOST_UNSENT) == (1.0, 32)


def test_a_stream_holds_after_half_a_second_of_silence() -> None:
    assert inspect.signature(serve_websocket).parameters["patience"].default == 0.5
