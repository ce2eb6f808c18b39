"""The queue of jobs: what Esc stops, and what goes on. No process is started here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bunraku.studio.jobs.state import JobState
from bunraku.studio.queue import JobQueue


class Hands:
    """A queue whose jobs run as long as the test wishes."""

    def __init__(self, queue: JobQueue, monkeypatch: pytest.MonkeyPatch) -> None:
        self.queue = queue
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.ended: list[str] = []
        monkeypatch.setattr(queue.jobs, "start", lambda verb, arguments: self.started.append(verb))
        monkeypatch.setattr(queue.jobs, "cancel", lambda: self.stopped.append(self.started[-1]))

    def ask(self, *verbs: str) -> None:
        for verb in verbs:
            self.queue.ask(verb, {}, lambda state: self.ended.append(state.verb))

    def end(self) -> None:
        """The job that runs is done."""
        self.queue._changed(JobState(len(self.started), self.started[-1], status="done"))


@pytest.fixture
def hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hands]:
    def nothing(*_: Any) -> None:
        return None

    queue = JobQueue(tmp_path, say=nothing, tell=nothing, on_live=nothing)
    yield Hands(queue, monkeypatch)
    queue.close()


@pytest.mark.parametrize("verb", ["drawn", "errors"])
def test_drawing_and_measuring_are_not_stopped(hands: Hands, verb: str) -> None:
    hands.ask(verb, "perform")
    hands.queue.cancel()
    assert hands.stopped == []
    hands.end()
    assert hands.ended == [verb]
    assert hands.started == [verb]  # what waited was asked for by the user, and is forgotten
    assert not hands.queue.busy


@pytest.mark.parametrize("verb", ["perform", "verify", "fabricate", "planned"])
def test_what_the_user_asked_for_is_stopped(hands: Hands, verb: str) -> None:
    hands.ask(verb, "drawn")
    hands.queue.cancel()
    assert hands.stopped == [verb]
    hands.end()
    assert hands.started == [verb, "drawn"]


def test_one_verb_is_stopped_and_what_waits_is_not_forgotten(hands: Hands) -> None:
    hands.ask("design", "verify")
    hands.queue.stop("verify")
    assert hands.stopped == []
    hands.queue.stop("design")
    assert hands.stopped == ["design"]
    hands.end()
    assert hands.started == ["design", "verify"]
