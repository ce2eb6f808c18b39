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
from bunraku.studio.page.design import DesignTab
from bunraku.studio.page.dragging import REST, Drag
from bunraku.studio.session import Session
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


def widget(studio: Studio, label: str) -> Any:
    """The newest widget of a label."""
    handles = studio.server.viser.gui._gui_input_handle_from_uuid.values()
    return [one for one in handles if getattr(one, "label", "") == label][-1]


def touch(studio: Studio, handle: Any, value: Any = None) -> None:
    """A browser changes a widget, or presses a button."""
    if value is not None:
        handle._impl.value = value
    for act in handle._impl.update_cb:
        asyncio.run(act(SimpleNamespace(client=SimpleNamespace(), target=handle)))
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


def test_a_slider_moved_just_before_another_example_stays_where_it_was_moved(studio: Studio) -> None:
    touch(studio, widget(studio, "Forward [m]"), 0.09)
    studio.page.ui.hand.take()  # some browser holds a slider, so that nothing rests
    touch(studio, widget(studio, "swizzlebot"))
    studio.page.ui.hand.let()
    rest(studio)
    assert forward(studio) == pytest.approx(0.5)
    studio.session.undo()
    assert forward(studio) == pytest.approx(0.09)


def test_a_drag_whose_end_comes_after_an_opening_changes_nothing(studio: Studio) -> None:
    drag = Drag(studio.page.ui, "gizmo", "gait.goal")
    drag.move({"forward": 0.09}, rests=False)
    studio.session.do("open.example", name="swizzlebot")
    drag.move({"forward": 0.1}, rests=False)
    drag.move({"forward": 0.11}, rests=False)
    drag.end({"forward": 0.11})
    assert forward(studio) == pytest.approx(0.5)
    assert studio.session.previewed is studio.session.document
    drag.move({"forward": 0.4}, rests=False)  # another drag
    drag.end({"forward": 0.4})
    assert forward(studio) == pytest.approx(0.4)


def test_a_slider_of_what_was_closed_moves_nothing(studio: Studio) -> None:
    slider = widget(studio, "Forward [m]")
    studio.session.do("open.example", name="swizzlebot")
    touch(studio, slider, 0.09)
    rest(studio)
    assert forward(studio) == pytest.approx(0.5)


def test_a_slider_that_was_let_go_is_an_edit_though_the_browser_closes(studio: Studio) -> None:
    slide(studio, 0.08)
    studio.page._left_alone(None)
    assert studio.page.settle(60.0)
    assert forward(studio) == pytest.approx(0.08)


def test_a_dimension_survives_another_motor(studio: Studio) -> None:
    tab = next(one for one in studio.page._panels if isinstance(one, DesignTab))
    who = studio.session.document.need_character()
    motor = who.motors[0]
    child = next(one.child for one in who.joints if motor.coordinate in {axis.name for axis in one.axes})
    studio.session.select(body=child)
    assert studio.page.settle(60.0)
    slider = next(iter(tab._sliders.values()))
    servo = widget(studio, "Motor")
    steps = studio.session.history.at
    touch(studio, slider, slider.value + 1.0)
    touch(studio, servo, next(name for name in servo.options if name != servo.value))
    assert [one.name for one in studio.session.history.edits[steps:]] == ["dimension.set", "component.servo"]


def test_the_end_of_the_studio_loses_no_slider(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tour=False)
    studio.session.do("open.example", name="walker-crawl")
    assert studio.page.settle(60.0)
    slide(studio, 0.08)
    studio.close()
    again = Session(tmp_path)
    try:
        assert cast(Any, again.document.clip).gait.distance[0] == pytest.approx(0.08)
    finally:
        again.close()
