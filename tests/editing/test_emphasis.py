"""Emphasis edited by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.editing.emphasis import (
    SHORTEST,
    moved_border,
    removed,
    share_of_weight,
    weighed,
    weight_of_share,
)
from bunraku.errors import BadInput
from bunraku.motion import Emphasis

DURATION = 4.0
ONE = (Emphasis("hand", 3.0, 1.0, 2.0), Emphasis("head", 0.5, 0.0, None))


@given(st.integers(0, 1), st.sampled_from(["start", "end"]), st.floats(-3.0, 9.0))
def test_borders_keep_their_order_and_stay_in_the_clip(index, end, time):
    new = moved_border(ONE, index, end, time, DURATION)
    one, stop = new[index], DURATION if new[index].end is None else new[index].end
    assert 0.0 <= one.start <= stop - SHORTEST + 1e-12
    assert stop <= DURATION
    assert new[1 - index] == ONE[1 - index]
    wanted = min(max(time, 0.0), DURATION)
    old_stop = DURATION if ONE[index].end is None else ONE[index].end
    if end == "start" and wanted < old_stop - SHORTEST:
        assert one.start == wanted
    if end == "end" and ONE[index].start + SHORTEST < wanted:
        assert stop == pytest.approx(wanted, abs=1e-8)


@given(st.floats(0.0, 0.99), st.sampled_from(["position", "orientation"]))
def test_height_and_weight_are_the_same_thing(share, kind):
    weight = weight_of_share(share, kind)
    assert share_of_weight(Emphasis("hand", weight, kind=kind)) == pytest.approx(share, abs=1e-12)


def test_the_neutral_weight_is_half_the_height():
    assert share_of_weight(Emphasis("hand", 1.0)) == 0.5
    assert share_of_weight(Emphasis("hand", 0.01, kind="orientation")) == 0.5
    assert weight_of_share(7.0) == pytest.approx(99.0)
    assert weight_of_share(-1.0) == 0.0
    assert weighed(ONE, 1, 8.0)[1].weight == 8.0


def test_one_is_taken_away():
    assert removed(ONE, 0) == (ONE[1],)


def test_what_is_not_there_is_not_edited():
    for edit in (lambda: removed(ONE, 2), lambda: weighed(ONE, -1, 1.0), lambda: moved_border(ONE, 5, "end", 1.0, 4.0)):
        with pytest.raises(BadInput, match="of 2 arrived"):
            edit()
    with pytest.raises(BadInput, match="start or end"):
        moved_border(ONE, 0, "middle", 1.0, DURATION)
