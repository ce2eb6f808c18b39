"""The footfall editor: what is clicked is what is meant."""

from __future__ import annotations

import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.gait.edit import CELLS, cells_in_air, foot_rows, toggled
from bunraku.motion import Gait, Swing
from bunraku.studio.widgets.footfall import footfall, footfall_scale

WALKER = read_character("walker")
PAIRS = [
    ("walker", "crawl"),
    ("skatebot", "skate"),
    ("walker", "start-stop"),
    ("creature3", "walk-tripod"),
    ("brainbot", "brain-swizzle"),
]


@pytest.mark.parametrize(("who", "what"), PAIRS)
@pytest.mark.parametrize("width", [320.0, 360.0, 900.0])
def test_the_middle_of_a_cell_is_that_cell_and_a_bar_lies_where_the_foot_is_in_the_air(read, who, what, width):
    character, gait = read_character(who), read_clip(what).gait
    assert gait is not None
    seen, scale = read(footfall(character, gait, 0.3, width=width)), footfall_scale(width)
    for row in foot_rows(character, gait):
        cells = [one for one in seen.sending("gait.toggle", foot=row.name) if one.get("data-drag") is None]
        assert len(cells) == (CELLS if row.clickable else 0)
        air = cells_in_air(row.swings, CELLS, gait.periodic)
        for cell in cells:
            x = float(cell.get("x", "")) + 0.5 * float(cell.get("width", ""))
            y = float(cell.get("y", ""))
            number = int(cell.get("data-cell", ""))
            assert int(scale.time(x) * CELLS) == number
            bars = [bar for bar in seen.named("rect", "swing") if float(bar.get("y", "")) == y]
            inside = any(float(b.get("x", "")) < x < float(b.get("x", "")) + float(b.get("width", "")) for b in bars)
            assert inside == air[number]
            assert float(cell.get("height", "")) >= 18.0


def test_the_ends_of_bars_drag_from_where_they_are(read):
    gait = Gait(1.0, "custom", swings=(Swing("LF", 0.1, 0.3), Swing("RH", 0.9, 1.2)))
    seen, scale = read(footfall(WALKER, gait)), footfall_scale(360.0)
    for foot, end, phase in (("LF", "start", 0.1), ("LF", "end", 0.3), ("RH", "start", 0.9), ("RH", "end", 0.2)):
        (handle,) = seen.sending("gait.swing", foot=foot, swing=0, end=end)
        line = next(part for part in handle if part.tag.endswith("line"))
        assert scale.time(float(line.get("x1", ""))) == pytest.approx(phase, abs=1e-4)
        assert handle.get("data-click") == "gait.toggle"
        assert int(handle.get("data-cell", "")) == int(phase * CELLS)
    assert len(seen.named("rect", "swing")) == 3


def test_a_click_fills_the_cell(read):
    gait = Gait(1.0, "roll")
    assert not read(footfall(WALKER, gait)).named("rect", "swing")
    after = read(footfall(WALKER, toggled(WALKER, gait, "LF", 7)))
    (bar,) = after.named("rect", "swing")
    cell, *ends = after.sending("gait.toggle", foot="LF", cell=7)
    assert [end.get("data-end") for end in ends] == ["start", "end"]
    assert float(bar.get("x", "")) == pytest.approx(float(cell.get("x", "")), abs=0.02)


def test_the_playhead_stands_at_its_phase(read):
    once, cycle = Gait(2.0, "crawl", periodic=False), Gait(2.0, "crawl")
    (head,) = read(footfall(WALKER, cycle, 5.0)).named("g", "head")
    x = float(head.get("transform", "").removeprefix("translate(").split()[0])
    assert footfall_scale(360.0).time(x) == pytest.approx(0.5, abs=1e-4)
    assert [float(part) for part in head.get("data-playhead", "").split()[2:]] == [0.0, 2.0, 1.0]
    (head,) = read(footfall(WALKER, once, 1.0)).named("g", "head")
    assert head.get("data-playhead", "").endswith(" 0")


def test_what_cannot_be_drawn_is_said(read):
    assert "choose one" in read(footfall(WALKER, Gait(1.0, "best"))).words
    air = tuple(Swing(foot, 0.1, 0.3) for foot in ("LF", "RF", "LH", "RH"))
    assert "keep at least one on the ground" in read(footfall(WALKER, Gait(1.0, "custom", swings=air))).words


def test_names_stay_names(read):
    name = "<script>&\"'"
    tips = tuple(tip.changed(name=name) if tip.name == "LF" else tip for tip in WALKER.end_effectors)
    seen = read(footfall(WALKER.changed(end_effectors=tips), Gait(1.0, "crawl")))
    assert not seen.named("script")
    assert len(seen.sending("gait.toggle", foot=name)) == CELLS + 2
