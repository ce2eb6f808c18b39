"""What the studio tells the user: a bounded list, newest last."""

from __future__ import annotations

import threading
from dataclasses import dataclass

MOST = 200


@dataclass(frozen=True)
class Message:
    """One message: its number, its kind (note, warning, error) and one line."""

    number: int
    kind: str
    text: str


class Messages:
    """Messages in the order they came; at most 200 are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Message] = []
        self._count = 0

    def add(self, kind: str, text: str) -> Message:
        """Keep a message; the same text twice in a row is kept once."""
        line = " ".join(text.split())[:500]
        with self._lock:
            if self._all and (self._all[-1].kind, self._all[-1].text) == (kind, line):
                return self._all[-1]
            self._count += 1
            self._all = [*self._all, Message(self._count, kind, line)][-MOST:]
            return self._all[-1]

    @property
    def all(self) -> tuple[Message, ...]:
        """All that are kept."""
        return tuple(self._all)

    def since(self, number: int) -> tuple[Message, ...]:
        """Those that came after message ``number``."""
        return tuple(one for one in self._all if one.number > number)
