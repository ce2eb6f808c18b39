"""Acts in the order they were asked for: one thread carries them out, so that nothing overtakes anything."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable

Act = Callable[[], object]


class ActQueue:
    """A queue that never blocks who puts into it; what an act raises goes to ``on_error`` and stops nothing.

    At most ``limit`` acts wait.
    """

    def __init__(self, name: str, on_error: Callable[[Exception], None], *, limit: int = 100_000) -> None:
        self.limit, self._on_error = limit, on_error
        self._waiting: deque[tuple[Hashable, bool, Act]] = deque()
        self._changed = threading.Condition()
        self._idle = self._open = True
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def post(self, act: Act, *, key: Hashable = "", latest: bool = True) -> bool:
        """Carry out ``act`` when its turn comes; False when the queue is closed or too many wait.

        Of acts with one ``key``, an act of which only the latest counts (a move of a drag) replaces such a one that still waits,
        unless another came between them.
        """
        with self._changed:
            if not self._open:
                return False
            if key and latest:
                same = next((k for k in reversed(range(len(self._waiting))) if self._waiting[k][0] == key), None)
                if same is not None and self._waiting[same][1]:
                    del self._waiting[same]
            if len(self._waiting) >= self.limit:
                return False
            self._waiting.append((key, latest, act))
            self._idle = False
            self._changed.notify_all()
            return True

    def wait_idle(self, timeout: float | None = None) -> bool:
        """Wait until everything posted so far was carried out; False when ``timeout`` [s] ran out first."""
        with self._changed:
            return self._changed.wait_for(lambda: self._idle, timeout)

    def close(self) -> None:
        """Carry out no more; the act at work ends first (waits at most 5 s for it)."""
        with self._changed:
            self._open = False
            self._waiting.clear()
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._idle = not self._waiting
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or not self._open)
                if not self._open:
                    self._idle = True
                    self._changed.notify_all()
                    return
                act = self._waiting.popleft()[2]
            try:
                act()
            except Exception as error:
                self._on_error(error)
