"""One studio a project: a file that names the process which has it open. What a dead process left is taken over."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.atomic import refusal_of
from bunraku.studio.processes import alive, birth

MOST_BYTES = 4096
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""No link is followed and no pipe waited for: the folder may come from a stranger."""


class ProjectLock:
    """Held from the moment it is made until :meth:`release`.

    Args:
        path: The lock's file; its folder is made at need.

    Raises:
        BadInput: Another process has the project open, or the file cannot be written. The same process may open a project
            again (a notebook whose cell is run twice): the newer one has it then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.parent.is_symlink():
            raise BadInput("this is a link; the studio keeps its own files in a folder of the project", file=str(path.parent))
        self._mine = {
            "process": os.getpid(),
            "born": birth(os.getpid()),
            "machine": socket.gethostname(),
            "secret": secrets.token_hex(8),
        }
        with refusal_of(path, "cannot be written to"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._opened(os.O_RDWR | os.O_CREAT) as handle:
                other = _read(handle)
                if _held(other):
                    raise BadInput(
                        f"this project is open in another studio (process {other['process']} on {str(other['machine'])[:80]}); "
                        f"close it there, use another folder, or remove {path.parent.name}/{path.name} if it is gone",
                        file=str(path.parent.parent),
                    )
                os.ftruncate(handle, 0)
                os.lseek(handle, 0, os.SEEK_SET)
                os.write(handle, json.dumps(self._mine).encode())

    def release(self) -> None:
        """Let others have the project; a second call does nothing, nor does one after the lock was taken over."""
        with contextlib.suppress(OSError), self._opened(os.O_RDWR) as handle:
            if _read(handle).get("secret") == self._mine["secret"]:
                os.ftruncate(handle, 0)
                self.path.unlink()

    @contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        """The file, which nobody else reads or writes meanwhile (where the system can do so)."""
        handle = os.open(self.path, flags | _PLAIN, 0o600)
        try:
            with contextlib.suppress(ImportError, OSError):
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)


def _read(handle: int) -> dict[str, Any]:
    """What the file says; nothing where it is damaged."""
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        holder = json.loads(os.read(handle, MOST_BYTES))
    except (ValueError, RecursionError):
        return {}
    whole = isinstance(holder, dict) and isinstance(holder.get("process"), int) and isinstance(holder.get("machine"), str)
    return holder if whole else {}


def _held(other: dict[str, Any]) -> bool:
    """Whether another process that runs, or one of another machine, has the project."""
    if not other or (other["machine"], other["process"]) == (socket.gethostname(), os.getpid()):
        return False
    if other["machine"] != socket.gethostname():
        return True
    return alive(other["process"], str(other.get("born", "")))
