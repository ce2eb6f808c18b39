"""A machine that is not there: it takes every command, keeps the log, and is always where its last command says."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
from numpy.typing import NDArray

from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.fault import DeviceFault, FaultKind

LONGEST_LOG = 1_000_000
"""Commands that the log keeps; older ones are dropped."""


class DryRunDriver(Driver):
    """Remembers what it is sent.

    ``log`` holds (time [s, `time.monotonic`], counts) of every command, the newest last; ``released`` says whether the safe state
    was asked for since the last command.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.log: deque[tuple[float, tuple[int, ...]]] = deque(maxlen=LONGEST_LOG)
        self.released = False
        self._open = False
        self._last: NDArray[np.float64] | None = None

    def open(self) -> None:
        """Nothing to find; commands are taken from now on."""
        self._open = True

    def send(self, counts: NDArray[np.int64]) -> None:
        """Keep the command in the log."""
        if not self._open:
            raise DeviceFault(FaultKind.LOST, self.device.name, "it is not open; open the driver before it is used")
        self.log.append((time.monotonic(), tuple(counts.tolist())))
        self._last = counts.astype(np.float64)
        self.released = False

    def measure(self) -> NDArray[np.float64] | None:
        """The last command; None before the first."""
        return None if self._last is None else self._last.copy()

    def release(self) -> None:
        """Note that the safe state was asked for; there is nothing to stop."""
        self.released = True

    def check_release(self) -> str:
        """Nothing was driven."""
        return ""

    def close(self) -> None:
        """Take no more commands."""
        self._open = False
