"""A line with both ends in this machine, as Linux and macOS have it; Windows has none that a serial program can open."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bunraku.errors import BadInput


def open_pseudo_terminal(link: Path) -> tuple[int, int]:
    """The handles of both ends, ours and the line's, raw and never waiting; ``link`` becomes a name of the line."""
    if sys.platform == "win32":
        raise BadInput("a simulated machine needs a pseudo terminal, which Windows has not; leave --simulate away for a dry run")
    import pty
    import tty

    ours, line = pty.openpty()
    tty.setraw(line)
    os.set_blocking(ours, False)
    os.set_blocking(line, False)
    os.symlink(os.ttyname(line), link)
    return ours, line
