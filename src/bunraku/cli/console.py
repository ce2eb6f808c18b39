"""Talking to a person: text and progress on stderr, JSON on stdout, Ctrl-C as a polite request first."""

from __future__ import annotations

import json
import signal
import sys
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.optimization.monitor import SILENT, Event, LogMonitor, Monitor

if TYPE_CHECKING:
    from bunraku.motion import Certificate, Check
    from bunraku.optimization.solution import Status


def say(text: str = "") -> None:
    """Human text goes to stderr."""
    print(text, file=sys.stderr)


def emit_json(value: Any) -> None:
    """One JSON value to stdout; numbers that JSON cannot say become null."""
    print(json.dumps(_plain(value), indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def show_checks(checks: tuple[Check, ...]) -> None:
    """Each check as a sentence with a mark."""
    for check in checks:
        mark = {"holds": "+", "broken": "!", "not checked": "?"}.get(check.state, " ")
        say(f"  {mark} {check.sentence}")


def show_certificate(certificate: Certificate) -> None:
    """Status, checks and notes."""
    say(certificate.status.sentence)
    show_checks(certificate.checks)
    for note in certificate.notes:
        say(f"    note: {note}")


class _TerminalMonitor(Monitor):
    """Notes, and a progress bar on a terminal; the first Ctrl-C asks to stop, the second stops."""

    def __init__(self, keeps: bool, log: Monitor) -> None:
        self._keeps, self._log = keeps, log
        self._asked = False
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description:>14}"), BarColumn(), TextColumn("{task.fields[words]}"), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)

    def report(self, event: Event) -> None:
        self._log.report(event)
        if event.note:
            say(event.message)
        if self._progress is None or event.note:
            return
        if event.stage not in self._tasks:
            self._tasks[event.stage] = self._progress.add_task(event.stage, total=1.0, words="")
        self._progress.update(self._tasks[event.stage], completed=event.fraction, words=event.message[:40])

    @property
    def cancelled(self) -> bool:
        return self._asked

    def ask(self, number: int, frame: types.FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        what = "stopping at the next opportunity and keeping the best so far" if self._keeps else "stopping; nothing is written"
        say(f"{what}; Ctrl-C again stops at once")


@contextmanager
def watching(log: Path | None = None, *, keeps: bool = True) -> Iterator[Monitor]:
    """A monitor for the time of a computation, with Ctrl-C as a request to stop; events also go to the file ``log``.

    ``keeps``: whether there is a best so far that is kept when it was stopped; it is said to whoever stops it.
    """
    with ExitStack() as stack:
        monitor = _TerminalMonitor(keeps, SILENT if log is None else stack.enter_context(_logging(log)))
        stack.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, monitor.ask))
        if monitor._progress is not None:
            stack.enter_context(monitor._progress)
        yield monitor


@contextmanager
def _logging(path: Path) -> Iterator[Monitor]:
    """A monitor that adds a line with the time of day to a file for every event."""
    import logging

    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger = logging.Logger("bunraku", logging.INFO)
    logger.addHandler(handler)
    try:
        yield LogMonitor(logger)
    finally:
        handler.close()


def exit_code(status: Status, holds: bool | None = None) -> int:
    """0 done, 1 a check failed, 3 not converged, 130 cancelled.

    ``holds``: whether every promise is kept; then an end at which no step improved any more is as good as the optimum. None where
    nothing is promised.
    """
    if status.value == "cancelled":
        return 130
    if not (status.good if holds is None else status.settled):
        return 3
    return 1 if holds is False else 0
