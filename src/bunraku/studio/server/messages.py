"""Messages a browser may send: the kinds viser's own page sends, well formed, within size; everything else is ignored.

viser would take any of its message classes from any client, set any attribute a GUI update names, and end the connection
with a traceback on one that does not fit. :class:`FilteredConnection` stands between the wire and viser.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

from bunraku.stage.gate import Intake
from bunraku.studio.server.uploads import UploadDesk, Uploads

SMALL = 64 * 2**10
LARGEST = 16 * 2**20
"""Bytes of one message; only a picture of the view that was asked for comes near."""

ALLOWED = {
    "GuiUpdateMessage": 1 * 2**20,
    "GuiButtonHoldMessage": SMALL,
    "GuiFormSubmitMessage": SMALL,
    "GuiFormDirtyMessage": SMALL,
    "CommandTriggerMessage": SMALL,
    "ViewerCameraMessage": SMALL,
    "ScenePointerMessage": SMALL,
    "SceneNodeClickMessage": SMALL,
    "SceneNodeDragMessage": SMALL,
    "TransformControlsUpdateMessage": SMALL,
    "TransformControlsDragStartMessage": SMALL,
    "TransformControlsDragEndMessage": SMALL,
    "GetRenderResponseMessage": LARGEST,
    "LocalStorageGetItemResponseMessage": SMALL,
    "FileTransferStartUpload": SMALL,
    "FileTransferPart": 600 * 2**10,
}
"""The kinds of message that viser's page sends to the server, with the most bytes each may have."""


class MessageFilter:
    """Decides message by message what reaches viser, for one connection.

    ``is_upload_button``: whether a component of this uuid takes files; a file for any other is refused.
    """

    def __init__(self, uploads: Uploads, is_upload_button: Callable[[str], bool]) -> None:
        self.desk = UploadDesk(uploads)
        self._is_upload_button = is_upload_button

    def take(self, raw: bytes | str) -> list[bytes]:
        """What to pass on for one message from the wire: itself, nothing, or the parts of an upload that is now whole."""
        import msgspec
        from viser import _messages

        if not isinstance(raw, bytes) or len(raw) > LARGEST:
            return []
        try:
            message = msgspec.msgpack.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, ValueError):
            return []
        kind = message.get("type") if isinstance(message, dict) else None
        if not isinstance(kind, str) or len(raw) > ALLOWED.get(kind, 0):
            return []
        if kind == "FileTransferPart":
            return self._encoded(self.desk.part(message))
        updates = message.get("updates")
        if kind == "GuiUpdateMessage" and not (isinstance(updates, dict) and set(updates) == {"value"}):
            return []
        if not _finite(message):
            return []
        if kind == "FileTransferStartUpload":
            known = self._is_upload_button(str(message.get("source_component_uuid")))
            return self._encoded(self.desk.announce(message)) if known else []
        try:
            _messages.Message.deserialize(raw)
        except Exception:
            return []
        return [raw]

    @staticmethod
    def _encoded(messages: list[dict[str, Any]]) -> list[bytes]:
        import msgspec

        return [msgspec.msgpack.encode(message) for message in messages]


class FilteredConnection:
    """A websocket connection whose :meth:`recv` yields only messages that pass the filter; all else is the connection's own."""

    def __init__(self, connection: Any, sieve: MessageFilter, intake: Intake) -> None:
        self._connection, self._intake = connection, intake
        self._sieve = sieve
        self._ready: deque[bytes] = deque()

    async def recv(self) -> bytes:
        """The next message for viser."""
        while not self._ready:
            self._ready.extend(self._sieve.take(await self._intake.receive(self._connection)))
        return self._ready.popleft()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _finite(value: Any) -> bool:
    """Whether no number inside is infinite or none at all."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_finite(item) for item in value.values())
    return all(_finite(item) for item in value) if isinstance(value, list) else True
