"""The emphasis editor: for each body how much it counts, and when; bars with ends and height to drag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bunraku.editing.emphasis import share_of_weight, weight_of_share
from bunraku.motion import Emphasis
from bunraku.studio.widgets import svg
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.scale import TimeScale, axis, grid, playhead, row_line, time_scale
from bunraku.studio.widgets.svg import Markup

ROW, PAD, SLOTS, MOST_ROWS = 48.0, 5.0, 12, 12


@dataclass(frozen=True)
class EmphasisView:
    """Scales of the editor: ``frames`` from top to bottom, times by ``scale``."""

    scale: TimeScale
    frames: tuple[str, ...]

    def y(self, frame: str, share: float) -> float:
        """Where a share of the full height stands in a frame's row [px]."""
        return ROW * (self.frames.index(frame) + 1) - PAD - share * (ROW - 2.0 * PAD)

    def weight(self, emphasis: Emphasis, y: float) -> float:
        """The weight whose bar reaches up to ``y`` [px]."""
        if emphasis.frame not in self.frames:
            return emphasis.weight
        share = (self.y(emphasis.frame, 0.0) - y) / (ROW - 2.0 * PAD)
        return weight_of_share(share, emphasis.kind)


def emphasis_view(emphases: Sequence[Emphasis], frames: Sequence[str], duration: float, *, width: float = 360.0) -> EmphasisView:
    """Rows for every frame that has an emphasis, then for the ``frames`` on offer, at most 12."""
    rows = list(dict.fromkeys([*(one.frame for one in emphases), *frames]))[:MOST_ROWS]
    return EmphasisView(time_scale(width, duration), tuple(rows))


def emphasis(view: EmphasisView, emphases: Sequence[Emphasis], *, selected: int | None = None, time: float | None = None) -> str:
    """The editor of a view. A bar of half height is the neutral weight.

    Clicks: emphasis.add (frame, t), emphasis.remove (index), emphasis.select (index). Drags: emphasis.border (index, end), x by
    ``view.scale``; emphasis.weight (index), y by `EmphasisView.weight`.
    """
    if not view.frames:
        return notice("No body of this character can be emphasised.", "empty")
    bottom = ROW * len(view.frames)
    rows = [_row(view, frame) for frame in view.frames]
    order = sorted(range(len(emphases)), key=lambda index: index == selected)
    boxes = [_bar(view, index, emphases[index], index == selected) for index in order if emphases[index].frame in view.frames]
    parts = [grid(view.scale, 0.0, bottom), rows, boxes, playhead(view.scale, time, 0.0, bottom), axis(view.scale, bottom + 14.0)]
    return svg.picture(view.scale.width, bottom + 18.0, *parts, label="emphasis over time")


def _row(view: EmphasisView, frame: str) -> Markup:
    scale, top = view.scale, ROW * view.frames.index(frame)
    middle, dashes = view.y(frame, 0.5), {"stroke": "currentColor", "stroke_opacity": 0.25, "stroke_dasharray": "2 4"}
    slots = [
        svg.rect(x, top + 2.0, wide, ROW - 4.0, data_click="emphasis.add", data_frame=frame, data_t=f"{t:.4f}")
        for x, wide, t in scale.slots(SLOTS)
    ]
    return svg.element(
        "g",
        svg.words(0.0, top + 0.5 * ROW + 4.0, frame, scale.left - 6.0),
        svg.line(scale.left, middle, scale.right, middle, **dashes),
        row_line(scale, top + ROW),
        svg.element("g", svg.title(f"{frame}: click to emphasise it here"), slots, fill="transparent", style="cursor:copy"),
    )


def _bar(view: EmphasisView, index: int, one: Emphasis, selected: bool) -> Markup:
    scale = view.scale
    end = scale.end if one.end is None else one.end
    if one.start > scale.end or end < scale.start:
        return Markup("")
    a, b = scale.clipped(one.start), max(scale.clipped(end), scale.clipped(one.start) + 6.0)
    top, bottom = min(view.y(one.frame, share_of_weight(one)), view.y(one.frame, 0.06)), view.y(one.frame, 0.0)
    color = svg.BLUE if one.kind == "position" else svg.VIOLET
    unit = "times" if one.kind == "position" else "m² of tilt"
    until = "the end" if one.end is None else f"{one.end:.2f} s"
    hint = svg.title(f"{one.frame}, {one.kind}: {one.weight:.3g} {unit} from {one.start:.2f} s to {until}")
    data = {"data_click": "emphasis.select", "data_index": index, "style": "cursor:pointer"}
    body = svg.rect(a, top, b - a, bottom - top, hint, rx=2.0, fill=color, fill_opacity=0.75 if selected else 0.5, **data)
    edge, hold = svg.line(a, top, b, top, stroke=color, stroke_width=3.0), svg.grip(a, top - 6.0, b - a, 12.0)
    higher = svg.title(f"weight {one.weight:.3g}; drag up or down")
    lid = svg.draggable(higher, edge, hold, way="ns", data_drag="emphasis.weight", data_index=index)
    ends = [_end(index, which, x, view.y(one.frame, 1.0), bottom, color) for which, x in (("start", a), ("end", b))]
    said = f"× {one.weight:.3g}" if one.kind == "position" else f"{one.weight:.3g} m²"
    label = svg.words(a + 8.0, bottom - 4.0, said) if svg.breadth(said) < b - a - 26.0 else None
    return svg.element("g", body, label, lid, ends, _cross(index, b, bottom) if selected or b - a > 70.0 else None)


def _end(index: int, end: str, x: float, top: float, bottom: float, color: str) -> Markup:
    edge = svg.line(x, top, x, bottom, stroke=color, stroke_width=2.5, stroke_linecap="round")
    hint, hold = svg.title(f"drag the {end}"), svg.grip(x - 5.0, top, 10.0, bottom - top)
    return svg.draggable(hint, edge, hold, data_drag="emphasis.border", data_index=index, data_end=end)


def _cross(index: int, right: float, bottom: float) -> Markup:
    x, y = right - 15.0, bottom - 9.0
    hold = svg.grip(x - 9.0, y - 9.0, 18.0, 18.0)
    cross = svg.path(f"M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7", stroke=svg.RED, stroke_width=1.8, fill="none")
    return svg.clickable(svg.title("remove"), hold, cross, data_click="emphasis.remove", data_index=index)
