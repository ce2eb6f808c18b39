"""Sliders rest a moment before they are an edit: what comes meanwhile finds them made, and nothing holds on without a browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bunraku.studio.page.choreograph import ChoreographTab
from bunraku.studio.page.dragging import REST, Drag
from bunraku.studio.studio import Studio


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(Path(tmp_path_factory.mktemp("project")), tour=False)
    yield studio
    studio.close()


@pytest.fixture
def studio(opened: Studio) -> Studio:
    opened.session.do("open.example", name="walker-crawl")
    opened.session.do("gait.goal", forward=0.06)
    assert opened.page.settle(60.0)
    return opened


def slide(studio: Studio, forward: float) -> None:
    """A hand moves the slider of the way forward, and lets it go."""
    drag = Drag(studio.page.ui, "goal forward", "gait.goal")
    studio.page.ui.act(lambda: drag.move({"forward": forward}))
    assert studio.page.settle(60.0)


def rest(studio: Studio) -> None:
    """So long that a slider would be an edit by itself."""
    time.sleep(2.0 * REST)
    assert studio.page.settle(60.0)


def command(studio: Studio, label: str) -> None:
    """A command of the palette, as its key gives it."""
    handles = studio.server.viser.gui._command_handle_from_uuid.values()
    handle: Any = next(one for one in handles if one.label == label)
    for act in handle._impl.trigger_cb:
        asyncio.run(act(SimpleNamespace(client=None)))
    assert studio.page.settle(60.0)


def send(studio: Studio, name: str, **fields: str) -> None:
    """An event of the page."""
    studio.server._events.put(name, fields)
    assert studio.server.wait_idle(60.0)
    assert studio.page.settle(60.0)


def forward(studio: Studio) -> float:
    return cast(Any, studio.session.document.clip).gait.distance[0]


def test_undo_right_after_a_slider_takes_the_slider_back(studio: Studio) -> None:
    steps = studio.session.history.at
    slide(studio, 0.08)
    command(studio, "Undo")
    assert studio.session.history.at == steps
    assert forward(studio) == pytest.approx(0.06)
    rest(studio)
    assert studio.session.history.at == steps  # nothing comes after it
    command(studio, "Redo")
    assert forward(studio) == pytest.approx(0.08)


def test_redo_right_after_a_slider_does_not_forget_the_slider(studio: Studio) -> None:
    steps = studio.session.history.at
    studio.session.undo()
    slide(studio, 0.08)
    command(studio, "Redo")
    rest(studio)
    assert studio.session.history.at == steps
    assert forward(studio) == pytest.approx(0.08)


def test_a_slider_is_saved_and_can_be_left_for_another_step(studio: Studio) -> None:
    steps = studio.session.history.at
    slide(studio, 0.08)
    command(studio, "Save")
    assert not studio.session.dirty
    assert forward(studio) == pytest.approx(0.08)
    slide(studio, 0.09)
    send(studio, "history.jump", index=str(steps))
    rest(studio)
    assert forward(studio) == pytest.approx(0.06)


def test_nothing_comes_of_a_slider_whose_browser_is_gone(studio: Studio) -> None:
    before, hand = studio.session.document, studio.page.ui.hand
    hand.take()
    slide(studio, 0.08)
    assert studio.session.previewed != before
    studio.page._left_alone(None)
    rest(studio)
    assert not hand.holds
    assert not hand.drags
    assert studio.session.document is before
    assert studio.session.previewed is before


def test_a_key_whose_browser_is_gone_is_let_go(studio: Studio) -> None:
    session = studio.session
    session.do("open.example", name="speech")
    assert studio.page.settle(60.0)
    tab = next(one for one in studio.page._panels if isinstance(one, ChoreographTab))
    assert tab._curves_view is not None
    joint = tab._curves_view.rows[0].name
    for phase, x in (("start", "100"), ("move", "140"), ("move", "150")):
        send(studio, "keys.move", phase=phase, x=x, y="20", joint=joint, key="1")
    assert session.previewed is not session.document
    held = tab._curves_view
    studio.page._left_alone(None)
    assert studio.page.settle(60.0)
    assert session.previewed is session.document
    assert tab._curves_view is not held  # it is drawn anew, no longer as the hand had it
