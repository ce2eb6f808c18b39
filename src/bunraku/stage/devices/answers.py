"""How a driver listens: how long it waits for an answer, how soon it asks, and how many bad answers it forgives.

The promise is that a fault is seen, and the machine commanded to be safe, within 100 ms. The share of each part:

====================================  ========
nobody has asked the machine yet      20 ms    (`LISTEN_S`: then `send` asks by itself)
the question and its repetition       50 ms    (`BUDGET_S`)
the command of the safe state         20 ms    (the write timeout of the line, at worst)
what is left for a busy computer      10 ms
====================================  ========

A driver works only while it is called, so this holds for devices that are sent to at 25 Hz or faster; below, what a period has
more than 40 ms is added.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from bunraku.stage.devices.fault import DeviceFault, FaultKind

T = TypeVar("T")

LISTEN_S = 0.02
"""After so long without an answer, sending asks for one [s]."""
BUDGET_S = 0.05
"""Longest time for a question and its repetition together [s]."""
LEAST_S = 0.005
"""What the repetition gets at least [s], when this program itself was slow."""
FORGIVEN = 3
"""Bad answers that are forgiven within `WINDOW_S`; the next one is a fault."""
WINDOW_S = 1.0

WAVERING = (FaultKind.CORRUPTED, FaultKind.SILENT)
"""Faults that may pass when the question is repeated."""


class Listener:
    """Asks a machine, and once more if the answer is damaged or does not come.

    The second bad answer in a row is the fault. So is the fourth bad one within a second, though each was well repeated: a line
    that wavers so often is broken. A machine that is gone, too slow, or reports an error of its own is not asked again.
    """

    def __init__(self, timeout_s: float, *, wavering: tuple[FaultKind, ...] = WAVERING) -> None:
        """``timeout_s`` is how long one answer may take [s]; after the faults ``wavering`` the question is repeated."""
        self._timeout = timeout_s
        self._wavering = wavering
        self._heard = -1.0
        self._bad: deque[float] = deque(maxlen=FORGIVEN)

    def reset(self) -> None:
        """A new connection: nothing is held against it."""
        self._heard = -1.0
        self._bad.clear()

    def due(self) -> bool:
        """Whether the machine has not been heard for too long."""
        return time.monotonic() - self._heard > LISTEN_S

    def heard(self) -> None:
        """The machine has just answered."""
        self._heard = time.monotonic()

    def ask(self, question: Callable[[float], T], *, transfer_s: float = 0.0, again: Callable[[], None] | None = None) -> T:
        """The answer to a question.

        Args:
            question: gets the time until which it may wait (`time.monotonic`) and returns the answer, or raises a DeviceFault.
            transfer_s: time that question and answer need on the line [s], beyond the patience with the machine.
            again: called before the question is repeated, for instance to drop what still comes.
        """
        begin = time.monotonic()
        patience = self._timeout + transfer_s
        try:
            answer = question(begin + min(patience, BUDGET_S))
        except DeviceFault as fault:
            if fault.kind not in self._wavering or not self._forgive():
                raise
            if again is not None:
                again()
            now = time.monotonic()
            answer = question(now + max(LEAST_S, min(patience, begin + BUDGET_S - now)))
        self.heard()
        return answer

    def _forgive(self) -> bool:
        now = time.monotonic()
        if len(self._bad) == FORGIVEN and now - self._bad[0] < WINDOW_S:
            return False
        self._bad.append(now)
        return True
