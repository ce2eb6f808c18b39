"""The live door: frames as lines of JSON, over standard input and output or over a websocket on this machine.

One line in is one tick: ``{"t": 1.2, "joints": {"HeadYaw": 0.1}}`` or a list of numbers, one for each joint, in radians. Joints
left out keep their last wanted value; ``{}`` is a tick without a frame. One line out answers each:
``{"t": 0.4, "joints": {...}, "status": "ok"}``: the legal frame for the wish of time t (null while the window fills). A line
that cannot be read is answered with ``"status": "rejected"`` and a ``reason``, and counts as a tick without a frame: the
character holds safely. Nothing that arrives raises an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import math
import threading
from collections.abc import Callable
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput, MissingExtra
from bunraku.performers.speech.stream import SpeechStream, StreamStatus

__all__ = ["LineSession", "serve_lines", "serve_websocket"]

Array = NDArray[np.float64]

MAX_LINE = 64 * 1024
"""Longest line or message that is read [bytes]."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")

_WORDS = {
    StreamStatus.OK: "ok",
    StreamStatus.PRIMING: "priming",
    StreamStatus.OUT_OF_RANGE_CLAMPED: "clamped",
    StreamStatus.REJECTED_NOT_FINITE: "rejected",
    StreamStatus.REJECTED_SHAPE: "rejected",
    StreamStatus.HELD: "held",
    StreamStatus.WAITING: "waiting",
}


class LineSession:
    """Translates lines into ticks of a stream and the emitted frames into lines."""

    def __init__(self, stream: SpeechStream) -> None:
        self.stream = stream
        self._names = stream.limits.names
        self._index = {name: j for j, name in enumerate(self._names)}
        self._wanted = stream.out.copy()
        self._ticks = 0
        self._origin = 0.0

    def answer(self, line: str | bytes) -> str:
        """One tick: the reply to one line; never raises on what arrives."""
        try:
            frame, time = self._read(line)
        except _Refused as refused:
            return self._reply(self.stream.hold(), reason=str(refused))
        if frame is None:
            return self.hold()
        fresh = self.stream.waiting
        status = self.stream.push(frame)
        if status is StreamStatus.REJECTED_NOT_FINITE:
            return self._reply(status, reason=status.sentence)
        self._wanted[:] = frame
        if fresh:
            self._ticks, self._origin = 0, 0.0 if time is None else time
        return self._reply(status)

    def hold(self) -> str:
        """One tick without a frame."""
        return self._reply(self.stream.hold())

    def drain(self) -> list[str]:
        """Lines of the frames still under way when the input has ended."""
        return [self._line(frame, "draining") for frame in self.stream.flush()]

    def _reply(self, status: StreamStatus, reason: str = "") -> str:
        return self._line(self.stream.out, "rejected" if reason else _WORDS[status], reason)

    def _line(self, frame: Array, word: str, reason: str = "") -> str:
        reply: dict[str, Any] = {"t": None, "joints": None, "status": word}
        if not self.stream.waiting:
            sample = self._ticks - self.stream.latency
            self._ticks += 1
            reply["t"] = round(self._origin + sample / self.stream.rate, 9) if sample >= 0 else None
            reply["joints"] = dict(zip(self._names, frame.tolist(), strict=True))
        if reason:
            reply["reason"] = reason
        return json.dumps(reply)

    def _read(self, line: str | bytes) -> tuple[Array | None, float | None]:
        """The whole wanted frame and its time; None for a tick without a frame."""
        if len(line) > MAX_LINE:
            raise _Refused(f"the line is longer than {MAX_LINE} bytes")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Refused(f"no JSON: {str(error)[:120]}") from None
        if isinstance(value, list):
            if len(value) != len(self._names):
                raise _Refused(f"the list has {len(value)} numbers; {len(self._names)} are needed")
            return np.array([_number(item, f"item {j}") for j, item in enumerate(value)]), None
        if not isinstance(value, dict):
            raise _Refused("the line is neither an object nor a list")
        time = None if value.get("t") is None else _number(value["t"], "t")
        if time is not None and not math.isfinite(time):
            raise _Refused("t is not finite")
        joints = value.get("joints", {})
        if not isinstance(joints, dict):
            raise _Refused('"joints" is no object of name: radians')
        if not joints:
            return None, time
        frame = self._wanted.copy()
        for name, item in joints.items():
            if name not in self._index:
                raise _Refused(f"there is no joint {name[:40]!r}; there are {', '.join(self._names[:12])}")
            number = _number(item, name)
            if not math.isfinite(number):
                raise _Refused(f"{name} is not finite")
            frame[self._index[name]] = number
        if np.isnan(frame).any():
            raise _Refused(f"the first frame must give every joint; {self._names[int(np.isnan(frame).argmax())]} is missing")
        return frame, time


class _Refused(Exception):
    """A line that cannot be used; the message goes back to the sender."""


def _number(item: object, what: str) -> float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise _Refused(f"{what[:40]} is no number")
    try:
        return float(item)
    except OverflowError:
        raise _Refused(f"{what[:40]} is too large") from None


def serve_lines(stream: SpeechStream, lines_in: IO[str] | IO[bytes], lines_out: IO[str]) -> int:
    """Answer every line of ``lines_in`` on ``lines_out`` until it ends, then drain; returns the number of lines answered.

    Args:
        stream: the stream that is driven.
        lines_in: text or binary file, read line by line, at most 64 KiB of each line.
        lines_out: text file, flushed after every line.
    """
    session = LineSession(stream)
    count = 0
    while line := _bounded_line(lines_in):
        if not line.strip():
            continue
        lines_out.write(session.answer(line) + "\n")
        lines_out.flush()
        count += 1
    for reply in session.drain():
        lines_out.write(reply + "\n")
    lines_out.flush()
    return count


def _bounded_line(lines: IO[Any]) -> str | bytes:
    """The next line, at most one byte more than allowed of it; the rest of a longer one is read and dropped."""
    try:
        line: str | bytes = lines.readline(MAX_LINE + 1)
    except UnicodeDecodeError:
        return b"\xff"
    rest: str | bytes = line
    while len(rest) > MAX_LINE and not _ends(rest):
        try:
            rest = lines.readline(MAX_LINE + 1)
        except UnicodeDecodeError:
            break
    return line


def _ends(line: str | bytes) -> bool:
    return line.endswith(b"\n") if isinstance(line, bytes) else line.endswith("\n")


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
    """Serve the same lines over a websocket on this machine, one message a line, until ``stop`` is set or an interrupt.

    A client shows the token in the address (``ws://127.0.0.1:8765/?token=...``) or as its first message ``{"token": "..."}``.
    One client drives at a time; others are turned away. When the client falls silent for ``patience`` the server ticks by
    itself at the stream's rate and sends held frames; when the client is lost it goes on until the character stands still.
    The pose is kept for the next client.

    Args:
        make_stream: makes the stream, once.
        token: secret of at least 8 characters.
        host: loopback address; others are refused.
        port: TCP port; 0 takes a free one.
        sink: receives every emitted frame (k,), for instance a motor driver.
        patience: silence [s] after which frames are held.
        on_ready: called with the port when clients may connect.
        stop: ends the service when set.
    """
    if host not in LOOPBACK:
        raise BadInput(f"host {host!r} is not this machine; the live door listens on {', '.join(LOOPBACK)} only")
    if len(token) < 8:
        raise BadInput("the token is too short; give at least 8 characters")
    try:
        import websockets.asyncio.server
    except ImportError as error:
        raise MissingExtra("websockets", "live", "the websocket door") from error
    door = _Door(make_stream(), token, sink, patience)

    async def run() -> None:
        server = websockets.asyncio.server.serve(
            door.client, host, port, max_size=MAX_LINE, max_queue=16, open_timeout=5, ping_interval=5, ping_timeout=5
        )
        async with server as listening:
            if on_ready is not None:
                on_ready(int(next(iter(listening.sockets)).getsockname()[1]))
            while stop is None or not stop.is_set():
                await asyncio.sleep(0.05)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


class _Door:
    """The stream behind the websocket and the one client that drives it."""

    def __init__(self, stream: SpeechStream, token: str, sink: Callable[[Array], None] | None, patience: float) -> None:
        self.session = LineSession(stream)
        self._stream = stream
        self._token = token.encode()
        self._sink = sink
        self._patience = patience
        self._driven = False
        self._settling: asyncio.Task[None] | None = None

    async def client(self, socket: Any) -> None:
        """One connection, from its token to its end."""
        import websockets.exceptions

        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            if not await self._admitted(socket):
                await socket.close(1008, "token missing or wrong")
            elif self._driven:
                await socket.close(1013, "another client drives")
            else:
                self._driven = True
                try:
                    if self._settling is not None:
                        self._settling.cancel()
                    await self._drive(socket)
                finally:
                    self._driven = False
                    self._settling = asyncio.get_running_loop().create_task(self._settle())

    async def _admitted(self, socket: Any) -> bool:
        """Whether the token came, in the address or as the first message."""
        shown = parse_qs(urlsplit(socket.request.path).query).get("token", [None])[0]
        if shown is None:
            try:
                first = json.loads(await asyncio.wait_for(socket.recv(), 5.0))
                shown = first.get("token") if isinstance(first, dict) else None
            except (TimeoutError, ValueError, RecursionError):
                return False
        return isinstance(shown, str) and hmac.compare_digest(shown.encode(errors="replace"), self._token)

    async def _drive(self, socket: Any) -> None:
        """Answer messages; hold by the clock while none come."""
        silence = self._patience
        while True:
            try:
                line = await asyncio.wait_for(socket.recv(), silence)
            except TimeoutError:
                silence = 1.0 / self._stream.rate
                reply = self.session.hold()
            else:
                silence = self._patience
                reply = self.session.answer(line)
            self._emit()
            await socket.send(reply)

    async def _settle(self) -> None:
        """After the client is gone: hold, tick by tick, until what was under way has been played."""
        for _ in range(4 * self._stream.latency + 10):
            if self._driven or self._stream.waiting:
                return
            self.session.hold()
            self._emit()
            await asyncio.sleep(1.0 / self._stream.rate)

    def _emit(self) -> None:
        if self._sink is not None and not self._stream.waiting:
            self._sink(self._stream.out)
