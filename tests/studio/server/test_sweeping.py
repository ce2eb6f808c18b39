"""A browser that stays for hours while panels are made anew: what was removed does not pile up, and nobody misses a removal."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from bunraku.studio.server.waking import REMOVALS


def test_removals_do_not_pile_up_while_a_browser_stays(ours: Any) -> None:
    gui = ours.viser.gui
    buffer = ours.viser._websock_server._broadcast_buffer
    with ours.socket() as client:
        threading.Thread(target=_read, args=(client,), daemon=True).start()
        before = len(buffer.message_from_id)
        for k in range(6 * REMOVALS):
            piece = gui.add_html(f"{k}")
            piece.content = f"{k} again"
            piece.remove()
            if k % 100 == 0:
                assert _all_sent(buffer)
        assert buffer.generator_cursors
        assert len(buffer.message_from_id) < before + 2.5 * REMOVALS


def test_a_browser_that_is_behind_still_gets_every_removal(ours: Any) -> None:
    buffer = ours.viser._websock_server._broadcast_buffer
    pieces = [ours.viser.gui.add_html(f"{k}") for k in range(2 * REMOVALS)]
    buffer.generator_cursors[-1] = buffer.message_counter - 1  # one that read all until now, and no more
    try:
        before = buffer.message_counter
        for piece in pieces:
            piece.remove()
        kept = [k for k, one in buffer.message_from_id.items() if k >= before and one.lifecycle_phase == "remove"]
        assert len(kept) == len(pieces)
    finally:
        del buffer.generator_cursors[-1]


def _read(client: Any) -> None:
    """Take all that comes, until the connection ends."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(ConnectionClosed):
        for _ in client:
            pass


def _all_sent(buffer: Any) -> bool:
    """Whether every browser was sent all there is, within half a minute."""
    end = buffer.message_counter - 1
    tick = threading.Event()
    for _ in range(3000):
        if all(cursor >= end for cursor in tuple(buffer.generator_cursors.values())):
            return True
        tick.wait(0.01)
    return False
