"""The curve editor: keys stand on the curve, and where they are dropped is what is meant."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.character import Body, Character, Joint, Motor
from bunraku.editing.keys import Keys, moved
from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.studio.widgets.curves import curves, curves_view

NAMES = tuple(f"j{k}" for k in range(10))
ROBOT = Character(
    name="c",
    bodies=tuple(Body(name=f"b{name}") for name in NAMES),
    joints=tuple(
        Joint(
            name=name,
            kind="slide" if k == 9 else "hinge",
            parent=f"bj{k - 1}" if k else "world",
            child=f"b{name}",
            range=(-1.2, 1.2),
        )
        for k, name in enumerate(NAMES)
    ),
    motors=(Motor(name="m", coordinate="j0", range=(-0.9, 2.0)),),
    home={"j1": 0.25},
)
T = np.arange(2001) / 200.0
WISH = JointCurves(
    NAMES, 200.0, np.column_stack([np.sin((1 + k) * T) * (0.2 + 0.1 * k) + 0.05 * np.sin(40 * T) for k in range(10)])
)
DONE = JointCurves(NAMES, 100.0, 0.9 * WISH.values[::2])


def points(path: str) -> np.ndarray:
    return np.array([[float(part) for part in pair.split()] for pair in re.split("[ML]", path) if pair])


def test_keys_stand_where_they_map_back_to(read):
    view = curves_view(ROBOT, WISH, ("j0", "j3"), performed=DONE)
    seen = read(curves(view, WISH, DONE, time=2.0))
    for row in view.rows:
        assert row.keys is not None
        for index, sample in enumerate(row.keys.samples):
            (circle,) = seen.sending("keys.move", joint=row.name, key=index)
            time, value = view.place(row.name, float(circle.get("cx", "")), float(circle.get("cy", "")))
            assert time == pytest.approx(sample / 200.0, abs=0.01 * 10 / 264)
            assert value == pytest.approx(WISH.column(row.name)[sample], abs=0.01 * (row.high - row.low) / 60)
            assert circle.get("data-click") == "keys.select"


@given(st.floats(0.0, 10.0), st.floats(-2.0, 2.0))
def test_place_is_the_inverse_of_the_scales(time, value):
    view = curves_view(ROBOT, WISH, ("j2",), keys={"j2": Keys((0, 2000), 200.0)})
    row = view.rows[0]
    inside = min(max(value, row.value(row.top + row.height)), row.value(row.top))
    assert view.place("j2", view.scale.x(time), row.y(inside)) == (pytest.approx(time, abs=1e-9), pytest.approx(inside, abs=1e-9))
    with pytest.raises(BadInput, match="not shown"):
        view.place("j7", 0.0, 0.0)


def test_curves_are_drawn_with_their_extremes_and_few_points(read):
    view = curves_view(ROBOT, WISH, ("j4",), performed=DONE)
    seen = read(curves(view, WISH, DONE))
    for class_, curve in (("wished", WISH), ("performed", DONE)):
        (path,) = seen.named("path", class_)
        xy = points(path.get("d", ""))
        assert len(xy) <= 400
        row = view.rows[0]
        assert row.value(xy[:, 1].min()) == pytest.approx(curve.column("j4").max(), abs=2e-3)
        assert row.value(xy[:, 1].max()) == pytest.approx(curve.column("j4").min(), abs=2e-3)


def test_many_rows_stay_small(read):
    view = curves_view(ROBOT, WISH, NAMES, performed=DONE, width=900.0)
    assert len(view.rows) == 5
    seen = read(curves(view, WISH, DONE))
    assert sum(len(points(path.get("d", ""))) for path in seen.named("path")) <= 1600


def test_a_dragged_key_is_under_the_hand_while_the_picture_stands(read):
    view = curves_view(ROBOT, WISH, ("j4",))
    keys = view.rows[0].keys
    assert keys is not None
    before = keys.samples[3]
    there = (before + keys.samples[4]) // 2
    new = moved(WISH, "j4", keys, 3, there / 200.0, 0.7)
    (circle,) = read(curves(view, new, dragged=("j4", 3, there / 200.0))).sending("keys.move", key=3)
    time, value = view.place("j4", float(circle.get("cx", "")), float(circle.get("cy", "")))
    assert time == pytest.approx(there / 200.0, abs=1e-3)
    assert value == pytest.approx(0.7, abs=1e-2)


def test_limits_are_bands_where_the_curve_comes_near_them():
    assert curves_view(ROBOT, WISH, ("j0",)).rows[0].limits == (-0.9, 1.2)
    near = curves_view(ROBOT, WISH, ("j9",)).rows[0]
    assert near.low < -1.2 < 1.2 < near.high
    assert near.unit == "m"
    assert curves_view(ROBOT, WISH, ("j0",)).rows[0].low > -0.9


def test_still_joints_do_not_drag_and_say_so(read):
    view = curves_view(ROBOT, WISH, ("j0", "j1", "j2"))
    seen = read(curves(view, WISH, muted=("j1",), locked=("j2",), selected=("j0", 1)))
    assert seen.sending("keys.move", joint="j0")
    assert not seen.sending("keys.move", joint="j1")
    assert not seen.sending("keys.move", joint="j2")
    for event, joint in (("joint.mute", "j1"), ("joint.lock", "j2")):
        pressed = {one.get("data-joint"): one.get("aria-pressed") for one in seen.sending(event)}
        assert [name for name, state in pressed.items() if state == "true"] == [joint]
    assert "it stays at home, 14.3°" in seen.words
    assert seen.sending("keys.remove", joint="j0", key=1)
    assert not seen.sending("keys.remove", joint="j1")
    assert len(seen.sending("keys.add")) == 3
    assert {one.get("data-name") for one in seen.sending("select", kind="joint")} == {"j0", "j1", "j2"}


def test_the_joints_that_move_most_are_chosen_and_nothing_is_said_to_be_nothing(read):
    assert [row.name for row in curves_view(ROBOT, WISH).rows] == ["j7", "j8", "j9"]
    nothing = JointCurves((), 10.0, np.zeros((3, 0)))
    assert "no joint curves" in read(curves(curves_view(ROBOT, nothing), nothing)).words
    one = JointCurves(("j0",), 10.0, np.zeros((1, 1)))
    assert not read(curves(curves_view(ROBOT, one), one)).sending("keys.move")


def test_names_stay_names(read, hostile):
    wish = JointCurves((hostile,), 10.0, np.sin(np.arange(30.0))[:, None])
    seen = read(curves(curves_view(ROBOT, wish), wish, muted=(hostile,)))
    assert not seen.named("script")
    assert not seen.named("img")
