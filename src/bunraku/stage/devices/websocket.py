"""A websocket on this machine: whoever connects with the token is the machine, be it a page, a game engine or a script.

Messages are JSON objects. The driver says ``hello``, the client answers ``ready`` within a second, then frames go out and each is
answered:

==========================================================================  ====================================================
driver                                                                      client
==========================================================================  ====================================================
``{"type": "hello", "servos": [1, 2], "sensors": [9], "names":``            ``{"type": "ready", "ids": [1, 2, 9],``
``["yaw", "jaw", "tail"], "rate_hz": 100, "patience_ms": 100}``             ``"measured": [375, 300, 12]}``
``{"type": "move", "n": 7, "positions": [376, 310]}``                       ``{"type": "at", "n": 7, "measured": [375, 303, 12]}``
``{"type": "look", "n": 8}``                                                the same; nothing is to move
``{"type": "stop"}``                                                        none: it goes to its safe state
==========================================================================  ====================================================

``measured`` is null from a client that does not measure; a single null in it says that this servo is gone. ``{"type": "error",
"reason": "hot"}`` says that the client is in trouble. A client that hears nothing for ``patience_ms`` after a move must do by
itself what ``stop`` says.

The address is ``ws://127.0.0.1:PORT/?token=...``. Without the token, from a page of another origin or under a name that is not this
machine's, nobody is let in; there is one client at a time.
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput, MissingExtra
from bunraku.stage.devices.answers import BUDGET_S, FORGIVEN, LISTEN_S, WINDOW_S
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.devices.reported import sensor_ids
from bunraku.stage.gate import Gate, Intake, check_token, listen, new_token, send_all

HOST = "127.0.0.1"
USUAL_PORT = 8766
MOST_UNSENT = 32
"""Frames that may wait for a client; the next one is a fault."""
READY_S = 1.0
"""How long a client may take to answer the hello [s]."""


class WebsocketDriver(Driver):
    """A client that is the machine. ``url`` is where it connects, with the token; ``tell`` is also called with it when opened."""

    def __init__(
        self, device: Device, *, wait_s: float = 60.0, token: str | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        """``wait_s`` is how long :meth:`open` waits for a client; ``tell`` gets a line for people (default: standard error)."""
        self.device = device
        self.token = check_token(token) if token else new_token()
        self._gate = Gate(self.token, HOST, per_second=max(1000.0, 4.0 * device.rate_hz))
        self.url = ""
        self._wait, self._tell = wait_s, tell or partial(print, file=sys.stderr, flush=True)
        self._place = f"{device.name} at websocket"
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._end: asyncio.Event | None = None
        self._queue: asyncio.Queue[str] | None = None
        self._taken = False
        self._broken: Exception | None = None
        self._sensors: tuple[int, ...] = ()
        self._fault: DeviceFault | None = None
        self._measured: NDArray[np.float64] | None = None
        self._released = True
        self._n = 0
        self._unanswered: deque[tuple[int, float]] = deque()
        self._heard = -math.inf
        self._bad: deque[float] = deque(maxlen=FORGIVEN)

    def open(self) -> None:
        """Listen, say where, and wait for a client that has every servo and answers; one that is still connected will do."""
        self._sensors = sensor_ids(self.device)
        if self._thread is None:
            self._listen()
        self._tell(f"{self.device.name}: waiting for a client at {self.url}")
        until = time.monotonic() + self._wait
        with self._changed:
            self._fault = None
            while self._queue is None and self._broken is None:
                if time.monotonic() >= until:
                    advice = f"no client came within {self._wait:g} s; connect one to {self.url}"
                    raise self._fault or self._new_fault(FaultKind.SILENT, advice)
                self._changed.wait(0.05)
            if self._broken is not None:
                raise self._new_fault(FaultKind.LOST, f"the server ended ({self._broken}); open it again")
            self._fault = None
            self._unanswered.clear()
            self._bad.clear()
        self.measure()

    def send(self, counts: NDArray[np.int64]) -> None:
        """One message; a fault when the client left, or has not answered a frame for 50 ms."""
        self._post({"type": "move", "positions": counts.tolist()})

    def measure(self) -> NDArray[np.float64] | None:
        """What the client measured last, servos and then sensors; asked for anew when that is older than 20 ms."""
        with self._changed:
            self._check()
            stale = time.monotonic() - self._heard > LISTEN_S and not self._unanswered
        if stale:
            n = self._post({"type": "look"})
            until = time.monotonic() + BUDGET_S
            with self._changed:
                while any(one <= n for one, _ in self._unanswered) and time.monotonic() < until and self._fault is None:
                    self._changed.wait(0.005)
                    self.waiting()
                self._check()
        with self._changed:
            return None if self._measured is None else self._measured.copy()

    def release(self) -> None:
        """Say stop: the client goes to its safe state. When the connection is lost it does so by its patience of 100 ms."""
        self._released = False
        with suppress(Exception):
            loop, queue = self._loop, self._queue
            if loop is not None and queue is not None:
                asyncio.run_coroutine_threadsafe(_last_word(queue, json.dumps({"type": "stop"})), loop).result(0.02)
                self._released = True

    def check_release(self) -> str:
        """Whether the stop went out; there is no answer to it."""
        advice = "it stops by itself when it hears nothing, if it keeps to the protocol"
        return "" if self._released else f"{self.device.name} was not reached by the stop; {advice}"

    def close(self) -> None:
        """End the server and with it the connection."""
        loop, thread, end, self._thread = self._loop, self._thread, self._end, None
        if loop is not None and thread is not None and end is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(end.set)
            thread.join(2.0)
        self._loop = self._queue = None

    def _post(self, message: dict[str, Any]) -> int:
        with self._changed:
            self._check()
            self._n += 1
            self._unanswered.append((self._n, time.monotonic()))
            text = json.dumps({**message, "n": self._n})
            assert self._loop is not None  # noqa: S101  (checked: there is a client)
            self._loop.call_soon_threadsafe(self._enqueue, text)
            return self._n

    def _check(self) -> None:
        """Raise what is wrong; called with the lock held."""
        if self._fault is None and self._queue is None:
            self._fault = self._new_fault(FaultKind.LOST, "there is no client; connect one and open it again")
        if self._fault is None and self._unanswered and time.monotonic() - self._unanswered[0][1] > BUDGET_S:
            kind = FaultKind.CORRUPTED if self._bad and self._bad[-1] > self._heard else FaultKind.SILENT
            advice = f"the client has not answered a frame for {1e3 * BUDGET_S:.0f} ms; look whether it still runs"
            self._fault = self._new_fault(kind, advice)
        if self._fault is not None:
            raise self._fault

    def _listen(self) -> None:
        port = self.device.port or str(USUAL_PORT)
        if not (port.isascii() and port.isdigit() and int(port) <= 65_535):
            raise BadInput(
                f"{self.device.name}: the port {port[:40]!r} is no port number; give one between 0 and 65535, such as {USUAL_PORT}"
            )
        try:
            import websockets.asyncio.server  # noqa: F401
        except ImportError as error:
            raise MissingExtra("websockets", "hardware", "the websocket driver") from error
        listening = listen(HOST, int(port))
        self._broken, self.url = None, f"ws://{HOST}:{listening.getsockname()[1]}/?token={self.token}"
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening, ready), daemon=True, name="websocket driver")
        self._thread.start()
        ready.wait(5.0)

    def _run(self, listening: socket.socket, ready: threading.Event) -> None:
        try:
            with listening:
                asyncio.run(self._serve(listening, ready))
        except Exception as error:
            self._broken = error
        finally:
            ready.set()

    async def _serve(self, listening: socket.socket, ready: threading.Event) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with self._gate.serving(self._client, listening, ping_interval=None, close_timeout=0.2):
            ready.set()
            await self._end.wait()

    async def _client(self, connection: Any) -> None:
        """One connection, from its hello to its end; whoever comes meanwhile is turned away."""
        import websockets.exceptions

        if self._taken:
            await connection.close(1013, "another client is the machine")
            return
        self._taken = True
        try:
            with suppress(websockets.exceptions.ConnectionClosed):
                await self._serve_client(connection, Intake(self._gate))
        finally:
            self._taken = False

    async def _serve_client(self, connection: Any, intake: Intake) -> None:
        try:
            measured = await self._greet(connection, intake)
        except DeviceFault as fault:
            with self._changed:
                self._fault = fault
            await connection.close(1008, "not the machine that is wanted")
        else:
            queue: asyncio.Queue[str] = asyncio.Queue(MOST_UNSENT)
            with self._changed:
                self._unanswered.clear()
                self._bad.clear()
                self._measured, self._heard, self._queue = measured, time.monotonic(), queue  # a fault stays until open()
                self._changed.notify_all()
            writing = asyncio.create_task(send_all(connection, queue))
            try:
                while True:
                    self._take(await intake.receive(connection))
            finally:
                writing.cancel()
                with self._changed:
                    self._queue = None
                    self._fault = self._fault or self._new_fault(FaultKind.LOST, "the client is gone; connect it and open it again")
                    self._changed.notify_all()

    async def _greet(self, connection: Any, intake: Intake) -> NDArray[np.float64] | None:
        """The first measurement of a client that has all servos, if it measures; a fault of one that has not."""
        hello = {
            "type": "hello",
            "servos": list(self.device.ids),
            "names": [*self.device.servos, *self.device.sensors],
            "sensors": list(self._sensors),
            "rate_hz": self.device.rate_hz,
            "patience_ms": round(1e3 * max(0.1, 4.0 / self.device.rate_hz)),
        }
        await connection.send(json.dumps(hello))
        try:
            answer = _read(await asyncio.wait_for(intake.receive(connection), READY_S))
            gone = [one for one in (*self.device.ids, *self._sensors) if one not in answer["ids"]]
            if answer.get("type") == "ready" and not gone:
                return self._positions(answer.get("measured"))
        except (TimeoutError, ValueError, KeyError, TypeError, OverflowError) as error:
            advice = "the client did not say that it is ready; look at its program"
            raise self._new_fault(FaultKind.CORRUPTED, advice) from error
        raise self._new_fault(FaultKind.MISSING, f"the client has no servo {gone[0] if gone else '?'}; look at the ids")

    def _take(self, text: str | bytes) -> None:
        """One message of the client; what cannot be read is forgiven three times a second."""
        now = time.monotonic()
        with self._changed:
            try:
                message = _read(text)
                if message["type"] == "error":
                    self._fault = self._new_fault(FaultKind.REFUSED, f"it says: {str(message.get('reason'))[:60]}")
                elif message["type"] == "at":
                    n = int(message["n"])
                    self._measured = self._positions(message.get("measured"))
                    while self._unanswered and self._unanswered[0][0] <= n:
                        self._unanswered.popleft()
                    self._heard = now
            except DeviceFault as fault:
                self._fault = self._fault or fault
            except (ValueError, KeyError, TypeError, OverflowError):
                if len(self._bad) == FORGIVEN and now - self._bad[0] < WINDOW_S:
                    advice = f"{text[:40]!r} cannot be read; look at its program"
                    self._fault = self._fault or self._new_fault(FaultKind.CORRUPTED, advice)
                self._bad.append(now)
            self._changed.notify_all()

    def _positions(self, measured: object) -> NDArray[np.float64] | None:
        if measured is None:
            return None
        ids = (*self.device.ids, *self._sensors)
        if not isinstance(measured, list) or len(measured) != len(ids):
            raise ValueError("measured has another length")
        if None in measured:
            raise self._new_fault(FaultKind.MISSING, f"servo {ids[measured.index(None)]} is gone; look at its cable")
        positions = np.array(measured, dtype=np.float64)
        if positions.ndim != 1 or not np.isfinite(positions).all():
            raise ValueError("measured is no list of finite numbers")
        return positions

    def _enqueue(self, text: str) -> None:
        try:
            if self._queue is not None:
                self._queue.put_nowait(text)
        except asyncio.QueueFull:
            advice = "the client does not take its frames; look whether it still runs"
            with self._changed:
                self._fault = self._fault or self._new_fault(FaultKind.SLOW, advice)

    def _new_fault(self, kind: FaultKind, advice: str) -> DeviceFault:
        return DeviceFault(kind, self._place, advice)


async def _last_word(queue: asyncio.Queue[str], text: str) -> None:
    """Send this before anything that still waits, and see it go."""
    while not queue.empty():
        queue.get_nowait()
        queue.task_done()
    queue.put_nowait(text)
    await queue.join()


def _read(text: str | bytes) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(message, dict):
        raise ValueError("no object")
    return message
