"""A raw client for the attacks: plain HTTP and plain websockets, as anyone on the network could send them."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest


@dataclass
class Target:
    """A running server under attack: ours, or viser as it comes.

    Args:
        port: Its port on 127.0.0.1.
        path: Path of the page: "/" or "/TOKEN/".
        viser: viser's server, to look at what an attack did.
    """

    port: int
    path: str
    viser: Any
    presses: list[str] = field(default_factory=list)
    pressed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.button = self.viser.gui.add_button("Press")
        self.number = self.viser.gui.add_number("Number", 1.0, step=0.1)
        self.loader = self.viser.gui.add_upload_button("Load")
        self.files: list[Any] = []
        self.loaded = threading.Event()
        self.button.on_click(lambda event: (self.presses.append("press"), self.pressed.set()))
        self.loader.on_upload(lambda event: (self.files.append(event.target.value), self.loaded.set()))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def get(
        self, path: str | None = None, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[int, dict[str, str], bytes]:
        """One HTTP request; the Host of the headers wins."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.putrequest(method, self.path if path is None else path, skip_host=True, skip_accept_encoding=True)
            for key, value in ({"Host": self.host} | (headers or {})).items():
                connection.putheader(key, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    @contextmanager
    def socket(
        self,
        path: str | None = None,
        *,
        origin: str | None = "",
        host: str | None = None,
        protocol: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Iterator[Any]:
        """An open websocket; by default exactly as viser's page opens it. ``origin=None`` leaves the header out."""
        import viser
        from websockets.sync.client import connect

        name = host or self.host
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        with connect(
            f"ws://{name}{self.path.rstrip('/') if path is None else path}",
            sock=sock,
            origin=f"http://{name}" if origin == "" else origin,  # type: ignore[arg-type]
            subprotocols=[protocol or f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            additional_headers=headers,
            compression=None,
            max_size=None,
            open_timeout=10,
        ) as client:
            yield client

    def press(self, client: Any, within: float = 10.0) -> bool:
        """Press the button through an open websocket, as a page does; whether the server took it ``within`` so long [s]."""
        self.pressed.clear()
        before = len(self.presses)
        send(client, **CAMERA)
        send(client, type="GuiUpdateMessage", uuid=self.button._impl.uuid, updates={"value": True})
        self.pressed.wait(within)
        return len(self.presses) == before + 1


CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [3.0, 3.0, 3.0],
    "fov": 1.0,
    "near": 0.1,
    "far": 100.0,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
    "image_height": 400,
    "image_width": 600,
}


def send(client: Any, **message: Any) -> None:
    client.send(msgspec.msgpack.encode(message))


@pytest.fixture
def say() -> Any:
    """Send one message of viser's over a websocket."""
    return send


@pytest.fixture(scope="module")
def ours() -> Iterator[Target]:
    """The studio's server."""
    from bunraku.studio.server.server import StudioServer

    server = StudioServer(upload_limit=2 * 2**20)
    target = Target(server.port, urlsplit(server.url).path, server.viser)
    target.studio = server  # type: ignore[attr-defined]
    yield target
    server.stop()


@pytest.fixture(scope="module")
def stock() -> Iterator[Target]:
    """Viser as it comes, on loopback: every attack works here."""
    import viser

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    yield Target(server.get_port(), "/", server)
    server.stop()
