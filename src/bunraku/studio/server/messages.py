"""Messages a browser may send: the kinds viser's own page sends, well formed, within size; everything else is ignored.

viser would take any of its message classes from any client, set any attribute a GUI update names, and end the connection
with a traceback on one that does not fit. :class:`FilteredConnection` stands between the wire and viser.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from bunraku.stage.gate import Intake
from bunraku.studio.server.uploads import UploadDesk, Uploads
from bunraku.studio.server.values import Widgets, camera_fits, finite, fits, gizmo_fits, takes_files

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

    ``widgets``: those that there are; a value that does not fit its widget, and a file for one that takes none, is refused.
    """

    def __init__(self, uploads: Uploads, widgets: Widgets) -> None:
        self.desk = UploadDesk(uploads)
        self._widgets = widgets

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
        if not self._fits(kind, message):
            return []
        if kind == "FileTransferStartUpload":
            return self._encoded(self.desk.announce(message))
        try:
            _messages.Message.deserialize(raw)
        except Exception:
            return []
        return [raw]

    def _fits(self, kind: str, message: dict[str, Any]) -> bool:
        """Whether what a message sets may be set."""
        if kind == "GuiUpdateMessage":
            updates, widget = message.get("updates"), self._widgets.input(str(message.get("uuid")))
            return isinstance(updates, dict) and set(updates) == {"value"} and fits(widget, updates["value"])
        if kind == "TransformControlsUpdateMessage":
            return gizmo_fits(self._widgets.gizmo(str(message.get("name"))), message)
        if kind == "FileTransferStartUpload":
            return takes_files(self._widgets.input(str(message.get("source_component_uuid"))))
        return camera_fits(message) if kind == "ViewerCameraMessage" else finite(message)

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
            try:
                async with asyncio.timeout(self._sieve.desk.patience):
                    raw = await self._intake.receive(self._connection)
            except TimeoutError:
                self._sieve.desk.sweep()
            else:
                self._ready.extend(self._sieve.take(raw))
        return self._ready.popleft()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)
