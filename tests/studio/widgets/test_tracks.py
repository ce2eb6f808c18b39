"""Emphasis, speech, blocks and timeline: what is drawn where, and where events map back to."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.motion import Accent, Audio, Choreography, Emphasis, JointCurves, Mark, Mode, Primitive
from bunraku.studio.widgets.blocks import blocks
from bunraku.studio.widgets.emphasis import emphasis, emphasis_view
from bunraku.studio.widgets.scale import time_scale
from bunraku.studio.widgets.speech import speech
from bunraku.studio.widgets.timeline import timeline

WIDTHS = [360.0, 900.0]


def line_x(element) -> float:
    """Where the line of an element stands."""
    return float(next(part for part in element if part.tag.endswith("line")).get("x1", ""))


def sound(seconds: float = 4.0, rate: float = 8000.0) -> Audio:
    t = np.arange(int(seconds * rate)) / rate
    wave = 0.3 * np.sin(2000.0 * t) * (t > 1.0)
    wave[int(2.5 * rate)] = 0.9
    return Audio(wave, rate)


# emphasis


@pytest.mark.parametrize("width", WIDTHS)
def test_an_emphasis_is_as_long_and_as_high_as_it_says(read, width):
    these = (Emphasis("hand", 3.0, 1.0, 2.0), Emphasis("head", 0.01, 0.5, None, "orientation"))
    view = emphasis_view(these, ("hip",), 4.0, width=width)
    assert view.frames == ("hand", "head", "hip")
    seen = read(emphasis(view, these, selected=0, time=1.0))
    for index, one in enumerate(these):
        (body,) = seen.sending("emphasis.select", index=index)
        x, wide, top = (float(body.get(name, "")) for name in ("x", "width", "y"))
        assert view.scale.time(x) == pytest.approx(one.start, abs=0.01)
        assert view.scale.time(x + wide) == pytest.approx(4.0 if one.end is None else one.end, abs=0.01)
        assert view.weight(one, top) == pytest.approx(one.weight, rel=0.01)
        for end, time in (("start", one.start), ("end", 4.0 if one.end is None else one.end)):
            (handle,) = seen.sending("emphasis.border", index=index, end=end)
            assert view.scale.time(line_x(handle)) == pytest.approx(time, abs=0.01)
    assert seen.sending("emphasis.weight", index=1)
    assert seen.sending("emphasis.remove", index=0)


def test_a_click_on_an_empty_row_adds_where_it_was_clicked(read):
    view = emphasis_view((), ("hip", "head"), 4.0)
    for slot in read(emphasis(view, ())).sending("emphasis.add", frame="hip"):
        middle = float(slot.get("x", "")) + 0.5 * float(slot.get("width", ""))
        time = float(slot.get("data-t", ""))
        assert view.scale.time(middle) == pytest.approx(time, abs=1e-3)


@given(st.floats(0.0, 98.0), st.sampled_from(["position", "orientation"]))
def test_the_height_of_a_bar_maps_back_to_its_weight(weight, kind):
    one = Emphasis("b", weight if kind == "position" else weight / 100.0, kind=kind)
    view = emphasis_view((Emphasis("a", 1.0), one), (), 1.0)
    share = one.weight / (one.weight + (1.0 if kind == "position" else 0.01))
    assert view.weight(one, view.y("b", share)) == pytest.approx(one.weight, rel=1e-6, abs=1e-9)


# speech


@pytest.mark.parametrize("width", WIDTHS)
def test_phrases_and_words_stand_at_their_times(read, width):
    phrases = (Mark("not yet", 0.5, 1.5), Mark("done", 2.0, 3.0))
    said = (Mark("not", 0.5, 0.9, 0.7), Mark("yet", 1.0, 1.5))
    curve = ("speed", np.linspace(0.0, 4.0, 3000), np.abs(np.sin(np.linspace(0.0, 40.0, 3000))))
    seen = read(
        speech(
            4.0,
            sound(),
            said,
            phrases,
            strokes=(0.7, 1.2),
            motion=curve,
            performed=curve,
            selected=("phrase", 1),
            time=1.0,
            width=width,
        )
    )
    scale = time_scale(width, 4.0)
    for track, marks in (("phrase", phrases), ("word", said)):
        for index, mark in enumerate(marks):
            for end, time in (("start", mark.start), ("end", mark.end)):
                (handle,) = seen.sending("phrase.border", track=track, index=index, end=end)
                assert scale.time(line_x(handle)) == pytest.approx(time, abs=0.01)
    assert len(seen.sending("phrase.select", track="word")) == 2
    for jump in seen.sending("time.jump"):
        middle = float(jump.get("x", "")) + 0.5 * float(jump.get("width", ""))
        assert scale.time(middle) == pytest.approx(float(jump.get("data-t", "")), abs=0.01)
    assert "the beat of a word, 0.70 s" in seen.words


@pytest.mark.parametrize("picked", [("phrase", 1), ("word", 1), None])
def test_only_what_was_picked_stands_out(read, picked):
    phrases = (Mark("not yet", 0.5, 1.5), Mark("done", 2.0, 3.0))
    said = (Mark("not", 0.5, 0.9), Mark("yet", 1.0, 1.5))
    seen = read(speech(4.0, None, said, phrases, selected=picked))
    shown = {
        (block.get("data-track"), int(block.get("data-index", ""))): float(block.find("{*}rect").get("fill-opacity", ""))
        for block in seen.sending("phrase.select")
    }
    assert len(shown) == 4
    assert [one for one, opacity in shown.items() if opacity > min(shown.values())] == ([] if picked is None else [picked])


def test_borders_leave_the_middle_of_a_short_word_to_the_click(read):
    said = tuple(Mark(f"word{k}", 0.1 * k, 0.1 * k + 0.1) for k in range(60))
    wide, narrow = (read(speech(6.0, sound(), said, width=width)) for width in (900.0, 300.0))
    scale = time_scale(900.0, 6.0)
    for index in (0, 30, 59):
        grips = [one.find("{*}rect") for one in wide.sending("phrase.border", track="word", index=index)]
        middle = scale.x(said[index].start + 0.05)
        assert len(grips) == 2
        assert all(not float(g.get("x")) <= middle <= float(g.get("x")) + float(g.get("width")) for g in grips)
    assert len(narrow.sending("phrase.select")) == 60
    assert narrow.sending("phrase.border") == []  # too narrow for a hand


def test_the_waveform_shows_the_loudest_sample_where_it_is(read):
    scale = time_scale(900.0, 4.0)
    (path,) = read(speech(4.0, sound(), width=900.0)).named("path", "waveform")
    xy = np.array([[float(p) for p in pair.split()] for pair in re.split("[MLZ]", path.get("d", "")) if pair])
    assert scale.time(float(xy[xy[:, 1].argmin(), 0])) == pytest.approx(2.5, abs=4.0 / 200)
    silent = np.abs(xy[:, 1] - 26.0)[np.array([scale.time(x) for x in xy[:, 0]]) < 0.9]
    assert silent.max() < 1e-9


def test_silence_is_said_to_be_silence(read):
    assert "no voice" in read(speech(3.0)).words
    assert not read(speech(3.0, Audio(np.zeros(0), 8000.0), (Mark("a", 0.0, 1.0),))).named("path", "waveform")


# blocks


def show(modes: int = 3) -> Choreography:
    curves = JointCurves(("a",), 10.0, np.zeros((11, 1)))
    names = tuple(f"p{k % 3}" for k in range(modes))
    primitives = tuple(Primitive(f"p{k}", curves, 0.5) for k in range(3))
    starts = tuple(Mode(name, 2.0 * k) for k, name in enumerate(names))
    return Choreography(2.0 * modes, primitives, starts, (Accent(1.0, "p0"), Accent(3.0, "p1")))


@pytest.mark.parametrize("width", WIDTHS)
def test_borders_and_accents_stand_at_their_times(read, width):
    these = show()
    seen, scale = read(blocks(these, selected=1, time=1.0, width=width)), time_scale(width, these.duration)
    assert not seen.sending("mode.border", mode=0)
    for k, mode in enumerate(these.modes):
        (block,) = seen.sending("mode.select", mode=k)
        box = next(part for part in block if part.tag.endswith("rect"))
        assert scale.time(float(box.get("x", ""))) == pytest.approx(mode.start, abs=0.02)
        if k:
            (border,) = seen.sending("mode.border", mode=k)
            assert scale.time(line_x(border)) == pytest.approx(mode.start, abs=0.01)
    for k, accent in enumerate(these.accents):
        (mark,) = seen.sending("accent.move", index=k)
        box = next(part for part in mark if part.tag.endswith("rect"))
        assert scale.time(float(box.get("x", "")) + 9.0) == pytest.approx(accent.time, abs=0.02)
    assert seen.sending("mode.remove", mode=1)
    assert seen.sending("mode.add", at=2)
    assert not read(blocks(these)).sending("mode.remove")


def test_a_long_show_stays_small(read):
    assert len(read(blocks(show(40), width=900.0)).sending("mode.select")) == 40


# timeline


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bar_maps_back_to_times(read, width):
    seen = read(timeline(8.0, time=2.0, loop=(1.0, 5.0), marks=((3.0, "velocity of knee"),), audio=sound(8.0), width=width))
    scale = time_scale(width, 8.0)
    (head,) = seen.named("g", "head")
    assert scale.time(float(head.get("transform", "").removeprefix("translate(").split()[0])) == pytest.approx(2.0, abs=0.01)
    for end, time in (("start", 1.0), ("end", 5.0)):
        (handle,) = seen.sending(f"loop.{end}")
        path = next(part for part in handle if part.tag.endswith("path")).get("d", "")
        assert scale.time(float(re.search(r"H([\d.]+)V", path)[1])) == pytest.approx(time, abs=0.02)  # type: ignore[index]
    track = seen.sending("time.scrub")[0]
    assert scale.time(float(track.get("x", ""))) == 0.0
    assert scale.time(float(track.get("x", "")) + float(track.get("width", ""))) == 8.0
    (mark,) = seen.sending("time.jump")
    assert float(mark.get("data-t", "")) == 3.0
    assert "velocity of knee" in seen.words
    assert "out of date" not in seen.words


def test_many_marks_are_joined_and_what_is_out_of_date_says_so(read):
    marks = tuple((8.0 * k / 999, f"mark {k}") for k in range(1000))
    seen = read(timeline(8.0, marks=marks, out_of_date=True))
    assert 1 < len(seen.sending("time.jump")) <= 40
    assert "out of date" in seen.words
    assert seen.named("g", "out-of-date")


def test_texts_stay_texts(read, hostile):
    mark = Mark(hostile, 0.0, 3.0)
    for text in (
        speech(4.0, None, (mark,), (mark,), motion=(hostile, [0.0, 1.0], [0.0, 1.0]), width=900.0),
        timeline(4.0, marks=((1.0, hostile),)),
        emphasis(emphasis_view((Emphasis(hostile, 2.0),), (), 4.0), (Emphasis(hostile, 2.0),)),
        blocks(
            Choreography(1.0, (Primitive(hostile, JointCurves(("a",), 1.0, np.zeros((2, 1)))),), (Mode(hostile, 0.0),)), selected=0
        ),
    ):
        seen = read(text)
        assert not seen.named("script")
        assert not seen.named("img")
