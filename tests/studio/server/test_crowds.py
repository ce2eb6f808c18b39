"""Crowds: hundreds of half-open connections, uploads that never end, floods of messages and events, and another user meanwhile."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from bunraku.stage.gate import HANDSHAKE_S

SOON = 0.8 * HANDSHAKE_S
"""A user who is served within this time [s] has not waited for a silent connection to end by itself."""
PART = 512 * 1024


@contextmanager
def half_open(target: Any, say: Any) -> Iterator[None]:
    """200 connections that say nothing, or half a request."""
    with ExitStack() as crowd:
        for number in range(200):
            one = crowd.enter_context(socket.create_connection(("127.0.0.1", target.port), timeout=10))
            if number % 2:
                with contextlib.suppress(OSError):
                    one.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        yield


@contextmanager
def slow_uploads(target: Any, say: Any) -> Iterator[None]:
    """Pages that announce all they may, send a part, and no more."""
    button = target.loader._impl.uuid
    about = {"part_count": 4, "filename": "slow.csv", "mime_type": "text/csv", "size_bytes": 4 * PART}
    with ExitStack() as crowd:
        for _ in range(8):
            page = crowd.enter_context(target.socket())
            for key in ("a", "b", "c"):
                facts = {"source_component_uuid": button, "transfer_uuid": key}
                say(page, type="FileTransferStartUpload", **facts, **about)
                say(page, type="FileTransferPart", **facts, part_index=0, content=bytes(PART))
        yield


FLOOD = """
import contextlib, http.client, sys, threading
import msgspec
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

port, path, protocol, uuid = sys.argv[1:]
message = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": 1.0}})

def messages():
    origin, address = f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}{path.rstrip(chr(47))}"
    while True:
        with contextlib.suppress(WebSocketException, OSError):
            with connect(address, origin=origin, subprotocols=[protocol], compression=None) as page:
                while True:
                    page.send(message)

def events():
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            asked = http.client.HTTPConnection("127.0.0.1", int(port), timeout=5)
            asked.request("GET", path + "event/audio.drift?ms=1&time=2")
            asked.getresponse().read()
            asked.close()

for one in (messages, messages, events, events):
    threading.Thread(target=one, daemon=True).start()
print("flooding", flush=True)
sys.stdin.read()
"""


@contextmanager
def floods(target: Any, say: Any) -> Iterator[None]:
    """Another process sends values from two pages as fast as it can, and asks for events one after the other."""
    import viser

    words = [str(target.port), target.path, f"viser-v{viser.__version__}", target.number._impl.uuid]
    command = [sys.executable, "-c", FLOOD, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as flood:
        try:
            assert flood.stdout is not None
            assert flood.stdout.readline() == b"flooding\n"
            yield
        finally:
            flood.kill()


@pytest.mark.parametrize("crowd", [half_open, slow_uploads, floods])
def test_another_user_is_served(ours: Any, say: Any, crowd: Any) -> None:
    """The page comes, a button is pressed, a file arrives, all of it soon."""
    with crowd(ours, say):
        connection = http.client.HTTPConnection("127.0.0.1", ours.port, timeout=SOON)
        connection.request("GET", ours.path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        assert (answer.status, len(answer.read()) > 100_000) == (200, True)
        connection.close()
        with ours.socket() as user:
            assert ours.press(user, SOON)
            for attempt in range(2):  # what has stood still for a moment gives way
                ours.files.clear()
                ours.loaded.clear()
                facts = {"source_component_uuid": ours.loader._impl.uuid, "transfer_uuid": f"mine {attempt}"}
                about = {"part_count": 2, "filename": "mine.csv", "mime_type": "text/csv", "size_bytes": 2 * PART}
                say(user, type="FileTransferStartUpload", **facts, **about)
                for number in range(2):
                    say(user, type="FileTransferPart", **facts, part_index=number, content=bytes(PART))
                if ours.loaded.wait(SOON / 2):
                    break
            assert [len(one.content) for one in ours.files] == [2 * PART]
    assert ours.get()[0] == 200
