"""The curve editor: for each chosen joint its wished curve with keys to drag, limits as bands, and what is performed behind it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.editing.keys import Keys, keys_of, moved_keys
from bunraku.errors import BadInput
from bunraku.geometry.decimate import decimated
from bunraku.motion import JointCurves
from bunraku.studio.widgets import svg
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.scale import TimeScale, axis, grid, playhead, row_line, time_scale
from bunraku.studio.widgets.svg import Markup

ROW, PAD, MOST_ROWS = 92.0, 8.0, 5
MOST_POINTS, ALL_POINTS = 400, 1600
"""Points of one curve, and of all curves of the editor."""

IDLE = {"rad": 0.5, "m": 0.05}
"""How far above and below a curve that does not move the row reaches, so that its keys can be dragged somewhere."""


@dataclass(frozen=True)
class CurveRow:
    """One joint's row: from ``top`` on, values ``low`` to ``high`` over ``height`` [px]; its ``limits``, if any, and ``keys``."""

    name: str
    unit: str
    top: float
    height: float
    low: float
    high: float
    limits: tuple[float, float]
    home: float
    keys: Keys | None

    def y(self, value: float) -> float:
        """Where a value stands [px]."""
        return self.top + self.height - PAD - (value - self.low) / (self.high - self.low) * (self.height - 2.0 * PAD)

    def y_within(self, value: float) -> float:
        """The same, at the row's edge when it is outside."""
        return min(max(self.y(value), self.top), self.top + self.height)

    def value(self, y: float) -> float:
        """The value at a place [px]."""
        return self.low + (self.top + self.height - PAD - y) / (self.height - 2.0 * PAD) * (self.high - self.low)


@dataclass(frozen=True)
class CurvesView:
    """Scales of the editor. Keep one while a key is dragged, so that the picture does not move under the hand."""

    scale: TimeScale
    rows: tuple[CurveRow, ...]

    def place(self, joint: str, x: float, y: float) -> tuple[float, float]:
        """Time [s] and value [rad or m] at a place of the picture in a joint's row."""
        row = next((row for row in self.rows if row.name == joint), None)
        if row is None:
            raise BadInput(f"the curve of {joint[:60]!r} is not shown; shown are {', '.join(row.name for row in self.rows)}")
        return self.scale.time(x), row.value(min(max(y, row.top), row.top + row.height))


def curves_view(
    character: Character,
    wished: JointCurves,
    names: Sequence[str] = (),
    *,
    performed: JointCurves | None = None,
    keys: Mapping[str, Keys] | None = None,
    width: float = 360.0,
) -> CurvesView:
    """Rows for ``names`` (at most 5; none given: the joints that move most), their values in view, and their keys.

    ``keys``: those to show; joints not in it get the ones that `editing.keys.keys_of` finds.
    """
    chosen = [name for name in names if name in wished.names] or most_moving(wished, 3)
    ranges, kinds = _ranges(character), {axis_.name: axis_.kind for axis_ in character.axes}
    rows = []
    for i, name in enumerate(chosen[:MOST_ROWS]):
        seen = [wished.column(name)]
        if performed is not None and name in performed.names:
            seen.append(performed.column(name))
        unit = "m" if kinds.get(name) == "slide" else "rad"
        limits = ranges.get(name, (-math.inf, math.inf))
        low, high = _in_view(seen, limits, IDLE[unit])
        own = (keys or {}).get(name)
        if own is None and len(wished.values) > 1:
            own = keys_of(wished, name)
        rows.append(CurveRow(name, unit, 4.0 + ROW * i, ROW - 8.0, low, high, limits, character.home.get(name, 0.0), own))
    return CurvesView(time_scale(width, wished.duration), tuple(rows))


def most_moving(wished: JointCurves, count: int) -> list[str]:
    """The names of the curves that travel most, in the order of the joints."""
    travel = np.ptp(wished.values, axis=0)
    best = sorted(np.argsort(-travel, kind="stable")[:count].tolist())
    return [wished.names[j] for j in best]


def curves(
    view: CurvesView,
    wished: JointCurves,
    performed: JointCurves | None = None,
    *,
    muted: Collection[str] = (),
    locked: Collection[str] = (),
    selected: tuple[str, int] | str | None = None,
    dragged: tuple[str, int, float] | None = None,
    time: float | None = None,
) -> str:
    """The editor of a view. ``selected``: a joint, or a joint and the number of its key.

    ``dragged``: joint, number and present time [s] of a key under the hand; ``wished`` is then the curve with the key moved.

    Drags: keys.move (joint, key), x and y by `CurvesView.place`. Clicks: keys.add (joint; at the playhead), keys.remove (joint,
    key; of the selected key), keys.select (joint, key), joint.mute, joint.lock (joint), select (kind = joint, name). A muted joint
    stays at home for now, whatever its curve says; a locked one is held at home by the clip itself. The keys of neither drag.
    """
    if not view.rows:
        return notice("This clip has no joint curves yet: retarget its skeleton, or make them from its modes.", "empty")
    bottom = view.rows[-1].top + view.rows[-1].height
    shown = tuple(_with_key(row, dragged) for row in view.rows)
    rows = [_row(row, view, wished, performed, muted, locked, selected) for row in shown]
    parts = [grid(view.scale, 0.0, bottom), rows, playhead(view.scale, time, 0.0, bottom), axis(view.scale, bottom + 15.0)]
    return svg.picture(view.scale.width, bottom + 20.0, *parts, label="joint curves")


def _with_key(row: CurveRow, dragged: tuple[str, int, float] | None) -> CurveRow:
    """The row with its dragged key where the hand is."""
    if dragged is None or dragged[0] != row.name or row.keys is None:
        return row
    return replace(row, keys=moved_keys(row.keys, dragged[1], dragged[2]))


def _row(
    row: CurveRow,
    view: CurvesView,
    wished: JointCurves,
    performed: JointCurves | None,
    muted: Collection[str],
    locked: Collection[str],
    selected: tuple[str, int] | str | None,
) -> Markup:
    scale, most = view.scale, min(MOST_POINTS, ALL_POINTS // (2 * len(view.rows)))
    still, fixed = row.name in muted, row.name in locked
    key = selected[1] if isinstance(selected, tuple) and selected[0] == row.name else None
    chosen = selected == row.name or key is not None
    parts = [_bands(row, scale), _margin(row, scale, still, fixed, chosen, key)]
    if performed is not None and row.name in performed.names:
        parts.append(_line(row, scale, performed, "performed", most, stroke=svg.GREEN, stroke_width=2.5, stroke_opacity=0.55))
    opacity = 0.35 if still else 1.0
    parts.append(_line(row, scale, wished, "wished", most, stroke=svg.BLUE, stroke_width=1.5, stroke_opacity=opacity))
    if still:
        y = row.y(min(max(row.home, row.low), row.high))
        hint = svg.title(f"{row.name} is muted: it stays at home, {_said(row.home, row.unit)}")
        parts.append(svg.line(scale.left, y, scale.right, y, hint, stroke=svg.AMBER, stroke_width=2.0, stroke_dasharray="6 4"))
    if row.keys is not None:
        parts.append(_keys(row, scale, row.keys, wished.column(row.name), fixed or still, key))
    parts.append(row_line(scale, row.top + row.height + 4.0))
    return svg.element("g", parts)


def _bands(row: CurveRow, scale: TimeScale) -> Markup:
    """What lies beyond the limits, tinted."""
    parts = []
    for limit, edge, above in ((row.limits[1], row.top, True), (row.limits[0], row.top + row.height, False)):
        if not math.isfinite(limit) or not (row.low < limit < row.high):
            continue
        y = row.y(limit)
        top, bottom = (edge, y) if above else (y, edge)
        hint = svg.title(f"{row.name}: {'at most' if above else 'at least'} {_said(limit, row.unit)}")
        wide = scale.right - scale.left
        parts.append(svg.rect(scale.left, top, wide, max(bottom - top, 0.0), hint, fill=svg.RED, fill_opacity=0.12))
        parts.append(svg.line(scale.left, y, scale.right, y, stroke=svg.RED, stroke_opacity=0.7, stroke_dasharray="4 3"))
    return svg.element("g", parts)


def _margin(row: CurveRow, scale: TimeScale, muted: bool, locked: bool, chosen: bool, key: int | None) -> Markup:
    """The name, buttons for mute, lock and keys, and the ends of the values."""
    who, y = row.name, row.top + 26.0
    label = svg.words(2.0, row.top + 14.0, who, scale.left - 8.0, font_weight="700" if chosen else "500")
    hit = svg.grip(0.0, row.top, scale.left - 6.0, 22.0)
    name = svg.clickable(svg.title(f"select {who}"), hit, label, data_click="select", data_kind="joint", data_name=who)
    mute = f"mute {who}: for now it stays at home, whatever its curve says"
    lock = f"lock {who}: the clip itself holds it at home, and its keys do not drag"
    buttons = [
        _button(2.0, y, "M", muted, svg.AMBER, mute, "joint.mute", who),
        _button(28.0, y, "L", locked, svg.RED, lock, "joint.lock", who),
        _button(2.0, y + 25.0, "+", False, svg.BLUE, f"add a key to {who} at the playhead", "keys.add", who),
    ]
    if key is not None:
        buttons.append(_button(28.0, y + 25.0, "−", False, svg.BLUE, f"remove the selected key of {who}", "keys.remove", who, key))
    right: dict[str, Any] = {"text_anchor": "end", "fill_opacity": 0.55}
    top, low = _said(row.value(row.top + PAD), row.unit), _said(row.low, row.unit)
    upper = svg.words(scale.right - 2.0, row.top + 10.0, top, **right)
    lower = svg.words(scale.right - 2.0, row.top + row.height - 2.0, low, **right)
    return svg.element("g", name, buttons, upper, lower)


def _button(
    x: float, y: float, sign: str, on: bool, color: str, hint: str, event: str, joint: str, key: int | None = None
) -> Markup:
    look = {"fill": color, "fill_opacity": 0.85} if on else {"fill": "currentColor", "fill_opacity": 0.08}
    box = svg.rect(x, y, 22.0, 20.0, rx=4.0, **look, stroke="currentColor", stroke_opacity=0.25)
    text = svg.words(x + 11.0, y + 14.0, sign, text_anchor="middle", font_weight="600")
    pressed = ("true" if on else "false") if event.startswith("joint.") else None
    data = {"data_click": event, "data_joint": joint, "data_key": key, "role": "button", "aria_pressed": pressed}
    return svg.clickable(svg.title(hint), box, text, **data)


def _line(row: CurveRow, scale: TimeScale, curves_: JointCurves, what: str, most: int, **look: object) -> Markup:
    """One curve, at most ``most`` points of what is in view."""
    times = curves_.times
    inside = (times >= scale.start - 1e-9) & (times <= scale.end + 1e-9)
    t, y = times[inside], curves_.column(row.name)[inside]
    points = [(scale.x(float(t[k])), row.y_within(float(y[k]))) for k in decimated(y, most)]
    hint = svg.title(f"{row.name}, {what}")
    return svg.path(svg.path_of(points), hint, fill="none", stroke_linejoin="round", class_=what, **look) if points else Markup("")


def _keys(row: CurveRow, scale: TimeScale, keys: Keys, curve: Array, still: bool, selected: int | None) -> Markup:
    """Small discs; the broad invisible edge of each is what a finger meets. Those of a joint that is still do not drag."""
    discs = []
    for index, (time, value) in enumerate(zip(keys.times.tolist(), keys.values(curve).tolist(), strict=True)):
        if not scale.shows(time):
            continue
        hint = svg.title(f"{_said(value, row.unit)} at {time:.2f} s")
        data = {"data_drag": "keys.move", "data_click": "keys.select", "data_joint": row.name, "data_key": index}
        color = svg.AMBER if index == selected else None
        discs.append(
            svg.element("circle", hint, cx=scale.x(time), cy=row.y_within(value), r=4, fill=color, **({} if still else data))
        )
    return svg.element(
        "g", discs, fill=svg.BLUE, stroke="transparent", stroke_width=10, opacity=0.45 if still else None, class_="keys"
    )


def _ranges(character: Character) -> dict[str, tuple[float, float]]:
    """Range of each coordinate: its joint's and its motor's, infinite where none is stated."""
    ranges = {one.name: one.range or (-math.inf, math.inf) for one in character.axes}
    for motor in character.motors:
        if motor.range is not None:
            low, high = ranges[motor.coordinate]
            ranges[motor.coordinate] = (max(low, motor.range[0]), min(high, motor.range[1]))
    return ranges


def _in_view(seen: Sequence[Array], limits: tuple[float, float], idle: float) -> tuple[float, float]:
    """Lowest and highest value in view: all curves, and a limit that they come near to; ``idle`` around one that does not move."""
    low, high = min(float(y.min()) for y in seen), max(float(y.max()) for y in seen)
    if high - low < 1e-3 * idle:
        low, high = min(low, max(low - idle, limits[0])), max(high, min(high + idle, limits[1]))
    room = max(0.25 * (high - low), 0.02)
    if high + room > limits[1]:
        high = max(high, limits[1])
    if low - room < limits[0]:
        low = min(low, limits[0])
    return low - 0.5 * room, high + 0.5 * room


def _said(value: float, unit: str) -> str:
    return f"{math.degrees(value):.1f}°" if unit == "rad" else f"{1e3 * value:.1f} mm"
