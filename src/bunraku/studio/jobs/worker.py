"""The worker: a process that computes what the studio asks for, one job after the other. ``python -m bunraku.studio.jobs.worker``.

A thread listens to stdin while the computation runs, so that it can be cancelled, and ends the process when stdin closes: the
studio is gone. What any library prints goes to stderr: the real stdout is for messages alone.
"""

from __future__ import annotations

import importlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from bunraku.errors import BadInput, BunrakuError, Cancelled
from bunraku.formats.unexpected import in_words, reported
from bunraku.optimization.monitor import Monitor, SilentMonitor
from bunraku.studio.jobs.protocol import decode, encode, read_line
from bunraku.studio.jobs.reporting import JobMonitor, told_of_compiling
from bunraku.studio.jobs.verbs.table import VERBS

BEAT = 1.0
"""Time [s] between signs of life."""


class Worker:
    """The loop over jobs that come in from one stream and are answered on another."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._writing = threading.Lock()
        self._jobs: queue.Queue[dict[str, Any]] = queue.Queue()
        self._now: tuple[int, JobMonitor] | None = None
        self._early: set[int] = set()
        self._idle: Callable[[Monitor], None] | None = None

    def run(self) -> None:
        """Work until the process ends, which happens when the incoming stream closes."""
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()
        self._say({"ready": os.getpid()})
        while True:
            self._work(self._jobs.get())
            if self._jobs.empty() and self._idle is not None:
                self._rest(self._idle)

    def _listen(self) -> None:
        while (line := read_line(self._incoming)) is not None:
            message = decode(line)
            if message is None:
                continue
            if "cancel" in message:
                self._cancel(int(message["cancel"]))
            elif "verb" in message:
                self._jobs.put(message)
        os._exit(0)

    def _cancel(self, job: int) -> None:
        now = self._now
        if now is not None and now[0] == job:
            now[1].cancel()
        else:
            self._early.add(job)
            now = self._now  # it may have begun meanwhile
            if now is not None and now[0] == job:
                now[1].cancel()

    def _beat(self) -> None:
        count = 0
        while True:
            time.sleep(BEAT)
            count += 1
            self._say({"beat": count})

    def _say(self, message: dict[str, Any]) -> None:
        line = encode(message)
        try:
            with self._writing:
                self._outgoing.write(line)
                self._outgoing.flush()
        except (OSError, ValueError):
            os._exit(0)

    def _rest(self, idle: Callable[[Monitor], None]) -> None:
        """What a verb wants to do while nobody asks for anything; its monitor says when somebody does."""
        try:
            idle(SilentMonitor(until=lambda: not self._jobs.empty()))
        except Exception as reason:  # it was only to make the next request faster
            print(in_words(reason), file=sys.stderr)

    def _work(self, request: dict[str, Any]) -> None:
        job = int(request["id"])
        monitor = JobMonitor(lambda event: self._say({"id": job, "event": event}), lambda: self._say({"id": job, "seen": True}))
        self._now = (job, monitor)
        if job in self._early:
            self._early.discard(job)
            monitor.cancel()
        ended, error = "failed", ""
        result: dict[str, Any] = {}
        try:
            module, verb = _verb(str(request["verb"]))
            self._idle = getattr(module, "idle", None)
            with told_of_compiling(monitor.compiling, monitor.compiled):
                result, kept = verb(request.get("arguments") or {}, Path(request["folder"]), monitor)
            encode({"result": result})
            ended = "cancelled" if kept else "done"
        except Cancelled as reason:
            ended, error = "cancelled", str(reason)
        except BunrakuError as reason:
            error = str(reason)
        except MemoryError:
            error = "no memory was left; close other programs, or ask for less (fewer samples, a shorter clip)"
        except Exception as reason:  # whatever it was, the worker lives on and says so
            error = reported(reason, f"{request.get('verb')} in the studio")
            result = {}
        self._now = None
        self._say({"id": job, "ended": ended, "result": result, "error": error})


def _verb(name: str) -> tuple[ModuleType, Callable[..., tuple[dict[str, Any], bool]]]:
    """The module and the function of a verb."""
    if name not in VERBS:
        raise BadInput(f"the worker knows no {name!r}; it knows {', '.join(VERBS)}")
    place, _, function = VERBS[name].partition(":")
    module = importlib.import_module(place)
    return module, getattr(module, function)


def main() -> None:
    """Keep the real stdout for messages, send everything else that is printed to stderr, and work."""
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    incoming = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    Worker(incoming, outgoing).run()


if __name__ == "__main__":
    main()
