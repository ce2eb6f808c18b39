"""Files: opened without surprises, and renamed over others.

Linux and macOS rename over a file that someone reads, and can refuse to follow a link while they open. Windows refuses to replace a
file that any program has open, a virus scanner for some milliseconds among them; it opens in text mode unless asked not to, which
would write two bytes for the end of a line; and it has no such refusal of links.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 2.0
"""How long a file that is open elsewhere is waited for on Windows [s]."""
PAUSE_S = 0.01
"""Pause between two attempts to replace it [s]."""
_JUNCTION = 0xA0000003
"""What Windows calls a folder that leads to another one, which is no symbolic link."""
_PLAIN = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT")


def replace(source: str | Path, target: str | Path) -> None:
    """Rename a file over another, at once or not at all; on Windows within `PATIENCE_S` while someone has the other one open."""
    until = time.monotonic() + PATIENCE_S
    while True:
        late = time.monotonic() >= until
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if sys.platform != "win32" or late:
                raise
        time.sleep(PAUSE_S)


def is_link(path: str | Path) -> bool:
    """Whether what lies at a path leads elsewhere: a symbolic link, or a junction of Windows."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


def removed(handle: int, path: Path) -> bool:
    """Whether a file that is open has lost its name, or another has it; never on Windows, which removes no file that is open."""
    if sys.platform == "win32":
        return False
    try:
        return not os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return True


def open_plain(path: str | Path, flags: int, mode: int = 0o600) -> int:
    """A handle of a file, its bytes as they are; no link is followed, and nobody waits for a pipe. Raises OSError."""
    if not hasattr(os, "O_NOFOLLOW") and is_link(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    for name in _PLAIN:
        flags |= getattr(os, name, 0)
    return os.open(path, flags, mode)


def flush_folder(folder: Path) -> None:
    """Make renamings in a folder durable, where the system lets a folder be flushed: Windows does not."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
