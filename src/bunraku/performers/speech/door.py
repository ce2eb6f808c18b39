"""The live door: frames as lines of JSON, over standard input and output or over a websocket on this machine.

A line in is a wish: ``{"t": 1.2, "joints": {"HeadYaw": 0.1}}`` or a list of numbers, one for each joint, in radians. Joints left
out keep their last wanted value; ``{}`` is no wish. A line out is one tick, 1 / rate after the one before:
``{"t": 0.4, "joints": {...}, "status": "ok"}``: the legal frame for the wish of time t (null while the window fills). Over
standard input every line is one tick. Over the websocket the server's clock ticks and messages only change the wish, so however
fast they come no frame leaves sooner than 1 / rate after the last.

What cannot be read is answered with ``"status": "rejected"`` and a ``reason``, and counts as a tick without a wish: the character
holds safely. Nothing that arrives raises an error. The times ``t`` of a sender are his own, from his first frame on; a frame whose
t goes back or leaves a gap is rejected too, and the next one, if it follows on it, sets the clock anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import math
import threading
from collections import deque
from collections.abc import Callable
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput, MissingExtra
from bunraku.performers.speech.stream import SpeechStream, StreamStatus

MAX_LINE = 64 * 1024
"""Longest line or message that is read [bytes]."""
MAX_UNREAD = 64
"""Frames kept for a client that reads slower than the clock ticks; older ones are dropped."""
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
    """Translates lines into wishes for a stream, and its ticks into lines."""

    def __init__(self, stream: SpeechStream, *, slack: float | None = None) -> None:
        """``slack`` is how far [s] a frame's t may lie from where the ticks say it should; by default 3/4 of a frame."""
        self.stream = stream
        self._names = stream.limits.names
        self._index = {name: j for j, name in enumerate(self._names)}
        self._wanted = stream.out.copy()
        self._fresh = False
        self._reason = ""
        self._clock = _Clock(1.0 / stream.rate, 0.75 / stream.rate if slack is None else slack)
        self._times: deque[float] = deque(maxlen=stream.latency + 1)

    def answer(self, line: str | bytes) -> str:
        """The reply to one line that is one tick; never raises on what arrives."""
        self.receive(line)
        return self.tick()

    def receive(self, line: str | bytes) -> None:
        """Take in one line: the wish of the next tick, or a reason to reject it; never raises on what arrives."""
        try:
            frame, time = self._read(line)
            if time is not None:
                self._clock.take(time)
        except _Refused as refused:
            self._reason = str(refused)
            return
        if frame is not None:
            self._wanted[:] = frame
            self._fresh = True

    def tick(self, *, keep: bool = False) -> str:
        """One tick. Without a new wish the last one is repeated: ``keep`` says that this is as it should be, not a lack."""
        if self._fresh or (keep and not self.stream.waiting):
            status = self.stream.push(self._wanted)
        else:
            status = self.stream.hold()
        reason, self._reason, self._fresh = self._reason, "", False
        return self._line(self.stream.out, "rejected" if reason else _WORDS[status], reason)

    def new_sender(self) -> None:
        """Another sender begins: his first t is not measured against the last one's."""
        self._clock.forget()

    def drain(self) -> list[str]:
        """Lines of the frames still under way when the input has ended."""
        return [self._line(frame, "draining") for frame in self.stream.flush()]

    def _line(self, frame: Array, word: str, reason: str = "") -> str:
        reply: dict[str, Any] = {"t": None, "joints": None, "status": word}
        if not self.stream.waiting:
            self._times.append(self._clock.tick())
            if len(self._times) > self.stream.latency:
                reply["t"] = round(self._times[0], 9)
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
            return np.array([_finite(item, f"item {j}") for j, item in enumerate(value)]), None
        if not isinstance(value, dict):
            raise _Refused("the line is neither an object nor a list")
        time = None if value.get("t") is None else _finite(value["t"], "t")
        joints = value.get("joints", {})
        if not isinstance(joints, dict):
            raise _Refused('"joints" is no object of name: radians')
        if not joints:
            return None, time
        frame = self._wanted.copy()
        for name, item in joints.items():
            if name not in self._index:
                raise _Refused(f"there is no joint {name[:40]!r}; there are {', '.join(self._names[:12])}")
            frame[self._index[name]] = _finite(item, name)
        if np.isnan(frame).any():
            raise _Refused(f"the first frame must give every joint; {self._names[int(np.isnan(frame).argmax())]} is missing")
        return frame, time


class _Refused(Exception):
    """A line that cannot be used; the message goes back to the sender."""


class _Clock:
    """The time of the sender, as far as the ticks tell: ``due`` is where the t of the next frame should lie.

    A frame off by more than ``slack``, or not later than the last one, is refused; so one stray time does no harm. If the frame
    after it follows on it (the sender paused, or started anew), the clock is set to theirs.
    """

    def __init__(self, step: float, slack: float) -> None:
        self._step, self._slack = step, slack
        self._due = 0.0
        self._last = self._stray = math.nan
        self._stray_due = 0.0

    def forget(self) -> None:
        self._last = self._stray = math.nan

    def take(self, time: float) -> None:
        """Set the clock to the t of a frame, or refuse it."""
        first = math.isnan(self._last)
        follows = time > self._stray and abs(time - self._stray_due) <= self._slack
        if not (first or follows or (time > self._last and abs(time - self._due) <= self._slack)):
            self._stray = self._stray_due = time
            way = "goes back" if time <= self._last else ("leaves a gap" if time > self._due else "comes too early")
            raise _Refused(f"t = {time:g} {way}: about {self._due:g} was due; the pose is held")
        self._last = self._due = time
        self._stray = math.nan

    def tick(self) -> float:
        """The time of this tick; afterwards the next one is due."""
        now = self._due
        self._due += self._step
        self._stray_due += self._step
        return now


def _finite(item: object, what: str) -> float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise _Refused(f"{what[:40]} is no number")
    try:
        number = float(item)
    except OverflowError:
        raise _Refused(f"{what[:40]} is too large") from None
    if not math.isfinite(number):
        raise _Refused(f"{what[:40]} is not finite")
    return number


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
    """Serve over a websocket on this machine, one message a line, until ``stop`` is set or an interrupt.

    A client shows the token in the address (``ws://127.0.0.1:8765/?token=...``) or as its first message ``{"token": "..."}``.
    One client drives at a time; others are turned away. The server ticks by its own clock and sends one message a tick; a
    message that comes changes the wish of the next tick, of several between two ticks the last one counts. Ticks are never
    closer than 1 / rate, also after a stall. A client silent for longer than ``patience`` is answered "held"; when the client
    is lost the ticks go on until the character stands still. The pose is kept for the next client.

    Args:
        make_stream: makes the stream, once.
        token: secret of at least 8 characters.
        host: loopback address; others are refused.
        port: TCP port; 0 takes a free one.
        sink: receives every emitted frame (k,), for instance a motor driver; never sooner than 1 / rate after it
            returned the last time, so it should return at once.
        patience: silence [s] after which frames count as held; also how far the t of a frame may jump.
        on_ready: called with the port when clients may connect.
        stop: ends the service when set.
    """
    if host not in LOOPBACK:
        raise BadInput(f"host {host!r} is not this machine; the live door listens on {', '.join(LOOPBACK)} only")
    if not 0 <= port <= 65535:
        raise BadInput(f"port {port} is not between 0 and 65535; give one that is free, such as 8765")
    if len(token) < 8:
        raise BadInput("the token is too short; give at least 8 characters")
    try:
        import websockets.asyncio.server
    except ImportError as error:
        raise MissingExtra("websockets", "live", "the websocket door") from error
    door = _Door(make_stream(), token, sink, patience)

    async def run() -> None:
        settings: dict[str, Any] = {"max_size": MAX_LINE, "max_queue": 16, "open_timeout": 5, "ping_interval": 5, "ping_timeout": 5}
        try:
            server = await websockets.asyncio.server.serve(door.client, host, port, **settings)
        except OSError as error:
            reason = (error.strerror or str(error)).rpartition(": ")[2]
            raise BadInput(
                f"cannot listen on {host}:{port} ({reason}); give another port, or end the program that uses it"
            ) from error
        async with server as listening:
            ticking = asyncio.create_task(door.tick_by_the_clock())
            if on_ready is not None:
                on_ready(int(next(iter(listening.sockets)).getsockname()[1]))
            while (stop is None or not stop.is_set()) and not ticking.done():
                await asyncio.sleep(0.05)
            ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticking

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


class _Door:
    """The stream behind the websocket and the one client that drives it."""

    def __init__(self, stream: SpeechStream, token: str, sink: Callable[[Array], None] | None, patience: float) -> None:
        self._session = LineSession(stream, slack=patience)
        self._stream = stream
        self._token = token.encode()
        self._sink = sink
        self._patience = patience
        self._replies: asyncio.Queue[str] | None = None
        self._heard = -math.inf
        self._wake = asyncio.Event()

    async def client(self, socket: Any) -> None:
        """One connection, from its token to its end."""
        import websockets.exceptions

        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            if not await self._admitted(socket):
                await socket.close(1008, "token missing or wrong")
            elif self._replies is not None:
                await socket.close(1013, "another client drives")
            else:
                await self._drive(socket)

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
        """Take in the messages of a client and send it what the clock makes, until it is gone."""
        self._replies = asyncio.Queue(MAX_UNREAD)
        self._session.new_sender()
        self._wake.set()
        writing = asyncio.create_task(self._write(socket, self._replies))
        try:
            async for line in socket:
                self._heard = asyncio.get_running_loop().time()
                self._session.receive(line)
        finally:
            self._replies, self._heard = None, -math.inf
            writing.cancel()

    async def _write(self, socket: Any, replies: asyncio.Queue[str]) -> None:
        import websockets.exceptions

        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            while True:
                await socket.send(await replies.get())

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
