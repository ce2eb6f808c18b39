"""Elements as text: escaped, well formed, bounded."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.studio.widgets.notice import KINDS, notice
from bunraku.studio.widgets.scale import clock, ticks, time_scale
from bunraku.studio.widgets.svg import LETTER, breadth, element, picture, short, words


@given(st.text(), st.text())
def test_any_text_comes_back_as_text(inside, attribute):
    made = ET.fromstring(element("g", element("b", inside), title=attribute, data_name=attribute))
    assert len(made) == 1
    assert set(made.attrib) == {"title", "data-name"}
    assert not list(made[0])


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FFF), min_size=1))
def test_text_without_control_signs_is_unchanged(text):
    made = ET.fromstring(element("g", text, title=text))
    assert made.text == text
    assert made.get("title") == text


def test_attributes_and_numbers_are_written_plainly():
    assert element("rect", x=1.0, y=2.3456, data_foot="LF", class_="a", width=None, rx=False) == (
        '<rect x="1" y="2.35" data-foot="LF" class="a"/>'
    )
    assert element("rect", x=float("nan"), y=float("inf")) == '<rect x="0" y="0"/>'
    assert 'viewBox="-9 0 378 20.5"' in picture(360.0, 20.5)


@given(st.text(max_size=60), st.floats(20.0, 400.0))
def test_text_is_cut_to_its_room(text, room):
    cut = short(text, room)
    assert cut == text or breadth(cut) <= max(room, LETTER) + LETTER
    assert cut == text or cut.endswith("…")


def test_what_was_cut_is_shown_on_hovering():
    made = ET.fromstring(words(0.0, 0.0, "a very long name of a joint", 40.0))
    assert made.text is not None
    assert made.text.endswith("…")
    assert made[0].text == "a very long name of a joint"


@given(st.floats(200.0, 2000.0), st.floats(0.01, 3600.0), st.floats(0.0, 1.0))
def test_places_and_times_are_each_others_inverse(width, duration, share):
    scale = time_scale(width, duration)
    time = share * duration
    assert scale.time(scale.x(time)) == pytest.approx(time, abs=1e-9 * duration)
    assert scale.left <= scale.x(time) <= scale.right + 1e-9
    assert (scale.time(-50.0), scale.time(width + 50.0)) == (0.0, duration)


@given(st.floats(200.0, 2000.0), st.floats(0.01, 3600.0))
def test_labels_of_time_stand_apart(width, duration):
    scale = time_scale(width, duration)
    places = [scale.x(t) for t in ticks(scale)]
    assert all(b - a >= 56.0 - 1e-6 for a, b in pairwise(places))
    assert len(places) >= 1


@pytest.mark.parametrize("duration", [0.0, float("nan"), float("inf"), -1.0])
def test_a_scale_of_nothing_is_still_a_scale(duration):
    scale = time_scale(360.0, duration)
    assert scale.end > scale.start
    assert scale.right > scale.left


def test_times_in_words():
    assert [clock(1.5, 1.0), clock(1.5, 0.5), clock(1.5, 0.02), clock(75.0, 5.0)] == ["2", "1.5", "1.50", "1:15"]


def test_notices_say_their_kind_in_words_and_escape(read, hostile):
    for kind in KINDS:
        seen = read(notice(hostile, kind))
        assert not seen.named("script")
        assert not seen.named("img")
    assert "Out of date" in read(notice("press Run", "out-of-date")).words
    assert "Failed" in read(notice("the solver stopped", "failed")).words
    assert "info" in str(read(notice("x", "<b>")).root.get("class"))
