"""Starting viser behind the gate: its websocket server is opened by us, on our socket, with our checks.

viser calls ``websockets.asyncio.server.serve`` when it starts. For that moment the function is ours: it answers every
request itself (:class:`bunraku.studio.server.site.Site`), filters every message, and listens on a socket bound
beforehand. This leans on how viser 1.1 is built: another version is refused, and so is a start that did not come by here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from socket import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bunraku.errors import BadInput, MissingExtra
from bunraku.stage.gate import QUEUE, WIRE, Gate, Intake
from bunraku.studio.server.messages import FilteredConnection, MessageFilter
from bunraku.studio.server.uploads import Uploads
from bunraku.studio.server.values import Widgets
from bunraku.studio.server.waking import mend_buffers, mend_server

if TYPE_CHECKING:
    import viser

    from bunraku.studio.server.site import Site

_FIX = 'install it with: pip install "viser>=1.1,<1.2"'
_starting = threading.Lock()


def check_version() -> str:
    """The version of viser; MissingExtra when there is none, BadInput when it is not 1.1, whose inside is known."""
    try:
        import viser
    except ImportError as error:
        raise MissingExtra("viser", "studio", "The studio") from error
    if viser.__version__.split(".")[:2] != ["1", "1"]:
        raise BadInput(f"viser {viser.__version__} is installed and the studio's protection is made for viser 1.1; {_FIX}")
    return str(viser.__version__)


def start_viser(listening: socket, site: Site, uploads: Uploads) -> viser.ViserServer:
    """Start viser on a bound socket behind a site, which answers every request; BadInput when it did not start by this patch."""
    import websockets.asyncio.server as module
    from viser import _messages

    started: list[viser.ViserServer] = []
    errors: list[Exception] = []
    used: list[bool] = []
    stock = module.serve

    def serve(handler: Any, *args: Any, **options: Any) -> Any:
        if getattr(handler, "__module__", "") != "viser.infra._infra":
            return stock(handler, *args, **options)
        used.append(True)
        return _opening(
            lambda: stock(
                _filtered(handler, site.gate, uploads, started),
                sock=listening,
                select_subprotocol=options["select_subprotocol"],
                **site.gate.settings(site.answer),
            ),
            listening,
            errors,
        )

    address = listening.getsockname()
    with _starting:
        mend_buffers()
        module.serve = serve
        try:
            server = _private_viser()(host=address[0], port=address[1], verbose=False)
        finally:
            module.serve = stock
    try:
        if errors or not used or server.get_port() != address[1]:
            why = str(errors[0]) if errors else "it did not open its server by websockets.asyncio.server.serve"
            raise BadInput(f"viser could not be put behind the studio's gate: {why}; {_FIX}")
        mend_server(server)
    except BadInput:
        server.stop()
        raise
    for kind in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(kind)
    started.append(server)
    return server


@asynccontextmanager
async def _opening(serve: Callable[[], Any], listening: socket, errors: list[Exception]) -> AsyncIterator[Any]:
    """What our ``serve`` gives viser to enter: the server, or one without sockets when it could not open.

    viser's thread must never die while it starts: its constructor would wait for it for ever.
    """
    asyncio.get_running_loop().set_exception_handler(_note)
    async with AsyncExitStack() as stack:
        try:
            server = await stack.enter_async_context(serve())
            listening.listen(QUEUE)
        except Exception as error:
            errors.append(error)
            server = SimpleNamespace(server=SimpleNamespace(sockets=()))
        yield server


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Errors of viser's tasks (a client that left, a value that does not fit) go to the log, not to the terminal."""
    WIRE.debug("%s", context.get("message"), exc_info=context.get("exception"))


def _private_viser() -> Callable[..., viser.ViserServer]:
    import viser

    class PrivateViser(viser.ViserServer):  # type: ignore[misc]
        """viser's server, never with a tunnel."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            """Refuses: the studio is never made public."""
            raise BadInput("the studio opens no public tunnel; to share it, give another --host or forward its port by ssh")

        def disconnect_share_url(self) -> None:
            """There is nothing to disconnect."""

    return PrivateViser


def _filtered(
    handler: Callable[[Any], Any], gate: Gate, uploads: Uploads, started: list[viser.ViserServer]
) -> Callable[[Any], Any]:
    widgets = Widgets(started)

    async def handle(connection: Any) -> None:
        sieve = MessageFilter(uploads, widgets)
        try:
            await handler(FilteredConnection(connection, sieve, Intake(gate)))
        finally:
            sieve.desk.close()

    return handle
