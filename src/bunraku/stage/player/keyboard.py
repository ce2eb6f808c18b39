"""Keys one by one from a terminal, without waiting and without echo."""

from __future__ import annotations

import os
import select
import sys
from typing import Any


class Keyboard:
    """The terminal's keys for the time of a ``with`` statement; ``handle`` is that of the terminal. Ctrl-C still interrupts."""

    def __init__(self) -> None:
        self.handle = sys.stdin.fileno()
        self._before: Any = None

    def __enter__(self) -> Keyboard:
        import termios
        import tty

        self._before = termios.tcgetattr(self.handle)
        tty.setcbreak(self.handle)
        return self

    def __exit__(self, *error: object) -> None:
        import termios

        termios.tcsetattr(self.handle, termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """The keys pressed since the last call; a terminal that was closed presses q."""
        if not select.select((self.handle,), (), (), 0.0)[0]:
            return ""
        try:
            pressed = os.read(self.handle, 64)
        except OSError:
            pressed = b""
        return pressed.decode("latin-1") or "q"
