"""What lies below pyserial: how a line is taken for one program, how it breaks, and a write that never waits long.

Linux and macOS write to a line as to a file, which takes what it has room for; pyserial's own write would lose count of it.
"""

from __future__ import annotations

import os
import select
import sys
import time
from typing import Any

if sys.platform == "win32":
    TERMINAL_ERROR: type[Exception] = OSError
    EXCLUSIVE: bool | None = None
else:
    import termios

    TERMINAL_ERROR = termios.error
    EXCLUSIVE = True
"""What a line raises beside OSError when it breaks; how pyserial is asked for a line of our own (Windows gives no other)."""


def write_some(line: Any, data: bytes, wait_s: float, step_s: float) -> int:
    """How many bytes of ``data`` an open line of pyserial took within ``wait_s`` [s], looked at every ``step_s`` [s]."""
    if sys.platform == "win32":
        import serial

        try:
            return int(line.write(data))
        except serial.SerialTimeoutException:
            return 0
    written, until = 0, time.monotonic() + wait_s
    while written < len(data):
        late = time.monotonic() >= until
        try:
            written += os.write(line.fd, data[written:])
        except BlockingIOError:
            if late:
                break
            select.select([], [line.fd], [], step_s)
    return written
