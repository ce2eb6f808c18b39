"""The gate of every websocket of ours: who may connect (Host, Origin, token), and how much may be sent (size, rate).

Every page that is open in a browser of this machine can reach a server on it. So a request must name this machine as its Host
(a page that rebinds its own name to 127.0.0.1 says its own name), come from no page of elsewhere (its Origin, which only
browsers send), and show the secret token.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that no other machine can reach."""

WIRE = logging.getLogger("bunraku.websocket")
"""Where errors of connections go (a client that left, a handshake refused); heard only by who adds a handler."""
WIRE.propagate = False
WIRE.addHandler(logging.NullHandler())

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


@dataclass(frozen=True)
class Gate:
    """Decides on requests and messages. ``host`` is the address that the server is bound to.

    When that is no loopback address, any literal address, this machine's name and ``host`` itself are accepted as Host: names are
    what a rebinding page needs, numbers are not. ``largest``: bytes of the largest message; ``per_second``: messages of one client
    a second, and the most that may come at once.
    """

    token: str
    host: str = "127.0.0.1"
    largest: int = 64 * 2**10
    per_second: float = 1000.0

    def refusal(self, target: str, headers: Headers, *, token_may_follow: bool = False) -> Refusal | None:
        """Why a request for a websocket at ``target``, ``/?token=...``, does not pass; None when it does.

        ``token_may_follow``: who calls this asks for the token later.
        """
        if self.served_host(headers) is None:
            return Refusal(HTTPStatus.FORBIDDEN, "This name is not served here.")
        origins = headers.get_all("Origin")
        if len(origins) > 1 or (origins and _PAGE_OF_THIS_MACHINE.fullmatch(origins[0]) is None):
            return Refusal(HTTPStatus.FORBIDDEN, "Only pages of this machine may connect.")
        if not (token_may_follow or self.knows(shown_token(target))):
            return Refusal(HTTPStatus.FORBIDDEN, "The token is missing or wrong; use the whole address.")
        return None

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

    def settings(self, answer: Callable[[Any, Any], Any]) -> dict[str, Any]:
        """Options of ``websockets.asyncio.server.serve`` for a server that refuses requests by ``answer(connection, request)``."""
        return {
            "process_request": answer,
            "max_size": self.largest,
            "compression": None,
            "open_timeout": 5,
            "server_header": None,
            "logger": WIRE,
        }

    def websocket_settings(self, *, token_may_follow: bool = False) -> dict[str, Any]:
        """The same for a server that has only websockets, at ``/?token=...``."""

        def answer(connection: Any, request: Any) -> Any:
            refusal = self.refusal(request.path, request.headers, token_may_follow=token_may_follow)
            return None if refusal is None else connection.respond(refusal.status, refusal.reason + "\n")

        return self.settings(answer)


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
