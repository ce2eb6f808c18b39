"""What of the studio a request may have: its page, a file, an event or the connection, decided from request line and headers.

Behind the gate (:mod:`bunraku.stage.gate`: Host, token) the first segment of the path is the secret token, and a browser must say
that the studio's own page asks. Everything that passes or fails leaves with the headers of :func:`security_headers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

from bunraku.stage.gate import NOT_SERVED, Gate, Headers, Refusal


@dataclass(frozen=True)
class Admission:
    """The request passes: a websocket handshake ("socket") or the rest ("http").

    ``path`` follows the token, without the slash: "" for the page itself; ``bare``: it ended at the token, without a slash.
    ``host`` is the Host it was sent to, checked: "127.0.0.1:8080".
    """

    kind: Literal["socket", "http"]
    path: str
    query: str
    host: str
    bare: bool = False


_NOTHING = Refusal(HTTPStatus.NOT_FOUND, "Nothing here. Open the studio by the whole address it printed.")


def admit(gate: Gate, target: str, headers: Headers, peer: str) -> Admission | Refusal:
    """Decide on a request of ``peer`` for ``target``, path and query of its first line."""
    host = gate.served_host(headers)
    if host is None:
        return NOT_SERVED
    try:
        parts = urlsplit(target)
    except ValueError:
        return Refusal(HTTPStatus.BAD_REQUEST, "This is no address.")
    if not target.startswith("/") or target.startswith("//") or parts.fragment:
        return Refusal(HTTPStatus.BAD_REQUEST, "This is no address.")
    token, slash, path = parts.path[1:].partition("/")
    refusal = gate.token_refusal(token, peer, _NOTHING)
    if refusal is not None:
        return refusal
    upgrade = headers.get_all("Upgrade")
    if not upgrade:
        if _from_elsewhere(gate, headers, navigation=path == "" or path.startswith("files/")):
            return Refusal(HTTPStatus.FORBIDDEN, "Only the studio's own page may ask for this.")
        return Admission("http", path, parts.query, host, bare=not slash)
    if [value.lower() for value in upgrade] != ["websocket"] or path or parts.query:
        return Refusal(HTTPStatus.BAD_REQUEST, "The studio's connection is at the token itself.")
    if not headers.get_all("Origin") or _from_elsewhere(gate, headers):
        return Refusal(HTTPStatus.FORBIDDEN, "Only the studio's own page may connect.")
    return Admission("socket", "", "", host)


def _from_elsewhere(gate: Gate, headers: Headers, *, navigation: bool = False) -> bool:
    """Whether a browser says that another origin asks; opening the page itself from anywhere is allowed."""
    if gate.foreign_page(headers):
        return True
    sites = headers.get_all("Sec-Fetch-Site")
    if not sites or list(sites) == ["same-origin"]:
        return False
    opened = (list(headers.get_all("Sec-Fetch-Mode")), list(headers.get_all("Sec-Fetch-Dest"))) == (["navigate"], ["document"])
    return not (navigation and opened)


def security_headers(host: str | None = None, scripts: Sequence[str] = ()) -> dict[str, str]:
    """Headers of every answer.

    Without ``host`` nothing may be loaded or run. For the page, asked from ``host`` (and port): scripts only from the studio
    itself and the inline ``scripts`` whose hashes (``sha256-...``) are given (those of viser's one-file page), workers from blobs
    (viser's connection), inline styles (its widgets); connections only back to ``host``. Scripts that run may compile code
    (``unsafe-eval``: viser's WebAssembly binding does so when it starts), but there is no ``unsafe-inline`` for them: HTML in a
    panel can start none.
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
