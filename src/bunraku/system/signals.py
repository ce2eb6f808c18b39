"""Signals that ask a program to end: Ctrl-C everywhere, a terminal that closes as SIGHUP or, on Windows, SIGBREAK."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

ENDS = {
    "SIGINT": "Ctrl-C",
    "SIGTERM": "a request to end",
    "SIGHUP": "a terminal that was closed",
    "SIGBREAK": "Ctrl-Break, or a terminal that was closed",
}
"""Who sends which; no system has all of them."""
LOOK_S = 0.5
"""How long a signal waits at most on Windows, where it ends no wait [s]."""


@contextmanager
def on_end(act: Callable[[str], None]) -> Iterator[None]:
    """Within, a signal to end calls ``act`` with who sent it, in words, and does nothing else; only the main thread hears them."""
    with ExitStack() as stack:
        for name, words in ENDS.items():
            number = getattr(signal, name, None)
            if number is None or threading.current_thread() is not threading.main_thread():
                continue

            def heard(number: int, frame: FrameType | None, words: str = words) -> None:
                act(words)

            stack.callback(signal.signal, number, signal.signal(number, heard))
        yield


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Processes that start within do not heed Ctrl-C from their first moment on; on Windows they must see to that themselves."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for(event: threading.Event) -> None:
    """Wait for an event, however long it takes; signals are heard meanwhile."""
    while not event.wait(LOOK_S):
        pass


def name_of(number: int) -> str:
    """The name of a signal, such as SIGKILL; its number where it has none here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
