"""Workers in processes of their own on this machine, each at a pipe that it alone has with the command.

Nothing listens, at no port and under no name, so nobody else can connect and give them work: neither another user of the machine
nor a page in a browser. What goes through a pipe are jobs one way, results the other.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from bunraku.batch.cluster import Answer
from bunraku.batch.working import carry_out
from bunraku.system.signals import without_ctrl_c

NAP = 0.05
"""How long [s] is slept where there is no worker to wait for."""


@dataclass(frozen=True)
class LocalWorkers:
    """Whoever asks for workers of this machine gets so many."""

    workers: int = 2

    def connect(self) -> WorkerProcesses:
        """They start with their first jobs."""
        return WorkerProcesses(self.workers)


@dataclass
class _Worker:
    """A process, our end of its pipe, the job it has, and since when it works on that."""

    process: BaseProcess
    pipe: Connection | Any  # a class of another name on Windows
    key: str = ""
    began: float | None = None


class WorkerProcesses:
    """Jobs in, answers out, in any order; a worker that dies is an accident of its job alone, and the next one gets a new one."""

    def __init__(self, count: int) -> None:
        self.threads = count
        self._workers: list[_Worker] = []
        self._waiting: deque[dict[str, Any]] = deque()
        self._answers: deque[Answer] = deque()

    def send(self, job: dict[str, Any]) -> None:
        """Ask for a run."""
        self._waiting.append(job)
        self._hand_out()

    def answer(self, seconds: float) -> Answer | None:
        """The next answer, if one comes within ``seconds``."""
        end = time.monotonic() + seconds
        while not self._answers and (left := end - time.monotonic()) > 0.0:
            if not self._workers:
                time.sleep(min(NAP, left))
                continue
            ready = wait([one.pipe for one in self._workers], left)
            for one in [one for one in self._workers if one.pipe in ready]:
                self._hear(one)
            self._hand_out()
        return self._answers.popleft() if self._answers else None

    def overdue(self, seconds: float) -> list[str]:
        """The keys of runs that began more than ``seconds`` ago; their workers are ended, nobody waits for them."""
        now = time.monotonic()
        late = [one for one in self._workers if one.began is not None and now - one.began > seconds]
        for one in late:
            self._end(one)
        self._hand_out()
        return [one.key for one in late]

    def close(self) -> None:
        """Give up what is under way; no process is left."""
        self._waiting.clear()
        for one in tuple(self._workers):
            self._end(one)

    def _hand_out(self) -> None:
        """A job that waits to every worker that has none."""
        while self._waiting:
            free = next((one for one in self._workers if not one.key), None)
            if free is None:
                if len(self._workers) >= self.threads:
                    return
                free = _started()
                self._workers.append(free)
            job = self._waiting.popleft()
            free.key = job["key"]
            try:
                free.pipe.send(job)
            except OSError:
                self._died(free)

    def _hear(self, one: _Worker) -> None:
        try:
            result = one.pipe.recv()
        except (EOFError, OSError):
            self._died(one)
            return
        if result is None:
            one.began = time.monotonic()
            return
        key, one.key, one.began = one.key, "", None
        self._answers.append(Answer(key, result | {"worker": f"process {one.process.pid}"}))

    def _died(self, one: _Worker) -> None:
        one.process.join(timeout=1.0)
        self._end(one)
        if one.key:
            self._answers.append(Answer(one.key, None, f"its worker died (exit code {one.process.exitcode})"))

    def _end(self, one: _Worker) -> None:
        self._workers.remove(one)
        one.pipe.close()
        one.process.kill()
        one.process.join(timeout=5.0)


def _started() -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), name="bunraku batch worker", daemon=True)
    with without_ctrl_c():
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _work(pipe: Connection) -> None:
    """A worker's life: for each job a None when it begins, and its result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        pipe.send(None)
        pipe.send(carry_out(job))


def _listen(pipe: Connection, jobs: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Take jobs; the process ends with the command, whatever it is at."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            jobs.put(pipe.recv())
    os._exit(1)
