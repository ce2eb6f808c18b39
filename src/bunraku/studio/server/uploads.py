"""Files from the browser: refused by their announced size, kept under names of our own, passed on only when whole.

The page announces a file (size, number of parts) and sends it in parts of 512 KiB. The size is checked before anything
is kept; a part must have exactly the length that the announcement implies, so nothing can grow beyond it. viser sees the
messages only when all parts are there; an upload that breaks off leaves nothing behind.

One browser has a share of its own, so that its uploads stand in nobody's way, and so much time: an upload that stands still, or
comes slower than any line, is given up. Where all shares together would be too much, what has stood still longest gives way.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

PART = 512 * 1024
"""Bytes of a part, as viser's page sends them; only the last one is shorter."""

EACH = 2
"""Uploads of one browser at a time; together they hold no more bytes than the largest file."""
STILL = 10.0
"""An upload of which nothing came for so long [s] is given up."""
GRACE, SLOWEST = 20.0, 64 * 1024.0
"""It may take so long [s], and longer by its size at so many bytes a second."""
GIVES_WAY = 0.5
"""After standing still for so long [s] it gives way to another browser's."""

Message = dict[str, Any]


def generated_name(name: str) -> str:
    """A name of our own with the suffixes of the user's: ``../My dog.character.yaml`` -> ``upload-3f09c2d1.character.yaml``.

    At most two suffixes of letters and digits stay; they say what kind of file it is, and cannot lead anywhere.
    """
    last = re.split(r"[/\\]", name)[-1]
    suffixes = re.search(r"((?:\.[A-Za-z0-9]{1,12}){0,2})$", last)
    return f"upload-{secrets.token_hex(8)}{suffixes[1].lower() if suffixes else ''}"


@dataclass
class _Upload:
    start: Message
    size: int
    label: str
    began: float
    moved: float
    """When its last part came."""
    parts: dict[int, Message] = field(default_factory=dict)
    gone: bool = False
    """Whether it was given up."""

    def late(self, now: float) -> bool:
        return now - self.moved > STILL or now - self.began > GRACE + self.size / SLOWEST

    def awaits(self, index: int, content: object, button: object) -> bool:
        if index >= self.count or index in self.parts or button != self.start["source_component_uuid"]:
            return False
        return isinstance(content, bytes) and len(content) == min(PART, self.size - index * PART)

    @property
    def count(self) -> int:
        return -(-self.size // PART)


class Uploads:
    """What all connections share: the limits, and what users called their files.

    ``limit``: bytes of the largest file, and of all that one browser sends at a time; ``shares``: so many times that, and so many
    times `EACH` uploads, may be under way together. ``refused`` is told what users called a file that is not taken, and why.
    """

    def __init__(self, limit: int, shares: int = 4, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self.shares, self.clock = limit, shares, clock
        self.refused: Callable[[str, str], object] = lambda label, why: None
        self._lock = threading.RLock()
        self._under_way: list[_Upload] = []
        self._labels: OrderedDict[str, str] = OrderedDict()

    @property
    def bytes(self) -> int:
        """How much the uploads under way may come to hold."""
        return sum(one.size for one in self._under_way)

    def sweep(self) -> None:
        """Give up what takes too long."""
        with self._lock:
            now = self.clock()
            for one in [one for one in self._under_way if one.late(now)]:
                self._give_up(one, "it came too slowly, or not to its end")

    def label(self, name: str) -> str:
        """What the user called the file kept as ``name``, to be shown only (printable, at most 80 letters)."""
        return self._labels.get(name, name)

    def _claim(self, upload: _Upload, mine: list[_Upload]) -> bool:
        """Whether an upload may begin beside those of the same browser."""
        with self._lock:
            self.sweep()
            if len(mine) >= EACH or sum(one.size for one in mine) + upload.size > self.limit:
                self.refused(upload.label, f"the studio takes {EACH} files at a time of at most {self.limit} bytes together")
                return False
            while len(self._under_way) >= self.shares * EACH or self.bytes + upload.size > self.shares * self.limit:
                stillest = min(self._under_way, key=lambda one: one.moved)
                if self.clock() - stillest.moved < GIVES_WAY:
                    self.refused(upload.label, "too many files are on their way to the studio; try again in a moment")
                    return False
                self._give_up(stillest, "it stood still, and another one came")
            self._under_way.append(upload)
            return True

    def _give_up(self, upload: _Upload, why: str) -> None:
        upload.gone = True
        upload.parts.clear()
        self._under_way.remove(upload)
        self.refused(upload.label, why)

    def _release(self, upload: _Upload) -> None:
        with self._lock:
            if not upload.gone:
                self._under_way.remove(upload)

    def _remember(self, name: str, label: str) -> None:
        with self._lock:
            self._labels[name] = label
            while len(self._labels) > 1000:
                self._labels.popitem(last=False)


class UploadDesk:
    """The uploads of one connection."""

    def __init__(self, shared: Uploads) -> None:
        self._shared = shared
        self._uploads: dict[str, _Upload] = {}

    @property
    def patience(self) -> float | None:
        """After so long [s] without a message one of the uploads may be late; None without uploads."""
        return STILL + 0.1 if self._uploads else None

    def sweep(self) -> None:
        """Forget what was given up, here or for another browser."""
        self._shared.sweep()
        for key in [key for key, one in self._uploads.items() if one.gone]:
            del self._uploads[key]

    @property
    def held(self) -> int:
        """Bytes kept for uploads under way."""
        return sum(len(part["content"]) for upload in self._uploads.values() for part in upload.parts.values())

    def announce(self, message: Message) -> list[Message]:
        """Take a FileTransferStartUpload; the messages to pass on (none yet, unless the file is empty)."""
        key, size, count = message.get("transfer_uuid"), message.get("size_bytes"), message.get("part_count")
        name, button = message.get("filename"), message.get("source_component_uuid")
        if not (_short(key) and _short(button) and isinstance(name, str) and _whole(size) and _whole(count)):
            return []
        if not isinstance(message.get("mime_type"), str) or key in self._uploads or count != -(-size // PART):
            return []
        self.sweep()
        own, now = generated_name(name[-300:]), self._shared.clock()
        label = "".join(letter for letter in re.split(r"[/\\]", name[-300:])[-1] if letter.isprintable())[:80] or own
        upload = _Upload({**message, "filename": own, "mime_type": message["mime_type"][:100]}, size, label, now, now)
        if not self._shared._claim(upload, list(self._uploads.values())):
            return []
        self._shared._remember(own, label)
        self._uploads[key] = upload
        return self._finish(key) if size == 0 else []

    def part(self, message: Message) -> list[Message]:
        """Take a FileTransferPart; all messages of the file once it is whole. A part that lies ends its upload."""
        self.sweep()
        key, index, content = message.get("transfer_uuid"), message.get("part_index"), message.get("content")
        upload = self._uploads.get(key) if isinstance(key, str) else None
        if upload is None:
            return []
        if not (_whole(index) and upload.awaits(index, content, message.get("source_component_uuid"))):
            self._drop(str(key))
            return []
        upload.parts[index], upload.moved = message, self._shared.clock()
        return self._finish(str(key)) if len(upload.parts) == upload.count else []

    def close(self) -> None:
        """The connection is gone: forget its uploads."""
        for key in list(self._uploads):
            self._drop(key)

    def _finish(self, key: str) -> list[Message]:
        upload = self._drop(key)
        return [upload.start, *(upload.parts[index] for index in range(upload.count))]

    def _drop(self, key: str) -> _Upload:
        upload = self._uploads.pop(key)
        self._shared._release(upload)
        return upload


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _short(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= 100
