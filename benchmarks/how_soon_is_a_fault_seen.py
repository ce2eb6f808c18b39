"""How soon is a fault seen? Every driver at 100 Hz, 26 servos (a Maestro has 24): from the fault until the safe state is ordered.

The player sends and does not measure, so that the driver has to listen by itself; the worst and the median of some runs with every
fault are printed, and by which kind of fault it was told. The bar is 100 ms. A protocol without answers (blender-live) cannot show
a damaged, missing or late one. "Computer" is the worst delay of a sleep meanwhile: on a busy computer it adds to the times.

Run: python benchmarks/how_soon_is_a_fault_seen.py [RUNS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from _websocket_puppet import WebsocketPuppet
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.drivers import make_driver
from bunraku.stage.devices.fault import DeviceFault
from bunraku.stage.devices.simulated.blender_board import BlenderBoard
from bunraku.stage.devices.simulated.dynamixel_bus import DynamixelBus
from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.devices.simulated.maestro_board import MaestroBoard
from bunraku.stage.devices.simulated.serial_board import SerialBoard
from bunraku.stage.devices.websocket import WebsocketDriver
from bunraku.stage.servos import ServoCalibration

BAR_MS = 100.0
BOARDS: dict[str, Any] = {"dynamixel": DynamixelBus, "maestro": MaestroBoard, "serial": SerialBoard, "blender-live": BlenderBoard}
UNSEEN = {
    ("blender-live", fault)
    for fault in (SimulatedFault.CORRUPTED, SimulatedFault.MISSING, SimulatedFault.HALF, SimulatedFault.LATE)
}
AFTER = {
    "dynamixel": "torque off; by the watchdog stopped and held where the line is gone",
    "maestro": "no pulses; by its own timeout, if set, where the line is gone",
    "serial": "not driven; by itself after 100 ms where the line is gone",
    "blender-live": "holds its last position",
    "websocket": "stopped by the client; by itself after 100 ms where the line is gone",
}


@contextmanager
def rigged(name: str) -> Iterator[tuple[Any, Driver]]:
    ids = range(24 if name == "maestro" else 26)
    low, high = (4000, 8000) if name == "maestro" else (100, 4000)
    servos = {f"s{number}": ServoCalibration(id=number, position_min=low, position_max=high) for number in ids}
    if name == "websocket":
        device = Device(name="puppet", driver="websocket", port="0", servos=servos)
        driver: Driver = WebsocketDriver(device, wait_s=20.0, tell=lambda line: None)
        driver._listen()  # type: ignore[attr-defined]
        with WebsocketPuppet(driver.url, ids, start=2000) as puppet:  # type: ignore[attr-defined]
            yield puppet, driver
            driver.close()
        return
    with BOARDS[name](ids, start=6000 if name == "maestro" else 2000) as board:
        driver = make_driver(Device(name="puppet", driver=name, port=board.port, baud=1_000_000, servos=servos))  # type: ignore[arg-type]
        yield board, driver
        driver.close()


def opened(driver: Driver) -> bool:
    for _ in range(20):
        try:
            driver.open()
            return True
        except DeviceFault:
            time.sleep(0.05)
    return False


def drive(driver: Driver, goal: np.ndarray, seconds: float, late: list[float]) -> DeviceFault | None:
    """Send at 100 Hz until a fault; ``late`` gets how much longer than asked for every sleep was [s]."""
    due = time.monotonic()
    for k in range(int(100 * seconds)):
        try:
            driver.send(goal + k % 2)
        except DeviceFault as fault:
            return fault
        due += 0.01
        rest, begin = max(0.0, due - time.monotonic()), time.monotonic()
        time.sleep(rest)
        late.append(time.monotonic() - begin - rest)
    return None


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rng = np.random.default_rng(0)
    met = True
    print(f"{'driver':13s} {'fault':10s} {'told as':11s} {'median ms':>9s} {'worst ms':>9s} {'computer':>9s}  reconnects")
    for name in (*BOARDS, "websocket"):
        for fault in SimulatedFault:
            if fault is SimulatedFault.NONE:
                continue
            if (name, fault) in UNSEEN:
                print(f"{name:13s} {fault.name:10s} cannot be seen: the protocol has no answers")
                continue
            taken, kinds, back, false, late = [], set(), 0, 0, [0.0]
            with rigged(name) as (board, driver):
                goal = np.full(len(board.ids), 6000 if name == "maestro" else 2000)
                for _ in range(runs):
                    board.fault = SimulatedFault.NONE
                    if not opened(driver):
                        continue
                    back += 1
                    if drive(driver, goal, 0.05 + 0.02 * rng.random(), late) is None:
                        board.fault = fault
                        begin = time.monotonic()
                        found = drive(driver, goal, 2.0, late)
                        driver.release()
                        taken.append(1e3 * (time.monotonic() - begin))
                        kinds.add(found.kind.name if found else "nothing")
                    else:
                        false += 1
                    if name != "websocket":
                        driver.close()
                    board.fault = SimulatedFault.NONE
                    if fault is SimulatedFault.LATE:
                        time.sleep(0.6)
            worst = max(taken, default=np.inf)
            met = met and worst <= BAR_MS and back == runs and "nothing" not in kinds
            times = f"{np.median(taken):9.1f} {worst:9.1f} {1e3 * max(late):9.1f}"
            print(
                f"{name:13s} {fault.name:10s} {'/'.join(sorted(kinds)):11s} {times}  {back}/{runs}"
                + (f", {false} false alarms" if false else "")
            )
    for name, state in AFTER.items():
        print(f"after it, {name}: {state}")
    print(f"every fault that can be seen is answered within {BAR_MS:.0f} ms, and the device opens again: {'yes' if met else 'NO'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
