"""Results kept on disk by what they were computed from, so that a second run starts at once.

One .npz a result (arrays and text, no pickles), named by the hash of its inputs, in the user's cache folder; BUNRAKU_CACHE names
another folder, ``BUNRAKU_CACHE=off`` none. The least recently used files are dropped above 200 MB. A file that cannot be read is as
good as none, and a folder that cannot be written is no error.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput

T = TypeVar("T")
Arrays = dict[str, NDArray[np.generic]]

LIMIT = 200_000_000
"""Bytes kept in the folder, about."""


def cache_folder() -> Path | None:
    """Where results are kept; None when BUNRAKU_CACHE is ``off``."""
    given = os.environ.get("BUNRAKU_CACHE", "")
    if given.lower() == "off":
        return None
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "bunraku" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bunraku"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bunraku"


def content_key(*parts: object) -> str:
    """The hash of numbers, text, arrays, and mappings and sequences of them: equal content, equal key.

    Objects of any other kind count by their ``repr``. Arrays count by shape, type and bytes; -0.0 counts as 0.0.
    """
    digest = hashlib.sha256()

    def add(part: object) -> None:
        if isinstance(part, np.ndarray):
            digest.update(f"array {part.dtype.str} {part.shape}".encode())
            digest.update(np.ascontiguousarray(part + 0 if part.dtype.kind == "f" else part).tobytes())
        elif isinstance(part, bytes):
            digest.update(b"bytes %d " % len(part) + part)
        elif isinstance(part, Mapping):
            add(tuple((name, part[name]) for name in sorted(part)))
        elif isinstance(part, Iterable) and not isinstance(part, str):
            digest.update(b"(")
            for item in part:
                add(item)
            digest.update(b")")
        else:
            text = f"{type(part).__name__} {part!r}".encode()
            digest.update(b"%d " % len(text) + text)

    add(parts)
    return digest.hexdigest()


def load_result(kind: str, key: str) -> Arrays | None:
    """The arrays kept under a key, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / f"{kind}-{key}.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    with suppress(OSError):
        os.utime(path)
    return arrays


def save_result(kind: str, key: str, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Keep arrays under a key: written aside and moved into place, so that no reader sees half a file."""
    folder = cache_folder()
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        os.replace(name, folder / f"{kind}-{key}.npz")
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        return
    _trim(folder)


def _trim(folder: Path) -> None:
    """Drop the least recently used results above the limit."""
    files = []
    for path in folder.glob("*-*.npz"):
        with suppress(OSError):
            state = path.stat()
            files.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= LIMIT:
            return
        with suppress(OSError):
            path.unlink()
            total -= size


@dataclass(frozen=True)
class KnownValues(Generic[T]):
    """Values of a ``kind`` by the ``digest`` of their content, in this process and on disk, as arrays that ``pack`` makes."""

    kind: str
    digest: Callable[[T], str]
    pack: Callable[[T], Arrays]
    unpack: Callable[[Arrays], T]
    known: dict[str, T] = field(default_factory=dict)

    def remember(self, value: T) -> str:
        """Keep a value; returns its digest."""
        digest = self.digest(value)
        if digest not in self.known:
            self.known[digest] = value
            save_result(self.kind, digest, self.pack(value))
        return digest

    def find(self, digest: str) -> T | None:
        """The value with this digest, if it was kept before."""
        if not digest or digest in self.known:
            return self.known.get(digest)
        kept = load_result(self.kind, digest)
        try:
            value = None if kept is None else self.unpack(kept)
        except (KeyError, ValueError, BadInput):
            return None
        if value is None or self.digest(value) != digest:
            return None
        self.known[digest] = value
        return value
