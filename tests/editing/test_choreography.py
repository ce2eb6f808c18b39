"""A choreography edited by hand stays one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.editing.choreography import (
    SHORTEST,
    added_mode,
    moved_accent,
    moved_border,
    removed_mode,
    replaced_mode,
)
from bunraku.errors import BadInput
from bunraku.motion import Accent, Choreography, JointCurves, Mode, Primitive


def primitive(name: str, stroke: float | None = 0.4) -> Primitive:
    return Primitive(name, JointCurves(("a",), 10.0, np.zeros((11, 1))), stroke)


PRIMITIVES = tuple(primitive(name) for name in ("walk", "wave", "bow"))
SHOW = Choreography(6.0, PRIMITIVES, (Mode("walk", 0.0), Mode("wave", 2.0), Mode("bow", 4.0)))
EDIT = st.one_of(
    st.tuples(st.just("border"), st.integers(0, 8), st.floats(-2.0, 9.0)),
    st.tuples(st.just("add"), st.integers(0, 8), st.sampled_from(["walk", "wave", "bow"])),
    st.tuples(st.just("remove"), st.integers(0, 8), st.none()),
    st.tuples(st.just("replace"), st.integers(0, 8), st.sampled_from(["walk", "wave", "bow"])),
)


def edited(show: Choreography, edit: tuple) -> Choreography:
    what, at, value = edit
    match what:
        case "border":
            return moved_border(show, at, value)
        case "add":
            return added_mode(show, value, at)
        case "remove":
            return removed_mode(show, at)
        case _:
            return replaced_mode(show, at, value)


@settings(max_examples=100, deadline=None)
@given(st.lists(EDIT, max_size=12))
def test_whatever_is_done_starts_rise_and_no_mode_is_too_short(edits):
    show = SHOW
    for one in edits:
        try:
            show = edited(show, one)
        except BadInput:
            continue
    starts = [mode.start for mode in show.modes] + [show.duration]
    assert starts[0] == 0.0
    assert min(b - a for a, b in pairwise(starts)) >= SHORTEST - 1e-9


@given(st.integers(1, 2), st.floats(-1.0, 8.0))
def test_a_border_arrives_or_stops_and_moves_no_other(mode, time):
    show = moved_border(SHOW, mode, time)
    low, high = SHOW.modes[mode - 1].start + SHORTEST, (4.0 if mode == 1 else 6.0) - SHORTEST
    assert show.modes[mode].start == pytest.approx(min(max(time, low), high), abs=1e-12)
    assert [m for k, m in enumerate(show.modes) if k != mode] == [m for k, m in enumerate(SHOW.modes) if k != mode]


def test_modes_are_added_where_they_are_asked_for():
    assert [(m.primitive, m.start) for m in added_mode(SHOW, "bow", 1).modes] == [
        ("walk", 0.0),
        ("bow", 1.0),
        ("wave", 2.0),
        ("bow", 4.0),
    ]
    assert [(m.primitive, m.start) for m in added_mode(SHOW, "bow", 0).modes[:2]] == [("bow", 0.0), ("walk", 1.0)]
    new = added_mode(SHOW, primitive("jump"), 3)
    assert new.modes[-1] == Mode("jump", 5.0)
    assert new.primitive("jump").name == "jump"


def test_removing_gives_the_time_to_the_one_before():
    assert removed_mode(SHOW, 1).modes == (Mode("walk", 0.0), Mode("bow", 4.0))
    assert removed_mode(SHOW, 0).modes == (Mode("wave", 0.0), Mode("bow", 4.0))


@given(st.integers(0, 3), st.sampled_from(["walk", "bow"]))
def test_what_was_added_and_removed_was_never_there(at, name):
    show = removed_mode(added_mode(SHOW, name, at), at)
    if at:
        assert show == SHOW
    else:
        assert [m.primitive for m in show.modes] == [m.primitive for m in SHOW.modes]


def test_a_primitive_is_exchanged_in_place():
    assert replaced_mode(SHOW, 1, "bow").modes[1] == Mode("bow", 2.0)


def test_an_accent_moves_inside_the_show():
    show = replace(SHOW, accents=(Accent(1.5, "wave"), Accent(5.0, "bow")))
    assert [moved_accent(show, 0, time).accents[0].time for time in (-1.0, 3.25, 99.0)] == [0.0, 3.25, 6.0]
    assert moved_accent(show, 0, 3.25).accents[1] == show.accents[1]
    with pytest.raises(BadInput, match="accent 2 of 2"):
        moved_accent(show, 2, 1.0)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("border", 0, 1.0), "the first mode begins"),
        (("border", 1, float("nan")), "finite"),
        (("border", 7, 1.0), "mode 7 of 3"),
        (("add", 9, "walk"), "place 9 of 3"),
        (("replace", 1, "fly"), "no primitive 'fly'"),
        (("remove", -1, None), "mode -1 of 3"),
    ],
)
def test_what_cannot_be_is_refused(edit, said):
    with pytest.raises(BadInput, match=said):
        edited(SHOW, edit)


def test_the_last_mode_and_a_short_one_stay_whole():
    one = Choreography(6.0, PRIMITIVES, (Mode("walk", 0.0),))
    with pytest.raises(BadInput, match="at least one mode"):
        removed_mode(one, 0)
    short = moved_border(SHOW, 1, 0.0)
    with pytest.raises(BadInput, match="longer than"):
        added_mode(short, "bow", 1)
