"""A simulated machine at the other end of the websocket of `bunraku.stage.devices.websocket`."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MissingExtra
from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.devices.simulated.machine import LATE_S, Command
from bunraku.stage.devices.simulated.servos import FirstOrderServos


class WebsocketPuppet:
    """A client with the servos ``ids`` that connects to ``url``, again and again until it is let in; use it with ``with``.

    ``commands``, ``positions``, ``fault``, ``missing_id`` and ``waver`` are those of a `SimulatedMachine`; ``stopped`` says that it
    was told to stop, or has done so by itself when it heard nothing for its patience.
    """

    def __init__(self, url: str, ids: Sequence[int], *, start: float = 375.0, tau_s: float = 0.03, measures: bool = True) -> None:
        self.ids = tuple(ids)
        self.servos = FirstOrderServos([start] * len(self.ids), tau_s=tau_s)
        self.commands: list[Command] = []
        self.missing_id = self.ids[len(self.ids) // 2]
        self.waver = 0
        self.fault = SimulatedFault.NONE
        self._url, self._measures = url, measures
        self._patience, self._last = 0.1, math.inf
        self._order: tuple[int, ...] = ()
        self._sensors: tuple[int, ...] = ()
        self._lock = threading.Lock()
        self._ending = False

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where the servos are now [counts], in the order of ``ids``."""
        with self._lock:
            now = time.monotonic()
            self._watch(now)
            return self.servos.advance(now)

    @property
    def stopped(self) -> bool:
        """Whether no servo is driven."""
        with self._lock:
            self._watch(time.monotonic())
            return not self.servos.driven.any()

    def has(self, servo_id: int) -> bool:
        """Whether this servo is there now."""
        return servo_id in self.ids and not (self.fault is SimulatedFault.MISSING and servo_id == self.missing_id)

    def __enter__(self) -> Self:
        try:
            import websockets.sync.client  # noqa: F401
        except ImportError as error:
            raise MissingExtra("websockets", "hardware", "a client of the websocket driver") from error
        self._thread = threading.Thread(target=self._run, daemon=True, name="WebsocketPuppet")
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ending = True
        self._thread.join(5.0)

    def _run(self) -> None:
        import websockets.exceptions
        import websockets.sync.client

        while not self._ending:
            if self.fault is not SimulatedFault.UNPLUGGED:
                with (
                    suppress(OSError, websockets.exceptions.WebSocketException, EOFError),
                    websockets.sync.client.connect(
                        self._url, compression=None, open_timeout=2, close_timeout=0.1, proxy=None
                    ) as socket,
                ):
                    self._live(socket)
            time.sleep(0.02)

    def _live(self, socket: Any) -> None:
        while not self._ending and self.fault is not SimulatedFault.UNPLUGGED:
            if self.fault is SimulatedFault.STALLED:
                time.sleep(0.005)
                continue
            try:
                message = json.loads(socket.recv(timeout=0.01))
            except TimeoutError:
                continue
            with self._lock:
                now = time.monotonic()
                self._watch(now)
                answer = self._obey(message, now)
            if answer is None:
                continue
            if self.fault is SimulatedFault.LATE:
                time.sleep(LATE_S)
            socket.send(self._spoilt(json.dumps(answer)))

    def _spoilt(self, text: str) -> str:
        if self.fault is SimulatedFault.HALF:
            return text[: len(text) // 2]
        if self.fault is SimulatedFault.CORRUPTED or self.waver > 0:
            self.waver = max(0, self.waver - 1)
            return text[:-1] + chr(ord(text[-1]) ^ 1)
        return text

    def _obey(self, message: dict[str, Any], now: float) -> dict[str, Any] | None:
        if message["type"] == "hello":
            self._patience = message["patience_ms"] / 1e3
            self._order, self._sensors = tuple(message["servos"]), tuple(message["sensors"])
            return {"type": "ready", "ids": [one for one in self.ids if self.has(one)], "measured": self._measure()}
        if message["type"] == "stop":
            self._stop()
            return None
        if message["type"] == "move":
            self.commands.append((now, self._order, tuple(message["positions"])))
            self.servos.advance(now)
            for servo_id, position in zip(self._order, message["positions"], strict=True):
                if self.has(servo_id):
                    place = self.ids.index(servo_id)
                    self.servos.target[place], self.servos.driven[place] = position, True
            self._last = now
        return {"type": "at", "n": message["n"], "measured": self._measure()}

    def _measure(self) -> list[float | None] | None:
        if not self._measures:
            return None
        now = dict(zip(self.ids, self.servos.advance().tolist(), strict=True))
        return [now[one] if self.has(one) else None for one in self._order + self._sensors]

    def _watch(self, now: float) -> None:
        if now - self._last > self._patience:
            self.servos.advance(self._last + self._patience)
            self._stop()

    def _stop(self) -> None:
        self.servos.advance()
        self.servos.driven[:] = False
        self._last = math.inf
