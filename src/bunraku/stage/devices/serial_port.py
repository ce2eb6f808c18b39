"""A serial line on which nothing waits for long: what pyserial does, with an end to every wait and faults in our words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from bunraku.errors import BadInput, MissingExtra
from bunraku.stage.devices.answers import BUDGET_S, LISTEN_S
from bunraku.stage.devices.device import Device, listed
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.system.serial_line import EXCLUSIVE, TERMINAL_ERROR, write_some

WRITE_S = 0.02
"""How long a frame may wait for room in the line's buffer [s]."""
BACKLOG_S = 0.03
"""How much may stand in the line's buffer, as the time that the line needs to carry it [s]."""
READ_STEP_S = 0.002
"""Longest single wait for bytes [s]; waits are made of such steps until their deadline."""
BITS_A_BYTE = 10
"""Start bit, eight bits and a stop bit."""
INSIST_ATTEMPTS = 5
"""How often a command of the safe state is tried at most."""
INSIST_S = 0.04
"""No further attempt begins after so long [s]: two writes that find no room."""
INSIST_PAUSE_S = 0.001
"""Pause after a failed attempt [s]: what disturbed the line may be over."""


class SerialPort:
    """The line of a device. Times called ``until`` are of `time.monotonic` [s]; no method waits past its end by more than 2 ms.

    The time is looked at before each attempt, not after it: what came while this program was put to sleep by a busy computer still
    counts as in time. ``waiting`` is called after each step of a wait for bytes; it may raise to end it.
    """

    def __init__(self, device: Device, waiting: Callable[[], None] = lambda: None) -> None:
        self.place = f"{device.name} at {device.port or 'no port'}"
        self._port, self._baud = device.port, device.baud
        self._backlog = int(device.baud / BITS_A_BYTE * BACKLOG_S)
        self._serial: Any = None
        self._wait = waiting

    @property
    def byte_s(self) -> float:
        """Time of one byte on the line [s]."""
        return BITS_A_BYTE / self._baud

    def open(self) -> None:
        """Take the line for this program alone; a line that is open is closed first."""
        if not self._port:
            raise BadInput(f"{self.place}: the device names no port; give its serial line, such as /dev/ttyUSB0 or COM3")
        try:
            import serial
        except ImportError as error:
            raise MissingExtra("pyserial", "hardware", "a serial line") from error
        self.close()
        try:
            self._serial = serial.Serial(self._port, self._baud, timeout=READ_STEP_S, write_timeout=WRITE_S, exclusive=EXCLUSIVE)
        except (OSError, TERMINAL_ERROR, ValueError) as error:
            raise self.fault(FaultKind.LOST, f"the line cannot be opened ({_reason(error)}); {_hint(error)}") from error

    def write(self, data: bytes) -> None:
        """Put a frame on the line; a fault when it does not fit in time, or when what stands before it is too much."""
        with self._translated():
            written = write_some(self._open(), data, WRITE_S, READ_STEP_S)
            backlog = self._waiting()
        if written != len(data):
            raise self._slow(f"{len(data) - written} of {len(data)} bytes found no room within {1e3 * WRITE_S:.0f} ms")
        if backlog > self._backlog + len(data):
            raise self._slow(f"{backlog} bytes stand in the line's buffer, more than it carries in {1e3 * BACKLOG_S:.0f} ms")

    def read(self, size: int, until: float) -> bytes:
        """Up to ``size`` bytes: fewer when no more come until then."""
        return self._read(size, until, lambda line, left: line.read(left))

    def read_waiting(self, most: int) -> bytes:
        """What has arrived already, at most so many bytes; does not wait."""
        with self._translated():
            line = self._open()
            waiting = min(int(line.in_waiting), most)
            return bytes(line.read(waiting)) if waiting else b""

    def read_line(self, longest: int, until: float) -> bytes:
        r"""What comes up to and with the next ``\n``; without it when the time or ``longest`` bytes have passed."""
        return self._read(longest, until, lambda line, left: line.read_until(b"\n", left), end=b"\n")

    def _read(self, most: int, until: float, step: Callable[[Any, int], bytes], end: bytes | None = None) -> bytes:
        """Bytes by small steps, until there are ``most`` or they end with ``end``."""
        received = b""
        with self._translated():
            line = self._open()
            while len(received) < most and not (end and received.endswith(end)):
                late = time.monotonic() >= until
                received += step(line, most - len(received))
                if late:
                    break
                self._wait()
        return received

    def drop_input(self) -> None:
        """Forget what has arrived and was not read."""
        with self._translated():
            self._open().reset_input_buffer()

    def drain(self, until: float) -> None:
        """Read and forget until nothing comes for 2 ms, so that no late answer is taken for the next one."""
        with self._translated():
            line = self._open()
            while line.read(4096) and time.monotonic() < until:
                pass

    def close(self) -> None:
        """Give the line back; never raises."""
        line, self._serial = self._serial, None
        if line is not None:
            with suppress(OSError, TERMINAL_ERROR):
                line.close()

    def fault(self, kind: FaultKind, advice: str) -> DeviceFault:
        """What goes wrong on this line."""
        return DeviceFault(kind, self.place, advice)

    def _open(self) -> Any:
        if self._serial is None:
            raise self.fault(FaultKind.LOST, "the line is not open; open the driver before it is used")
        return self._serial

    def _waiting(self) -> int:
        """Bytes in the operating system's buffer; 0 where it does not tell (a pseudo terminal never does)."""
        try:
            return int(self._serial.out_waiting)
        except (AttributeError, NotImplementedError):
            return 0

    def _slow(self, what: str) -> DeviceFault:
        return self.fault(FaultKind.SLOW, f"{what}; look whether it still runs, raise the baud rate or lower rate_hz")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, TERMINAL_ERROR) as error:
            advice = f"the line broke ({_reason(error)}); look at plug and power, then open it again"
            raise self.fault(FaultKind.LOST, advice) from error


def insist(say: Callable[[], None], *, times: int = 2) -> bool:
    """Say a command of the safe state until it went out ``times`` times; what an attempt raises only costs that attempt.

    Ends after `INSIST_ATTEMPTS`, or after `INSIST_S` if the command has not gone out by then. Returns whether it went out at all.
    """
    said, until = 0, time.monotonic() + INSIST_S
    for _ in range(INSIST_ATTEMPTS):
        try:
            say()
            said += 1
        except Exception:  # the line may be gone; release() never raises
            time.sleep(INSIST_PAUSE_S)
        if said == times or time.monotonic() >= until:
            break
    return said > 0


def said_of_held(device: Device, ids: Sequence[int]) -> str:
    """What to say of servos that do not confirm that they are released; nothing of none."""
    if not ids:
        return ""
    names = [name for name, servo_id in zip(device.servos, device.ids, strict=True) if servo_id in ids]
    return f"{device.name} does not confirm that {listed(names)} {'is' if len(names) == 1 else 'are'} released; cut the power"


def check_pace(device: Device, frame_bytes: int, read_bytes: int = 0) -> None:
    """Refuse a device whose line cannot carry ``frame_bytes`` in each period.

    ``read_bytes``: question and answers of a measurement where they share the line with the commands. It is made 50 times a
    second, or in each period if that is longer or if there are sensors: gains need them for every command. It must be over when
    the driver stops waiting for it.
    """
    asked = device.rate_hz if device.sensors else min(device.rate_hz, 1.0 / LISTEN_S)
    needed = (frame_bytes * device.rate_hz + read_bytes * asked) * BITS_A_BYTE
    needed = max(needed, read_bytes * BITS_A_BYTE / BUDGET_S)
    if needed > device.baud:
        took = 1e3 * read_bytes * BITS_A_BYTE / device.baud
        answers = f" and {read_bytes} for their answers, {took:.0f} ms at {device.baud} baud (at most {1e3 * BUDGET_S:.0f})"
        raise BadInput(
            f"{device.name}: {len(device.servos)} servos at {device.rate_hz:g} Hz need {frame_bytes} bytes a frame"
            f"{answers if read_bytes else ''}, that is {needed:.0f} baud; the line has {device.baud}: raise baud (here and in the "
            "machine) or lower rate_hz"
        )


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error.args[-1] if error.args else error)[:120]


def _hint(error: Exception) -> str:
    text = str(error).lower()
    if "permission" in text:
        return "you may not use it: join the group that owns it (often dialout)"
    if "lock" in text:
        return "another program uses it: end that one first"
    return "look at the plug, and at the port in the device's description"
