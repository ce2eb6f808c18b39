"""The live websocket on this machine: lines of JSON in and out, ticked by the server's clock."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput, MissingExtra
from bunraku.formats.unexpected import reported
from bunraku.live.lines import MAX_LINE, LineSession
from bunraku.performers.speech.stream import SpeechStream
from bunraku.stage.gate import LOOPBACK, Gate, Intake, check_token, listen, send_all

MAX_UNREAD = 64
"""Frames kept for a client that reads slower than the clock ticks; older ones are dropped."""


def serve_websocket(
    make_stream: Callable[[], SpeechStream],
    *,
    token: str,
    host: str = "127.0.0.1",
    port: int = 8765,
    sink: Callable[[Array], None] | None = None,
    patience: float = 0.5,
    on_ready: Callable[[int], None] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Serve over a websocket on this machine, one message a line, until ``stop`` is set or an interrupt.

    A client shows the token in the address (``ws://127.0.0.1:8765/?token=...``); a page of elsewhere, or one that comes by another
    name of this machine, is turned away (:mod:`bunraku.stage.gate`).
    One client drives at a time; others are turned away. The server ticks by its own clock and sends one message a tick; a
    message that comes changes the wish of the next tick, of several between two ticks the last one counts. Ticks are never
    closer than 1 / rate, also after a stall. A client silent for longer than ``patience`` is answered "held"; when the client
    is lost the ticks go on until the character stands still. The pose is kept for the next client.

    ``make_stream`` is called once; ``token`` as :func:`bunraku.stage.gate.check_token` wants it; ``host`` is a loopback address;
    ``port`` 0 is any free.
    ``sink`` receives every emitted frame (k,), for instance a motor driver; never sooner than 1 / rate after it returned the last
    time, so it should return at once. ``patience``: silence [s] after which frames count as held; also how far the t of a frame may
    jump. ``on_ready`` is called with the port when clients may connect; ``stop`` ends the service when set.
    """
    if host not in LOOPBACK:
        raise BadInput(f"host {host!r} is not this machine; the live door listens on {', '.join(LOOPBACK)} only")
    check_token(token)
    try:
        import websockets.asyncio.server  # noqa: F401
    except ImportError as error:
        raise MissingExtra("websockets", "live", "the websocket door") from error
    stream = make_stream()
    gate = Gate(token, host, largest=MAX_LINE, per_second=max(1000.0, 4.0 * stream.rate))
    door = _Door(stream, gate, sink, patience)
    listening = listen(host, port)

    async def run() -> None:
        async with gate.serving(door.client, listening, max_queue=16, ping_interval=5, ping_timeout=5):
            ticking = asyncio.create_task(door.tick_by_the_clock())
            if on_ready is not None:
                on_ready(int(listening.getsockname()[1]))
            while (stop is None or not stop.is_set()) and not ticking.done():
                await asyncio.sleep(0.05)
            ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticking

    with listening, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


class _Door:
    """The stream behind the websocket and the one client that drives it."""

    def __init__(self, stream: SpeechStream, gate: Gate, sink: Callable[[Array], None] | None, patience: float) -> None:
        self._session = LineSession(stream, slack=patience)
        self._stream = stream
        self._gate = gate
        self._sink = sink
        self._patience = patience
        self._replies: asyncio.Queue[str] | None = None
        self._heard = -math.inf
        self._wake = asyncio.Event()

    async def client(self, socket: Any) -> None:
        """One connection that has passed the gate, to its end."""
        import websockets.exceptions

        intake = Intake(self._gate)
        try:
            if self._replies is not None:
                await socket.close(1013, "another client drives")
            else:
                await self._drive(socket, intake)
        except websockets.exceptions.ConnectionClosed:
            pass
        except Exception as error:  # this client goes, the clock ticks on
            print(reported(error, "a client of the websocket"), file=sys.stderr)
            await socket.close(1011, "unexpected error")

    async def _drive(self, socket: Any, intake: Intake) -> None:
        """Take in the messages of a client and send it what the clock makes, until it is gone."""
        self._replies = asyncio.Queue(MAX_UNREAD)
        self._session.new_sender()
        self._wake.set()
        writing = asyncio.create_task(send_all(socket, self._replies))
        try:
            while True:
                line = await intake.receive(socket)
                self._heard = asyncio.get_running_loop().time()
                self._session.receive(line)
        finally:
            self._replies, self._heard = None, -math.inf
            writing.cancel()

    async def tick_by_the_clock(self) -> None:
        """Tick while a client drives and then until the pose has stood still; each tick at least 1 / rate after the last."""
        loop, still, due = asyncio.get_running_loop(), 0, 0.0
        before = self._stream.out.copy()
        while True:
            await self._wake.wait()
            while (left := due - loop.time()) > 0.0:
                await asyncio.sleep(left - 0.001 if left > 0.001 else 0.0)
            reply = self._session.tick(keep=loop.time() - self._heard <= self._patience)
            if self._sink is not None and not self._stream.waiting:
                self._sink(self._stream.out)
            due = loop.time() + 1.0 / self._stream.rate
            if self._replies is not None:
                if self._replies.full():
                    self._replies.get_nowait()
                self._replies.put_nowait(reply)
            moved = not (np.abs(self._stream.out - before) <= 1e-9).all()
            still = 0 if moved or self._replies is not None else still + 1
            before[:] = self._stream.out
            if self._stream.waiting or still > self._stream.latency:
                still = 0
                if self._replies is None:
                    self._wake.clear()
