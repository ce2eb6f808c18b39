"""Dynamixel servos of the X series (and MX with protocol 2.0), through the packet handler of dynamixel-sdk.

Commands are a sync write of goal positions (address 116), measurements a sync read of present positions (132), both in counts of
the servo: 4096 to a turn. The SDK's own port spins while it waits, waits 34 ms and more for an answer, and writes without an end;
here it gets a port of ours that sleeps, and whose every wait ends.

Two safe states. Released, all torque is off: the figure is limp and can be moved by hand, and what gravity pulls comes down. When
the line breaks no command arrives any more; then the servos' bus watchdog (98), armed with the first command, stops each of them
where it is within 100 ms, and they hold; below 40 Hz it waits for four periods.

A sensor is a servo that is only read: its torque stays off, and a hand or a string moves it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MissingExtra
from bunraku.stage.devices.answers import WAVERING, Listener
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.reported import check_numbers, sensor_ids
from bunraku.stage.devices.serial_port import SerialPort, check_pace, insist, said_of_held

MODE, MOST, TORQUE, HARDWARE_ERROR, WATCHDOG, GOAL, PRESENT = 11, 48, 64, 70, 98, 116, 132
POSITION_MODES = {3: "position", 4: "extended position", 5: "current-based position"}
MX_MODELS = (30, 311, 321)
"""MX-28, MX-64 and MX-106 with protocol 2.0, whose control table is that of the X series."""
X_MODELS = range(1000, 2000)
WATCHDOG_TICK_S = 0.02
STOPPED = 0xFF
"""What the watchdog register reads when it has run out."""
WATCH_S = 0.25
"""How often the watchdogs are looked at while positions are measured [s]."""
LIMP_S = 0.01
"""How long a servo may take to say whether its torque is off [s]."""
ALERT = 0x80
CRC_ERROR = 3
ERROR_BITS = {0: "input voltage", 2: "overheating", 3: "motor encoder", 4: "electrical shock", 5: "overload"}
STATUS_BYTES = 11
"""Bytes of a status packet beside its data."""
MOST_WAITING = 4096
"""Bytes that are taken from the line at once: more than the answer of any bus."""


class DynamixelDriver(Driver):
    """Servos on one Dynamixel bus."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._ids, self._all = list(device.ids), list(device.ids)
        self._line = SerialPort(device, self.waiting)
        self._fault = self._line.fault
        self._port = _SdkPort(self._line, device)
        self._listener = Listener(device.timeout_ms / 1e3, wavering=(*WAVERING, FaultKind.MISSING))
        self._sdk: Any = None
        self._handler: Any = None
        self._watchdog = min(math.ceil(max(0.1, 4.0 / device.rate_hz) / WATCHDOG_TICK_S), 127)
        self._fed = -math.inf
        self._armed, self._watched = False, 0.0

    def open(self) -> None:
        """Find every servo, look at its model, mode, limits and errors, and switch torque on where it stands."""
        self._all = self._ids + list(sensor_ids(self.device))
        check_numbers(self.device)
        check_pace(self.device, 14 + 5 * len(self._ids), self._read_bytes(4))
        try:
            import dynamixel_sdk
        except ImportError as error:
            raise MissingExtra("dynamixel-sdk", "hardware", "a Dynamixel bus") from error
        self._sdk = dynamixel_sdk
        self._handler = dynamixel_sdk.PacketHandler(2.0)
        self._line.open()
        self._port.is_using = False
        self._listener.reset()
        self._armed = False
        self._find()
        self._inspect()
        self._write_all(WATCHDOG, 0)
        present = self._read(PRESENT, 4)
        self._write(GOAL, present[: len(self._ids)])
        try:
            self._switch_on()
        except BaseException:
            self.release()
            raise

    def send(self, counts: NDArray[np.int64]) -> None:
        """One sync write; when nobody has measured for 20 ms, also a sync read, to be sure that all are there."""
        if not self._armed or time.monotonic() - self._fed > 0.8 * self._watchdog * WATCHDOG_TICK_S:
            self._write_all(WATCHDOG, 0)
            self._write_all(WATCHDOG, self._watchdog)
            self._armed, self._watched = True, time.monotonic()
        self._write(GOAL, [int(count).to_bytes(4, "little", signed=True) for count in counts])
        if self._listener.due():
            self.measure()

    def measure(self) -> NDArray[np.float64] | None:
        """Present positions of servos and then sensors, by one sync read."""
        answers = self._read(PRESENT, 4)
        if self._armed and time.monotonic() - self._watched > WATCH_S:
            self._watch()
        return np.array([int.from_bytes(data, "little", signed=True) for data in answers], dtype=np.float64)

    def release(self) -> None:
        """Torque off, said twice, and the watchdog off: the servos are limp. On a broken line their watchdog stops them.

        What cannot be written is tried again. The watchdog stays on when no servo could be reached, for then it is what stops them.
        """
        if insist(lambda: self._write_all(TORQUE, 0)):
            insist(lambda: self._write_all(WATCHDOG, 0), times=1)

    def check_release(self) -> str:
        """Ask every servo for its torque; those that do not say it is off are each told again, and named if that does not help."""
        driven = [servo_id for servo_id in self._ids if not self._is_limp(servo_id)]
        for servo_id in driven:
            insist(lambda servo_id=servo_id: self._write(TORQUE, [bytes(1)], [servo_id]))  # type: ignore[misc]
        return said_of_held(self.device, [servo_id for servo_id in driven if not self._is_limp(servo_id)])

    def close(self) -> None:
        """Give the line back; the servos stay as they are."""
        self._line.close()

    def _is_limp(self, servo_id: int) -> bool:
        """Whether a servo says that its torque is off."""
        self._port.is_using = False
        self._port.limit = time.monotonic() + LIMP_S
        try:
            data, result, _ = self._handler.readTxRx(self._port, servo_id, TORQUE, 1)
            return bool(result == self._sdk.COMM_SUCCESS and data and data[0] == 0)
        except Exception:  # the line may be gone
            return False
        finally:
            self._port.is_using = False

    def _write_all(self, address: int, value: int) -> None:
        """The same byte at this address of every servo, in one packet, whatever was under way."""
        self._port.is_using = False
        self._write(address, [bytes([value])] * len(self._ids))

    def _switch_on(self) -> None:
        """Torque on, and see that it is."""
        self._write_all(TORQUE, 1)
        off = [servo_id for servo_id, data in zip(self._ids, self._read(TORQUE, 1), strict=False) if not data[0]]
        if off:
            raise self._fault(FaultKind.REFUSED, f"servo {off[0]} does not switch its torque on; look at its power")

    def _watch(self) -> None:
        """See that every watchdog is armed; a servo whose own has run out takes no goal any more, and says so nowhere else."""
        self._watched = time.monotonic()
        ticks = [data[0] for data in self._read(WATCHDOG, 1)[: len(self._ids)]]
        if STOPPED in ticks:
            servo_id = self._ids[ticks.index(STOPPED)]
            advice = f"servo {servo_id} stopped by itself, for it heard nothing; look at cables and load"
            raise self._fault(FaultKind.REFUSED, advice)
        if any(one != self._watchdog for one in ticks):
            self._write_all(WATCHDOG, self._watchdog)

    def _find(self) -> None:
        """Ping every servo; the first two that do not answer tell whether one is missing or all are."""
        answered = 0
        for place, servo_id in enumerate(self._all):
            try:
                model = self._listener.ask(lambda until, servo_id=servo_id: self._ping(servo_id, until), again=self._quiet)  # type: ignore[misc]
            except DeviceFault as fault:
                if fault.kind is not FaultKind.MISSING or answered or place + 1 == len(self._all):
                    raise self._as_silent(fault, answered > 0) from fault
                with suppress(DeviceFault):
                    self._ping(self._all[place + 1], time.monotonic() + self.device.timeout_ms / 1e3)
                    answered += 1
                raise self._as_silent(fault, answered > 0) from fault
            answered += 1
            if model not in X_MODELS and model not in MX_MODELS:
                advice = f"servo {servo_id} is of model {model}; X and MX series with protocol 2.0 are known: the others differ"
                raise self._fault(FaultKind.REFUSED, advice)

    def _inspect(self) -> None:
        """Refuse servos that would not follow: in error, in another mode, or with narrower limits than their calibration."""
        for servo_id, data in zip(self._all, self._read(HARDWARE_ERROR, 1, alert=False), strict=True):
            if data[0]:
                raise self._fault(FaultKind.REFUSED, f"servo {servo_id} reports {_words(data[0])}; mend it and restart the servo")
        modes = self._read(MODE, 1)
        limits = self._read(MOST, 8)
        for servo_id, servo, mode, limit in zip(self._ids, self.device.servos.values(), modes, limits, strict=False):
            if mode[0] not in POSITION_MODES:
                advice = f"servo {servo_id} is in operating mode {mode[0]}; set it to 3 in the vendor's tool"
                raise self._fault(FaultKind.REFUSED, advice)
            most, least = int.from_bytes(limit[:4], "little", signed=True), int.from_bytes(limit[4:], "little", signed=True)
            if mode[0] == 3 and not (least <= servo.position_min and servo.position_max <= most):
                raise self._fault(
                    FaultKind.REFUSED,
                    f"servo {servo_id} takes {least} to {most}, its calibration {servo.position_min} to {servo.position_max};"
                    " narrow the calibration, or widen the limits in the vendor's tool",
                )

    def _ping(self, servo_id: int, until: float) -> int:
        self._port.limit = until
        try:
            model, result, error = self._handler.ping(self._port, servo_id)
        except IndexError as short:
            raise self._fault(FaultKind.CORRUPTED, f"the answer of servo {servo_id} is too short; look at the wiring") from short
        self._judge(servo_id, result, error & ~ALERT)
        return int(model)

    def _read_bytes(self, length: int) -> int:
        """Bytes of a sync read of ``length`` bytes of every servo, question and answers, which share the line."""
        n = len(self._all)
        return 14 + n + n * (STATUS_BYTES + length)

    def _read(self, address: int, length: int, *, alert: bool = True) -> list[bytes]:
        """The same part of the control table of every servo; ``alert``: a servo that reports an error of its own is a fault."""
        transfer = self._read_bytes(length) * self._line.byte_s
        answers: dict[int, bytes] = {}
        orders = iter((self._all, self._all[::-1]))

        def question(until: float) -> list[bytes]:
            self._sync_read(next(orders), address, length, until, alert, answers)
            return [answers[servo_id] for servo_id in self._all]

        try:
            return self._listener.ask(question, transfer_s=transfer, again=self._quiet)
        except DeviceFault as fault:
            raise self._as_silent(fault, bool(answers)) from fault

    def _sync_read(self, order: list[int], address: int, length: int, until: float, alert: bool, answers: dict[int, bytes]) -> None:
        """Ask in this order: servos answer one after the other, so those behind a missing one may stay silent."""
        self._port.limit = until
        try:
            self._judge(order[0], self._handler.syncReadTx(self._port, address, length, order, len(order), False), 0)
            for servo_id in order:
                data, result, error = self._handler.readRx(self._port, servo_id, length)
                self._judge(servo_id, result, error if alert else error & ~ALERT)
                if len(data) != length:
                    raise self._fault(FaultKind.CORRUPTED, f"the answer of servo {servo_id} is too short; look at the wiring")
                answers[servo_id] = bytes(data)
        except IndexError as short:
            raise self._fault(FaultKind.CORRUPTED, "an answer is too short; look at the wiring") from short
        finally:
            self._port.is_using = False
        self._fed = time.monotonic()

    def _write(self, address: int, values: list[bytes], ids: Sequence[int] = ()) -> None:
        """Sync write: the same part of the control table of every servo, or of ``ids``, in one packet and without an answer."""
        rows = b"".join(bytes([servo_id]) + data for servo_id, data in zip(ids or self._ids, values, strict=True))
        try:
            result = self._handler.syncWriteTxOnly(self._port, address, len(values[0]), list(rows), len(rows))
        finally:
            self._port.is_using = False
        self._judge(self._ids[0], result, 0)
        self._fed = time.monotonic()

    def _judge(self, servo_id: int, result: int, error: int) -> None:
        """Raise the fault that the SDK's result and a status packet's error byte stand for."""
        sdk = self._sdk
        if result == sdk.COMM_RX_TIMEOUT:
            raise self._fault(FaultKind.MISSING, f"servo {servo_id} sent nothing in time; look at its cable, id and baud rate")
        if result in (sdk.COMM_RX_CORRUPT, sdk.COMM_RX_FAIL):
            advice = f"the answer of servo {servo_id} is cut or its CRC wrong; look at cables and baud"
            raise self._fault(FaultKind.CORRUPTED, advice)
        if result != sdk.COMM_SUCCESS:
            text = str(self._handler.getTxRxResult(result)).removeprefix("[TxRxResult] ")
            raise self._fault(FaultKind.SLOW, f"no packet can be sent ({text}); look at the adapter")
        if error & ALERT:
            advice = f"servo {servo_id} reports {self._own_error(servo_id)}; mend it and restart the servo"
            raise self._fault(FaultKind.REFUSED, advice)
        if error == CRC_ERROR:
            raise self._fault(FaultKind.CORRUPTED, f"servo {servo_id} got a damaged command; look at cables and baud rate")
        if error:
            text = str(self._handler.getRxPacketError(error)).removeprefix("[RxPacketError] ")
            raise self._fault(FaultKind.REFUSED, f"servo {servo_id} says: {text}")

    def _own_error(self, servo_id: int) -> str:
        """The hardware error of a servo in words, asked for once and not for long."""
        self._quiet()
        self._port.limit = time.monotonic() + 0.01
        with suppress(DeviceFault, IndexError):
            data, result, _ = self._handler.readTxRx(self._port, servo_id, HARDWARE_ERROR, 1)
            if result == self._sdk.COMM_SUCCESS and data:
                return _words(data[0])
        return "an error of its own"

    def _quiet(self) -> None:
        self._port.is_using = False
        self._line.drain(time.monotonic() + 0.01)

    def _as_silent(self, fault: DeviceFault, others_answer: bool) -> DeviceFault:
        if fault.kind is not FaultKind.MISSING or others_answer:
            return fault
        return self._fault(FaultKind.SILENT, "no servo answers; look at power, cable and baud rate")


class _SdkPort:
    """What the SDK's packet handler asks of a port, with an end to every wait: ``limit`` (`time.monotonic`)."""

    def __init__(self, line: SerialPort, device: Device) -> None:
        self.is_using = False
        self.limit = math.inf
        self._line = line
        self._baud, self._patience = device.baud, device.timeout_ms / 1e3
        self._until = 0.0
        self._store = bytearray()
        self._closed = True

    def clearPort(self) -> None:
        self._store.clear()
        self._line.drop_input()

    def readPort(self, length: int) -> bytes:
        """Bytes from a store that is filled by what waits; after the end of the wait once more, and never again.

        So the handler, which takes noise byte by byte, comes to an end though bytes may never cease to come.
        """
        if len(self._store) < length and not self._closed:
            self._closed = time.monotonic() >= self._until
            self._store += self._line.read_waiting(MOST_WAITING)
            if len(self._store) < length and not self._closed:
                self._store += self._line.read(length - len(self._store), self._until)
        taken = bytes(self._store[: max(0, length)])
        del self._store[: len(taken)]
        return taken

    def writePort(self, packet: list[int]) -> int:
        self._line.write(bytes(packet))
        return len(packet)

    def setPacketTimeout(self, length: int) -> None:
        self._closed = False
        self._until = min(self.limit, time.monotonic() + self._patience + length * self._line.byte_s)

    def setPacketTimeoutMillis(self, milliseconds: float) -> None:
        self._closed = False
        self._until = min(self.limit, time.monotonic() + milliseconds / 1e3)

    def isPacketTimeout(self) -> bool:
        return time.monotonic() >= self._until

    def getBaudRate(self) -> int:
        return self._baud


def _words(bits: int) -> str:
    named = [ERROR_BITS.get(bit, f"error bit {bit}") for bit in range(8) if bits >> bit & 1]
    return " and ".join(named) or "an error of its own"
