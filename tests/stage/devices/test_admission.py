"""Who may be the machine at the websocket: the token, the origin, the host, and one at a time."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.stage.devices import websocket
from bunraku.stage.devices.answers import FORGIVEN
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.websocket import WebsocketDriver
from bunraku.stage.gate import Gate

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def driver(rig):
    driver = WebsocketDriver(rig.device_of("websocket", (1, 2), "0"), wait_s=0.1, token=rig.token, tell=lambda line: None)
    driver._listen()
    yield driver
    driver.close()


def connect(url: str, **settings):
    import websockets.sync.client

    return websockets.sync.client.connect(url, compression=None, open_timeout=10, proxy=None, **settings)


@pytest.mark.parametrize("origin", [None, "http://127.0.0.1:8080", "http://localhost", "https://[::1]:1"])
def test_the_token_lets_in(driver, origin) -> None:
    with connect(driver.url, origin=origin) as socket:
        assert json.loads(socket.recv(timeout=5))["servos"] == [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        lambda url: url.partition("?")[0],
        lambda url: url[:-1],
        lambda url: url + "&token=" + url.partition("token=")[2],
        lambda url: url.replace("token=", "token=x&token="),
    ],
)
def test_nobody_else_comes_in(driver, change) -> None:
    import websockets.exceptions

    with pytest.raises(websockets.exceptions.InvalidStatus, match="403"):
        connect(change(driver.url))


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example", "file://"])
def test_pages_of_others_stay_outside(driver, origin) -> None:
    import websockets.exceptions

    with pytest.raises(websockets.exceptions.InvalidStatus, match="403"):
        connect(driver.url, origin=origin)


def test_a_rebound_name_stays_outside(driver) -> None:
    import socket

    port = int(driver.url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as raw:
        raw.sendall(
            f"GET /?token={driver.token} HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 403")


def test_one_client_at_a_time(driver) -> None:
    import websockets.exceptions

    with connect(driver.url) as first:
        first.recv(timeout=5)
        first.send(json.dumps({"type": "ready", "ids": [1, 2], "measured": None}))
        driver._wait = 10.0
        driver.open()
        with connect(driver.url) as second, pytest.raises(websockets.exceptions.ConnectionClosed, match="another client"):
            second.recv(timeout=5)
        driver.send(np.array([300, 301]))
        assert json.loads(first.recv(timeout=5))["positions"] == [300, 301]


def test_a_client_that_left_is_a_fault_until_opened_again_whoever_came_meanwhile(driver, rig) -> None:
    """The next one stands elsewhere, and must not be told what the first was about to be."""
    driver._wait = 10.0
    with connect(driver.url) as first:
        first.recv(timeout=5)
        first.send(json.dumps({"type": "ready", "ids": [1, 2], "measured": [500, 500]}))
        driver.open()
    assert rig.until(lambda: not driver._taken)
    with connect(driver.url) as second:
        second.recv(timeout=5)
        second.send(json.dumps({"type": "ready", "ids": [1, 2], "measured": [200, 200]}))
        assert rig.until(lambda: driver._queue is not None)
        for told in (lambda: driver.send(np.array([510, 510])), driver.measure):
            with pytest.raises(DeviceFault, match="the client is gone") as lost:
                told()
            assert lost.value.kind is FaultKind.LOST
        driver.open()
        assert driver.measure() == pytest.approx([200.0, 200.0])
        driver.send(np.array([210, 210]))
        assert json.loads(second.recv(timeout=5))["positions"] == [210, 210], "the first that it is told"


def test_nobody_slips_in_while_a_client_is_greeted(driver) -> None:
    import websockets.exceptions

    with connect(driver.url) as first:
        first.recv(timeout=5)  # it has not said that it is ready
        with connect(driver.url) as second, pytest.raises(websockets.exceptions.ConnectionClosed, match="another client"):
            second.recv(timeout=5)


def test_who_sends_too_fast_is_sent_away(driver) -> None:
    import websockets.exceptions

    driver._gate = Gate(driver.token, per_second=3.0 / 3600.0)  # none comes again while this test runs
    with connect(driver.url) as client:
        client.recv(timeout=5)
        with pytest.raises(websockets.exceptions.ConnectionClosed, match="messages a second"):  # noqa: PT012
            client.send(json.dumps({"type": "ready", "ids": [1, 2], "measured": None}))
            client.recv(timeout=60)


def test_no_client_is_silence(driver) -> None:
    with pytest.raises(DeviceFault, match="no client came") as silent:
        driver.open()
    assert silent.value.kind is FaultKind.SILENT


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ('{"type": "error", "reason": "hot"}', FaultKind.REFUSED),
        ('{"type": "at", "n": 1, "measured": [300, null]}', FaultKind.MISSING),
    ],
)
def test_what_a_client_says_becomes_a_fault(driver, rig, message: str, kind: FaultKind) -> None:
    with connect(driver.url) as client:
        client.recv(timeout=5)
        client.send(json.dumps({"type": "ready", "ids": [1, 2], "measured": [1, 2]}))
        driver._wait = 10.0
        driver.open()
        assert driver.measure() == pytest.approx([1.0, 2.0])
        client.send(message)
        assert rig.until(lambda: driver._fault is not None, seconds=60.0)
        with pytest.raises(DeviceFault) as raised:
            driver.measure()
        assert raised.value.kind is kind


@pytest.mark.parametrize(
    "message",
    [
        "[" * 60_000,
        "7",
        '{"type": "at"}',
        '{"type": "at", "n": 1, "measured": [1e999, 2]}',
        '{"type": "at", "n": 1, "measured": "x"}',
        '{"type": "at", "n": 1, "measured": [[1], [2]]}',
        '{"type": "at", "n": Infinity, "measured": [1, 2]}',
        '{"type": "at", "n": 1, "measured": [1, 1%s]}' % ("0" * 400),
    ],
)
def test_nonsense_does_no_harm_and_too_much_of_it_is_a_fault(driver, rig, monkeypatch, message: str) -> None:
    monkeypatch.setattr(websocket, "WINDOW_S", 3600.0)  # four within it, however slow this computer is
    with connect(driver.url) as client:
        client.recv(timeout=5)
        client.send(json.dumps({"type": "ready", "ids": [1, 2], "measured": [1, 2]}))
        driver._wait = 10.0
        driver.open()
        for _ in range(FORGIVEN):
            client.send(message)
        assert rig.until(lambda: len(driver._bad) == FORGIVEN, seconds=60.0)
        assert driver._fault is None
        client.send(message)
        assert rig.until(lambda: driver._fault is not None, seconds=60.0)
        with pytest.raises(DeviceFault) as raised:
            driver.measure()
        assert raised.value.kind is FaultKind.CORRUPTED


@pytest.mark.parametrize("port", ["x", "70000", "-1", "²"])
def test_a_port_that_is_none_is_refused(rig, port: str) -> None:
    with pytest.raises(BadInput, match="no port number"):
        WebsocketDriver(rig.device_of("websocket", (1,), port)).open()
