"""Files the page may fetch: sound to play, results to download. Kept in memory, bounded in total."""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass

from bunraku.errors import BadInput

_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9.+-]+(; charset=[a-z0-9-]+)?")


@dataclass(frozen=True)
class Blob:
    """One published file: its name, its content and its type."""

    name: str
    data: bytes
    content_type: str

    @property
    def inline(self) -> bool:
        """Whether a browser may show it in place; everything else is only saved."""
        return self.content_type.split("/")[0] in ("audio", "video", "image")


class Blobs:
    """Published files by their path below the page; ``limit``: bytes of all together."""

    def __init__(self, limit: int = 512 * 2**20) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._key_of: dict[str, str] = {}
        self._blobs: dict[str, Blob] = {}

    def publish(self, name: str, data: bytes, content_type: str) -> str:
        """Serve ``data`` to the page; a file of the same name is replaced and its old path is gone.

        ``content_type`` is such as ``audio/wav``: what is not audio, video or image is offered to be saved, never shown. Returns
        the path relative to the page, ``files/xyz/voice.wav``, never used before.
        """
        shown = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[-100:] or "file"
        if not _TYPE.fullmatch(content_type):
            raise BadInput(f"{content_type!r} is no content type; give one such as audio/wav")
        with self._lock:
            old = self._blobs.get(self._key_of.get(name, ""))
            total = sum(len(blob.data) for blob in self._blobs.values()) - (len(old.data) if old else 0)
            if total + len(data) > self.limit:
                limit = f"the studio keeps at most {self.limit} bytes of files"
                raise BadInput(f"{name} of {len(data)} bytes does not fit: {limit}; withdraw some")
            self._drop(name)
            key = f"files/{secrets.token_urlsafe(9)}/{shown}"
            self._key_of[name] = key
            self._blobs[key] = Blob(shown, bytes(data), content_type)
        return key

    def withdraw(self, name: str) -> None:
        """Serve a file no longer; nothing happens when there is none of this name."""
        with self._lock:
            self._drop(name)

    def get(self, path: str) -> Blob | None:
        """The file at a path that :meth:`publish` returned."""
        with self._lock:
            return self._blobs.get(path)

    def _drop(self, name: str) -> None:
        key = self._key_of.pop(name, None)
        if key is not None:
            del self._blobs[key]


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The bytes a Range header asks for, as (first, one past the last); (0, 0) when they lie outside the file.

    ``None`` when the whole file is to be sent: no header, several ranges, or not understood.
    """
    match = re.fullmatch(r"bytes=([0-9]{0,15})-([0-9]{0,15})", header or "")
    if match is None or match[0] == "bytes=-":
        return None
    if not match[1]:
        first, end = max(0, size - int(match[2])), size
    else:
        first, end = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
    return (first, end) if first < end else (0, 0)
