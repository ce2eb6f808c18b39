"""A raw client of the studio: plain HTTP and viser's messages over a websocket, without any browser.

A client keeps the widgets of the page as they come and go (``widgets``: kind, value and properties by uuid), and presses, drags and
chooses among them as a hand would.
"""

from __future__ import annotations

import http.client
import logging
import re
import threading
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import zstandard

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [3.0, 3.0, 3.0],
    "fov": 1.0,
    "near": 0.1,
    "far": 100.0,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
    "image_height": 700,
    "image_width": 1200,
}
logging.getLogger("websockets.client").setLevel(logging.CRITICAL + 1)  # of who leaves without a word
_CLICK = re.compile(r'<[a-z]+ [^>]*data-click="([a-z.]+)"([^>]*)>')
_FIELD = re.compile(r'data-([a-z0-9-]+)="([^"]*)"')


@dataclass
class Widget:
    """One widget as the page shows it."""

    uuid: str
    kind: str
    value: Any
    props: dict[str, Any]

    @property
    def label(self) -> str:
        """What stands on it."""
        return str(self.props.get("label", ""))


@dataclass
class Client:
    """A page that is open at ``url`` (token included)."""

    url: str
    widgets: dict[str, Widget] = field(default_factory=dict)
    messages: int = 0
    fault: str = ""
    buffers: list[bytes] = field(default_factory=list)
    """The arrays of the messages at hand, which they name by their place here."""

    def __post_init__(self) -> None:
        import viser
        from websockets.sync.client import connect

        parts = urlsplit(self.url)
        self._host, self._path = parts.netloc, parts.path
        self._unpack = zstandard.ZstdDecompressor()
        self._lock = threading.Lock()
        self.ready = threading.Event()
        """All that was there before is known."""
        self._socket = connect(
            f"ws://{self._host}{self._path.rstrip('/')}",
            origin=f"http://{self._host}",  # type: ignore[arg-type]
            subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            compression=None,
            max_size=None,
            open_timeout=30,
            close_timeout=2,
        )
        self._left = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.send(CAMERA)

    def send(self, message: dict[str, Any]) -> None:
        """Send one of viser's messages."""
        self._socket.send(msgspec.msgpack.encode(message))

    def set(self, widget: Widget, value: Any) -> None:
        """Give a widget another value; a button is pressed with True."""
        self.send({"type": "GuiUpdateMessage", "uuid": widget.uuid, "updates": {"value": value}})

    def event(self, name: str, /, **fields: Any) -> int:
        """What the page's script sends for a click or a drag in a picture; the status of the answer."""
        connection = http.client.HTTPConnection(self._host, timeout=30)
        try:
            connection.request("GET", f"{self._path}event/{name}?{urlencode(fields)}")
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def of_kind(self, *kinds: str) -> list[Widget]:
        """The widgets of some kinds that can be used now, in the order in which they came."""
        with self._lock:
            found = [one for one in self.widgets.values() if one.kind in kinds]
        return [one for one in found if one.props.get("visible", True) and not one.props.get("disabled", False)]

    def labelled(self, kind: str, label: str) -> Widget | None:
        """The widget of a kind with that label."""
        return next((one for one in self.of_kind(kind) if one.label == label), None)

    def clicks(self, name: str) -> list[dict[str, str]]:
        """The fields of every element of the pictures that sends this event when it is clicked."""
        found = []
        for one in self.of_kind("GuiHtmlMessage"):
            for match in _CLICK.finditer(str(one.props.get("content", ""))):
                if match[1] == name:
                    fields = dict(_FIELD.findall(match[0]))
                    del fields["click"]
                    found.append({key: unescape(value) for key, value in fields.items()})
        return found

    def leave(self, *, abruptly: bool = False) -> None:
        """Close the page; abruptly: the connection is cut without a word."""
        self._left = True
        if abruptly:
            self._socket.socket.close()
        else:
            self._socket.close()
        self._reader.join(5.0)

    def _read(self) -> None:
        try:
            while True:
                self._take(self._socket.recv())
        except Exception as error:
            if not self._left:
                self.fault = f"{type(error).__name__}: {error}"

    def _take(self, raw: str | bytes) -> None:
        if not isinstance(raw, bytes):
            raise TypeError("text came where viser sends bytes")
        packed = int.from_bytes(raw[8:16], "little")
        found = msgspec.msgpack.decode(self._unpack.decompress(raw[16 : 16 + packed]))
        with self._lock:
            self.buffers, end = [], 16 + packed
            for length in found.get("binaryBufferLengths", ()):
                begin = -(-end // 8) * 8
                end = begin + length
                self.buffers.append(raw[begin:end])
            for message in found["messages"]:
                self.messages += 1
                self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        kind = str(message["type"])
        if kind == "GuiUpdateMessage":
            one = self.widgets.get(message["uuid"])
            if one is not None:
                updates = dict(message["updates"])
                one.value = updates.pop("value", one.value)
                one.props |= updates
        elif kind == "GuiRemoveMessage":
            self.widgets.pop(message["uuid"], None)
        elif kind.startswith("Gui") and isinstance(message.get("props"), dict) and "uuid" in message:
            self.widgets[message["uuid"]] = Widget(message["uuid"], kind, message.get("value"), dict(message["props"]))
        elif kind == "ReplayDoneMessage":
            self.ready.set()
