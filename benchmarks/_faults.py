"""Faults at file operations: the n-th one below a folder kills the process, or is refused as a full or a read-only disk would.

Python's own ways to the disk are wrapped in this process (``os``, ``open``, and what is written to files opened so), so that every
opening for writing, write, flush, close, fsync, rename, unlink and new folder is counted. Nothing of it is in the product.
"""

from __future__ import annotations

import builtins
import errno
import io
import mmap
import os
import signal
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KILL = "kill"
ERRORS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "forbidden": errno.EACCES, "broken": errno.EIO}
KINDS = (KILL, *ERRORS)
"""``kill`` ends the process, in the middle of what it writes; a ``full`` disk stays full, a ``read-only`` one and rights stay as
they are; a ``broken`` one fails once."""

FREEING = ("unlink", "rmdir", "truncate")
"""What also a full disk does."""
HANDED = ("write", "flush", "close", "fsync", "truncate")
"""What is done to a file that is open, which rights do not concern."""


class Count:
    """How many operations there were, and whether the fault happened: shared with processes that are forked."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 16)

    @property
    def values(self) -> tuple[int, int]:
        """The number of operations, and 1 if the fault happened."""
        return struct.unpack("qq", self._memory[:16])

    def set(self, count: int, happened: int) -> None:
        """Both."""
        self._memory[:16] = struct.pack("qq", count, happened)


class Faults:
    """A fault of a ``kind`` at the operation ``at`` (from 1; 0: none) below a folder."""

    def __init__(self, folder: Path, kind: str, at: int, count: Count | None = None) -> None:
        self._below, self._kind, self._at = os.path.realpath(folder) + os.sep, kind, at
        self._tally = Count() if count is None else count
        self._tally.set(0, 0)
        self._open: dict[int, str] = {}

    @property
    def count(self) -> int:
        """How many operations there were."""
        return self._tally.values[0]

    @property
    def happened(self) -> bool:
        """Whether the fault did."""
        return bool(self._tally.values[1])

    def watches(self, path: Any) -> bool:
        """Whether a path is below the folder."""
        if isinstance(path, int):
            return path in self._open
        try:
            return os.path.abspath(os.fspath(path)).startswith(self._below)
        except TypeError:
            return False

    def step(self, what: str, half: Callable[[], object] = lambda: None) -> None:
        """One operation; ``half`` does a part of it, of which nobody knows how much reaches the disk."""
        count, happened = self._tally.values
        count += 1
        due = count == self._at
        if self._kind == KILL:
            self._tally.set(count, happened or due)
            if due:
                half()
                os.kill(os.getpid(), signal.SIGKILL)
            return
        lasting = self._kind != "broken" and 0 < self._at < count
        refused = what not in (FREEING if self._kind == "full" else HANDED if self._kind != "broken" else FREEING)
        self._tally.set(count, happened or ((due or lasting) and refused))
        if (due or lasting) and refused:
            half()
            raise OSError(ERRORS[self._kind], os.strerror(ERRORS[self._kind]))


class _Watched:
    """A file that is written: every write, flush and close is an operation."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self._file, self._faults = file, faults

    def write(self, data: Any) -> Any:
        def half() -> None:
            self._file.write(data[: len(data) // 2])
            self._file.flush()

        self._faults.step("write", half)
        return self._file.write(data)

    def flush(self) -> None:
        self._faults.step("flush")
        self._file.flush()

    def close(self) -> None:
        if not self._file.closed:
            self._faults._open.pop(self._file.fileno(), None)
            self._faults.step("close", self._file.close)
        self._file.close()

    def __enter__(self) -> _Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def injected(faults: Faults) -> Iterator[Faults]:
    """Every operation goes through the faults meanwhile."""
    own = {name: getattr(os, name) for name in ("open", "close", "write", "fsync", "ftruncate", *_NAMED)}
    opened = io.open

    def open_file(file: Any, mode: str = "r", *words: Any, **options: Any) -> Any:
        if not (set(mode) & set("wax+") and faults.watches(file)):
            return opened(file, mode, *words, **options)
        if not isinstance(file, int):
            faults.step("open")
        return _Watched(opened(file, mode, *words, **options), faults)

    def open_handle(path: Any, flags: int, *words: Any, **options: Any) -> int:
        watched = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)) and not options.get("dir_fd") and faults.watches(path)
        if watched:
            faults.step("open")
        handle = own["open"](path, flags, *words, **options)
        if watched:
            faults._open[handle] = os.fspath(path)
        return handle

    def close_handle(handle: int) -> None:
        faults._open.pop(handle, None)
        own["close"](handle)

    def handed(name: str, what: str) -> Callable[..., Any]:
        def act(handle: Any, *words: Any) -> Any:
            if handle in faults._open:
                faults.step(what, (lambda: own[name](handle, words[0][: len(words[0]) // 2])) if what == "write" else lambda: None)
            return own[name](handle, *words)

        return act

    def named(name: str, what: str) -> Callable[..., Any]:
        def act(path: Any, *words: Any, **options: Any) -> Any:
            if not any(options.get(key) is not None for key in ("dir_fd", "src_dir_fd")) and faults.watches(path):
                faults.step(what)
            return own[name](path, *words, **options)

        return act

    hooks: dict[str, Any] = {"open": open_handle, "close": close_handle}
    hooks |= {name: handed(name, what) for name, what in {"write": "write", "fsync": "fsync", "ftruncate": "truncate"}.items()}
    hooks |= {name: named(name, what) for name, what in _NAMED.items()}
    for name, hook in hooks.items():
        setattr(os, name, hook)
    io.open = builtins.open = open_file  # type: ignore[assignment]
    try:
        yield faults
    finally:
        for name, function in own.items():
            setattr(os, name, function)
        io.open = builtins.open = opened


_NAMED = {
    "replace": "rename", "rename": "rename", "link": "rename", "symlink": "rename", "unlink": "unlink", "remove": "unlink",
    "mkdir": "mkdir", "rmdir": "rmdir",
}  # fmt: skip
