"""The user's acts and what the page shows by itself meet: neither breaks the other."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bunraku.studio.page import timeline as timeline_module
from bunraku.studio.page.gallery import TOUR, add_tour
from bunraku.studio.session import Session
from bunraku.studio.studio import Studio
from bunraku.studio.widgets.plots import PlotData, Series


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path / "project", tour=False)
    assert studio.page.settle(60.0)
    yield studio
    studio.close()


def test_a_motor_is_chosen_while_results_come(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads draw the motors' plot: no error, and one plot."""
    times = np.linspace(0.0, 1.0, 5)

    def curves(performance: Any, names: tuple[str, ...]) -> PlotData:
        return PlotData(times, (Series(names[0], names[0], "after", times),), "rad")

    found = SimpleNamespace(performance=object(), key="k")
    monkeypatch.setattr(Session, "timed", property(lambda self: found))
    monkeypatch.setattr(timeline_module, "motors", curves)
    monkeypatch.setattr(timeline_module, "motor_names", lambda performance, most: ("a", "b"))
    panel, troubles = studio.page.timeline, list[Exception]()
    begin = threading.Barrier(2)

    def draw(act: Any) -> None:
        begin.wait()
        for k in range(150):
            try:
                act(k)
            except Exception as error:
                troubles.append(error)

    def shown(k: int) -> None:
        with studio.page.ui.drawing:
            panel._plot(found)

    threads = [
        threading.Thread(target=draw, args=(lambda k: panel._draw_motors(f"m{k}"),)),
        threading.Thread(target=draw, args=(shown,)),
    ]
    pace = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the threads change all the time
    try:
        for one in threads:
            one.start()
        for one in threads:
            one.join(60.0)
    finally:
        sys.setswitchinterval(pace)
    assert troubles == []
    assert len(panel._motors._holder._children) == 1


def test_two_presses_of_next_are_one_step_of_the_tour(studio: Studio) -> None:
    ui = studio.page.ui
    gui = studio.server.viser.gui
    add_tour(ui)
    first = dict(gui._modal_handle_from_uuid)
    assert len(first) == 1
    (modal,) = first.values()
    following = next(one for one in modal._children.values() if getattr(one, "label", "") == "Next")
    skip = next(one for one in modal._children.values() if getattr(one, "label", "") == "Skip the tour")
    for button in (following, following, skip):
        press(studio, button)
    assert studio.page.settle(60.0)
    (modal,) = gui._modal_handle_from_uuid.values()
    assert TOUR[1][1] in [getattr(one, "content", "") for one in modal._children.values()]
    assert not [one.text for one in studio.session.messages.all if one.kind == "error"]


def press(studio: Studio, button: Any) -> None:
    """What viser does when a browser presses a button."""
    import asyncio

    loop = studio.server.viser._websock_server._background_event_loop
    for act in button._impl.update_cb:
        asyncio.run_coroutine_threadsafe(act(SimpleNamespace(client=None, target=button)), loop).result(60.0)
