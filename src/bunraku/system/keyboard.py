"""Keys one by one from a terminal, without waiting and without echo: by its modes on Linux and macOS, by the console on Windows."""

from __future__ import annotations

import os
import select
import sys
from typing import Any

_SPECIAL = "\x00\xe0"
"""What Windows puts before the code of an arrow or a function key."""


class Keyboard:
    """The terminal's keys for the time of a ``with`` statement. Ctrl-C still interrupts."""

    def __init__(self) -> None:
        self.handle = sys.stdin.fileno()
        self._before: Any = None

    def __enter__(self) -> Keyboard:
        if sys.platform != "win32":
            import termios
            import tty

            self._before = termios.tcgetattr(self.handle)
            tty.setcbreak(self.handle)
        return self

    def __exit__(self, *error: object) -> None:
        if sys.platform != "win32":
            import termios

            termios.tcsetattr(self.handle, termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """The keys pressed since the last call; a terminal that was closed presses q."""
        if sys.platform == "win32":
            return _console_keys()
        if not select.select((self.handle,), (), (), 0.0)[0]:
            return ""
        try:
            pressed = os.read(self.handle, 64)
        except OSError:
            pressed = b""
        return pressed.decode("latin-1") or "q"


def _console_keys() -> str:
    """Letters and signs that wait at the console of Windows; arrows and function keys are dropped."""
    keys = ""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            key = msvcrt.getwch()
            if key in _SPECIAL:
                msvcrt.getwch()
            else:
                keys += key
    return keys
