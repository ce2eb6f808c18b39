"""The footfall editor: a bar for every flight of every foot, cells to click, ends to drag."""

from __future__ import annotations

from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.edit import CELLS, FootRow, foot_rows
from bunraku.gait.patterns import footfalls
from bunraku.motion import Gait
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.scale import TimeScale, playhead, time_scale
from bunraku.studio.widgets.svg import AMBER, BLUE, GREY, Markup, draggable, element, grip, line, picture, rect, title, words

ROW, BAR, TOP = 26.0, 20.0, 24.0


def footfall_scale(width: float) -> TimeScale:
    """Phases 0 to 1 along x: ``footfall_scale(width).time(x)`` is the phase of an event of `footfall`."""
    return time_scale(width, 1.0)


def footfall(character: Character, gait: Gait, time: float | None = None, *, width: float = 360.0) -> str:
    """The footfalls of a gait: filled where a foot is in the air; ``time`` [s]: the playhead.

    Clicks: gait.toggle (foot, cell, cells). Drags: gait.swing (foot, swing, end = start or end), x by `footfall_scale`. End
    effectors that sit on the base body have a pale row without clicks. Footfalls that are not known yet, or cannot be, say so.
    """
    try:
        rows, notes = foot_rows(character, gait), footfalls(character, gait).notes
    except BadInput as error:
        if gait.pattern == "best":
            return notice("The best of all footfall patterns is searched; choose one to edit it.", "info")
        return notice(str(error), "failed")
    scale = footfall_scale(width)
    bottom = TOP + ROW * len(rows)
    height = bottom + 18.0 + (16.0 if notes else 0.0)
    now = time % gait.duration if time is not None and gait.periodic else time
    kind = f"a cycle of {gait.duration:g} s" if gait.periodic else f"once, {gait.duration:g} s"
    parts = [
        words(0.0, 14.0, gait.pattern, font_weight="600"),
        words(scale.left, 14.0, f"{kind}; filled: in the air", scale.right - scale.left, fill_opacity=0.65),
        [_row(row, TOP + ROW * i, scale, gait.periodic) for i, row in enumerate(rows)],
        [words(scale.x(p), bottom + 13.0, f"{p:g}", text_anchor="middle", fill_opacity=0.65) for p in (0.0, 0.25, 0.5, 0.75, 1.0)],
        playhead(scale, now, TOP, bottom, unit=gait.duration, wrap=gait.periodic),
    ]
    if notes:
        look = {"fill_opacity": 0.8, "style": f"stroke:{AMBER};stroke-width:.3"}
        parts.append(words(0.0, bottom + 29.0, f"⚠ {notes[0]}", scale.width, **look))
    return picture(scale.width, height, *parts, label=f"footfalls: {gait.pattern}")


def _row(row: FootRow, top: float, scale: TimeScale, periodic: bool) -> Markup:
    y = top + 0.5 * (ROW - BAR)
    shade = 0.16 if row.clickable else 0.07
    ground = rect(scale.left, y, scale.right - scale.left, BAR, rx=3.0, fill=GREY, fill_opacity=shade)
    name = words(0.0, top + 0.5 * ROW + 4.0, row.name, scale.left - 6.0, fill_opacity=1.0 if row.clickable else 0.5)
    if not row.clickable:
        return element("g", title(f"{row.name}: on the base body, never leaves the ground by itself"), name, ground)
    rects, handles = [], []
    for index, (start, end) in enumerate(row.swings):
        pieces = [(start, 1.0), (0.0, end - 1.0)] if periodic and end > 1.0 else [(start, end)]
        look = {"rx": 3.0, "fill": BLUE, "fill_opacity": 0.85, "class_": "swing"}
        rects += [rect(scale.x(a), y, scale.x(b) - scale.x(a), BAR, **look) for a, b in pieces]
        hint = title(f"{row.name} in the air from {start:.3f} to {end:.3f}; drag an end")
        ends = (("start", start), ("end", end - 1.0 if end > 1.0 else end))
        handles += [_handle(row.name, index, which, phase, y, scale, hint) for which, phase in ends]
    return element("g", name, ground, rects, _lines(scale, y), _cells(row.name, y, scale), handles)


def _lines(scale: TimeScale, y: float) -> Markup:
    path = "".join(f"M{scale.x(k / CELLS):.1f} {y:.1f}v{BAR:.0f}" for k in range(1, CELLS))
    return element("path", d=path, stroke="currentColor", stroke_opacity=0.13, fill="none")


def _cells(foot: str, y: float, scale: TimeScale) -> Markup:
    data = {"data_click": "gait.toggle", "data_foot": foot, "data_cells": CELLS}
    boxes = [rect(x, y, wide, BAR, **data, data_cell=k) for k, (x, wide, _) in enumerate(scale.slots(CELLS))]
    return element("g", boxes, fill="transparent", style="cursor:pointer")


def _handle(foot: str, swing: int, end: str, phase: float, y: float, scale: TimeScale, hint: Markup) -> Markup:
    """An end of a bar; pressed without moving, it is the cell that it covers."""
    x = scale.x(phase)
    edge = line(x, y + 2.0, x, y + BAR - 2.0, stroke="currentColor", stroke_width=2.0, stroke_linecap="round")
    cell = min(CELLS - 1, int(phase * CELLS + (1e-6 if end == "start" else -1e-6)))
    pressed: dict[str, Any] = {"data_click": "gait.toggle", "data_cell": cell, "data_cells": CELLS}
    moved: dict[str, Any] = {"data_drag": "gait.swing", "data_foot": foot, "data_swing": swing, "data_end": end}
    return draggable(hint, grip(x - 4.0, y, 8.0, BAR), edge, **moved, **pressed)
