"""The gate: who may talk to the studio at all, decided from the request line and the headers.

A request passes when its Host is one of ours (a page that rebinds its own name to this machine is not), when the first
segment of its path is the secret token, and when a browser says it comes from the studio's own page. Everything that
passes or fails leaves with the headers of :func:`security_headers`.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

from bunraku.stage.devices.admission import Headers

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that no other machine can reach."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")


@dataclass(frozen=True)
class Refusal:
    """The request does not pass: status and one line of why (shown to nobody but who asked)."""

    status: HTTPStatus
    reason: str


@dataclass(frozen=True)
class Admission:
    """The request passes.

    Args:
        kind: "socket" for a websocket handshake, "http" for the rest.
        path: What follows the token, without the slash: "" for the page itself.
        query: What follows the question mark.
        host: The Host it was sent to, checked: "127.0.0.1:8080".
        bare: The path ended at the token, without a slash after it.
    """

    kind: Literal["socket", "http"]
    path: str
    query: str
    host: str
    bare: bool = False


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to ``host``."""
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def security_headers(host: str | None = None, scripts: Sequence[str] = ()) -> dict[str, str]:
    """Headers of every answer.

    Without ``host`` nothing may be loaded or run. With it (the page): scripts only from the studio itself and the inline
    scripts whose hashes are given (those of viser's one-file page), workers from blobs (viser's connection), inline styles
    (its widgets); connections only back to ``host``. Scripts that run may compile code (``unsafe-eval``: viser's
    WebAssembly binding does so when it starts), but there is no ``unsafe-inline`` for them: HTML in a panel can start none.

    Args:
        host: Host and port the page was asked from.
        scripts: CSP hashes such as ``sha256-...``.
    """
    if host is None:
        policy = "default-src 'none'; frame-ancestors 'none'; sandbox"
    else:
        hashes = " ".join(f"'{value}'" for value in scripts)
        policy = (
            f"default-src 'none'; script-src 'self' 'unsafe-eval' {hashes}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' blob:; worker-src blob:; "
            f"connect-src 'self' ws://{host} data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
    return {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


@dataclass(frozen=True)
class Gate:
    """Decides on requests.

    Args:
        token: The secret first segment of every path.
        host: Address the server is bound to. When it is no loopback address, any literal address, this machine's name
            and ``host`` itself are accepted as Host: names are what a rebinding page needs, numbers are not.
    """

    token: str
    host: str = "127.0.0.1"

    def admit(self, target: str, headers: Headers) -> Admission | Refusal:
        """Decide on one request.

        Args:
            target: Path and query of the request line.
            headers: Headers of the request.
        """
        host = self._host(headers)
        if host is None:
            return Refusal(HTTPStatus.FORBIDDEN, "This name is not served here.")
        try:
            parts = urlsplit(target)
        except ValueError:
            return Refusal(HTTPStatus.BAD_REQUEST, "This is no address.")
        if not target.startswith("/") or target.startswith("//") or parts.fragment:
            return Refusal(HTTPStatus.BAD_REQUEST, "This is no address.")
        token, slash, path = parts.path[1:].partition("/")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return Refusal(HTTPStatus.NOT_FOUND, "Nothing here. Open the studio by the whole address it printed.")
        upgrade = headers.get_all("Upgrade")
        if upgrade:
            return self._socket(upgrade, path, parts.query, host, headers)
        if self._from_elsewhere(headers, host, navigation=path == "" or path.startswith("files/")):
            return Refusal(HTTPStatus.FORBIDDEN, "Only the studio's own page may ask for this.")
        return Admission("http", path, parts.query, host, bare=not slash)

    def _socket(self, upgrade: Sequence[str], path: str, query: str, host: str, headers: Headers) -> Admission | Refusal:
        if [value.lower() for value in upgrade] != ["websocket"] or path or query:
            return Refusal(HTTPStatus.BAD_REQUEST, "The studio's connection is at the token itself.")
        if list(headers.get_all("Origin")) != [f"http://{host}"] or self._from_elsewhere(headers, host):
            return Refusal(HTTPStatus.FORBIDDEN, "Only the studio's own page may connect.")
        return Admission("socket", path, query, host)

    def _host(self, headers: Headers) -> str | None:
        values = headers.get_all("Host")
        match = _HOST.fullmatch(values[0]) if len(values) == 1 else None
        if match is None:
            return None
        name = match[1].strip("[]").lower()
        if name in LOOPBACK or name == self.host.lower():
            return str(values[0])
        if is_loopback(self.host):
            return None
        if name == socket.gethostname().lower():
            return str(values[0])
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return None
        return str(values[0])

    @staticmethod
    def _from_elsewhere(headers: Headers, host: str, *, navigation: bool = False) -> bool:
        """Whether a browser says that another origin asks; opening the page itself from anywhere is allowed."""
        origins = headers.get_all("Origin")
        if origins and list(origins) != [f"http://{host}"]:
            return True
        sites = headers.get_all("Sec-Fetch-Site")
        if not sites or list(sites) == ["same-origin"]:
            return False
        if not navigation:
            return True
        return not (
            list(headers.get_all("Sec-Fetch-Mode")) == ["navigate"] and list(headers.get_all("Sec-Fetch-Dest")) == ["document"]
        )
