"""Time along x: one scale for every editor, so that they stand exactly below each other, and events map back to times."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.studio.widgets.svg import GREY, RED, Markup, element, line, words


@dataclass(frozen=True)
class TimeScale:
    """Times ``start`` to ``end`` [s] (or phases) across ``left`` to ``right`` of a picture of ``width`` [px]."""

    width: float
    left: float
    right: float
    start: float
    end: float

    def x(self, time: float) -> float:
        """Where a time stands [px]."""
        return self.left + (time - self.start) / (self.end - self.start) * (self.right - self.left)

    def time(self, x: float) -> float:
        """The time [s] at a place [px], within the scale."""
        share = (x - self.left) / (self.right - self.left)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def clipped(self, time: float) -> float:
        """Where a time stands [px], at the nearer end when it is outside."""
        return min(self.right, max(self.left, self.x(time)))

    def slots(self, count: int) -> list[tuple[float, float, float]]:
        """The scale in ``count`` equal slots to be clicked: left edge and width [px] and the time in the middle of each."""
        wide = (self.right - self.left) / count
        return [(self.left + k * wide, wide, self.time(self.left + (k + 0.5) * wide)) for k in range(count)]

    def shows(self, time: float) -> bool:
        """Whether a time lies on the scale."""
        return self.start - 1e-9 <= time <= self.end + 1e-9


def time_scale(width: float, duration: float) -> TimeScale:
    """The scale of every editor that is ``width`` [px] wide, over the whole ``duration`` [s].

    Names stand in the left margin: 84 px, 120 px where there is room.
    """
    end = duration if math.isfinite(duration) and duration >= 1e-6 else 1.0
    wide = max(float(width), 200.0)
    return TimeScale(wide, 84.0 if wide < 600.0 else 120.0, wide - 12.0, 0.0, float(end))


def clock(time: float, step: float = 0.01) -> str:
    """A time in words: seconds with as many decimals as ``step`` needs; minutes from one on."""
    decimals = 0 if step >= 1.0 else 1 if step >= 0.1 else 2
    if time >= 60.0 and step >= 1.0:
        return f"{int(time) // 60}:{int(time) % 60:02d}"
    return f"{time:.{decimals}f}"


def ticks(scale: TimeScale) -> list[float]:
    """Round times, at least 56 px apart."""
    raw = 56.0 * (scale.end - scale.start) / (scale.right - scale.left)
    power: float = 10.0 ** math.floor(math.log10(max(raw, 1e-9)))
    step = next(power * part for part in (1.0, 2.0, 5.0, 10.0) if power * part >= raw * (1 - 1e-9))
    first = math.ceil(scale.start / step - 1e-9)
    last = math.floor(scale.end / step + 1e-9)
    return [k * step for k in range(first, min(last, first + 200) + 1)]


def grid(scale: TimeScale, top: float, bottom: float) -> Markup:
    """Pale lines at round times."""
    look = {"stroke": "currentColor", "stroke_opacity": 0.1}
    return element("g", [line(scale.x(t), top, scale.x(t), bottom, **look) for t in ticks(scale)])


def axis(scale: TimeScale, y: float) -> Markup:
    """Round times in words, their baseline at ``y``."""
    times = ticks(scale)
    step = times[1] - times[0] if len(times) > 1 else 0.01
    shown = [t for t in times if scale.x(t) < scale.right - 16]
    labels = [words(scale.x(t), y, clock(t, step), text_anchor="middle", fill_opacity=0.65) for t in shown]
    return element("g", labels, words(scale.right, y, "s", text_anchor="end", fill_opacity=0.65))


def playhead(
    scale: TimeScale, time: float | None, top: float, bottom: float, *more: object, unit: float = 1.0, wrap: bool = False
) -> Markup:
    """A line at the present time; nothing where there is none. The page's script moves it along while the motion plays.

    ``unit`` [s]: of a scale that is not in seconds (a phase); ``wrap``: it starts again at the scale's end. ``more`` goes along.
    """
    if time is None or not math.isfinite(time):
        return Markup("")
    stroke = line(0.0, top, 0.0, bottom, stroke=RED, stroke_width=1.5, pointer_events="none", class_="playhead")
    ends = f"{scale.left:.2f} {scale.right:.2f} {unit * scale.start:.5f} {unit * scale.end:.5f} {int(wrap)}"
    x = scale.clipped(time / unit)
    return element("g", stroke, *more, transform=f"translate({x:.2f} 0)", data_playhead=ends, class_="head")


def row_line(scale: TimeScale, y: float) -> Markup:
    """A pale line between rows."""
    return line(0.0, y, scale.width, y, stroke=GREY, stroke_opacity=0.25)
