"""Watching a computation without printing from inside it: command line, studio and batch are monitors."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Event:
    """One report: the stage under way, how far it is (0 to 1, None when unknown), words and figures.

    ``note``: the message is a sentence to be read whole, not a word on the progress.
    """

    stage: str
    fraction: float | None = None
    message: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    note: bool = False


class Monitor(ABC):
    """Receives events; may ask for cancellation.

    A long computation calls :meth:`report` at least once a second and looks at :attr:`cancelled` as often; when it is
    true the computation returns its best result so far with ``Status.CANCELLED``.
    """

    @abstractmethod
    def report(self, event: Event) -> None:
        """Take note of one event; must return quickly."""

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the computation should stop at the next opportunity."""


class SilentMonitor(Monitor):
    """Hears everything, says nothing, cancels once ``until`` says so, which is never if it is not given."""

    def __init__(self, until: Callable[[], bool] = lambda: False) -> None:
        self._until = until

    def report(self, event: Event) -> None:
        """Ignore the event."""

    @property
    def cancelled(self) -> bool:
        """What ``until`` says."""
        return self._until()


class LogMonitor(Monitor):
    """Writes events to a logger."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def report(self, event: Event) -> None:
        """Log the event at INFO."""
        share = "" if event.fraction is None else f" {100 * event.fraction:.0f} %"
        self._logger.info("%s%s %s", event.stage, share, event.message)

    @property
    def cancelled(self) -> bool:
        """Never."""
        return False


SILENT = SilentMonitor()
