"""A drag is one step of the history, however late its values come; another grip is another step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.ui import Hand
from bunraku.studio.session import Session

GOAL = "gait.goal"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path / "project")
    made.do("open.example", name="walker-crawl")
    yield made
    made.close()


def drag_of(session: Session) -> tuple[Drag, Hand]:
    ui: Any = SimpleNamespace(session=session, hand=Hand(), act=lambda function, key: function())
    return Drag(ui, "slider", GOAL), ui.hand


def forward(session: Session) -> float:
    return cast(Any, session.document.clip).gait.distance[0]


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_value_that_comes_late_amends_the_step(session: Session) -> None:
    drag, hand = drag_of(session)
    steps, before = session.history.at, session.document
    hand.take()
    drag.move({"forward": 0.07})
    hand.let()
    until(lambda: session.history.at == steps + 1)
    drag.move({"forward": 0.08})
    until(lambda: forward(session) == pytest.approx(0.08))
    assert session.history.at == steps + 1
    session.undo()
    assert session.document == before


def test_what_is_taken_again_is_another_step(session: Session) -> None:
    drag, hand = drag_of(session)
    steps = session.history.at
    for count, way in enumerate((0.07, 0.08), 1):
        hand.take()
        drag.move({"forward": way})
        hand.let()
        until(lambda count=count: session.history.at == steps + count)  # type: ignore[misc]
    session.undo()
    assert forward(session) == pytest.approx(0.07)


def test_a_late_value_after_another_edit_is_a_step_of_its_own(session: Session) -> None:
    drag, hand = drag_of(session)
    steps = session.history.at
    hand.take()
    drag.move({"forward": 0.07})
    hand.let()
    until(lambda: session.history.at == steps + 1)
    session.do(GOAL, forward=0.05)
    drag.move({"forward": 0.08})
    until(lambda: session.history.at == steps + 3)
    assert forward(session) == pytest.approx(0.08)


def test_an_amended_step_survives_a_crash(session: Session) -> None:
    session.do(GOAL, forward=0.07)
    session.amend(GOAL, forward=0.09)
    kept, steps = session.document, session.history.at
    session.close()
    again = Session(session.project.folder)
    try:
        assert again.document == kept
        assert again.history.at == steps
    finally:
        again.close()
