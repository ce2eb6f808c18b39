"""Pololu Maestro servo controllers, compact protocol. Counts are quarter microseconds of pulse: 6000 is 1500 us, 0 is no pulse.

A Maestro reports what it sends to its servos, not where they are. Its answers carry no checksum: an error register with bits that
do not exist, or a pulse that no Maestro makes, counts as damaged; a wrong bit elsewhere cannot be seen. Whatever command it cannot
read it reports as a protocol error, and sends its servos home by itself.

For the line that breaks, set the Maestro's own serial timeout (in the vendor's Control Center) to 0.1 s and its channels to "off"
on errors: it then stops all pulses when it hears nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.stage.devices.answers import Listener
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.fault import FaultKind
from bunraku.stage.devices.reported import LARGEST_PULSE, check_numbers, refuse_sensors
from bunraku.stage.devices.serial_port import SerialPort, check_pace, insist, said_of_held

SET_TARGET, SET_MULTIPLE, GET_POSITION, GET_ERRORS = 0x84, 0x9F, 0x90, 0xA1
MICRO_CHANNELS = 6
"""Of the Micro Maestro, which does not know `SET_MULTIPLE`."""
SHORTEST_PULSE = 256
"""Least pulse that a Maestro makes: 64 us [quarter us]."""
ERRORS = (
    "serial signal error",
    "serial overrun",
    "serial buffer full",
    "serial CRC error",
    "serial protocol error",
    "serial timeout",
    "script stack error",
    "script call stack error",
    "script program counter error",
)
"""Bits 0 to 8 of the error register."""
PROTOCOL_ERROR = 1 << 4


def set_target(channel: int, target: int) -> bytes:
    """The command for one channel, target in quarter microseconds: ``84 channel low7 high7``."""
    return bytes([SET_TARGET, channel, target & 0x7F, target >> 7 & 0x7F])


def set_multiple_targets(first: int, targets: Sequence[int]) -> bytes:
    """The command for neighbouring channels from ``first`` on: ``9f number first low7 high7 low7 high7 ...``."""
    return bytes([SET_MULTIPLE, len(targets), first]) + b"".join(bytes([one & 0x7F, one >> 7 & 0x7F]) for one in targets)


def frame_of_targets(channels: Sequence[int], targets: Sequence[int]) -> bytes:
    """The shortest commands that set every channel: neighbours together, unless the six of a Micro Maestro are enough."""
    target_of = dict(zip(channels, targets, strict=True))
    if max(channels) < MICRO_CHANNELS:
        return b"".join(set_target(channel, target_of[channel]) for channel in sorted(channels))
    frame, run = b"", []
    for channel in sorted(channels):
        run.append(channel)
        if channel + 1 not in target_of:
            values = [target_of[one] for one in run]
            frame += set_target(channel, values[0]) if len(run) == 1 else set_multiple_targets(run[0], values)
            run = []
    return frame


class MaestroDriver(Driver):
    """Servos at the channels of one Maestro, by USB or TTL serial; the id of a servo is its channel."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._ids = device.ids
        self._line = SerialPort(device, self.waiting)
        self._fault = self._line.fault
        self._patience = device.timeout_ms / 1e3
        self._listener = Listener(self._patience)

    def open(self) -> None:
        """Clear the error register and ask for every channel; pulses stay as they are."""
        refuse_sensors(self.device, "a Maestro")
        check_numbers(self.device)
        check_pace(self.device, len(frame_of_targets(self._ids, [0] * len(self._ids))))
        self._line.open()
        self._listener.reset()
        self._listener.ask(self._clear_errors, again=self._line.drop_input)
        self._find_missing(time.monotonic() + 0.2 + self._patience)

    def send(self, counts: NDArray[np.int64]) -> None:
        """All channels in one write; when nobody has asked for 20 ms, also for its errors and pulses."""
        self._line.write(frame_of_targets(self._ids, counts.tolist()))
        if self._listener.due():
            self.measure()

    def measure(self) -> NDArray[np.float64] | None:
        """The pulses that the Maestro sends now [quarter us]; None while one of them is off, for then nobody knows."""
        transfer = (1 + 2 + 4 * len(self._ids)) * self._line.byte_s
        pulses = self._listener.ask(self._state, transfer_s=transfer, again=self._line.drop_input)
        return None if 0 in pulses else np.array(pulses, dtype=np.float64)

    def release(self) -> None:
        """All pulses off (target 0), said twice: most servos go limp. On a broken line the Maestro's own timeout does it."""
        insist(lambda: self._line.write(frame_of_targets(self._ids, [0] * len(self._ids))))

    def check_release(self) -> str:
        """Ask for every pulse; channels that still have one are each told again, and named if that does not help."""
        driven = self._driven()
        for servo_id in driven:
            insist(lambda servo_id=servo_id: self._line.write(set_target(servo_id, 0)))  # type: ignore[misc]
        return said_of_held(self.device, self._driven() if driven else [])

    def close(self) -> None:
        """Give the line back; the Maestro stays as it is."""
        self._line.close()

    def _driven(self) -> list[int]:
        """The channels with a pulse; all of them when it does not answer."""
        try:
            pulses = self._listener.ask(self._state, again=self._line.drop_input)
        except Exception:
            return list(self._ids)
        return [servo_id for servo_id, pulse in zip(self._ids, pulses, strict=True) if pulse]

    def _state(self, until: float) -> list[int]:
        """Errors and pulses, asked for in one write."""
        self._line.drop_input()
        self._line.write(bytes([GET_ERRORS]) + b"".join(bytes([GET_POSITION, servo_id]) for servo_id in self._ids))
        due = 2 + 2 * len(self._ids)
        answer = self._line.read(due, until)
        if not answer:
            raise self._fault(FaultKind.SILENT, "no answer in time; look at power and plug, and at its serial mode (USB dual port)")
        if len(answer) >= 2:
            self._check_errors(answer[:2])
        if len(answer) < due:
            raise self._fault(FaultKind.CORRUPTED, f"only {len(answer)} of {due} bytes came; look at the cable")
        pulses = [int.from_bytes(answer[k : k + 2], "little") for k in range(2, len(answer), 2)]
        for servo_id, pulse in zip(self._ids, pulses, strict=True):
            if pulse and not SHORTEST_PULSE <= pulse <= LARGEST_PULSE:
                advice = f"channel {servo_id} reports a pulse of {pulse}, which cannot be; look at the cable"
                raise self._fault(FaultKind.CORRUPTED, advice)
        return pulses

    def _clear_errors(self, until: float) -> None:
        """Read the error register, which clears it, whatever stood there."""
        self._line.drop_input()
        self._line.write(bytes([GET_ERRORS]))
        answer = self._line.read(2, until)
        if len(answer) < 2:
            kind = FaultKind.CORRUPTED if answer else FaultKind.SILENT
            raise self._fault(kind, "no whole answer in time; look at power and plug, and at its serial mode (USB dual port)")
        self._register(answer)

    def _check_errors(self, answer: bytes) -> None:
        register = self._register(answer)
        if register & PROTOCOL_ERROR:
            self._find_missing(time.monotonic() + self._patience)
        if register:
            words = [ERRORS[bit] for bit in range(len(ERRORS)) if register >> bit & 1]
            raise self._fault(FaultKind.REFUSED, f"it reports: {', '.join(words)}; it has sent its servos home")

    def _register(self, answer: bytes) -> int:
        register = int.from_bytes(answer, "little")
        if register >> len(ERRORS):
            raise self._fault(FaultKind.CORRUPTED, f"the error register reads {register:#06x}, which cannot be; look at the cable")
        return register

    def _find_missing(self, until: float) -> None:
        """Ask for each channel by itself: for one that it has not, a Maestro reports a protocol error and no position.

        Which of the two comes is seen from the first two bytes: no pulse reads like the register with that error alone.
        """
        for servo_id in self._ids:
            self._line.drop_input()
            self._line.write(bytes([GET_POSITION, servo_id, GET_ERRORS]))
            if int.from_bytes(self._line.read(2, until), "little") == PROTOCOL_ERROR:
                raise self._fault(FaultKind.MISSING, f"it has no channel {servo_id}; look at the ids in the device's description")
            self._line.read(2, until)
