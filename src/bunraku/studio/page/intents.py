"""What the user does, in the order it was done: one thread carries it out, so that nothing overtakes anything."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from bunraku.errors import BunrakuError

Act = Callable[[], object]


class Intents:
    """A queue of acts. ``post`` with a ``key``: a newer act of that key replaces one that still waits (moves of a drag)."""

    def __init__(self, on_error: Callable[[str], None]) -> None:
        self._on_error = on_error
        self._waiting: deque[tuple[str, Act]] = deque()
        self._ready = threading.Condition()
        self._closed = False
        self._idle = True
        self._thread = threading.Thread(target=self._run, name="studio intents", daemon=True)
        self._thread.start()

    def post(self, act: Act, *, key: str = "") -> None:
        """Carry out ``act`` when its turn comes."""
        with self._ready:
            if self._closed:
                return
            if key:
                self._waiting = deque(one for one in self._waiting if one[0] != key)
            self._waiting.append((key, act))
            self._idle = False
            self._ready.notify_all()

    def wait_idle(self, timeout: float = 10.0) -> bool:
        """Whether everything was carried out within ``timeout`` [s]."""
        with self._ready:
            return self._ready.wait_for(lambda: self._idle, timeout)

    def close(self) -> None:
        """Carry out no more."""
        with self._ready:
            self._closed = True
            self._waiting.clear()
            self._ready.notify_all()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._idle = not self._waiting
                self._ready.notify_all()
                self._ready.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                _, act = self._waiting.popleft()
            try:
                act()
            except BunrakuError as error:
                self._on_error(str(error))
            except Exception as error:
                self._on_error(f"that did not work ({type(error).__name__}: {error}); the document is as it was")
