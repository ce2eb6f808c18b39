"""Footfalls edited by hand: cells toggled, ends of swings dragged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.gait.edit import CELLS, cells_in_air, foot_rows, moved_swing, toggled
from bunraku.gait.patterns import PATTERNS, footfalls
from bunraku.motion import Gait, Swing

WALKER = read_character("walker")
FEET = ("LF", "RF", "LH", "RH")


def air(gait: Gait) -> dict[str, list[bool]]:
    """Which cells each foot is in the air in."""
    return {row.name: cells_in_air(row.swings, CELLS, gait.periodic).tolist() for row in foot_rows(WALKER, gait)}


GAITS = st.builds(
    lambda pattern, periodic, cycles: Gait(1.2, pattern, periodic=periodic, cycles=cycles),
    st.sampled_from(PATTERNS),
    st.booleans(),
    st.integers(1, 3),
)
CELL = st.integers(0, CELLS - 1)


@settings(max_examples=40, deadline=None)
@given(GAITS, st.lists(st.tuples(st.sampled_from(FEET), CELL), max_size=4), st.sampled_from(FEET), CELL)
def test_a_toggle_changes_that_cell_and_no_other(gait, before, foot, cell):
    for other, at in before:
        try:
            gait = toggled(WALKER, gait, other, at)
        except BadInput:
            assume(False)
    try:
        once = toggled(WALKER, gait, foot, cell)
    except BadInput:
        return
    old, new = air(gait), air(once)
    old[foot][cell] = not old[foot][cell]
    assert new == old


@settings(max_examples=40, deadline=None)
@given(GAITS, st.sampled_from(FEET), CELL)
def test_toggled_twice_every_cell_is_as_before(gait, foot, cell):
    try:
        again = toggled(WALKER, toggled(WALKER, gait, foot, cell), foot, cell)
    except BadInput:
        return
    assert air(again) == air(gait)


@settings(max_examples=40, deadline=None)
@given(GAITS, st.sampled_from(FEET), CELL)
def test_other_feet_keep_their_swings_to_the_last_bit(gait, foot, cell):
    try:
        once = toggled(WALKER, gait, foot, cell)
    except BadInput:
        return
    old, new = ({row.name: row.swings for row in foot_rows(WALKER, one) if row.name != foot} for one in (gait, once))
    assert new == old


def test_a_swing_is_created_lengthened_joined_and_split():
    gait = toggled(WALKER, Gait(1.0, "roll"), "LF", 4)
    assert gait.pattern == "custom"
    assert [(s.effector, s.start, s.end) for s in gait.swings] == [("LF", pytest.approx(4 / 24), pytest.approx(5 / 24))]
    gait = toggled(WALKER, gait, "LF", 6)
    assert len(gait.swings) == 2
    gait = toggled(WALKER, gait, "LF", 5)
    assert [(s.start, s.end) for s in gait.swings] == [(pytest.approx(4 / 24), pytest.approx(7 / 24))]
    assert len(toggled(WALKER, gait, "LF", 5).swings) == 2
    assert [(s.start, s.end) for s in toggled(WALKER, gait, "LF", 4).swings] == [(pytest.approx(5 / 24), pytest.approx(7 / 24))]


def test_a_swing_over_the_end_of_the_cycle_is_one():
    gait = toggled(WALKER, toggled(WALKER, Gait(1.0, "roll"), "RF", 23), "RF", 0)
    assert [(s.start, s.end) for s in gait.swings] == [(pytest.approx(23 / 24), pytest.approx(25 / 24))]
    apart = toggled(WALKER, toggled(WALKER, Gait(1.0, "roll", periodic=False), "RF", 23), "RF", 0)
    assert len(apart.swings) == 2


@pytest.mark.parametrize("pattern", ["crawl", "trot", "bound"])
def test_a_foot_put_down_in_all_its_cells_has_no_swing_left(pattern):
    gait = Gait(1.0, pattern)
    for cell in np.flatnonzero(air(gait)["LF"]):
        gait = toggled(WALKER, gait, "LF", int(cell))
    assert next(row.swings for row in foot_rows(WALKER, gait) if row.name == "LF") == ()


def test_everything_on_the_ground_is_the_pattern_roll():
    gait = Gait(1.0, "custom", swings=(Swing("LF", 4 / 24, 5 / 24),))
    assert toggled(WALKER, gait, "LF", 4) == Gait(1.0, "roll")


def test_a_named_pattern_with_an_own_share_in_the_air_becomes_custom():
    gait = toggled(WALKER, Gait(1.0, "trot", air=0.2), "LF", 20)
    assert (gait.pattern, gait.air) == ("custom", None)


def test_what_no_body_can_do_is_refused():
    gait = Gait(1.0, "custom", swings=tuple(Swing(foot, 4 / 24, 5 / 24) for foot in FEET[:3]))
    with pytest.raises(BadInput, match="keep at least one on the ground"):
        toggled(WALKER, gait, "RH", 4)
    assert toggled(WALKER, gait, "RH", 4, flight=True).pattern == "custom"
    with pytest.raises(BadInput, match="there is no foot 'tail'"):
        toggled(WALKER, gait, "tail", 4)
    with pytest.raises(BadInput, match="cell 24 of 24"):
        toggled(WALKER, gait, "LF", 24)
    with pytest.raises(BadInput, match="best"):
        toggled(WALKER, Gait(1.0, "best"), "LF", 2)


def test_a_foot_never_stays_in_the_air_for_a_whole_cycle():
    gait = Gait(1.0, "custom", swings=(Swing("LF", 1 / 24, 1.0),))
    with pytest.raises(BadInput, match="whole cycle"):
        toggled(WALKER, gait, "LF", 0)


def test_with_symmetry_the_mirrored_foot_follows_half_a_cycle_later():
    gait = toggled(WALKER, Gait(1.0, "roll", symmetric=True), "LF", 3)
    assert {(s.effector, round(24 * s.start)) for s in gait.swings} == {("LF", 3), ("RF", 15)}
    longer = moved_swing(WALKER, gait, "LF", 0, "end", 6 / 24)
    assert {(s.effector, round(24 * s.end)) for s in longer.swings} == {("LF", 6), ("RF", 18)}


def test_wheels_on_the_base_are_rows_that_cannot_be_lifted(tripod):
    rows = foot_rows(tripod, Gait(1.0, "crawl"))
    assert [row.name for row in rows if not row.clickable] == [tripod.end_effectors[3].name]
    with pytest.raises(BadInput, match="never leaves the ground"):
        toggled(tripod, Gait(1.0, "crawl"), tripod.end_effectors[3].name, 0)


def test_end_effectors_of_one_foot_are_one_row_as_long_as_they_swing_together(skater):
    rows = foot_rows(skater, Gait(1.0, "trot"))
    assert len(rows) == 4
    assert all(len(row.effectors) == 2 for row in rows)
    lifted = toggled(skater, Gait(1.0, "roll"), rows[0].name, 5)
    assert len(lifted.swings) == 2
    alone = Gait(1.0, "custom", swings=(Swing(skater.end_effectors[0].name, 0.1, 0.3),))
    assert len(foot_rows(skater, alone)) == 5


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(["crawl", "trot", "pace"]),
    st.booleans(),
    st.sampled_from(FEET),
    st.sampled_from(["start", "end"]),
    st.floats(-0.2, 1.2),
)
def test_a_dragged_end_arrives_or_stops_before_its_neighbours(pattern, periodic, foot, end, phase):
    gait = Gait(1.0, pattern, periodic=periodic, cycles=2)
    try:
        new = moved_swing(WALKER, gait, foot, 0, end, phase)
    except BadInput:
        return
    (a, b), *_ = next(row.swings for row in foot_rows(WALKER, gait) if row.name == foot)
    swings = next(row.swings for row in foot_rows(WALKER, new) if row.name == foot)
    kept = b if end == "start" else a
    nearest = min(abs((kept - part + 0.5) % 1.0 - 0.5) for one in swings for part in one)
    assert nearest < 1e-9
    for start, stop in swings:
        assert 0.0 <= start < 1.0
        assert stop - start >= 0.5 / CELLS - 1e-9
        assert periodic or stop <= 1.0
    footfalls(WALKER, new)


def test_an_end_goes_exactly_where_it_is_dragged():
    gait = Gait(1.0, "crawl")
    (a, b) = next(row.swings for row in foot_rows(WALKER, gait) if row.name == "LF")[0]
    new = moved_swing(WALKER, gait, "LF", 0, "end", b + 0.05)
    assert next(row.swings for row in foot_rows(WALKER, new) if row.name == "LF")[0] == (a, pytest.approx(b + 0.05, abs=1e-12))
    shortest = moved_swing(WALKER, gait, "LF", 0, "end", a - 0.1)
    (c, d) = next(row.swings for row in foot_rows(WALKER, shortest) if row.name == "LF")[0]
    assert d - c == pytest.approx(0.5 / CELLS)


def test_no_swing_that_is_not_there_is_dragged():
    with pytest.raises(BadInput, match="swing 3 of 'LF'"):
        moved_swing(WALKER, Gait(1.0, "crawl"), "LF", 3, "end", 0.5)
    with pytest.raises(BadInput, match="phase"):
        moved_swing(WALKER, Gait(1.0, "crawl"), "LF", 0, "end", np.nan)
