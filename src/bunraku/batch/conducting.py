"""Carrying a plan out: what is not done is sent, what comes back is kept, accidents are tried again, nothing stops the others."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from bunraku.batch.cluster import Answer, Lost, NoScheduler
from bunraku.batch.plan import BatchPlan
from bunraku.batch.store import Store
from bunraku.formats.places import known_names
from bunraku.optimization.monitor import Event, Monitor

GRACE = 15.0
"""A run that does not stop by itself within this time [s] after its timeout has its worker started anew."""
PATIENCE = 60.0
"""How long [s] a scheduler that was lost is waited for."""
NOW_AND_THEN = 5.0
"""The table is written so often [s], or less."""


_NOTHING: dict[str, Any] = {"figures": {}, "performance": None, "seconds": 0.0, "worker": "", "report": ""}


class Connected(Protocol):
    """A connection to workers: jobs in, answers out, in any order."""

    @property
    def threads(self) -> int:
        """How many jobs can be worked on at once."""

    def send(self, job: dict[str, Any]) -> None:
        """Ask for a run."""

    def answer(self, seconds: float) -> Answer | None:
        """The next answer, if one comes within ``seconds``."""

    def overdue(self, seconds: float) -> list[str]:
        """The keys of runs that began more than ``seconds`` ago; nobody waits for them."""

    def close(self) -> None:
        """Give up what is under way and part."""


class Workers(Protocol):
    """Whoever has workers."""

    def connect(self) -> Connected:
        """A connection to them."""


@dataclass
class Outcome:
    """How a plan went: counts of runs, and why it ended early if it did."""

    before: int = 0
    done: int = 0
    refused: int = 0
    failed: int = 0
    second: int = 0
    cancelled: bool = False
    trouble: str = ""
    attempts: Counter[str] = field(default_factory=Counter)


def carry_out_plan(
    plan: BatchPlan, store: Store, workers: Workers, *, monitor: Monitor, now_and_then: Callable[[], object],
    note: Callable[[str], None] = lambda words: None,
) -> Outcome:  # fmt: skip
    """Carry out every run of a plan that is not done; ``now_and_then`` is called every few seconds, to write the table.

    ``note`` is told when the first run that is done lacks a figure that the plan measures.
    """
    conductor = _Conductor(plan, store, workers, monitor, now_and_then, note)
    if conductor.runs:
        conductor.conduct()
    return conductor.outcome


@dataclass
class _Conductor:
    plan: BatchPlan
    store: Store
    workers: Workers
    monitor: Monitor
    now_and_then: Callable[[], object]
    note: Callable[[str], None]

    def __post_init__(self) -> None:
        self.runs = {run.key: run for run in self.plan.runs if self.store.done(run.key) is None}
        self.outcome = Outcome(before=len(self.plan.runs) - len(self.runs))
        self.waiting, self.sent, self._looked = deque(self.runs), set[str](), False
        self._due = time.monotonic() + NOW_AND_THEN

    def conduct(self) -> None:
        cluster: Connected | None = None
        try:
            while (self.waiting or self.sent) and not self.monitor.cancelled:
                if cluster is None:
                    cluster = self._connected()
                    if cluster is None:
                        break
                try:
                    self._step(cluster)
                except Lost:
                    self._say("the scheduler is gone; waiting for it")
                    cluster.close()
                    cluster = None
                    self.waiting.extendleft(key for key in reversed(list(self.runs)) if key in self.sent)
                    self.sent.clear()
                self._write_now_and_then()
        finally:
            self.outcome.cancelled = self.monitor.cancelled
            if cluster is not None:
                cluster.close()

    def _write_now_and_then(self) -> None:
        """Every few seconds; where that takes long, for there are many runs, seldom enough to take a twentieth of the time."""
        began = time.monotonic()
        if began >= self._due:
            self.now_and_then()
            ended = time.monotonic()
            self._due = ended + max(NOW_AND_THEN, 20.0 * (ended - began))

    def _connected(self) -> Connected | None:
        """A connection; None when it was cancelled meanwhile or nobody answered for too long."""
        began = time.monotonic()
        while not self.monitor.cancelled:
            try:
                return self.workers.connect()
            except NoScheduler as error:
                if time.monotonic() - began > PATIENCE:
                    self.outcome.trouble = f"no scheduler answers ({error}); what is done is kept: give the same command again"
                    return None
                self._say("no scheduler answers; waiting for it")
        return None

    def _step(self, cluster: Connected) -> None:
        """Send as much as keeps every worker busy, take one answer, look for runs that are overdue."""
        room = 2 * cluster.threads + 2 if cluster.threads else 0
        if not room:
            self._say("no worker is there yet; waiting for one")
        while self.waiting and len(self.sent) < room:
            key = self.waiting.popleft()
            if self.store.done(key) is not None:  # somebody else was faster
                self.outcome.second += 1
                self._ended(key)
                continue
            self.sent.add(key)
            cluster.send(self.plan.job(self.runs[key]))
        answer = cluster.answer(0.25)
        if answer is not None and answer.key in self.sent:
            self.outcome.attempts[answer.key] += 1
            if answer.result is None or answer.result["status"] == "failed":
                reason = answer.accident if answer.result is None else answer.result["reason"]
                self._failed(answer.key, reason, "failed", again=True, report=(answer.result or _NOTHING)["report"])
            elif answer.result["status"] == "timeout":
                self._failed(answer.key, answer.result["reason"], "timeout", again=False)
            else:
                self._kept(answer.key, answer.result)
        if self.plan.file.timeout:
            for key in cluster.overdue(self.plan.file.timeout + GRACE):
                self.outcome.attempts[key] += 1
                self._failed(key, f"it took more than {self.plan.file.timeout:g} s and did not stop", "timeout", again=False)

    def _kept(self, key: str, result: dict[str, Any]) -> None:
        first = self.store.keep(key, self.runs[key].settings, result, self.outcome.attempts[key])
        if not first:
            self.outcome.second += 1
        elif result["status"] == "done":
            self.outcome.done += 1
            self._look(result["figures"])
        else:
            self.outcome.refused += 1
        self._ended(key)

    def _look(self, figures: dict[str, Any]) -> None:
        """Say which figures that are measured the first run lacks; which there are is not known before."""
        if self._looked:
            return
        self._looked = True
        for name in self.plan.file.measure:
            if name not in figures and name not in self.plan.columns:
                self.note(f"the first run has no figure {name!r}; {known_names(name, figures, 60)}")

    def _failed(self, key: str, reason: str, status: str, *, again: bool, report: str = "") -> None:
        attempts = self.outcome.attempts[key]
        if again and attempts <= self.plan.file.retries:
            self.sent.discard(key)
            self.waiting.append(key)
            return
        result = _NOTHING | {"status": status, "reason": reason, "report": report}
        self.store.keep(key, self.runs[key].settings, result, attempts)
        self.outcome.failed += 1
        self._ended(key)

    def _ended(self, key: str) -> None:
        self.sent.discard(key)
        self._say("")

    def _say(self, words: str) -> None:
        total = len(self.plan.runs)
        ended = total - len(self.waiting) - len(self.sent)
        bad = self.outcome.failed + self.outcome.refused
        counts = f"{ended} of {total}" + (f", {bad} failed" if bad else "")
        self.monitor.report(Event("batch", ended / total, f"{counts}{'; ' + words if words else ''}"))
