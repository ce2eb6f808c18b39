"""A simulated board that speaks the text protocol of `bunraku.stage.devices.serial_line`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from bunraku.stage.devices.serial_line import line_of, words_of
from bunraku.stage.devices.simulated.machine import SimulatedMachine


class SerialBoard(SimulatedMachine):
    """Servos (and sensors, which nobody moves) ``ids``; ``trouble`` is a word that it answers with instead, such as "hot"."""

    DAMAGE: ClassVar[tuple[int, int]] = (-2, 0x01)

    def __init__(self, ids: Sequence[int], *, start: int = 375, tau_s: float = 0.03) -> None:
        super().__init__(ids, start=start, tau_s=tau_s)
        self.trouble = ""
        self.damaged_lines = 0
        self._order: tuple[int, ...] = ()
        self._sensors: tuple[int, ...] = ()
        self._patience = 0.1
        self._last = math.inf

    @property
    def driving(self) -> bool:
        """Whether any servo is driven."""
        with self._lock:
            return bool(self.servos.driven.any())

    def restart(self) -> None:
        """Forget everything, as after a loss of power."""
        with self._lock:
            self._order = ()
            self._stop()

    def wait(self, now: float) -> None:
        """Stop after a silence."""
        if now - self._last > self._patience:
            self.servos.advance(self._last + self._patience)
            self._stop()

    def hear(self, heard: bytearray, now: float) -> list[bytes]:
        """Obey every whole line."""
        answers: list[bytes] = []
        while (end := heard.find(b"\n")) >= 0:
            line = bytes(heard[: end + 1])
            del heard[: end + 1]
            words = words_of(line)
            if words is None:
                self.damaged_lines += 1
                continue
            if self.servos.driven.any():
                self._last = now
            answers += self._obey(words[0], words[1:], now)
        return answers

    def _obey(self, letter: str, words: list[str], now: float) -> list[bytes]:
        plus = words.index("+") if "+" in words else len(words)
        numbers = [int(word) for word in words if word != "+"]
        if letter == "I":
            self._patience = numbers[0] / 1e3
            self._order = tuple(servo_id for servo_id in numbers[1:plus] if self.has(servo_id))
            self._sensors = tuple(sensor_id for sensor_id in numbers[plus:] if self.has(sensor_id))
            return [line_of("I", *self._order, *self._sensors)]
        if letter == "S":
            self._stop()
        elif letter == "P":
            self.commands.append((now, self._order, tuple(numbers[1:])))
            self._move(numbers[1:], now)
        elif letter == "Q":
            return [self._state(numbers[0])]
        return []

    def _move(self, counts: list[int], now: float) -> None:
        if len(counts) != len(self._order):
            return
        self.servos.advance(now)
        for servo_id, count in zip(self._order, counts, strict=True):
            if self.has(servo_id):
                self.move_to(servo_id, count)
        self._last = now

    def _state(self, number: int) -> bytes:
        if self.trouble or not self._order:
            return line_of("E", self.trouble or "order")
        damaged, self.damaged_lines = self.damaged_lines, 0
        now = dict(zip(self.ids, self.servos.advance(), strict=True))
        there = [servo_id for servo_id in self._order + self._sensors if self.has(servo_id)]
        return line_of("M", number, damaged, *(round(float(now[servo_id])) for servo_id in there))

    def _stop(self) -> None:
        self.servos.advance()
        self.servos.driven[:] = False
        self._last = math.inf
