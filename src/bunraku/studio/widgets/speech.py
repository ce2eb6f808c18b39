"""Speech beside motion: waveform, phrases and words with borders to drag, strokes, and one curve of the motion below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.geometry.decimate import decimated
from bunraku.motion import Audio, Mark
from bunraku.studio.widgets import svg
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.scale import TimeScale, axis, grid, playhead, time_scale
from bunraku.studio.widgets.svg import Markup
from bunraku.studio.widgets.timeline import waveform

WAVE, BLOCK, MOTION, JUMPS, MOST_BLOCKS = 52.0, 22.0, 48.0, 48, 80
GRASPED = 6.0
"""Marks narrower than this [px] have no borders to drag: a hand would not find them."""
Curve = tuple[str, ArrayLike, ArrayLike]


def speech(
    duration: float,
    audio: Audio | None = None,
    words_said: Sequence[Mark] = (),
    phrases: Sequence[Mark] = (),
    *,
    strokes: Sequence[float] = (),
    motion: Curve | None = None,
    performed: Curve | None = None,
    selected: tuple[str, int] | None = None,
    time: float | None = None,
    width: float = 360.0,
) -> str:
    """The voice of a clip of ``duration`` [s] and its ``motion``, a curve (name, times [s], values); ``performed``: the same, done.

    ``strokes``: when the gestures hit [s]; ``selected``: the track, phrase or word, and the index of a mark. Clicks: time.jump (t),
    phrase.select (index, track). Drags: phrase.border (index, end, track), x by ``time_scale(width, duration).time``.
    """
    if audio is None and not words_said and not phrases:
        return notice("This clip has no voice: no sound, no words, no phrases.", "empty")
    scale = time_scale(width, duration)
    y, parts = 0.0, []
    if audio is not None:
        name = svg.words(0.0, 0.5 * WAVE + 4.0, "voice", fill_opacity=0.7)
        parts += [name, waveform(audio, scale, 0.0, WAVE, svg.BLUE), _jumps(scale, 0.0, WAVE)]
        y += WAVE + 4.0
    for track, marks, color in (("phrase", phrases, svg.VIOLET), ("word", words_said, svg.GREEN)):
        if marks:
            parts += [svg.words(0.0, y + 15.0, f"{track}s", fill_opacity=0.7), _blocks(track, marks, scale, y, color, selected)]
            y += BLOCK + 4.0
    beats = [mark.stroke for mark in words_said if mark.stroke is not None]
    if motion is not None:
        parts += _motion(scale, y, motion, performed)
        y += MOTION + 4.0
    lines = [grid(scale, 0.0, y), _strokes(scale, strokes, beats, y)]
    ends = (playhead(scale, time, 0.0, y), axis(scale, y + 12.0))
    return svg.picture(scale.width, y + 17.0, lines, parts, ends, label="speech and motion")


def _jumps(scale: TimeScale, top: float, bottom: float) -> Markup:
    boxes = [svg.rect(x, top, wide, bottom - top, data_click="time.jump", data_t=f"{t:.4f}") for x, wide, t in scale.slots(JUMPS)]
    return svg.element("g", svg.title("click: go there"), boxes, fill="transparent", style="cursor:pointer")


def _blocks(track: str, marks: Sequence[Mark], scale: TimeScale, y: float, color: str, selected: tuple[str, int] | None) -> Markup:
    boxes: list[Markup] = []
    handles: list[Markup] = []
    for index, mark in enumerate(marks):
        if mark.end < scale.start or mark.start > scale.end or len(boxes) >= MOST_BLOCKS:
            continue
        a, b = scale.clipped(mark.start), scale.clipped(mark.end)
        wide = max(b - a, 2.0)
        shade = 0.55 if (track, index) == selected else 0.28
        box = svg.rect(a, y, wide, BLOCK, rx=3.0, fill=color, fill_opacity=shade, stroke=color, stroke_opacity=0.8)
        text = svg.words(a + 4.0, y + 15.0, mark.text, wide - 6.0) if wide > 16.0 else None
        hint = svg.title(f"{mark.text} ({mark.start:.2f} to {mark.end:.2f} s)")
        data = {"data_track": track, "data_index": index, "data_t": f"{mark.start:.4f}"}
        boxes.append(svg.clickable(hint, box, text, data_click="phrase.select", **data))
        if wide >= GRASPED:
            ends = (("start", mark.start), ("end", mark.end))
            handles += [_border(track, index, end, scale.x(at), y, wide) for end, at in ends if scale.shows(at)]
    look: dict[str, Any] = {"stroke": color, "stroke_width": 3.0 if track == "phrase" else 1.5, "stroke_linecap": "round"}
    return svg.element("g", boxes, svg.draggable(svg.title(f"drag the border of the {track}"), handles, **look))


def _border(track: str, index: int, end: str, x: float, y: float, wide: float) -> Markup:
    """A line to drag; most of its grip is inside the mark, whose middle stays free for a click."""
    inside, outside = min(5.0, wide / 3.0), min(3.0, wide / 3.0)
    hold = svg.grip(x - (outside if end == "start" else inside), y, inside + outside, BLOCK, stroke="none")
    edge = svg.line(x, y + 1.0, x, y + BLOCK - 1.0)
    return svg.element("g", edge, hold, data_drag="phrase.border", data_track=track, data_index=index, data_end=end)


def _strokes(scale: TimeScale, hits: Sequence[float], beats: Sequence[float], bottom: float) -> Markup:
    """Thin lines where gestures hit, diamonds on the beats that words state."""
    look = {"stroke": svg.AMBER, "stroke_dasharray": "3 3"}
    lines = [
        svg.line(scale.x(t), 0.0, scale.x(t), bottom, svg.title(f"a gesture hits at {t:.2f} s"), **look)
        for t in hits[:200]
        if scale.shows(t)
    ]
    diamonds = [
        svg.path(
            f"M{scale.x(t):.1f} {bottom - 11:.1f}l5 5l-5 5l-5 -5z", svg.title(f"the beat of a word, {t:.2f} s"), fill=svg.AMBER
        )
        for t in beats[:200]
        if scale.shows(t)
    ]
    return svg.element("g", lines, diamonds)


def _motion(scale: TimeScale, y: float, motion: Curve, performed: Curve | None) -> list[Markup]:
    done = [motion] if performed is None else [performed, motion]
    low, high = min(float(np.min(v, initial=0.0)) for _, _, v in done), max(float(np.max(v, initial=1e-9)) for _, _, v in done)
    parts = [svg.words(0.0, y + 0.5 * MOTION + 4.0, motion[0], scale.left - 6.0, fill_opacity=0.7)]
    for one in done:
        name, times, values = one
        t, v = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
        inside = (t >= scale.start) & (t <= scale.end)
        t, v = t[inside], v[inside]
        at = decimated(v, 400)
        points = [(scale.x(float(t[k])), y + MOTION - 3.0 - (float(v[k]) - low) / (high - low) * (MOTION - 6.0)) for k in at]
        color, wide, opacity = (svg.BLUE, 1.5, 1.0) if one is motion else (svg.GREEN, 2.5, 0.6)
        if points:
            look = {"fill": "none", "stroke": color, "stroke_width": wide, "stroke_opacity": opacity}
            parts.append(svg.path(svg.path_of(points), svg.title(name), **look))
    return parts
