"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from bunraku.errors import BadInput
from bunraku.system.files import flush_folder, replace
from bunraku.system.names import path_trouble


def check_output(path: str | Path) -> None:
    """Refuse a name under which no file can be written; to be asked before anything long is computed."""
    path = Path(path)
    if trouble := path_trouble(path):
        raise BadInput(f"nothing can be written under this name: {trouble}; give another", file=str(path))
    if path.is_dir():
        raise BadInput("this is a folder; give the name of a file to write", file=str(path))
    if path.parent.is_dir():
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise BadInput(
                f"nothing may be written into {str(path.parent)!r}; change its rights, or write elsewhere", file=str(path)
            )
        return
    stray = next((folder for folder in path.parents if folder.exists()), None)
    if stray is not None and not stray.is_dir():
        raise BadInput(f"{str(stray)!r} is a file, not a folder; write elsewhere", file=str(path))
    raise BadInput(f"the folder {str(path.parent)!r} does not exist; make it first, or write elsewhere", file=str(path))


def check_folder(path: str | Path) -> None:
    """Refuse a folder that cannot be made or written into; to be asked before anything long is computed."""
    path = Path(path)
    there = next((place for place in (path, *path.absolute().parents) if place.exists()), path)
    if not there.is_dir():
        raise BadInput("this is a file; give a folder", file=str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadInput("nothing may be written into this folder; change its rights, or give another", file=str(there))


@contextlib.contextmanager
def refusal_of(path: str | Path, what: str = "cannot be written") -> Iterator[None]:
    """What the system refuses meanwhile is bad input, which says ``what`` cannot be done with the file or folder, and why."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{what} ({error.strerror}); check the rights and the space left", file=str(path)) from error


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write ``data`` to ``path`` all at once: to a temporary name beside it, flushed to disk, then renamed over it.

    A reader sees the old file or the new one, whole, even if the process is killed or the disk is full. The folder must exist.
    """
    path = Path(path)
    check_output(path)
    temporary = path.parent / f".{path.name[:100]}.{secrets.token_hex(6)}.part"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        flush_folder(path.parent)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"cannot be written ({reason}); check the name, the rights and the space left", file=str(path)) from error
