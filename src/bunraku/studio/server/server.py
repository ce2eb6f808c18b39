"""The studio's server: viser on loopback, behind a secret address, with events from the page and files to it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING

from bunraku.stage.gate import Gate, check_token, is_loopback, listen, new_token
from bunraku.studio.server.blobs import Blobs
from bunraku.studio.server.events import EventQueue, Handler
from bunraku.studio.server.messages import LARGEST
from bunraku.studio.server.uploads import Uploads

if TYPE_CHECKING:
    import viser


PER_SECOND = 300.0
"""Messages of one browser a second: a drag and a turning view together send some 120."""

REACHABLE = (
    "The studio listens on {host}: every machine that reaches this one and knows the address may use it, and the connection is not "
    "encrypted. Give the address to nobody you do not trust; an ssh tunnel to 127.0.0.1 is safer."
)


class StudioServer:
    """A running server; :attr:`url` is what the user opens.

    ``host``: another one than loopback is for those who ask for it; :attr:`warning` then says what it means. ``port`` 0 is any
    free one, a busy one is an error. ``token``, the secret part of the address, has 22 letters or more of A-Z a-z 0-9 _ -; None
    makes a new one. ``upload_limit``: bytes of the largest file a browser may send (and of all under way together).

    BadInput when the port is in use, the host is not of this machine, or viser is not of the version protected here.
    """

    viser: viser.ViserServer
    """viser's server: its ``gui`` and ``scene``."""

    url: str
    """Address of the page, token included: http://127.0.0.1:PORT/TOKEN/"""

    token: str
    port: int

    uploads: Uploads
    """Limits of uploads; its ``label(name)`` is what the user called the file kept as ``name``."""

    on_event: Callable[[str, Handler], None]
    """:meth:`EventQueue.on` of the events from the page's script. The page itself sends ``audio.drift`` (ms, time),
    ``audio.blocked`` and ``upload.refused`` (name, size; from the server: name, why)."""

    warning: str | None
    """What to tell the user before they rely on it, when other machines can reach the server; ``None`` on loopback."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None, upload_limit: int = 64 * 2**20) -> None:
        from bunraku.studio.server.page import read_page
        from bunraku.studio.server.patch import check_version, start_viser
        from bunraku.studio.server.quiet import hush, unhush
        from bunraku.studio.server.site import Site

        version = check_version()
        self.token = new_token() if token is None else check_token(token)
        self.uploads = Uploads(upload_limit)
        self._blobs = Blobs()
        self.publish, self.withdraw = self._blobs.publish, self._blobs.withdraw
        listening = listen(host, port)
        self._events = EventQueue()
        self.on_event, self.wait_idle = self._events.on, self._events.wait_idle
        self.uploads.refused = lambda label, why: self._events.put("upload.refused", {"name": label, "why": why})
        self.port = listening.getsockname()[1]
        gate = Gate(self.token, host, largest=LARGEST, own_page=True, per_second=PER_SECOND)
        hush()
        try:
            site = Site(gate, read_page(upload_limit), self._events, self._blobs, f"viser-v{version}")
            self.viser = start_viser(listening, site, self.uploads)
        except BaseException:
            unhush()
            listening.close()
            self._events.close()
            raise
        self.url = f"http://{_shown(host)}:{self.port}/{self.token}/"
        self.warning = None if is_loopback(host) else REACHABLE.format(host=host)
        self._stopped = False
        for name in ("audio.drift", "audio.blocked", "upload.refused"):
            self.on_event(name, lambda fields: None)

    def on_error(self, handler: Callable[[str, Exception], None]) -> None:
        """Call ``handler`` with the event's name and the exception when a handler of events raises (else it is logged)."""
        self._events.on_error = handler

    def stop(self) -> None:
        """Close all connections and the port; a second call does nothing."""
        from bunraku.studio.server.quiet import unhush

        if self._stopped:
            return
        self._stopped = True
        self._events.close()
        self.viser.stop()
        unhush()


def _shown(host: str) -> str:
    """The host as it stands in an address a browser on this machine can open."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return f"[{host}]" if address.version == 6 else host
