r"""A board of one's own: a text protocol small enough to write down on the other side in an evening.

Every line is plain text, ends with ``\n`` and carries a checksum: ``body*HHHH``, four capital hexadecimal digits of the CRC-16 of
``body`` (polynomial 0x1021, start 0xFFFF, not reflected: the one called CCITT-FALSE, under which ``123456789`` gives 29B1). Numbers
are decimal, with one space between. A line is at most 2047 bytes long.

===========================  ==================================================================================================
the player sends             the board does
===========================  ==================================================================================================
``I 100 4 7 9``              takes the servos 4, 7, 9 in this order from now on; its patience is 100 ms; answers ``I`` and those of
                             them that it has. With sensors that it reads and does not move: ``I 100 4 7 9 + 30 31``
``P 17 350 412 600``         moves the servos to these counts, in the order of ``I``; 17 is a running number; no answer
``Q 18``                     answers ``M 18 D 349 410 598``: where they are, servos and then sensors; D is how many damaged lines it
                             got since the last answer. A board that cannot measure answers ``A 18 D``.
``S``                        stops driving the servos: its safe state; no answer
===========================  ==================================================================================================

A line with a wrong checksum is thrown away whole and counted in D; nothing is obeyed in part. ``E word`` instead of an answer says
that the board is in trouble (``E hot``); ``E order`` that it was restarted and must be sent the order again. **A board that has
been sent positions and hears no valid line for the patience of I does by itself what S says**: that is the safe state when the plug
is drawn. The numbers of P and Q run from 0 to 9999 and start anew; an answer repeats the number of its question, so a late one is
known as such.

The checksum in C::

    uint16_t crc = 0xFFFF;
    for (const char *c = body; *c; c++) {
      crc ^= (uint16_t)(uint8_t)*c << 8;
      for (int bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    }
"""

from __future__ import annotations

import binascii
import re
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.stage.devices.answers import Listener
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.fault import FaultKind
from bunraku.stage.devices.reported import sensor_ids
from bunraku.stage.devices.serial_port import SerialPort, check_pace, insist, said_of_held

LONGEST_LINE = 2048
"""Bytes of a line, its end included."""
NUMBERS = 10_000
MOST_LINES = 16
"""Lines that are looked through for an answer; a board that talks without end is no answer."""

_LINE = re.compile(rb"([A-Z](?: [A-Za-z0-9.+-]+)*)\*([0-9A-F]{4})\r?\n")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


def line_of(*words: object) -> bytes:
    """A whole line of these words, with its checksum."""
    body = " ".join(str(word) for word in words).encode("ascii")
    return body + f"*{binascii.crc_hqx(body, 0xFFFF):04X}\n".encode("ascii")


def words_of(line: bytes) -> list[str] | None:
    """The words of a whole line; None when it is damaged."""
    match = _LINE.fullmatch(line)
    if match is None or binascii.crc_hqx(match[1], 0xFFFF) != int(match[2], 16):
        return None
    return match[1].decode("ascii").split(" ")


class SerialLineDriver(Driver):
    """Servos of a board that speaks the protocol above."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._ids = device.ids
        self._sensors: tuple[int, ...] = ()
        self._line = SerialPort(device, self.waiting)
        self._fault = self._line.fault
        self._listener = Listener(device.timeout_ms / 1e3)
        self._patience = round(1e3 * max(0.1, 4.0 / device.rate_hz))
        self._number = 0

    def open(self) -> None:
        """Tell the order of the servos and hear that the board has them all."""
        self._sensors = sensor_ids(self.device)
        widest = [servo.position_max for servo in self.device.servos.values()]
        frame = len(line_of("P", NUMBERS - 1, *widest))
        if frame >= LONGEST_LINE or len(line_of("M", NUMBERS, NUMBERS, *widest, *(99_999 for _ in self._sensors))) > LONGEST_LINE:
            raise BadInput(f"{self.device.name}: a line of {len(widest)} servos is too long; use several boards")
        check_pace(self.device, frame)
        self._line.open()
        self._listener.reset()
        there = self._listener.ask(self._introduce, transfer_s=self._transfer(), again=self._quiet)
        gone = [servo_id for servo_id in (*self._ids, *self._sensors) if servo_id not in there]
        if gone:
            raise self._fault(FaultKind.MISSING, f"the board has no servo {gone[0]}; look at its cable and its id")

    def send(self, counts: NDArray[np.int64]) -> None:
        """One line; when nobody has measured for 20 ms, also a question."""
        self._line.write(line_of("P", self._next(), *counts.tolist()))
        if self._listener.due():
            self.measure()

    def measure(self) -> NDArray[np.float64] | None:
        """What the board measures, servos and then sensors; None if it measures nothing."""
        return self._listener.ask(self._question, transfer_s=self._transfer(), again=self._quiet)

    def release(self) -> None:
        """Say S, twice: the board stops driving its servos. On a broken line it does so by itself after 100 ms."""
        insist(lambda: self._line.write(line_of("S")))

    def check_release(self) -> str:
        """Ask the board, which tells of damaged lines: S may have been one, and is said again. A board without answer is named."""
        for _ in range(2):
            try:
                self._question(time.monotonic() + self._transfer() + self.device.timeout_ms / 1e3)
            except Exception:
                insist(lambda: self._line.write(line_of("S")))
            else:
                return ""
        return said_of_held(self.device, self._ids)

    def close(self) -> None:
        """Give the line back; the board, hearing nothing more, stops driving."""
        self._line.close()

    def _introduce(self, until: float) -> list[int]:
        self._line.drop_input()
        more = ("+", *self._sensors) if self._sensors else ()
        self._line.write(line_of("I", self._patience, *self._ids, *more))
        words = self._answer_to(lambda words: words[0] == "I", until)
        return self._numbers([word for word in words[1:] if word != "+"])

    def _question(self, until: float) -> NDArray[np.float64] | None:
        number = self._next()
        self._line.write(line_of("Q", number))
        words = self._answer_to(lambda words: words[0] in "MA" and words[1:2] == [str(number)], until)
        values = self._numbers(words[2:])
        due = len(self._ids) + len(self._sensors)
        if not values or (words[0] == "M" and len(values) != 1 + due):
            raise self._fault(
                FaultKind.MISSING, f"the answer has {len(values) - 1} positions, {due} are needed; look at its servos"
            )
        if values[0]:
            raise self._fault(FaultKind.CORRUPTED, f"the board got {values[0]} damaged lines; look at cable and baud rate")
        return np.array(values[1:], dtype=np.float64) if words[0] == "M" else None

    def _answer_to(self, fits: Callable[[list[str]], bool], until: float) -> list[str]:
        """The words of the first line that fits; others are late answers, or nobody's."""
        for _ in range(MOST_LINES):
            words = self._answer(until)
            if fits(words):
                return words
        raise self._fault(FaultKind.CORRUPTED, f"{MOST_LINES} lines came and none of them answers; look at its program")

    def _answer(self, until: float) -> list[str]:
        """The words of the next line; a fault when it is damaged, late or says so."""
        line = self._line.read_line(LONGEST_LINE, until)
        if not line:
            raise self._fault(FaultKind.SILENT, "no answer in time; look at power, plug and baud rate")
        words = words_of(line)
        if words is None:
            raise self._fault(FaultKind.CORRUPTED, f"{line[:40]!r} has no right checksum; look at cable and baud rate")
        if words[0] == "E":
            raise self._fault(FaultKind.REFUSED, f"it says: {' '.join(words[1:])[:60]}")
        return words

    def _numbers(self, words: list[str]) -> list[int]:
        if not all(_WHOLE.fullmatch(word) for word in words):
            raise self._fault(FaultKind.CORRUPTED, f"{' '.join(words)[:40]!r} are no whole numbers")
        return [int(word) for word in words]

    def _next(self) -> int:
        self._number = (self._number + 1) % NUMBERS
        return self._number

    def _transfer(self) -> float:
        return (20 + 7 * (len(self._ids) + len(self._sensors))) * self._line.byte_s

    def _quiet(self) -> None:
        self._line.drain(time.monotonic() + 0.01)
