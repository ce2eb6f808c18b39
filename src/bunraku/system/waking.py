"""Waiting for several things at once: sockets, keys, and a call from a signal or another thread.

``select`` takes everything that has a number on Linux and macOS, and sockets alone on Windows. So the call comes by a pair of
sockets on all three, and keys are looked at again and again on Windows.
"""

from __future__ import annotations

import math
import select
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

LOOK_S = 0.005
"""How often keys are looked at where nothing tells of them [s]."""


class Waker:
    """A line to oneself, open from the moment it is made until :meth:`close`; its number goes to :func:`wait_any`."""

    def __init__(self) -> None:
        self._near, self._far = socket.socketpair()
        for end in (self._near, self._far):
            end.setblocking(False)

    def fileno(self) -> int:
        """The number to wait for."""
        return self._near.fileno()

    def wake(self) -> None:
        """End the wait, now or when it begins; may be called from anywhere, signals included."""
        with suppress(OSError):  # enough calls stand in it already, or it is closed
            self._far.send(b"!")

    def clear(self) -> None:
        """Forget all calls so far."""
        with suppress(OSError):
            while self._near.recv(4096):
                pass

    def close(self) -> None:
        """Give the line back."""
        self._near.close()
        self._far.close()


def wait_any(files: Sequence[int], seconds: float | None, *, keys: bool = False) -> bool:
    """Wait at most so long [s], None for ever, for anything at the numbers ``files``; whether something came.

    ``keys``: also for a key at the terminal, which has no number to wait for on Windows.
    """
    if sys.platform == "win32":
        import msvcrt

        until = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            if (keys and msvcrt.kbhit()) or (files and select.select(files, (), (), 0.0)[0]):
                return True
            left = until - time.monotonic()
            if left <= 0.0:
                return False
            time.sleep(min(left, LOOK_S))  # finer than the timeout of select there, which comes in steps of 16 ms
    watched = [*files, sys.stdin.fileno()] if keys else files
    return bool(select.select(watched, (), (), seconds)[0])
