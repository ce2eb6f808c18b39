"""The time that compiling still takes follows what was measured."""

from __future__ import annotations

import io

import pytest

from bunraku.flow import pace
from bunraku.flow.pace import Pace, rounded, teller
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.warm import GROUPS, KernelGroup


class Clocks:
    """Time and CPU time that a test sets."""

    wall = cpu = 0.0

    def both(self) -> tuple:
        return (lambda: self.wall), (lambda: self.cpu)


@pytest.fixture(autouse=True)
def groups(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("one", 10.0), ("two", 20.0), ("other", 90.0)):
        monkeypatch.setitem(GROUPS, name, KernelGroup(lambda: None, seconds, aside=name == "other", words=f"{name} in words"))


def started(here: list[str], aside: list[str]) -> tuple[Pace, Clocks, list[tuple[float, str]]]:
    clocks, heard = Clocks(), []
    return Pace(here, aside, lambda share, words: heard.append((share, words)), clocks.both()), clocks, heard


def test_a_busy_machine_makes_it_longer_at_once() -> None:
    progress, clocks, _ = started(["one", "two"], [])
    progress.begin("one")
    assert progress.left() == pytest.approx(30.0)
    clocks.wall, clocks.cpu = 20.0, 5.0
    assert progress.left() == pytest.approx(100.0)


def test_a_slow_machine_is_known_by_what_it_has_compiled() -> None:
    progress, clocks, _ = started(["one", "two"], [])
    progress.begin("one")
    clocks.wall = clocks.cpu = 30.0
    progress.begin("two")
    assert progress.left() == pytest.approx(60.0)


def test_what_takes_longer_than_foreseen_is_not_said_to_be_over() -> None:
    progress, clocks, _ = started(["one"], [])
    progress.begin("one")
    clocks.wall = clocks.cpu = 50.0
    assert progress.left() == pytest.approx(5.0)


def test_the_other_process_is_waited_for() -> None:
    progress, clocks, _ = started(["one"], ["other"])
    progress.begin("one")
    clocks.wall, clocks.cpu = 20.0, 10.0
    assert progress.left() == pytest.approx(160.0)
    progress.begin("other")
    clocks.wall = 100.0
    assert progress.left() == pytest.approx(80.0)


def test_reports_name_what_is_compiled_at_most_once_a_second() -> None:
    progress, clocks, heard = started(["one", "two"], [])
    progress.begin("one")
    progress.look()
    assert heard == [(0.0, "about 30 s left: one in words")]
    clocks.wall = clocks.cpu = 10.0
    progress.begin("two")
    assert heard[1:] == [(pytest.approx(1 / 3), "about 20 s left: two in words")]


def test_seconds_are_said_as_people_say_them() -> None:
    assert [rounded(s) for s in (0.0, 3.4, 19.0, 22.0, 98.0)] == [1, 3, 19, 20, 100]


def test_a_monitor_is_told_and_a_terminal_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    class Heard(Monitor):
        def __init__(self) -> None:
            self.events: list[Event] = []

        cancelled = False

        def report(self, event: Event) -> None:
            self.events.append(event)

    screen = Screen()
    monkeypatch.setattr(pace.sys, "stderr", screen)
    heard = Heard()
    teller(heard)(0.5, "half")
    assert [(event.stage, event.fraction, event.message) for event in heard.events] == [("compiling", 0.5, "half")]
    assert screen.getvalue() == ""
    teller(SILENT)(0.5, "half")
    assert "half" in screen.getvalue()
