"""Conducting with players that do as the test says: accidents are tried again, refusals are not, lost ones are asked again."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bunraku.batch import conducting
from bunraku.batch.batch import Batch, run_batch
from bunraku.batch.cluster import Answer, Lost, NoScheduler
from bunraku.batch.plan import BatchPlan, read_plan
from bunraku.batch.store import Store
from bunraku.cli.main import _run
from bunraku.optimization.monitor import Event, Monitor

Planned = Callable[..., Path]
MEASURED = "measure: [holds, largest_deviation_from_the_wish, velocity_violations_of_the_wish, duration_s]"


class Counting(Monitor):
    """Counts events, and cancels after some."""

    def __init__(self, most: float = float("inf")) -> None:
        self.events: list[Event] = []
        self.most = most

    def report(self, event: Event) -> None:
        self.events.append(event)

    @property
    def cancelled(self) -> bool:
        return len(self.events) >= self.most


class Players:
    """Workers whose every answer is scripted: ``script(number, attempt)`` says a status, "accident", "lost" or "late"."""

    def __init__(self, plan: BatchPlan, script: Callable[[int, int], str]) -> None:
        self.number = {run.key: k for k, run in enumerate(plan.runs)}
        self.script, self.attempts, self.connections = script, Counter[str](), 0
        self.absent = 0

    def connect(self) -> Any:
        if self.absent:
            self.absent -= 1
            raise NoScheduler("nobody there")
        self.connections += 1
        return Desk(self)


class Desk:
    threads = 2

    def __init__(self, players: Players) -> None:
        self.players, self.jobs, self.late = players, list[str](), list[str]()

    def send(self, job: dict[str, Any]) -> None:
        assert job["key"] not in self.jobs, "nobody is asked twice at once"
        self.jobs.append(job["key"])
        assert len(self.jobs) <= 2 * self.threads + 2

    def answer(self, seconds: float) -> Answer | None:
        if not self.jobs:
            return None
        key = self.jobs.pop()
        self.players.attempts[key] += 1
        word = self.players.script(self.players.number[key], self.players.attempts[key])
        if word == "lost":
            raise Lost
        if word == "late":
            self.late.append(key)
            return None
        if word == "accident":
            return Answer(key, None, "its worker died, again and again")
        figures = {"value": float(self.players.number[key]), "performed_by": "speech"} if word == "done" else {}
        reason = "" if word == "done" else f"it is {word}"
        result = {"status": word, "reason": reason, "figures": figures, "performance": None, "seconds": 1.0, "worker": "w"}
        return Answer(key, result | {"report": "a traceback" if word == "failed" else ""})

    def overdue(self, seconds: float) -> list[str]:
        late, self.late = self.late, []
        return late

    def close(self) -> None:
        pass


def conducted(
    path: Path, script: Callable[[int, int], str], *, absent: int = 0, most: float = float("inf")
) -> tuple[Players, Batch]:
    plan = read_plan(path)
    players = Players(plan, script)
    players.absent = absent
    return players, run_batch(plan, path.parent / "out", players, plots=False, monitor=Counting(most))


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((path.parent / "out" / "results.csv").read_text().splitlines()))


@pytest.fixture
def path(planned: Planned) -> Path:
    return planned((MEASURED, "retries: 2\nmeasure: [value]"))


def test_a_plan_is_carried_out_once_and_never_again(path: Path) -> None:
    players, batch = conducted(path, lambda number, attempt: "done")
    assert set(players.attempts.values()) == {1}
    assert [row["value"] for row in rows(path)] == [f"{k}.0" for k in range(12)], "rows in the plan's order, whoever was first"
    assert batch.exit_code == 0
    again, batch = conducted(path, lambda number, attempt: "failed")
    assert not again.attempts
    assert again.connections == 0
    assert batch.summary["done_before"] == 12
    assert batch.exit_code == 0


def test_the_table_says_who_was_chosen(planned: Planned) -> None:
    path = planned(("performers: [speech]\n", ""), (MEASURED, "measure: [value]"))
    conducted(path, lambda number, attempt: "done" if number else "refused")
    assert [row["performer"] for row in rows(path)] == ["", *["speech"] * 11]


def test_a_plan_with_an_option_that_nobody_has_writes_nothing(planned: Planned, capsys: pytest.CaptureFixture[str]) -> None:
    path = planned(("performers: [speech]", "options: {acelleration: 3}"))
    assert _run(["batch", str(path), "-o", str(path.parent / "out")]) == 2
    assert "did you mean acceleration" in capsys.readouterr().err
    assert not (path.parent / "out").exists()


def test_listing_writes_nothing(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = path.parent / "out"
    for make in (False, True):
        if make:
            out.mkdir()
        assert _run(["batch", str(path), "-o", str(out), "--list"]) == 0
        assert capsys.readouterr().err.count(" to do ") == 12
        assert out.exists() == make
        assert not make or not list(out.iterdir())
    conducted(path, lambda number, attempt: "done" if number < 5 else "failed")
    failures = [json.loads(file.read_text()) for file in (path.parent / "out" / "failed").iterdir()]
    assert len(failures) == 7
    assert {one["report"] for one in failures} == {"a traceback"}
    assert _run(["batch", str(path), "-o", str(out), "--list"]) == 0
    assert capsys.readouterr().err.count(" done ") == 5


def test_a_figure_that_no_run_has_is_told_after_the_first(planned: Planned) -> None:
    path = planned((MEASURED, "retries: 0\nmeasure: [valeu, tempo, value]"))
    plan = read_plan(path)
    told: list[tuple[int, str]] = []
    players = Players(plan, lambda number, attempt: "refused" if sum(players.attempts.values()) == 1 else "done")
    batch = run_batch(
        plan, path.parent / "out", players, plots=False, note=lambda words: told.append((sum(players.attempts.values()), words))
    )
    assert told == [(2, "the first run has no figure 'valeu'; did you mean value? known: performed_by, value")], (
        "no column of the plan"
    )
    assert batch.summary["done"] == 11
    assert batch.summary["unknown_figures"] == ["valeu"]
    assert batch.exit_code == 1


def test_done_runs_without_a_measured_figure_are_not_well(planned: Planned) -> None:
    _, batch = conducted(planned((MEASURED, "measure: [valeu]")), lambda number, attempt: "done")
    assert set(batch.table.column("status")) == {"done"}
    assert batch.exit_code == 1


def test_one_failure_stops_nobody(path: Path) -> None:
    words = {3: "failed", 5: "refused", 7: "timeout", 8: "accident", 9: "late"}
    players, batch = conducted(path, lambda number, attempt: words.get(number, "done"))
    assert [row["status"] for row in rows(path)] == [
        {3: "failed", 5: "refused", 7: "timeout", 8: "failed", 9: "timeout"}.get(k, "done") for k in range(12)
    ]
    tries = {players.number[key]: count for key, count in players.attempts.items()}
    assert [tries[k] for k in (3, 5, 7, 8, 9, 0)] == [3, 1, 1, 3, 1, 1], "accidents twice more, what is the same every time once"
    assert rows(path)[8]["reason"] == "its worker died, again and again"
    assert batch.exit_code == 1
    again, batch = conducted(path, lambda number, attempt: "done")
    assert sorted(again.number[key] for key in again.attempts) == [3, 7, 8, 9], "failures are tried again, refusals are not"
    assert [row["status"] for row in rows(path)].count("done") == 11
    assert not list((path.parent / "out" / "failed").iterdir())


def test_an_accident_that_passes_leaves_no_trace(path: Path) -> None:
    players, batch = conducted(path, lambda number, attempt: "accident" if attempt < 3 else "done")
    assert batch.exit_code == 0
    assert set(players.attempts.values()) == {3}


def test_a_lost_scheduler_is_waited_for_and_asked_again(path: Path) -> None:
    players, batch = conducted(path, lambda number, attempt: "lost" if number == 6 and attempt == 1 else "done", absent=2)
    assert players.connections == 2
    assert batch.exit_code == 0
    assert batch.summary["done"] == 12


def test_cancelling_keeps_what_is_done(path: Path) -> None:
    _, batch = conducted(path, lambda number, attempt: "done", most=5)
    assert batch.exit_code == 130
    states = [row["status"] for row in rows(path)]
    assert states.count("done") == 5
    assert states.count("not run") == 7
    players, batch = conducted(path, lambda number, attempt: "done")
    assert len(players.attempts) == 7
    assert batch.exit_code == 0


@pytest.mark.parametrize(("takes", "times"), [(0.0, 6), (1.0, 2)])
def test_a_long_table_is_written_less_often(path: Path, monkeypatch: pytest.MonkeyPatch, takes: float, times: int) -> None:
    """Twelve runs of three seconds: every second one a table that takes no time, one that takes a second after twenty."""

    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    clock, written = Clock(), []
    monkeypatch.setattr(conducting, "time", clock)

    def done(number: int, attempt: int) -> str:
        clock.now += 3.0
        return "done"

    def write() -> None:
        written.append(clock.now)
        clock.now += takes

    plan = read_plan(path)
    store = Store(path.parent / "out")
    conducting.carry_out_plan(plan, store, Players(plan, done), monitor=Counting(), now_and_then=write)
    assert len(written) == times, written
