"""A file that one process has alone: ``flock`` on Linux and macOS, a locked byte on Windows, where locks bind readers too."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

BYTE = 1 << 30
"""Which byte is locked on Windows: far behind what the file holds, so that others can read that."""


@contextmanager
def alone_with(handle: int) -> Iterator[None]:
    """Wait until no other process is alone with the file of a handle, and be it; without a lock where the disk knows none."""
    if sys.platform == "win32":
        import msvcrt

        with suppress(OSError):  # after 10 s
            os.lseek(handle, BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            yield
        finally:
            with suppress(OSError):
                os.lseek(handle, BYTE, os.SEEK_SET)
                msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
