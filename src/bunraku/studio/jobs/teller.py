"""Telling news in order, from one thread: who hears them may take their time, call back, or fail, and nobody waits for them."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from bunraku.formats.unexpected import reported

News = TypeVar("News")


class Teller(Generic[News]):
    """Calls ``listener`` with each piece of news, one after the other, in the order in which they were told."""

    def __init__(self, listener: Callable[[News], None] | None) -> None:
        self._listener = listener
        self._news: queue.SimpleQueue[tuple[News] | None] = queue.SimpleQueue()
        if listener is not None:
            threading.Thread(target=self._run, args=(listener,), daemon=True).start()

    def tell(self, news: News) -> None:
        """Tell something; returns at once."""
        if self._listener is not None:
            self._news.put((news,))

    def close(self) -> None:
        """End, after what was told before."""
        self._news.put(None)

    def _run(self, listener: Callable[[News], None]) -> None:
        while (item := self._news.get()) is not None:
            try:
                listener(item[0])
            except Exception as error:  # a fault of who listens must not silence the rest
                print(reported(error, "listening to jobs of the studio"), file=sys.stderr)
