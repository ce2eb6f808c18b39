"""What a person or another machine asks of a running show: by keys on a terminal, by OSC, by Ctrl-C and other signals to end.

Keys: space, q or Ctrl-C stop the machine at once; Return or s starts, e ends. So do a terminal that is closed and a request to end
the program, which else would leave the machine as it is. OSC, by UDP on this machine: ``/bunraku/start``,
``/bunraku/stop`` (the end performance, then the end), ``/bunraku/estop``, ``/bunraku/cue NAME`` (a performance by its name).

``/bunraku/estop`` comes before everything that arrived with it. A second port hears it alone: the system throws away what a full
port cannot hold, so on the first it may be lost among more messages than anyone can read; on its own it is not.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from bunraku.errors import BadInput
from bunraku.stage.player.osc import MAX_DATAGRAM, OscError, read_osc
from bunraku.system.keyboard import Keyboard
from bunraku.system.signals import on_end
from bunraku.system.waking import Waker, wait_any

FLOOD = 16
"""At most so many datagrams are heeded at a time; the others wait."""
WAITING = 256
"""So many datagrams wait; of more the oldest are lost, the motion is not."""
DRAINED = 1024
"""So many are taken from a port at a time, to look for an emergency stop: more than the system holds for one."""

ESTOP = b"/bunraku/estop"


@dataclass(frozen=True)
class Cue:
    """``kind``: estop, start, stop or cue; ``name`` of the performance that a cue asks for; ``source`` in words."""

    kind: str
    source: str
    name: str = ""


class Cues:
    """Where cues come from, opened for the time of a show; also how the player waits, so that a cue is heard at once.

    ``osc``: a UDP port on 127.0.0.1, 0 for any free one, None for none; ``keys``: whether the terminal's keys are read, if there
    is one. ``port`` is the port found, ``stop_port`` the one for emergency stops alone, the next if it is free; ``ignored`` how
    many datagrams were no cue, or too many.
    """

    def __init__(self, osc: int | None = None, *, keys: bool = False) -> None:
        self._asked, self._keys = osc, keys
        self._socket: socket.socket | None = None
        self._stop_socket: socket.socket | None = None
        self._waiting: deque[bytes] = deque(maxlen=WAITING)
        self._terminal: Keyboard | None = None
        self._files: list[int] = []
        self._open = contextlib.ExitStack()
        self._stopped = ""
        self._direct = False
        self.port: int | None = None
        self.stop_port: int | None = None
        self.ignored = 0

    def __enter__(self) -> Cues:
        if self._asked is not None:
            self._listen(self._asked)
        self._waker = Waker()
        self._open.callback(self._waker.close)
        self._files.append(self._waker.fileno())
        self._open.enter_context(on_end(self._interrupt))
        if self._keys and sys.stdin.isatty():
            self._terminal = self._open.enter_context(Keyboard())
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @property
    def can_start(self) -> bool:
        """Whether anyone can give a cue to start."""
        return self._socket is not None or self._terminal is not None

    def _listen(self, port: int) -> None:
        try:
            self._socket = _bound(port)
        except (OSError, OverflowError) as error:
            raise BadInput(f"the port {port} for cues is taken or cannot be used; give another, or 0 for a free one") from error
        self._open.callback(self._socket.close)
        self.port = int(self._socket.getsockname()[1])
        try:
            self._stop_socket = _bound(self.port + 1)
        except (OSError, OverflowError):
            self._stop_socket = _bound(0)
        self._open.callback(self._stop_socket.close)
        self.stop_port = int(self._stop_socket.getsockname()[1])
        self._files += [self._socket.fileno(), self._stop_socket.fileno()]

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within, these signals interrupt the program (KeyboardInterrupt): whoever waits or works there cleans up by itself."""
        self._direct = True
        try:
            yield
        finally:
            self._direct = False

    def _interrupt(self, source: str) -> None:
        if self._direct:
            raise KeyboardInterrupt
        self._stopped = source
        self._waker.wake()

    def wait(self, until: float, spin: float) -> list[Cue]:
        """Sleep until the monotonic time ``until``, the last ``spin`` seconds awake; cues, if any, end the wait at once."""
        while (left := until - time.monotonic() - spin) > 0.0:
            waiting = self._waiting or wait_any(self._files, left, keys=self._terminal is not None)
            if waiting and (cues := self.read()):
                return cues
        cues = self.read()
        while not cues and time.monotonic() < until:
            pass
        return cues

    def read(self) -> list[Cue]:
        """The cues that have arrived; never waits."""
        cues: list[Cue] = []
        if self._stopped:
            cues.append(Cue("estop", self._stopped))
            self._stopped = ""
            self._waker.clear()
        if self._terminal is not None:
            cues += self._pressed(self._terminal)
        if self._socket is not None and self._stop_socket is not None:
            cues += self._received(self._socket, self._stop_socket)
        return cues

    def _pressed(self, terminal: Keyboard) -> list[Cue]:
        cues: list[Cue] = []
        for key in terminal.pressed():
            if key in " qQ\x03":
                cues.append(Cue("estop", "the space key" if key == " " else f"the key {key!r}"))
            elif key in "\r\nsSeE":
                cues.append(Cue("stop" if key in "eE" else "start", "a key"))
        return cues

    def _received(self, source: socket.socket, stops: socket.socket) -> list[Cue]:
        """An emergency stop first, wherever among all that has arrived it stands; then what else has its turn."""
        stopped = [_is_stop(data) for data in _drained(stops)]
        self.ignored += stopped.count(False)
        for data in _drained(source):
            if ESTOP in data and _is_stop(data):
                stopped.append(True)
            else:
                self.ignored += len(self._waiting) == WAITING
                self._waiting.append(data)
        cues = [Cue("estop", "OSC /bunraku/estop")] if any(stopped) else []
        for _ in range(min(FLOOD, len(self._waiting))):
            cues += self._meant(self._waiting.popleft())
        return cues

    def _meant(self, data: bytes) -> list[Cue]:
        """The cues in a datagram."""
        cues: list[Cue] = []
        try:
            messages = read_osc(data)
        except OscError:
            messages, self.ignored = [], self.ignored + 1
        for message in messages:
            kind = message.address.removeprefix("/bunraku/")
            name = message.arguments[0] if message.arguments else ""
            if message.address == f"/bunraku/{kind}" and kind in ("start", "stop"):
                cues.append(Cue(kind, f"OSC {message.address}"))
            elif message.address == "/bunraku/cue" and isinstance(name, str) and name:
                cues.append(Cue("cue", f"OSC {message.address} {name[:60]}", name))
            else:
                self.ignored += 1
        return cues


def _is_stop(data: bytes) -> bool:
    with contextlib.suppress(OscError):
        return any(message.address == ESTOP.decode() for message in read_osc(data))
    return False


def _drained(port: socket.socket) -> Iterator[bytes]:
    """The datagrams that stand at a port."""
    for _ in range(DRAINED):
        try:
            yield port.recv(MAX_DATAGRAM + 1)
        except OSError:
            return


def _bound(port: int) -> socket.socket:
    """A UDP socket at a port of this machine; 0 is any free one."""
    source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        source.bind(("127.0.0.1", port))
    except (OSError, OverflowError):
        source.close()
        raise
    source.setblocking(False)
    return source
