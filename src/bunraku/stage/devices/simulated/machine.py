"""A simulated machine on a pseudo terminal: what all of them share.

To add one: subclass `SimulatedMachine` and write :meth:`~SimulatedMachine.hear`, which takes whole commands off the front of
what has arrived and returns the answers, and :meth:`~SimulatedMachine.wait`, what the machine does when nobody talks to it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.devices.simulated.servos import FirstOrderServos
from bunraku.system.pseudo_terminal import open_pseudo_terminal
from bunraku.system.waking import Waker, wait_any

Command = tuple[float, tuple[int, ...], tuple[int, ...]]

LATE_S = 0.25
"""Delay of answers under `SimulatedFault.LATE` [s]."""
MOST_UNREAD = 65_536
"""Bytes of an unfinished command that are kept; a real machine keeps fewer."""


class SimulatedMachine(ABC):
    """A machine in a thread of its own; use it in a ``with`` statement.

    ``port`` is the path of its line; it stays the same when the plug is drawn and put back. ``commands`` holds every position
    command that reached the machine, (arrival [s, `time.monotonic`], ids, counts), whether it was followed or not.
    ``missing_id`` is the servo that `SimulatedFault.MISSING` takes away. ``waver`` damages so many of the next answers and then
    none; ``piece`` is how many bytes of an answer are written at once.
    """

    DAMAGE: ClassVar[tuple[int, int]] = (-1, 0x80)
    """Which byte of an answer gets a wrong bit, and which bit."""

    def __init__(self, ids: Sequence[int], *, start: float = 0.0, tau_s: float = 0.03) -> None:
        """Servos ``ids``, all at ``start`` [counts], with the time constant ``tau_s`` [s]."""
        self.ids = tuple(ids)
        self.servos = FirstOrderServos([start] * len(self.ids), tau_s=tau_s)
        self.commands: list[Command] = []
        self.missing_id = self.ids[len(self.ids) // 2]
        self.waver = 0
        self.piece = 65_536
        self._fault = SimulatedFault.NONE
        self._folder = ""
        self._master = self._slave = -1
        self._heard = bytearray()
        self._late: deque[tuple[float, bytes]] = deque()
        self._lock = threading.RLock()
        self._asked: tuple[SimulatedFault, threading.Event] | None = None
        self._ending = False

    @abstractmethod
    def hear(self, heard: bytearray, now: float) -> list[bytes]:
        """Take whole commands off the front of ``heard``, do them, and return the answers; called with the lock held."""

    @abstractmethod
    def wait(self, now: float) -> None:
        """Do what time alone brings about until ``now``, such as a watchdog that runs out; called with the lock held."""

    @property
    def port(self) -> str:
        """Path of the line."""
        return str(Path(self._folder) / "line")

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where the servos are now [counts], in the order of ``ids``."""
        with self._lock:
            now = time.monotonic()
            self.wait(now)
            return self.servos.advance(now)

    @property
    def fault(self) -> SimulatedFault:
        """What is wrong now; set it to change it, and it is so when the statement is done."""
        return self._fault

    @fault.setter
    def fault(self, new: SimulatedFault) -> None:
        done = threading.Event()
        self._asked = (new, done)
        self._wake.wake()
        if not done.wait(5.0):
            raise RuntimeError("the simulated machine has ended")

    def has(self, servo_id: int) -> bool:
        """Whether this servo is there now."""
        return servo_id in self.ids and not (self._fault is SimulatedFault.MISSING and servo_id == self.missing_id)

    def move_to(self, servo_id: int, count: float | None) -> None:
        """Drive a servo towards a count, or let it go (None)."""
        place = self.ids.index(servo_id)
        self.servos.driven[place] = count is not None
        if count is not None:
            self.servos.target[place] = count

    def __enter__(self) -> Self:
        self._folder = tempfile.mkdtemp(prefix="bunraku-machine-")
        try:
            self._plug_in()
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._wake = Waker()
        self._thread = threading.Thread(target=self._run, daemon=True, name=type(self).__name__)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending = True
        self._wake.wake()
        self._thread.join(5.0)
        self._unplug()
        self._wake.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _plug_in(self) -> None:
        self._master, self._slave = open_pseudo_terminal(Path(self.port))

    def _unplug(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.port)
        for end in (self._master, self._slave):
            if end >= 0:
                os.close(end)
        self._master = self._slave = -1
        self._heard.clear()
        self._late.clear()

    def _run(self) -> None:
        while not self._ending:
            self._change()
            reading = self._master >= 0 and self._fault is not SimulatedFault.STALLED
            wait = max(0.0, self._late[0][0] - time.monotonic()) if self._late else None
            wait_any([self._wake.fileno(), *([self._master] if reading else [])], wait)
            self._wake.clear()
            if reading:
                self._take()
            while self._late and self._late[0][0] <= time.monotonic():
                self._write(self._late.popleft()[1])

    def _change(self) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        new, done = asked
        with self._lock:
            if new is SimulatedFault.UNPLUGGED and self._master >= 0:
                self._unplug()
            elif new is not SimulatedFault.UNPLUGGED and self._master < 0:
                self._plug_in()
            if SimulatedFault.STALLED in (new, self._fault) and self._master >= 0:
                self._clog(new is SimulatedFault.STALLED)
            self._fault = new
        done.set()

    def _clog(self, full: bool) -> None:
        """Fill the line's buffer, so that not one byte more finds room in it; or throw away what stands there."""
        taken = full
        while taken:
            taken = False
            time.sleep(0.005)
            with suppress(BlockingIOError):
                while os.write(self._slave, b"\0" * 256):
                    taken = True
        with suppress(BlockingIOError):
            while not full:
                os.read(self._master, 65_536)
        self._heard.clear()

    def _take(self) -> None:
        try:
            self._heard += os.read(self._master, 65_536)
        except OSError:
            return
        now = time.monotonic()
        with self._lock:
            self.wait(now)
            answers = self.hear(self._heard, now)
        if len(self._heard) > MOST_UNREAD:
            del self._heard[:-MOST_UNREAD]
        for answer in answers:
            self._answer(answer, now)

    def _answer(self, answer: bytes, now: float) -> None:
        if self._fault is SimulatedFault.HALF:
            answer = answer[: len(answer) // 2]
        if self._fault is SimulatedFault.CORRUPTED or self.waver > 0:
            self.waver = max(0, self.waver - 1)
            answer = self.damaged(answer)
        if self._fault is SimulatedFault.LATE:
            self._late.append((now + LATE_S, answer))
        else:
            self._write(answer)

    def damaged(self, answer: bytes) -> bytes:
        """An answer with one bit wrong."""
        place, bit = self.DAMAGE
        wrong = bytearray(answer)
        if len(wrong) >= -place:
            wrong[place] ^= bit
        return bytes(wrong)

    def _write(self, answer: bytes) -> None:
        with suppress(OSError):
            for k in range(0, len(answer), self.piece):
                os.write(self._master, answer[k : k + self.piece])
