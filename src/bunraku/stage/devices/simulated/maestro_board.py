"""A simulated Pololu Maestro, compact protocol, with the error register of the real one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bunraku.stage.devices.maestro import GET_ERRORS, GET_POSITION, PROTOCOL_ERROR, SET_MULTIPLE, SET_TARGET
from bunraku.stage.devices.simulated.machine import SimulatedMachine

TIMEOUT_ERROR = 1 << 5
LENGTHS = {SET_TARGET: 4, GET_POSITION: 2, GET_ERRORS: 1}


class MaestroBoard(SimulatedMachine):
    """Servos at channels ``ids``; pulses in quarter microseconds, 0 for none.

    A command that makes no sense sets the protocol error, and so does a channel that is not there. On any error all pulses stop
    (home positions "off"). ``_timeout`` [s] is the board's own serial timeout, which a user may set.
    """

    def __init__(self, ids: Sequence[int], *, start: int = 6000, tau_s: float = 0.03) -> None:
        super().__init__(ids, start=start, tau_s=tau_s)
        self.pulses = dict.fromkeys(self.ids, 0)
        self._errors = 0
        self._timeout = self._obeyed = math.inf

    def wait(self, now: float) -> None:
        """The serial timeout."""
        if now - self._obeyed > self._timeout:
            self.servos.advance(self._obeyed + self._timeout)
            self._obeyed = math.inf
            self._fail(TIMEOUT_ERROR)

    def hear(self, heard: bytearray, now: float) -> list[bytes]:
        """Obey every whole command."""
        answers: list[bytes] = []
        while heard:
            command = heard[0]
            if command not in LENGTHS and command != SET_MULTIPLE:
                del heard[0]
                self._fail()
                continue
            if command == SET_MULTIPLE and len(heard) < 2:
                break
            length = 3 + 2 * heard[1] if command == SET_MULTIPLE else LENGTHS[command]
            interrupted = next((k for k in range(1, min(length, len(heard))) if heard[k] & 0x80), None)
            if interrupted is not None:
                del heard[:interrupted]
                self._fail()
                continue
            if len(heard) < length:
                break
            whole = bytes(heard[:length])
            del heard[:length]
            self._obeyed = now
            answers += self._obey(command, whole[1:], now)
        return answers

    def _obey(self, command: int, data: bytes, now: float) -> list[bytes]:
        if command == SET_TARGET:
            self._aim(data[0], data[1:], now)
        elif command == SET_MULTIPLE:
            self._aim(data[1], data[2:], now)
        elif command == GET_POSITION:
            if self.has(data[0]):
                return [self.pulses[data[0]].to_bytes(2, "little")]
            self._fail()
        elif command == GET_ERRORS:
            answer, self._errors = self._errors.to_bytes(2, "little"), 0
            return [answer]
        return []

    def _aim(self, first: int, data: bytes, now: float) -> None:
        channels = tuple(range(first, first + len(data) // 2))
        targets = tuple(data[k] | data[k + 1] << 7 for k in range(0, len(data), 2))
        self.commands.append((now, channels, targets))
        if not all(self.has(channel) for channel in channels):
            self._fail()
            return
        self.servos.advance(now)
        for channel, target in zip(channels, targets, strict=True):
            self.pulses[channel] = target
            self.move_to(channel, target or None)

    def _fail(self, bit: int = PROTOCOL_ERROR) -> None:
        self._errors |= bit
        self.servos.advance()
        self.pulses = dict.fromkeys(self.ids, 0)
        self.servos.driven[:] = False
