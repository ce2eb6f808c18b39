r"""The console: text that its encoding has no sign for is written with ``\u`` codes instead of ending the program.

Consoles of Linux and macOS take UTF-8; one of Windows, or a file that its output goes to, may take cp1252.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from io import TextIOWrapper


def forgive_signs() -> None:
    """From now on no sign that is printed raises an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors != "backslashreplace":
            with suppress(OSError, ValueError):
                stream.reconfigure(errors="backslashreplace")
