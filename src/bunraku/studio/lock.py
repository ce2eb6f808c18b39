"""One studio a project: a file that names the process which has it open. What a dead process left is taken over."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.atomic import refusal_of
from bunraku.formats.files import refuse_link
from bunraku.system.files import open_plain, removed
from bunraku.system.locks import alone_with
from bunraku.system.processes import alive, birth

MOST_BYTES = 4096
_TRIES = 100


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
        self._mine = {
            "process": os.getpid(),
            "born": birth(os.getpid()),
            "machine": socket.gethostname(),
            "secret": secrets.token_hex(8),
        }
        self._take(_held)

    def keep(self) -> None:
        """Hold it still: made again where file or folder were deleted; BadInput when another studio has the project by now."""
        self._take(lambda other: bool(other) and other.get("secret") != self._mine["secret"])

    def _take(self, refused: Callable[[dict[str, Any]], bool]) -> None:
        """Write who has the project into the file, unless it names somebody for whom it is to be refused."""
        path = self.path
        refuse_link(path.parent)
        refuse_link(path)
        with refusal_of(path, "cannot be written to"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._opened(os.O_RDWR | os.O_CREAT) as handle:
                other = _read(handle)
                if refused(other):
                    raise BadInput(
                        f"this project is open in another studio (process {other['process']} on {str(other['machine'])[:80]}); "
                        f"close it there, use another folder, or remove {path.parent.name}/{path.name} if it is gone",
                        file=str(path.parent.parent),
                    )
                if other == self._mine:
                    return
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
        """The file, which nobody else reads or writes meanwhile (where the disk can do so).

        It is opened again where it was removed while it was waited for: what is written into such a one nobody reads.
        """
        for _ in range(_TRIES):
            handle = open_plain(self.path, flags)
            try:
                with alone_with(handle):
                    if not removed(handle, self.path):
                        yield handle
                        return
            finally:
                os.close(handle)
        raise OSError(errno.EAGAIN, "it is removed again and again")


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
