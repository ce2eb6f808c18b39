"""The choreography editor: primitives as blocks whose borders drag, accents of the score as diamonds."""

from __future__ import annotations

from bunraku.motion import Choreography
from bunraku.studio.widgets import svg
from bunraku.studio.widgets.scale import TimeScale, axis, grid, playhead, time_scale
from bunraku.studio.widgets.svg import Markup

TOP, BLOCK, SCORE = 4.0, 44.0, 26.0
COLORS = (svg.BLUE, svg.GREEN, svg.VIOLET, svg.AMBER, "#3aa6a6", "#c0678f", "#7d8fbf", svg.GREY)


def blocks(show: Choreography, *, selected: int | None = None, time: float | None = None, width: float = 360.0) -> str:
    """The modes of a show, each as long as it lasts, and its accents.

    Clicks: mode.select (mode), mode.add (at; in the middle of a block's top edge there is a plus for the place after it),
    mode.remove (mode; of the selected one). Drags: mode.border (mode: whose start it is), accent.move (index); x by
    ``time_scale(width, show.duration).time``.
    """
    scale = time_scale(width, show.duration)
    bottom = TOP + BLOCK + SCORE
    ends = [*(mode.start for mode in show.modes[1:]), show.duration]
    order = [primitive.name for primitive in show.primitives]
    colors = {name: COLORS[k % len(COLORS)] for k, name in enumerate(order)}
    modes = list(enumerate(zip(show.modes, ends, strict=True)))
    parts = [
        grid(scale, 0.0, bottom),
        svg.words(0.0, TOP + 16.0, "primitives", scale.left - 6.0, fill_opacity=0.7),
        _tools(selected, show),
        svg.words(0.0, TOP + BLOCK + 17.0, "score", scale.left - 6.0, fill_opacity=0.7) if show.accents else None,
        [_block(k, mode.primitive, mode.start, end, scale, colors[mode.primitive], k == selected) for k, (mode, end) in modes],
        [_border(k, mode.primitive, mode.start, scale) for k, (mode, _) in modes[1:]],
        [_accent(k, a.time, a.primitive, a.width, scale, colors[a.primitive]) for k, a in enumerate(show.accents[:200])],
        playhead(scale, time, 0.0, bottom),
        axis(scale, bottom + 13.0),
    ]
    return svg.picture(scale.width, bottom + 18.0, *parts, label="choreography")


def _block(mode: int, name: str, start: float, end: float, scale: TimeScale, color: str, selected: bool) -> Markup:
    a, b = scale.clipped(start), scale.clipped(end)
    wide = max(b - a - 1.0, 1.0)
    look = {"fill_opacity": 0.55, "stroke_width": 2.5} if selected else {"fill_opacity": 0.3, "stroke_width": 1.0}
    box = svg.rect(a + 0.5, TOP, wide, BLOCK, rx=4.0, fill=color, stroke=color, **look)
    text = svg.words(a + 7.0, TOP + 19.0, name, wide - 10.0, font_weight="600") if wide > 20.0 else None
    length = svg.words(a + 7.0, TOP + 35.0, f"{end - start:.2f} s", fill_opacity=0.7) if wide > 46.0 else None
    hint = svg.title(f"{mode + 1}. {name}: {start:.2f} to {end:.2f} s; click to choose it")
    return svg.clickable(hint, box, text, length, data_click="mode.select", data_mode=mode, class_="mode")


def _border(mode: int, name: str, start: float, scale: TimeScale) -> Markup:
    x = scale.x(start)
    stroke = svg.line(x, TOP + 5.0, x, TOP + BLOCK - 5.0, stroke="currentColor", stroke_width=3.0, stroke_linecap="round")
    hint = svg.title(f"{name} begins at {start:.2f} s; drag")
    return svg.draggable(hint, stroke, svg.grip(x - 7.0, TOP, 14.0, BLOCK), data_drag="mode.border", data_mode=mode)


def _accent(index: int, time: float, name: str, spread: float, scale: TimeScale, color: str) -> Markup:
    x, y = scale.x(time), TOP + BLOCK + 13.0
    half = max(scale.x(spread) - scale.x(0.0), 2.0)
    return svg.draggable(
        svg.title(f"the score asks for {name} at {time:.2f} s, give or take {spread:.2f} s; drag"),
        svg.line(max(x - half, scale.left), y, min(x + half, scale.right), y, stroke=color, stroke_width=3.0, stroke_opacity=0.5),
        svg.path(f"M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7z", fill=color, stroke="currentColor", stroke_opacity=0.5),
        svg.grip(x - 9.0, y - 10.0, 18.0, 20.0),
        data_drag="accent.move",
        data_index=index,
        class_="accent",
    )


def _tools(selected: int | None, show: Choreography) -> Markup:
    """A plus that adds a mode after the chosen one (or at the end), a minus that removes the chosen one."""
    count = len(show.modes)
    chosen = selected if selected is not None and 0 <= selected < count else None
    after = count if chosen is None else chosen + 1
    where = "at the end" if after == count else f"after {show.modes[after - 1].primitive}"
    tools = [_tool(0.0, "+", f"add a primitive {where}", svg.BLUE, data_click="mode.add", data_at=after)]
    if chosen is not None and count > 1:
        hint = f"remove {show.modes[chosen].primitive}"
        tools.append(_tool(26.0, "−", hint, svg.RED, data_click="mode.remove", data_mode=chosen))
    return svg.element("g", tools)


def _tool(x: float, sign: str, hint: str, color: str, **data: object) -> Markup:
    box = svg.rect(x + 0.5, TOP + 22.0, 22.0, 20.0, rx=4.0, fill=color, fill_opacity=0.25, stroke=color)
    text = svg.words(x + 11.5, TOP + 36.0, sign, text_anchor="middle", font_weight="700")
    return svg.clickable(svg.title(hint), box, text, role="button", **data)
