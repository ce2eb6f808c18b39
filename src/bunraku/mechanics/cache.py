"""Results kept on disk by what they were computed from, so that a second run starts at once.

One file a result, named by the hash of its inputs, in the user's cache folder; BUNRAKU_CACHE names another folder,
``BUNRAKU_CACHE=off`` none. A file holds arrays and text as .npz (no pickles) behind a checksum of them and of its name: a damaged
one is said once, removed, and as good as none. What nobody used for half a year, what killed processes left behind, and the least
recently used above 200 MB are dropped. A folder that cannot be read or written is no error.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.system.files import replace
from bunraku.system.folders import user_cache

T = TypeVar("T")
Arrays = dict[str, NDArray[np.generic]]

LIMIT = 200_000_000
"""Bytes kept in the folder, about; a result that is larger is not kept."""

MAGIC = b"bunraku cache 1\n"
"""What a file begins with; its checksum follows, of `SUM` bytes, then the arrays."""

SUM = hashlib.sha256().digest_size

ENDING = ".kept"

ABANDONED = 3600.0
"""Age [s] of a file half written that nobody writes any more."""

UNUSED = 180 * 86400.0
"""Age [s] of a result that nobody asks for any more, such as one of sources that have changed since."""

_EARLIER = re.compile(r"(part|mesh|skin|full-order|full-run)-[0-9a-f]{32,64}\.npz")
"""Names of earlier versions, whose files had no checksum: nobody asks for them."""


def cache_folder() -> Path | None:
    """Where results are kept; None when BUNRAKU_CACHE is ``off``."""
    given = os.environ.get("BUNRAKU_CACHE", "")
    if given.lower() == "off":
        return None
    if given:
        return Path(given)
    return user_cache() / "bunraku"


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
    path = folder / f"{kind}-{key}{ENDING}"
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError:
        return None
    arrays = _unsealed(path.name, data)
    with suppress(OSError):
        if arrays is None:
            path.unlink()
            _say_damaged(folder)
        else:
            os.utime(path)
    return arrays


def save_result(kind: str, key: str, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Keep arrays under a key: written aside and moved into place, so that no reader sees half a file."""
    folder = cache_folder()
    if folder is None:
        return
    path = folder / f"{kind}-{key}{ENDING}"
    data = _sealed(path.name, arrays)
    if len(data) > LIMIT:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        return
    _trim(folder)


def _sealed(name: str, arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """The content of a file of this name."""
    body = io.BytesIO()
    np.savez(body, **arrays)  # type: ignore[arg-type]
    return MAGIC + _checksum(name, body.getvalue()) + body.getvalue()


def _unsealed(name: str, data: bytes) -> Arrays | None:
    """The arrays in the content of a file of this name; None where any of it is not as it was written."""
    start = len(MAGIC) + SUM
    if data[:start] != MAGIC + _checksum(name, data[start:]):
        return None
    try:
        with np.load(io.BytesIO(data[start:]), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:  # whole, and yet no arrays: written by something else
        return None


def _checksum(name: str, body: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + body).digest()


@functools.cache
def _say_damaged(folder: Path) -> None:
    """One line, once a process."""
    print(f"{folder}: a kept result was damaged; it is left out and computed again", file=sys.stderr)


def _trim(folder: Path) -> None:
    """Drop what nobody will ask for, and the least recently used results above the limit."""
    files, now = [], time.time()
    for path in folder.iterdir():
        with suppress(OSError):
            state = path.stat()
            age = now - state.st_mtime
            part = path.suffix == ".part" and path.name.startswith("tmp")
            if _EARLIER.fullmatch(path.name) or (part and age > ABANDONED) or (path.suffix == ENDING and age > UNUSED):
                path.unlink()
            elif path.suffix == ENDING:
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
