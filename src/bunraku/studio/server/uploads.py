"""Files from the browser: refused by their announced size, kept under names of our own, passed on only when whole.

The page announces a file (size, number of parts) and sends it in parts of 512 KiB. The size is checked before anything
is kept; a part must have exactly the length that the announcement implies, so nothing can grow beyond it. viser sees the
messages only when all parts are there; an upload that breaks off leaves nothing behind.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, TypeGuard

PART = 512 * 1024
"""Bytes of a part, as viser's page sends them; only the last one is shorter."""

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
    parts: dict[int, Message] = field(default_factory=dict)

    def awaits(self, index: int, content: object, button: object) -> bool:
        if index >= self.count or index in self.parts or button != self.start["source_component_uuid"]:
            return False
        return isinstance(content, bytes) and len(content) == min(PART, self.size - index * PART)

    @property
    def count(self) -> int:
        return -(-self.size // PART)


class Uploads:
    """What all connections share: the limits, and what users called their files.

    ``limit``: bytes announced by all uploads under way together, so also the largest file; ``at_once``: how many they may be.
    """

    def __init__(self, limit: int, at_once: int = 4) -> None:
        self.limit, self.at_once = limit, at_once
        self._lock = threading.Lock()
        self._under_way: dict[int, int] = {}
        self._labels: OrderedDict[str, str] = OrderedDict()

    def label(self, name: str) -> str:
        """What the user called the file kept as ``name``, to be shown only (printable, at most 80 letters)."""
        return self._labels.get(name, name)

    def _claim(self, key: int, size: int) -> bool:
        with self._lock:
            if len(self._under_way) >= self.at_once or sum(self._under_way.values()) + size > self.limit:
                return False
            self._under_way[key] = size
            return True

    def _release(self, key: int) -> None:
        with self._lock:
            self._under_way.pop(key, None)

    def _remember(self, name: str, given: str) -> None:
        shown = "".join(letter for letter in re.split(r"[/\\]", given)[-1] if letter.isprintable())[:80]
        with self._lock:
            self._labels[name] = shown or name
            while len(self._labels) > 1000:
                self._labels.popitem(last=False)


class UploadDesk:
    """The uploads of one connection."""

    def __init__(self, shared: Uploads) -> None:
        self._shared = shared
        self._uploads: dict[str, _Upload] = {}

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
        own = generated_name(name[-300:])
        upload = _Upload({**message, "filename": own, "mime_type": message["mime_type"][:100]}, size)
        if not self._shared._claim(id(upload), size):
            return []
        self._shared._remember(own, name[-300:])
        self._uploads[key] = upload
        return self._finish(key) if size == 0 else []

    def part(self, message: Message) -> list[Message]:
        """Take a FileTransferPart; all messages of the file once it is whole. A part that lies ends its upload."""
        key, index, content = message.get("transfer_uuid"), message.get("part_index"), message.get("content")
        upload = self._uploads.get(key) if isinstance(key, str) else None
        if upload is None:
            return []
        if not (_whole(index) and upload.awaits(index, content, message.get("source_component_uuid"))):
            self._drop(str(key))
            return []
        upload.parts[index] = message
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
        self._shared._release(id(upload))
        return upload


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _short(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= 100
