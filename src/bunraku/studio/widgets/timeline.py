"""The transport bar: time axis, loop range, playhead, marks of violations, the sound behind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.decimate import outline
from bunraku.motion import Audio
from bunraku.studio.widgets import svg
from bunraku.studio.widgets.scale import TimeScale, axis, clock, grid, playhead, time_scale
from bunraku.studio.widgets.svg import Markup

HEIGHT, TOP, MARKS = 92.0, 16.0, 40
"""Height of the bar [px], where its track begins, and the most marks that are drawn."""
SCRUB = "drag to move through time"
PAPER = "var(--mantine-color-body,Canvas)"
"""The page's own ground."""


def timeline(
    duration: float,
    *,
    time: float = 0.0,
    loop: tuple[float, float] | None = None,
    marks: Sequence[tuple[float, str]] = (),
    audio: Audio | None = None,
    out_of_date: bool = False,
    state: str = "",
    width: float = 900.0,
) -> str:
    """The bar of a motion of ``duration`` [s]; ``marks``: (time [s], words) of what is violated; ``state``: how it plays, in words.

    Drags: time.scrub (anywhere on the track), loop.start, loop.end; x by ``time_scale(width, duration).time``. Clicks: time.jump
    (t).
    """
    scale = time_scale(width, duration)
    bottom = HEIGHT - 18.0
    first, last = loop if loop is not None else (0.0, duration)
    track = (scale.left, TOP, scale.right - scale.left, bottom - TOP)
    parts = [
        svg.rect(*track, rx=4.0, fill=svg.GREY, fill_opacity=0.13),
        waveform(audio, scale, TOP, bottom) if audio is not None else None,
        grid(scale, TOP, bottom),
        _outside(scale, first, last, TOP, bottom) if loop is not None else None,
        _hatch(scale, TOP, bottom) if out_of_date else None,
        svg.words(0.0, 30.0, f"{clock(time)} s", font_weight="600", font_size=13, data_clocktext="1"),
        svg.words(0.0, 44.0, f"of {clock(duration)} s", fill_opacity=0.65),
        svg.words(0.0, 66.0, state, scale.left - 6.0, fill_opacity=0.65, data_transport="1") if state else None,
        axis(scale, HEIGHT - 5.0),
        svg.grip(*track, svg.title(SCRUB), data_drag="time.scrub", style="cursor:ew-resize;touch-action:none"),
        [_mark(scale, at, said) for at, said in _spread(marks, scale)],
        _loop_end(scale, "start", first, TOP, bottom),
        _loop_end(scale, "end", last, TOP, bottom),
        _head(scale, time, bottom),
    ]
    return svg.picture(scale.width, HEIGHT, *parts, label="timeline")


def waveform(audio: Audio, scale: TimeScale, top: float, bottom: float, color: str = svg.GREY) -> Markup:
    """The sound as the lowest and highest sample of at most 200 stretches of the time in view."""
    first, last = int(max(0.0, scale.start) * audio.rate), int(scale.end * audio.rate)
    samples = audio.samples[first:last]
    if len(samples) < 2:
        return Markup("")
    right = scale.x(min(scale.end, first / audio.rate + len(samples) / audio.rate))
    columns = int(min(200, len(samples), max(2.0, right - scale.left)))
    ends: NDArray[np.float64] = outline(samples, columns) / max(float(np.abs(samples).max()), 1e-9)
    x = scale.left + (np.arange(columns) + 0.5) / columns * (right - scale.left)
    middle, half = 0.5 * (top + bottom), 0.45 * (bottom - top)
    upper = [(float(a), middle - half * float(b)) for a, b in zip(x, ends[:, 1], strict=True)]
    lower = [(float(a), middle - half * float(b)) for a, b in zip(x[::-1], ends[::-1, 0], strict=True)]
    look = {"fill": color, "fill_opacity": 0.5, "pointer_events": "none", "class_": "waveform"}
    return svg.path(svg.path_of(upper + lower) + "Z", **look)


def _outside(scale: TimeScale, first: float, last: float, top: float, bottom: float) -> Markup:
    a, b, tall = scale.clipped(first), scale.clipped(last), bottom - top
    look = {"fill": PAPER, "fill_opacity": 0.65, "pointer_events": "none"}
    edge = svg.line(a, top, b, top, stroke=svg.BLUE, stroke_width=3.0, pointer_events="none")
    left, right = (svg.rect(x, top, wide, tall, **look) for x, wide in ((scale.left, a - scale.left), (b, scale.right - b)))
    return svg.element("g", left, right, edge)


def _hatch(scale: TimeScale, top: float, bottom: float) -> Markup:
    """Slanted lines over the track, and the words: this motion is not that of the present wish."""
    step, tall = 14.0, bottom - top
    count = int((scale.right - scale.left - tall) / step)
    path = "".join(f"M{scale.left + k * step:.0f} {bottom:.0f}l{tall:.0f} {-tall:.0f}" for k in range(max(count, 0) + 1))
    middle = 0.5 * (scale.left + scale.right)
    box = svg.rect(middle - 42.0, top + 5.0, 84.0, tall - 10.0, rx=4.0, fill=PAPER, fill_opacity=0.85)
    text = svg.words(middle, top + 0.5 * tall + 4.0, "out of date", text_anchor="middle", font_weight="600")
    lines = svg.path(path, stroke=svg.AMBER, stroke_opacity=0.6, stroke_width=3.0, fill="none")
    return svg.element("g", lines, box, text, pointer_events="none", class_="out-of-date")


def _spread(marks: Sequence[tuple[float, str]], scale: TimeScale) -> list[tuple[float, str]]:
    """Marks in order of time, those within 6 px of one drawn joined to it, at most 40."""
    joined: list[tuple[float, str]] = []
    for time, said in sorted(marks, key=lambda mark: mark[0]):
        if not scale.shows(time):
            continue
        if joined and scale.x(time) - scale.x(joined[-1][0]) < 6.0:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]}; {said}"[:300])
        else:
            joined.append((time, said))
    return joined[:MARKS]


def _mark(scale: TimeScale, time: float, said: str) -> Markup:
    x = scale.x(time)
    hint, hold = svg.title(f"{said} (click: go to {time:.2f} s)"), svg.grip(x - 9.0, 0.0, 18.0, 18.0)
    sign = svg.path(f"M{x - 5:.1f} 3h10l-5 10z", fill=svg.RED)
    return svg.clickable(hint, hold, sign, data_click="time.jump", data_t=f"{time:.4f}", class_="violation")


def _loop_end(scale: TimeScale, end: str, time: float, top: float, bottom: float) -> Markup:
    x = scale.clipped(time)
    inwards = 8.0 if end == "start" else -8.0
    path = f"M{x + inwards:.1f} {top:.1f}H{x:.1f}V{bottom:.1f}H{x + inwards:.1f}"
    bracket = svg.path(path, stroke=svg.BLUE, stroke_width=2.5, fill="none")
    hold = svg.grip(min(x, x + 1.25 * inwards), top, 10.0, bottom - top)
    return svg.draggable(svg.title(f"the loop's {end}: {time:.2f} s; drag"), bracket, hold, data_drag=f"loop.{end}")


def _head(scale: TimeScale, time: float, bottom: float) -> Markup:
    knob = svg.path(f"M-6 {bottom + 8:.1f}h12v-5l-6 -6l-6 6z", fill=svg.RED)
    drag = svg.draggable(svg.title(SCRUB), knob, svg.grip(-10.0, bottom - 4.0, 20.0, 18.0), data_drag="time.scrub")
    return playhead(scale, time, TOP, bottom, drag)
