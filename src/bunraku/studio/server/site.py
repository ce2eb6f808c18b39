"""The addresses below the token: the page, its script and style, events, published files, and the websocket."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from bunraku.stage.gate import CROWDED, Gate, Refusal, crowded, peer_of
from bunraku.studio.server.admission import Admission, admit, security_headers
from bunraku.studio.server.blobs import Blob, Blobs, byte_range
from bunraku.studio.server.events import EventQueue
from bunraku.studio.server.page import PageFiles
from bunraku.studio.server.values import fields_fit

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

_EVENT = re.compile(r"event/([a-z][a-z0-9_.-]{0,60})")


@dataclass(frozen=True)
class Site:
    """Answers every request to the server."""

    gate: Gate
    page: PageFiles
    events: EventQueue
    blobs: Blobs
    protocol: str

    def answer(self, connection: Any, request: Request) -> Response | None:
        """A response, or ``None`` to open the websocket that was asked for."""
        decision = admit(self.gate, request.path, request.headers, peer_of(connection))
        if isinstance(decision, Refusal):
            return _text(decision.status, decision.reason)
        if decision.kind == "http":
            return self._get(decision, request)
        if request.headers.get_all("Sec-WebSocket-Protocol") != [self.protocol]:
            return _text(HTTPStatus.BAD_REQUEST, "This page is of another version; reload it.")
        return _text(CROWDED.status, CROWDED.reason) if crowded(connection) else None

    def _get(self, asked: Admission, request: Request) -> Response:
        if asked.bare:
            return _respond(HTTPStatus.PERMANENT_REDIRECT, b"", {"Location": f"/{self.gate.token}/"})
        if asked.path.startswith("event/"):
            return self._event(asked)
        if asked.query:
            return _text(HTTPStatus.BAD_REQUEST, "The studio's page takes no query; open it by the address it printed.")
        if asked.path.startswith("files/"):
            return _file(self.blobs.get(asked.path), request.headers.get("Range"))
        packed = "gzip" in request.headers.get("Accept-Encoding", "")
        content = {
            "": ("html", self._packed_html if packed else self.page.html),
            "page.js": ("javascript", self.page.script),
            "page.css": ("css", self.page.style),
        }.get(asked.path)
        if content is None:
            return _text(HTTPStatus.NOT_FOUND, "Nothing here.")
        kind, body = content
        encoding = {"Content-Encoding": "gzip"} if packed and kind == "html" else {}
        headers = {"Content-Type": f"text/{kind}; charset=utf-8"} | encoding
        return _respond(HTTPStatus.OK, body, headers, security_headers(asked.host, self.page.hashes))

    @cached_property
    def _packed_html(self) -> bytes:
        return gzip.compress(self.page.html, 6)

    def _event(self, asked: Admission) -> Response:
        match = _EVENT.fullmatch(asked.path)
        if match is None or not self.events.knows(match[1]):
            return _text(HTTPStatus.NOT_FOUND, "Nobody listens to this event.")
        try:
            pairs = parse_qsl(asked.query, keep_blank_values=True, strict_parsing=bool(asked.query), max_num_fields=64)
        except ValueError:
            return _text(HTTPStatus.BAD_REQUEST, "This is no event.")
        if len({key for key, _ in pairs}) != len(pairs):
            return _text(HTTPStatus.BAD_REQUEST, "A field stands twice.")
        if not fields_fit(dict(pairs)):
            return _text(HTTPStatus.BAD_REQUEST, "A number of the event is none, or too large.")
        if not self.events.put(match[1], dict(pairs)):
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, "Too many events wait.")
        return _respond(HTTPStatus.NO_CONTENT, b"", {})


def _file(blob: Blob | None, asked: str | None) -> Response:
    if blob is None:
        return _text(HTTPStatus.NOT_FOUND, "This file is no longer there.")
    size = len(blob.data)
    headers = {"Content-Type": blob.content_type, "Accept-Ranges": "bytes"}
    if not blob.inline:
        headers["Content-Disposition"] = f'attachment; filename="{blob.name}"'
    span = byte_range(asked, size)
    if span is None:
        return _respond(HTTPStatus.OK, blob.data, headers)
    if span == (0, 0):
        return _respond(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, b"", {"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {span[0]}-{span[1] - 1}/{size}"
    return _respond(HTTPStatus.PARTIAL_CONTENT, blob.data[slice(*span)], headers)


def _text(status: HTTPStatus, text: str) -> Response:
    return _respond(status, (text + "\n").encode(), {"Content-Type": "text/plain; charset=utf-8"})


def _respond(status: HTTPStatus, body: bytes, headers: Mapping[str, str], security: Mapping[str, str] | None = None) -> Response:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    length = {} if status == HTTPStatus.NO_CONTENT else {"Content-Length": str(len(body))}
    everything = {**headers, **length, "Connection": "close", **(security_headers() if security is None else security)}
    return Response(status.value, status.phrase, Headers(everything), body)
