"""Words and phrases edited by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.editing.marks import SHORTEST, moved_border
from bunraku.errors import BadInput
from bunraku.motion import Mark

MARKS = (Mark("I am", 0.5, 1.0, 0.8), Mark("not done yet", 1.0, 2.0), Mark("Yet", 2.5, 3.0, 2.6))
DURATION = 4.0


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["start", "end"]), st.floats(-1.0, 6.0)), max_size=8))
def test_borders_never_cross(edits):
    marks = MARKS
    for index, end, time in edits:
        marks = moved_border(marks, index, end, time, DURATION)
    for mark in marks:
        assert 0.0 <= mark.start <= mark.end - SHORTEST + 1e-12
        assert mark.end <= DURATION
        assert mark.stroke is None or mark.start <= mark.stroke <= mark.end
    assert all(a.end <= b.start + 1e-12 for a, b in pairwise(marks))
    assert [mark.text for mark in marks] == [mark.text for mark in MARKS]


def test_a_border_arrives_where_there_is_room():
    assert moved_border(MARKS, 1, "end", 2.3, DURATION)[1].end == 2.3
    assert moved_border(MARKS, 1, "end", 2.9, DURATION)[1].end == 2.5
    assert moved_border(MARKS, 2, "end", 9.0, DURATION)[2].end == DURATION
    assert moved_border(MARKS, 1, "start", 0.2, DURATION)[1].start == 1.0
    assert moved_border(MARKS, 0, "end", 0.7, DURATION)[0] == Mark("I am", 0.5, 0.7, 0.7)


def test_marks_that_overlap_or_are_shorter_already_may_stay_so():
    tiny = (Mark("a", 0.0, 1.0), Mark("b", 0.5, 0.51))
    assert moved_border(tiny, 1, "end", 0.0, 2.0)[1].end == pytest.approx(0.51)
    assert moved_border(tiny, 0, "end", 1.4, 2.0)[0].end == 1.4


def test_what_is_not_there_is_not_edited():
    with pytest.raises(BadInput, match="mark 3 of 3"):
        moved_border(MARKS, 3, "end", 1.0, DURATION)
    with pytest.raises(BadInput, match="finite"):
        moved_border(MARKS, 0, "end", float("inf"), DURATION)
