"""Every driver with the simulated machine at its other end, for the tests."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.stage.devices import answers, websocket
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.drivers import make_driver
from bunraku.stage.devices.dynamixel import DynamixelDriver
from bunraku.stage.devices.fault import DeviceFault
from bunraku.stage.devices.simulated.blender_board import BlenderBoard
from bunraku.stage.devices.simulated.dynamixel_bus import DynamixelBus
from bunraku.stage.devices.simulated.maestro_board import MaestroBoard
from bunraku.stage.devices.simulated.serial_board import SerialBoard
from bunraku.stage.devices.websocket import WebsocketDriver
from bunraku.stage.servos import ServoCalibration

PUPPET = Path(__file__).resolve().parents[3] / "benchmarks" / "_websocket_puppet.py"


def _websocket_puppet() -> Any:
    """The client of the websocket driver, which benchmarks and tests share."""
    spec = importlib.util.spec_from_file_location("_websocket_puppet", PUPPET)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WebsocketPuppet


WebsocketPuppet = _websocket_puppet()
BOARDS: dict[str, Any] = {
    "dynamixel": DynamixelBus,
    "maestro": MaestroBoard,
    "serial": SerialBoard,
    "blender-live": BlenderBoard,
    "websocket": WebsocketPuppet,
}
TOKEN = "a-token-for-tests-of-devices"
PATIENCE_MS = 400.0


def device_of(name: str, ids: Sequence[int], port: str, *, patient: bool = True, sensors: Sequence[int] = ()) -> Device:
    """A device of a driver. ``patient``: a busy computer is no fault, so that only what a test does wrong is one."""
    low, high = (1000, 9000) if name == "maestro" else (100, 4000)
    device = Device(
        name="puppet",
        driver=name,  # type: ignore[arg-type]
        port=port,
        baud=1_000_000,
        servos={f"s{servo_id}": ServoCalibration(id=servo_id, position_min=low, position_max=high) for servo_id in ids},
        sensors={f"sensor{servo_id}": ServoCalibration(id=servo_id) for servo_id in sensors},
    )
    return device.model_copy(update={"timeout_ms": PATIENCE_MS}) if patient else device


@contextmanager
def rigged(name: str, ids: Sequence[int], *, patient: bool = True, sensors: Sequence[int] = ()) -> Iterator[tuple[Any, Driver]]:
    """A machine and its driver, not yet open; everything is closed in the end."""
    everything = (*ids, *sensors)
    if name == "websocket":
        driver: Driver = WebsocketDriver(
            device_of(name, ids, "0", patient=patient, sensors=sensors), wait_s=10.0, token=TOKEN, tell=lambda line: None
        )
        driver._sensors = tuple(sensors)
        driver._listen()
        with WebsocketPuppet(driver.url, everything, start=2000) as puppet:
            try:
                yield puppet, driver
            finally:
                driver.close()
        return
    with BOARDS[name](everything, start=2000) as board:
        driver = make_driver(device_of(name, ids, board.port, patient=patient, sensors=sensors))
        if patient and isinstance(driver, DynamixelDriver):
            driver._watchdog = 25  # half a second: a busy computer is no silence of the bus
        try:
            yield board, driver
        finally:
            driver.close()


@contextmanager
def patience() -> Iterator[None]:
    """Within, a question and its repetition may take a second, so that a busy computer does no harm."""
    was = answers.BUDGET_S, websocket.BUDGET_S
    answers.BUDGET_S = websocket.BUDGET_S = 2.5 * PATIENCE_MS / 1e3
    try:
        yield
    finally:
        answers.BUDGET_S, websocket.BUDGET_S = was


def opened(driver: Driver) -> Driver:
    """The driver, open; on a busy computer it may take some attempts."""
    for attempt in range(30):
        try:
            driver.open()
            break
        except DeviceFault:
            if attempt == 29:
                raise
            driver.release()
            if not isinstance(driver, WebsocketDriver):
                driver.close()
            time.sleep(0.02)
    return driver


def until(condition: Any, *, seconds: float = 5.0) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def frames(n: int, k: int) -> NDArray[np.int64]:
    """Commands (k, n), none like the one before, all of them sayable in every protocol."""
    return 2000 + 256 * (np.arange(k)[:, None] % 5) + np.arange(n)[None, :] % 20


def all_told(board: Any, driver: Driver) -> list[tuple[int, ...]]:
    """Every frame that reached a machine; what came in parts of one frame is put together."""
    told: list[tuple[int, ...]] = []
    row: dict[int, int] = {}
    for _, ids, counts in list(board.commands):
        if any(servo_id in row for servo_id in ids):
            told.append(tuple(row[servo_id] for servo_id in driver.device.ids))  # type: ignore[attr-defined]
            row = {}
        row.update(zip(ids, counts, strict=True))
    if row and len(row) == len(driver.device.ids):  # type: ignore[attr-defined]
        told.append(tuple(row[servo_id] for servo_id in driver.device.ids))  # type: ignore[attr-defined]
    return told


@pytest.fixture
def rig() -> SimpleNamespace:
    """The functions above."""
    return SimpleNamespace(
        rigged=rigged,
        opened=opened,
        until=until,
        frames=frames,
        all_told=all_told,
        device_of=device_of,
        token=TOKEN,
        patience=patience,
    )


@pytest.fixture
def patient() -> Iterator[None]:
    """A test during which a busy computer is no fault."""
    with patience():
        yield
