"""The jobs of a session: at most one heavy computation and one live one, each in a process of its own that may die without harm."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.atomic import refusal_of
from bunraku.studio.jobs.exchange import written
from bunraku.studio.jobs.folders import private_folder, remove_folder
from bunraku.studio.jobs.live_line import LiveLine
from bunraku.studio.jobs.process import WorkerProcess
from bunraku.studio.jobs.state import JobState, LiveAnswer, with_event
from bunraku.studio.jobs.teller import Teller
from bunraku.studio.jobs.verbs.table import VERBS

GRACE = 10.0
"""A computation that was asked to stop and has not noticed after this time [s] is ended with its process."""

LAST_GRACE = 60.0
"""One that has noticed, and is making something of the best so far, gets this time [s]."""

SILENCE = 20.0
"""After so long [s] without a sign of life the state says so."""


KEPT = 20
"""Jobs whose files are kept."""


class Jobs:
    """Computations in processes of their own. Thread-safe; ``on_change`` and ``on_live`` are called from a thread each, in order.

    ``folder``: where a private folder for their files is made, one in it a job, the last `KEPT` kept. The heavy worker starts with
    the first job and stays: its compiled kernels stay warm. When it dies the job is lost, with a sentence, and the next one gets
    a fresh one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        on_change: Callable[[JobState], None] | None = None,
        on_live: Callable[[LiveAnswer], None] | None = None,
    ) -> None:
        self._folder = private_folder(Path(folder))
        self._teller: Teller[JobState] = Teller(on_change)
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._worker: WorkerProcess | None = None
        self._state: JobState | None = None
        self._count = 0
        self._deadline: float | None = None
        self._closed = threading.Event()
        self._line = LiveLine(self.live_folder, on_live)
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def state(self) -> JobState | None:
        """The newest job as it stands; None before the first."""
        with self._lock:
            return self._state

    @property
    def worker_pid(self) -> int | None:
        """The heavy worker's process number; None when there is none."""
        with self._lock:
            return self._worker.pid if self._worker is not None and self._worker.alive else None

    def start(self, verb: str, arguments: dict[str, Any]) -> JobState:
        """Begin a job. Characters, clips and performances among the arguments are written to files, which the worker reads."""
        if verb not in VERBS or verb == "live":
            known = ", ".join(name for name in VERBS if name != "live")
            raise BadInput(f"there is no job {verb!r}; there are {known}")
        with self._lock:
            if self._closed.is_set():
                raise BadInput("the session is closed; open it again to compute")
            if self._state is not None and self._state.running:
                raise BadInput(f"{self._state.verb} is still running; cancel it or wait until it ends")
            self._count += 1
            state = JobState(self._count, verb, stage="starting")
            folder = self._folder / f"job-{state.id}"
            remove_folder(self._folder / f"job-{state.id - KEPT}")
            with refusal_of(folder, "cannot be made"):
                folder.mkdir(parents=True, exist_ok=True)
            sent = {name: written(name, value, folder) for name, value in arguments.items()}
            message = {"id": state.id, "verb": verb, "arguments": sent, "folder": str(folder)}
            if not self._heavy().send(message):
                self._worker = None
                self._heavy().send(message)  # one that ends at once is heard in `_gone`, with its last words
            self._state, self._deadline = state, None
            self._teller.tell(state)
        return state

    def cancel(self) -> None:
        """Ask the job to end with the best so far; a computation that does not listen within `GRACE` is ended with its process."""
        with self._lock:
            state, worker = self._state, self._worker
            if state is None or not state.running or worker is None or self._deadline is not None:
                return
            self._deadline = time.monotonic() + GRACE
            self._state = state = replace(state, message="stopping, keeping the best so far")
            self._teller.tell(state)
        worker.send({"cancel": state.id})

    def wait(self, timeout: float = 600.0) -> JobState:
        """The state once the job is no longer running, or after ``timeout`` [s]."""
        with self._changed:
            if self._state is None:
                raise BadInput("nothing was started")
            self._changed.wait_for(lambda: self._state is None or not self._state.running, timeout)
            return self._state

    def live(self, request: dict[str, Any]) -> None:
        """Ask for a live edit; see :class:`~bunraku.studio.jobs.live_line.LiveLine`. The answer comes to ``on_live``."""
        self._line.ask(request)

    @property
    def live_folder(self) -> Path:
        """Where live requests and answers pass through."""
        return self._folder / "live"

    @property
    def live_pid(self) -> int | None:
        """The live worker's process number; None when there is none."""
        return self._line.pid

    def close(self) -> None:
        """End both workers and remove the files of all jobs but those that were asked to go elsewhere."""
        self._closed.set()
        with self._lock:
            worker, self._worker = self._worker, None
            if self._state is not None and self._state.running:
                self._set(replace(self._state, status="cancelled", error="the session was closed"))
        if worker is not None:
            worker.end(patience=1.0)
        self._line.close()
        self._teller.close()
        remove_folder(self._folder)

    def _set(self, state: JobState) -> None:
        """Take note of a new state and tell it; the lock is held."""
        self._state = state
        self._changed.notify_all()
        self._teller.tell(state)

    def _heavy(self) -> WorkerProcess:
        if self._worker is None or not self._worker.alive:
            self._worker = WorkerProcess(self._hear, self._gone)
        return self._worker

    def _hear(self, message: dict[str, Any]) -> None:
        with self._lock:
            state = self._state
            if state is None or message.get("id") != state.id or not state.running:
                return
            if isinstance(message.get("event"), dict):
                state = with_event(state, message["event"])
                if self._deadline is not None:
                    state = replace(state, message="stopping, keeping the best so far")
            elif "seen" in message:
                self._deadline = time.monotonic() + LAST_GRACE
                return
            elif message.get("ended") in ("done", "cancelled", "failed"):
                result = message.get("result")
                state = replace(
                    state,
                    status=message["ended"],
                    fraction=1.0 if message["ended"] == "done" else state.fraction,
                    message="",
                    result=result if isinstance(result, dict) else {},
                    error=str(message.get("error") or ""),
                )
            self._set(state)

    def _gone(self, worker: WorkerProcess) -> None:
        with self._lock:
            state = self._state
            if worker is not self._worker or state is None or not state.running:
                return
            self._worker = None
            if self._deadline is not None:
                error = "it did not stop when asked, so its process was ended; nothing of it was kept"
                state = replace(state, status="cancelled", error=error)
            else:
                last = f" during {state.stage}" if state.stage else ""
                said = f"; its last words: {worker.errors[-1][:200]}" if worker.errors else ""
                error = f"the solver process died{last}: {worker.ended}{said}; nothing else was lost, start it again"
                state = replace(state, status="lost", error=error)
            self._set(state)

    def _watch(self) -> None:
        """Ends a computation that does not stop, and says when one gives no sign of life."""
        while not self._closed.wait(0.25):
            with self._lock:
                state, worker, deadline = self._state, self._worker, self._deadline
                if state is None or not state.running or worker is None:
                    continue
                silent = time.monotonic() - worker.heard
                late = deadline is not None and time.monotonic() > deadline
                message = f"no sign of life for {silent:.0f} s" if silent > SILENCE else ""
                if message and not state.message.startswith("no sign"):
                    self._set(replace(state, message=message))
            if late:
                worker.kill()
