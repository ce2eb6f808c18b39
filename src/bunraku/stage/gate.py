"""The gate of every websocket of ours: who may connect (Host, Origin, token), how many, and how much may be sent (size, rate).

Every page that is open in a browser of this machine can reach a server on it. So a request must name this machine as its Host
(a page that rebinds its own name to 127.0.0.1 says its own name), come from no page of elsewhere (its Origin, which only
browsers send), and show the secret token in its address. Until it has, it holds one of few places, which the newest get: whoever
takes them all, or is slow, only drives out its own.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import logging
import re
import secrets
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from bunraku.errors import BadInput
from bunraku.system.ports import claim_port

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that no other machine can reach."""

WIRE = logging.getLogger("bunraku.websocket")
"""Where errors of connections go (a client that left, a handshake refused); heard only by who adds a handler."""
WIRE.propagate = False
WIRE.addHandler(logging.NullHandler())

OPEN = 32
"""Clients of one server at a time; further ones are refused."""
HALF_OPEN = 64
"""Connections of one server whose request has not come yet; for a further one the oldest goes, of the peer that has most."""
GRACE = 8
"""After so many turns of the server's loop somebody has to go: a request that came with its connection is answered by then."""
QUEUE, ACCEPTED = 1024, 32
"""Connections that may wait in the system's queue, and those that one turn takes from it."""
HANDSHAKE_S = 5.0
"""How long a connection may take to pass [s]."""
MOST_WRONG, FORGOTTEN_S = 30, 60.0
"""So many wrong tokens a peer may show within so long [s]."""
MOST_PEERS = 1000
"""Of so many peers wrong tokens are counted; the first is forgotten for a further one."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{22,128}")
_LEAST_LETTERS = 8
_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")
_PAGE_OF_THIS_MACHINE = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


class Headers(Protocol):
    """Headers of a request: a name may stand several times."""

    def get_all(self, key: str) -> Sequence[str]:
        """All values of a header, in order."""
        ...


@dataclass(frozen=True)
class Refusal:
    """The request does not pass: status and one line of why (shown to nobody but who asked)."""

    status: HTTPStatus
    reason: str


NOT_SERVED = Refusal(HTTPStatus.FORBIDDEN, "This name is not served here.")
WRONG = Refusal(HTTPStatus.FORBIDDEN, "The token is missing or wrong; use the whole address.")
TOO_MANY_WRONG = Refusal(HTTPStatus.TOO_MANY_REQUESTS, "Too many wrong tokens; wait a minute.")
CROWDED = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "Too many are connected; close some.")


class Attempts:
    """Counts the wrong tokens of each peer."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, tuple[int, float]] = {}

    def note(self, peer: str) -> None:
        """A peer has shown a wrong token."""
        count, since = self._counted(peer)
        if len(self._wrong) >= MOST_PEERS and peer not in self._wrong:
            del self._wrong[next(iter(self._wrong))]
        self._wrong[peer] = count + 1, since

    def too_many(self, peer: str) -> bool:
        """Whether a peer has shown as many as it may."""
        return self._counted(peer)[0] >= MOST_WRONG

    def _counted(self, peer: str) -> tuple[int, float]:
        now = self._clock()
        count, since = self._wrong.get(peer, (0, now))
        return (count, since) if now - since < FORGOTTEN_S else (0, now)


@dataclass(frozen=True)
class Gate:
    """Decides on requests and messages. ``host`` is the address that the server is bound to.

    When that is no loopback address, any literal address, this machine's name and ``host`` itself are accepted as Host: names are
    what a rebinding page needs, numbers are not. ``own_page``: a page must be the server's own; else any of this machine will do.
    ``largest``: bytes of the largest message; ``per_second``: messages of one client a second, and the most that may come at once.
    """

    token: str
    host: str = "127.0.0.1"
    largest: int = 64 * 2**10
    per_second: float = 1000.0
    own_page: bool = False
    attempts: Attempts = field(default_factory=Attempts, compare=False)

    def refusal(self, target: str, headers: Headers, peer: str) -> Refusal | None:
        """Why a request of ``peer`` for a websocket at ``target``, ``/?token=...``, does not pass; None when it does."""
        if self.served_host(headers) is None:
            return NOT_SERVED
        if self.foreign_page(headers):
            return Refusal(HTTPStatus.FORBIDDEN, "Only pages of this machine may connect.")
        return self.token_refusal(shown_token(target), peer)

    def foreign_page(self, headers: Headers) -> bool:
        """Whether a page asks that may not."""
        origins = headers.get_all("Origin")
        if self.own_page:
            return bool(origins) and list(origins) != [f"http://{self.served_host(headers)}"]
        return len(origins) > 1 or (bool(origins) and _PAGE_OF_THIS_MACHINE.fullmatch(origins[0]) is None)

    def token_refusal(self, shown: object, peer: str, wrong: Refusal = WRONG) -> Refusal | None:
        """Why a peer that shows this token does not pass; None when it does.

        After too many wrong ones no token of that peer is looked at for a minute. On this machine all have one address: there the
        right one passes all the same, or any program here could keep its user out, and only its 128 bits keep guesses out.
        """
        barred = self.attempts.too_many(peer)
        if barred and not is_loopback(peer):
            return TOO_MANY_WRONG
        if self.knows(shown):
            return None
        self.attempts.note(peer)
        return TOO_MANY_WRONG if barred else wrong

    def served_host(self, headers: Headers) -> str | None:
        """The Host a request was sent to, such as 127.0.0.1:8080, when it is one of ours."""
        values = headers.get_all("Host")
        match = _HOST.fullmatch(values[0]) if len(values) == 1 else None
        if match is None:
            return None
        name = match[1].strip("[]").lower()
        ours = name in LOOPBACK or name == self.host.lower()
        if not ours and not is_loopback(self.host):
            ours = name == socket.gethostname().lower() or _is_literal_address(name)
        return values[0] if ours else None

    def knows(self, shown: object) -> bool:
        """Whether this is the token, compared in constant time."""
        return isinstance(shown, str) and hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode())

    @asynccontextmanager
    async def serving(self, handler: Callable[[Any], Any], listening: socket.socket, **more: Any) -> AsyncIterator[Any]:
        """A server on a socket of :func:`listen` that has only websockets, at ``/?token=...``; ``more`` options, as `settings`."""
        from websockets.asyncio.server import serve

        def answer(connection: Any, request: Any) -> Any:
            refusal = self.refusal(request.path, request.headers, peer_of(connection)) or (CROWDED if crowded(connection) else None)
            return None if refusal is None else connection.respond(refusal.status, refusal.reason + "\n")

        async with serve(handler, sock=listening, **self.settings(answer) | {"close_timeout": 1} | more) as server:
            listening.listen(QUEUE)
            yield server

    def settings(self, answer: Callable[[Any, Any], Any]) -> dict[str, Any]:
        """Options of ``websockets.asyncio.server.serve`` for a server that refuses requests by ``answer(connection, request)``."""
        return {
            "process_request": answer,
            "create_connection": _bounded_connection(),
            "backlog": ACCEPTED,
            "max_size": self.largest,
            "compression": None,
            "open_timeout": HANDSHAKE_S,
            "server_header": None,
            "logger": WIRE,
        }


class Intake:
    """The messages of one client: it is sent away with the first one that is too large or comes too fast."""

    def __init__(self, gate: Gate, clock: Callable[[], float] = time.monotonic) -> None:
        self._gate, self._clock = gate, clock
        self._left, self._at = gate.per_second, clock()
        self._reason: str | None = None

    def refusal(self, message: str | bytes) -> str | None:
        """Why this message, and every one after it, is refused; None when it may be read."""
        now = self._clock()
        self._left = min(self._gate.per_second, self._left + (now - self._at) * self._gate.per_second) - 1.0
        self._at = now
        if len(message) > self._gate.largest:
            self._reason = f"a message is larger than {self._gate.largest} bytes"
        elif self._left < 0.0:
            self._reason = self._reason or f"more than {self._gate.per_second:g} messages a second"
        return self._reason

    async def receive(self, connection: Any) -> str | bytes:
        """The next message; ``ConnectionClosed`` of the connection when there is none or the client was sent away."""
        while True:
            message: str | bytes = await connection.recv()
            reason = self.refusal(message)
            if reason is None:
                return message
            await connection.close(1008, reason)


async def send_all(connection: Any, texts: asyncio.Queue[str]) -> None:
    """Send what is queued, one after the other, until the client is gone."""
    import websockets.exceptions

    with suppress(websockets.exceptions.ConnectionClosed):
        while True:
            await connection.send(await texts.get())
            texts.task_done()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; BadInput when the port is in use or the host not of this machine. ``port`` 0 is any free one."""
    if not 0 <= port < 65536:
        raise BadInput(f"port {port} does not exist; give one from 1 to 65535, or 0 for a free one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise BadInput(f"host {host} is not known here ({error.strerror}); leave it out to listen on 127.0.0.1") from error
    listening = socket.socket(family, kind, protocol)
    try:
        claim_port(listening)
        listening.bind(address)
        listening.listen(QUEUE)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise BadInput(f"port {port} is in use; close what uses it, give another port, or 0 for a free one") from error
        raise BadInput(
            f"cannot listen on {host} port {port} ({error.strerror}); leave the host out to listen on 127.0.0.1"
        ) from error
    return listening


def new_token() -> str:
    """A secret for a server: 192 bits."""
    return secrets.token_urlsafe(24)


def check_token(token: str) -> str:
    """The token, if it can hold 128 bits; BadInput of one that cannot."""
    if _TOKEN.fullmatch(token) is None or len(set(token)) < _LEAST_LETTERS:
        raise BadInput(
            f"the token has {len(token)} letters; it needs 22 to 128 of A-Z a-z 0-9 _ -, {_LEAST_LETTERS} different ones at least: "
            "leave it out to get a new one"
        )
    return token


def crowded(connection: Any) -> bool:
    """Whether the server of this connection has as many clients as it may."""
    return len(connection.server.connections) >= OPEN


def peer_of(connection: Any) -> str:
    """The address that a connection comes from."""
    address = connection.remote_address
    return str(address[0]) if address else ""


def _bounded_connection() -> type[Any]:
    from websockets.asyncio.server import ServerConnection

    class BoundedConnection(ServerConnection):  # type: ignore[misc]
        """A connection that drives out an older one when too many have not said yet what they want."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._make_room(GRACE)

        def _make_room(self, turns: int) -> None:
            if turns:
                self.loop.call_soon(self._make_room, turns - 1)
                return
            waiting = [one for one in self.server.handlers if one.request is None and not one.transport.is_closing()]
            if len(waiting) > HALF_OPEN:
                peers = [peer_of(one) for one in waiting]
                crowd = Counter(peers).most_common(1)[0][0]
                waiting[peers.index(crowd)].transport.abort()

    return BoundedConnection


def shown_token(target: str) -> str | None:
    """The one token in the query of a request; None without one or with several."""
    try:
        tokens = parse_qs(urlsplit(target).query, max_num_fields=8).get("token", [])
    except ValueError:
        return None
    return tokens[0] if len(tokens) == 1 else None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to ``host``."""
    return host in LOOPBACK or (_is_literal_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_literal_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
