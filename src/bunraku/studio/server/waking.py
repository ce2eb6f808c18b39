"""Mending viser's buffers: its senders are woken from any thread, and what was removed is forgotten.

viser 1.1 tells its senders of a new message twice: at once, from whatever thread queues it, and again inside its loop. The first
walks over those who wait while the loop may be adding one: "deque mutated during iteration", and the message waits for the next.
The thread that queues may run a loop of its own, as a notebook's cell does.
Here the first only notes that there is something; the second wakes.

A note of every widget that was removed stays in viser's buffer until the next browser comes. Here it goes after some hundreds of
removals, once all browsers have it: a long session of one browser does not grow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from bunraku.errors import BadInput

if TYPE_CHECKING:
    import viser

REMOVALS = 500
"""After so many removals the buffer is swept."""


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
        """viser's buffer with a :class:`LoopEvent`, swept now and then."""

        mended = True

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.message_event = LoopEvent()
            self.sweep: Callable[[], None] = lambda: None
            self.removals = 0

        def push(self, message: Any) -> None:
            """Queue a message."""
            super().push(message)
            if message.lifecycle_phase == "remove":
                self.removals += 1
                if self.removals >= REMOVALS:
                    self.removals = 0
                    self.sweep()

    _infra.AsyncMessageBuffer = MendedBuffer  # type: ignore[misc]


def mend_server(server: viser.ViserServer) -> None:
    """Let a server's buffer be swept; BadInput when it is not of ours: viser is built in another way than is known here."""
    buffer: Any = server._websock_server._broadcast_buffer
    if not hasattr(buffer, "mended") or not hasattr(server, "_run_garbage_collector"):
        raise BadInput('viser keeps its messages in another way than is known here; install it with: pip install "viser>=1.1,<1.2"')
    buffer.sweep = server._run_garbage_collector
