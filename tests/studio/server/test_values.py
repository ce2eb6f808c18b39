"""Every value from a browser is checked against the range of its own widget, whatever page sends it."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlencode

import pytest

from bunraku.studio.server.values import fits

HUGE = (1e18, -1e18, math.inf, -math.inf, math.nan, 10**30)
ODD = ("5", "1e18", None, True, [1.0], {"value": 1.0}, b"\x01", "")


@pytest.fixture(scope="module")
def widgets(ours: Any) -> dict[str, Any]:
    gui = ours.viser.gui
    return {
        "slider": gui.add_slider("Slider", -2.0, 3.0, 0.5, 1.0),
        "steps": gui.add_slider("Steps", 0, 10, 1, 5),
        "number": gui.add_number("Bounded", 1.0, min=0.0, max=2.0, step=0.1),
        "free": gui.add_number("Free", 1.0, step=0.1),
        "whole": gui.add_number("Whole", 4, min=1, max=8),
        "choice": gui.add_dropdown("Choice", ("left", "right")),
        "box": gui.add_checkbox("Box", False),
        "text": gui.add_text("Text", "a"),
        "group": gui.add_button_group("", ("Undo", "Redo")),
        "off": gui.add_slider("Off", 0.0, 1.0, 0.1, 0.5, disabled=True),
        "bar": gui.add_progress_bar(0.0),
        "button": gui.add_button("Other button"),
    }


GOOD = {
    "slider": (-2.0, 3, 0.5),
    "steps": (0, 10, 3.0),
    "number": (0.0, 2, 1.5),
    "free": (-1e6, 0.25, 1e6),
    "whole": (1, 8),
    "choice": ("right", "left"),
    "box": (True, False),
    "text": ("words", ""),
    "group": ("Redo",),
    "button": (True,),
    "off": (),
    "bar": (),
}
BAD = {
    "slider": (*HUGE, *ODD, 3.6, -2.6),
    "steps": (*HUGE, *ODD, 11, -1, 2.5),
    "number": (*HUGE, *ODD, 2.2, -0.2),
    "free": (*HUGE, *ODD),
    "whole": (*HUGE, *ODD, 0, 9, 2.5),
    "choice": (*HUGE, *ODD, "up"),
    "box": (*HUGE, "5", None, 1, 0.0, [True]),
    "text": (*HUGE, None, True, 1, ["a"], b"a"),
    "group": (*HUGE, *ODD, "Save"),
    "button": (*HUGE, "5", None, 1),
    "off": (0.6, 1e18),
    "bar": (50.0, 1e18),
}


def test_every_kind_of_widget_has_a_range(widgets: dict[str, Any]) -> None:
    assert set(GOOD) == set(BAD) == set(widgets)
    for name, widget in widgets.items():
        assert [value for value in GOOD[name] if not fits(widget, value)] == [], name
        assert [value for value in BAD[name] if fits(widget, value)] == [], name
    assert not fits(None, 1.0)


def test_what_does_not_fit_never_arrives(ours: Any, say: Any, widgets: dict[str, Any]) -> None:
    """Over the wire: the value stays, no callback runs, and the next good value is taken."""
    heard: list[Any] = []
    for widget in widgets.values():
        if hasattr(widget, "on_update"):
            widget.on_update(lambda event: heard.append(event.target.value))
    before = {name: getattr(widget, "value", None) for name, widget in widgets.items()}
    with ours.socket() as client:
        for name, values in BAD.items():
            for value in values:
                if value == 10**30:
                    continue  # no number of the wire's
                say(client, type="GuiUpdateMessage", uuid=widgets[name]._impl.uuid, updates={"value": value})
        assert ours.press(client)
        assert {name: getattr(widget, "value", None) for name, widget in widgets.items()} == before
        assert heard == []
        say(client, type="GuiUpdateMessage", uuid=widgets["slider"]._impl.uuid, updates={"value": 2.5})
        assert ours.press(client)
    assert widgets["slider"].value == 2.5


def test_a_page_may_round_the_end_of_a_slider(ours: Any) -> None:
    slider = ours.viser.gui.add_slider("Forward", -0.66666, 0.66666, 0.005, 0.0)
    assert fits(slider, round(0.66666, slider.precision))
    assert not fits(slider, 0.66666 + 10.0**-slider.precision)


@pytest.mark.parametrize("place", [[1e18, 0.0, 0.0], [0.0, math.nan, 0.0], [0.0, 0.0], ["0", 0.0, 0.0], [0.0, 0.0, -1001.0]])
@pytest.mark.parametrize("turn", [[1.0, 0.0, 0.0, 0.0], [1e18, 0.0, 0.0, 0.0]])
def test_a_gizmo_stays_within_its_limits(ours: Any, say: Any, place: list[Any], turn: list[float]) -> None:
    gizmo = ours.viser.scene.add_transform_controls("/gizmo")
    message = {"type": "TransformControlsUpdateMessage", "name": "/gizmo", "owner": ""}
    with ours.socket() as client:
        say(client, **message, wxyz=turn, position=place)
        say(client, **message, wxyz=[1e18, 0.0, 0.0, 0.0], position=[0.5, 0.0, 0.0])
        assert ours.press(client)
        assert tuple(gizmo.position) == (0.0, 0.0, 0.0)
        assert tuple(gizmo.wxyz) == (1.0, 0.0, 0.0, 0.0)
        say(client, **message, wxyz=[0.0, 1.0, 0.0, 0.0], position=[0.5, 0.0, 1.0])
        assert ours.press(client)
    assert tuple(gizmo.position) == (0.5, 0.0, 1.0)
    gizmo.remove()


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e18", "1_0", "0x10", "", "one", "9" * 60, "١"])
@pytest.mark.parametrize("field", ["x", "t", "index"])
def test_numbers_of_events_are_numbers(ours: Any, number: str, field: str) -> None:
    asked = {"x": "1.5", "y": "2", "t": "0.25", "index": "3", "name": "nan"}
    heard: list[dict[str, str]] = []
    ours.studio.on_event("test.number", heard.append)
    assert ours.get(f"{ours.path}event/test.number?{urlencode(asked | {field: number})}")[0] == 400
    assert ours.get(f"{ours.path}event/test.number?{urlencode(asked)}")[0] == 204
    assert ours.studio.wait_idle(10.0)
    assert all(fields == asked for fields in heard)
    assert heard
