"""The queue of events: order, latest wins, errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.studio.server.events import EventQueue


class Held:
    """A queue whose handler waits until it is let go, and what it saw."""

    def __init__(self, limit: int = 1000) -> None:
        self.queue = EventQueue(limit)
        self.go = threading.Event()
        self.busy = threading.Event()
        self.seen: list[tuple[str, str]] = []
        for name in ("a", "b"):
            self.queue.on(name, lambda fields, name=name: self.handle(name, fields))

    def handle(self, name: str, fields: dict[str, str]) -> None:
        self.busy.set()
        self.go.wait(20)
        self.seen.append((name, self._short(fields)))

    @staticmethod
    def _short(fields: dict[str, str]) -> str:
        return fields.get("phase", "") + fields.get("x", "") + fields.get("key", "")

    def finish(self) -> list[tuple[str, str]]:
        self.go.set()
        assert self.queue.wait_idle(20)
        self.queue.close()
        return self.seen


@pytest.fixture
def held() -> Iterator[Held]:
    held = Held()
    held.queue.put("a", {"phase": "start"})
    assert held.busy.wait(20)
    yield held
    held.go.set()
    held.queue.close()


def test_the_latest_move_wins_and_start_and_end_stay(held: Held) -> None:
    for x in range(50):
        held.queue.put("a", {"phase": "move", "x": str(x)})
    held.queue.put("a", {"phase": "end", "x": "50"})
    held.queue.put("a", {"phase": "start", "x": "51"})
    held.queue.put("a", {"phase": "move", "x": "52"})
    seen = [what for _, what in held.finish()]
    assert seen == ["start", "move49", "end50", "start51", "move52"]


def test_moves_of_different_elements_and_clicks_are_kept_apart(held: Held) -> None:
    for x in "12":
        held.queue.put("a", {"phase": "move", "x": x, "key": "p"})
        held.queue.put("a", {"phase": "move", "x": x, "key": "q"})
        held.queue.put("b", {"key": "click"})
    assert held.finish()[1:] == [("b", "click"), ("a", "move2p"), ("a", "move2q"), ("b", "click")]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "start", "move", "end"]), st.sampled_from("pq")), max_size=30)
)
def test_everything_but_moves_arrives_in_order(events: list[tuple[str, str, str]]) -> None:
    held = Held()
    for name, phase, key in events:
        held.queue.put(name, {"key": key} | ({"phase": phase} if phase else {}))
    seen = held.finish()
    asked = [(name, phase + key) for name, phase, key in events]
    assert [event for event in seen if "move" not in event[1]] == [event for event in asked if "move" not in event[1]]
    assert set(seen) == set(asked)


def test_a_handler_that_raises_stops_nothing() -> None:
    queue = EventQueue()
    errors: list[tuple[str, str]] = []
    seen: list[dict[str, str]] = []
    queue.on_error = lambda name, error: errors.append((name, str(error)))

    def broken(fields: dict[str, str]) -> None:
        fields.clear()
        raise ValueError("broken")

    queue.on("a", broken)
    queue.on("a", seen.append)
    queue.put("a", {"x": "1"})
    assert queue.wait_idle(10)
    queue.close()
    assert errors == [("a", "broken")]
    assert seen == [{"x": "1"}]


def test_too_many_events_are_refused_and_a_closed_queue_takes_none(held: Held) -> None:
    held.queue._acts.limit = 3
    taken = [held.queue.put("b", {"key": str(key)}) for key in range(10)]
    assert taken == [True] * 3 + [False] * 7
    assert not held.queue.put("b", {})
    held.finish()
    assert not held.queue.put("b", {})
    assert len(held.seen) == 4


def test_a_handler_may_close_the_queue() -> None:
    queue = EventQueue()
    done = threading.Event()
    queue.on("a", lambda fields: (queue.close(), done.set()))
    queue.put("a", {})
    assert done.wait(10)
