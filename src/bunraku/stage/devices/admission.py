"""Who may connect to a websocket of a device: decided from the request before anything else is read."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

_HERE = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?"
_HOST = re.compile(_HERE, re.IGNORECASE)
_ORIGIN = re.compile(rf"https?://{_HERE}", re.IGNORECASE)


class Headers(Protocol):
    """Headers of a request: a name may stand several times."""

    def get_all(self, key: str) -> Sequence[str]:
        """All values of a header, in order."""
        ...


def admitted(target: str, headers: Headers, token: str) -> tuple[HTTPStatus, str] | None:
    """None for a request that may pass, else the status and the line that it is refused with.

    The Host must be this machine (a page that rebinds its own name to it says its own name), the Origin, which only browsers send,
    a page of this machine, and the query ``token`` the secret.
    """
    hosts, origins = list(headers.get_all("Host")), list(headers.get_all("Origin"))
    if len(hosts) != 1 or _HOST.fullmatch(hosts[0]) is None:
        return HTTPStatus.FORBIDDEN, "This name is not served here.\n"
    if len(origins) > 1 or (origins and _ORIGIN.fullmatch(origins[0]) is None):
        return HTTPStatus.FORBIDDEN, "Only pages of this machine may connect.\n"
    try:
        shown = parse_qs(urlsplit(target).query, max_num_fields=8).get("token", [])
    except ValueError:
        shown = []
    if len(shown) != 1 or not hmac.compare_digest(shown[0].encode("utf-8", "replace"), token.encode()):
        return HTTPStatus.FORBIDDEN, "The token is missing or wrong; use the whole address.\n"
    return None
