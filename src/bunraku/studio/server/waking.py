"""Waking viser's senders from any thread: its buffers set an event of asyncio from outside, which may break off in the middle.

viser 1.1 tells its senders of a new message twice: at once, from whatever thread queues it, and again inside its loop. The first
walks over those who wait while the loop may be adding one: "deque mutated during iteration", and the message waits for the next.
The thread that queues may run a loop of its own, as a notebook's cell does.
Here the first only notes that there is something; the second wakes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from bunraku.errors import BadInput

if TYPE_CHECKING:
    import viser

__all__ = ["mend_buffers", "refuse_unmended"]


class LoopEvent(asyncio.Event):
    """An event that may be set from any thread; those who wait are woken when it is set inside their loop."""

    _home: asyncio.AbstractEventLoop | None = None
    """The loop of those who wait."""

    async def wait(self) -> Literal[True]:
        """Wait until it is set."""
        self._home = asyncio.get_running_loop()
        return await super().wait()

    def set(self) -> None:
        """Note it; inside the loop of those who wait, wake them all, whether it was noted before or not."""
        self._value = True
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            return
        if here is not self._home:  # the loop of a notebook's cell, in a thread of its own
            return
        for waiting in tuple(self._waiters):
            if not waiting.done():
                waiting.set_result(True)


def mend_buffers() -> None:
    """Let viser make its buffers, from now on, with events that may be set from any thread."""
    from viser.infra import _infra

    stock: Any = _infra.AsyncMessageBuffer
    if hasattr(stock, "mended"):
        return

    class MendedBuffer(stock):  # type: ignore[misc]
        """viser's buffer with a :class:`LoopEvent`."""

        mended = True

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.message_event = LoopEvent()

    _infra.AsyncMessageBuffer = MendedBuffer  # type: ignore[misc]


def refuse_unmended(server: viser.ViserServer) -> None:
    """Raise BadInput when a server's buffer is not of ours: viser is built in another way than is known here."""
    if not isinstance(server._websock_server._broadcast_buffer.message_event, LoopEvent):
        raise BadInput('viser keeps its messages in another way than is known here; install it with: pip install "viser>=1.1,<1.2"')
