"""The queue of a session's jobs: one at a time, in order, and what to do with what comes back."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.formats.unexpected import reported
from bunraku.studio.jobs.jobs import Jobs
from bunraku.studio.jobs.state import JobState, LiveAnswer

MAIN = ("perform", "verify", "design", "timing", "retarget", "fabricate", "surface")
"""What the user asked for, and sees running."""
STOPPED = (*MAIN, "planned")
"""What the user can stop; drawing and measuring are quick and do not listen."""
Then = Callable[[JobState], None]


class JobQueue:
    """Jobs that wait, and the one that runs. A job of a verb that waits already takes its place.

    ``say`` (kind, words) tells the user, ``tell`` ("job") the listeners; ``on_live`` gets the answers of the live solver.
    """

    def __init__(
        self, folder: Path, *, say: Callable[[str, str], None], tell: Callable[[str], None], on_live: Callable[[LiveAnswer], None]
    ) -> None:
        self._say, self._tell = say, tell
        self._lock = threading.RLock()
        self._todo: deque[tuple[str, dict[str, Any], Then]] = deque()
        self._now: tuple[str, Then] | None = None
        self.job: JobState | None = None
        """The newest job."""
        self.run: JobState | None = None
        """The newest job that the user asked for; drawing and measuring are not."""
        self.jobs = Jobs(folder, on_change=self._changed, on_live=on_live)

    @property
    def busy(self) -> bool:
        """Whether something is computed, or what was computed is being taken over."""
        return self._now is not None or bool(self._todo)

    def ask(self, verb: str, arguments: dict[str, Any], then: Then) -> None:
        """Start a job, or let it wait; ``then`` is called with its last state."""
        with self._lock:
            if any(waiting == verb for waiting, _, _ in self._todo):
                self._todo = deque(one for one in self._todo if one[0] != verb)
            self._todo.append((verb, arguments, then))
        self._next()

    def cancel(self) -> None:
        """Stop what the user asked for, its best so far is kept; what was asked for and waits is forgotten. Drawing goes on."""
        with self._lock:
            self._todo = deque(one for one in self._todo if one[0] not in MAIN)
            if self._now is not None and self._now[0] in STOPPED:
                self.jobs.cancel()

    def stop(self, verb: str) -> None:
        """Stop the job of a verb, if it is the one that runs; what waits goes on waiting."""
        with self._lock:
            if self._now is not None and self._now[0] == verb:
                self.jobs.cancel()

    def close(self) -> None:
        """End all processes."""
        self.jobs.close()

    def _next(self) -> None:
        with self._lock:
            if self._now is not None or not self._todo:
                return
            verb, arguments, then = self._todo.popleft()
            self._now = (verb, then)
        try:
            self.jobs.start(verb, arguments)
        except Exception as error:  # whatever it is, the queue goes on
            with self._lock:
                self._now = None
            known = isinstance(error, BunrakuError)
            self._say("error", str(error) if known else f"{verb} could not be started: {reported(error, f'{verb} in the studio')}")
            self._tell("job")
            self._next()

    def _changed(self, state: JobState) -> None:
        self.job = state
        if state.verb in MAIN:
            self.run = state
        if state.running:
            self._tell("job")
            return
        now = self._now  # it counts as busy until what it found is taken over
        if state.status in ("failed", "lost"):
            self._say("error", state.error or f"{state.verb} did not end well")
        try:
            if now is not None:
                now[1](state)
        except BunrakuError as error:
            self._say("error", str(error))
        except Exception as error:
            why = reported(error, f"{state.verb} in the studio")
            self._say("error", f"what {state.verb} found could not be taken over: {why}")
        with self._lock:
            self._now = None
        self._tell("job")
        self._next()
