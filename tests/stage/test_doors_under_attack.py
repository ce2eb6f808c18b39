"""Every door of ours, stream, device and studio, while others try to get in: strangers are refused, its user is served."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from bunraku.live.websocket import serve_websocket
from bunraku.motion.limits import MotionLimits
from bunraku.performers.speech.stream import SpeechStream
from bunraku.stage import gate
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.websocket import WebsocketDriver
from bunraku.stage.servos import ServoCalibration

pytest.importorskip("websockets")
TOKEN = "a-token-that-nobody-guesses"
PATIENCE_S = 60.0
"""Nobody who is served waits so long, however busy this computer is."""


@dataclass
class Door:
    """An open door: its port, the path that lets in, and what its user does to be served (True when they were)."""

    port: int
    path: str
    use: Callable[[], bool]

    def ask(self, path: str | None = None, **headers: str) -> int:
        """The status that a request for a websocket gets."""
        sent = {
            "Host": f"127.0.0.1:{self.port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.putrequest("GET", self.path if path is None else path, skip_host=True, skip_accept_encoding=True)
            for name, value in (sent | headers).items():
                connection.putheader(name, value)
            connection.endheaders()
            return connection.getresponse().status


def _first_message(port: int, *words: str) -> bool:
    from websockets.sync.client import connect

    with connect(f"ws://127.0.0.1:{port}/?token={TOKEN}", proxy=None, compression=None, open_timeout=PATIENCE_S) as client:
        for word in words:
            client.send(word)
        return isinstance(json.loads(client.recv(timeout=PATIENCE_S)), dict)


@contextlib.contextmanager
def stream() -> Iterator[Door]:
    """``bunraku perform --stream --port``."""
    none = np.full(1, np.inf)
    limits = MotionLimits(("yaw",), -np.ones(1), np.ones(1), np.ones(1), none, none)
    ready, stop, ports = threading.Event(), threading.Event(), list[int]()

    def listening(port: int) -> None:
        ports.append(port)
        ready.set()

    settings = {"on_ready": listening, "stop": stop, "port": 0, "token": TOKEN}
    server = threading.Thread(
        target=serve_websocket, args=(lambda: SpeechStream(limits, rate=50.0, look_ahead=0.1),), kwargs=settings, daemon=True
    )
    server.start()
    assert ready.wait(PATIENCE_S)
    yield Door(ports[0], f"/?token={TOKEN}", lambda: _first_message(ports[0], "[0.0]"))
    stop.set()
    server.join(PATIENCE_S)


@contextlib.contextmanager
def device() -> Iterator[Door]:
    """The driver of a machine at the other end of a websocket."""
    driver = WebsocketDriver(Device(name="x", driver="websocket", port="0", servos={"a": ServoCalibration()}), token=TOKEN)
    driver._listen()
    port = int(driver.url.split(":")[2].split("/")[0])
    yield Door(port, f"/?token={TOKEN}", lambda: _first_message(port))
    driver.close()


@contextlib.contextmanager
def studio() -> Iterator[Door]:
    """The studio's server."""
    pytest.importorskip("viser")
    from bunraku.studio.server.server import StudioServer

    server = StudioServer(token=TOKEN)

    def use() -> bool:
        page = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        with contextlib.closing(page):
            page.request("GET", f"/{TOKEN}/page.js")
            return page.getresponse().status == 200

    yield Door(server.port, f"/{TOKEN}", use)
    server.stop()


DOORS = {"stream": stream, "device": device, "studio": studio}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    """A door at which nothing ends by itself while a test runs, however busy this computer is."""
    assert gate.HANDSHAKE_S <= 5.0
    monkeypatch.setattr(gate, "HANDSHAKE_S", 3600.0)
    with DOORS[request.param]() as door:
        yield door


def _knocks(port: int, count: int, words: bytes = b"") -> list[socket.socket]:
    """So many connections that say these words and no more."""
    knocking = []
    for _ in range(count):
        one = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        with contextlib.suppress(OSError):
            one.sendall(words)
        knocking.append(one)
    return knocking


def _ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example:80", "10.0.0.7", "a b"])
def test_who_knows_the_token_but_comes_by_another_name_is_refused(door: Door, name: str) -> None:
    assert door.ask(Host=name) == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "file://", "http://127.0.0.1.evil.example"])
def test_a_page_of_elsewhere_that_knows_the_token_is_refused(door: Door, origin: str) -> None:
    assert door.ask(Origin=origin) == 403
    assert door.use()


def test_wrong_tokens_are_answered_for_a_while_and_the_right_one_always(door: Door) -> None:
    wrong = door.path.replace(TOKEN, TOKEN[:-1] + "t")
    answers = [door.ask(wrong) for _ in range(32)]
    assert set(answers[:30]) <= {403, 404}
    assert answers[30:] == [429, 429]
    assert door.use()


@pytest.mark.parametrize("words", [b"", b"GET /?token=", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "])
def test_two_hundred_half_open_connections_keep_nobody_out(door: Door, words: bytes) -> None:
    """The oldest go: at most 64 stay, and none of these ends by itself before the user is in."""
    knocking = _knocks(door.port, 200, words)
    try:
        assert all(_ended(one) for one in knocking[:136])
        assert door.use()
        knocking[-1].setblocking(False)
        with pytest.raises(BlockingIOError):  # the newest is still listened to
            knocking[-1].recv(1)
    finally:
        for one in knocking:
            one.close()


@pytest.mark.parametrize("kind", DOORS)
def test_who_never_comes_to_the_end_of_a_request_is_cut_off(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "HANDSHAKE_S", 0.2)
    with DOORS[kind]() as door, socket.create_connection(("127.0.0.1", door.port), timeout=0.02) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        for _ in range(int(PATIENCE_S / 0.02)):
            try:
                slow.sendall(b"x")
                if slow.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("it was listened to without an end")
        assert door.use()


def test_a_flood_of_strangers_keeps_nobody_out(door: Door) -> None:
    """Four of them connect as fast as they can, with nothing, nonsense, wrong tokens or foreign origins."""
    ended = threading.Event()
    head = "HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    texts = ("", "\x00\xff" * 500, f"GET /?token=wrong {head}\r\n", f"GET {door.path} {head}Origin: http://evil.example\r\n\r\n")

    def attack(text: str) -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", door.port), timeout=1.0) as one:
                one.sendall(text.encode("latin-1"))

    attackers = [threading.Thread(target=attack, args=(text,), daemon=True) for text in texts]
    for one in attackers:
        one.start()
    try:
        assert [door.use() for _ in range(2)] == [True] * 2
    finally:
        ended.set()
        for one in attackers:
            one.join(PATIENCE_S)


def test_more_clients_than_a_door_holds_are_refused(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "OPEN", 0)
    headers = {}
    if door.path.startswith(f"/{TOKEN}"):
        import viser

        headers = {"Origin": f"http://127.0.0.1:{door.port}", "Sec-WebSocket-Protocol": f"viser-v{viser.__version__}"}
    assert door.ask(**headers) == 503
