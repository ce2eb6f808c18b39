"""Speed and turning of a gait: sliders that are solved while they are dragged, pattern and duration, joints that stay still."""

from __future__ import annotations

import math
from functools import partial
from html import escape
from typing import Any

from bunraku.character import Character
from bunraku.gait.patterns import PATTERNS
from bunraku.motion import Gait
from bunraku.studio.document import Document
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.ui import Ui, put

CHIP = (
    "display:inline-block;font-size:11px;line-height:1.7;padding:0 .6em;margin:.12em;border-radius:4px;cursor:pointer;"
    "border:1px solid rgba(128,128,128,.5)"
)


class Going:
    """The widgets that say where a gait goes."""

    def __init__(self, ui: Ui) -> None:
        self._ui = ui
        self._inputs: dict[str, Any] = {}

    def fill(self, document: Document) -> None:
        """Make the widgets for the gait of a document."""
        ui, session, gui = self._ui, self._ui.session, self._ui.gui
        gait = document.need_gait()
        x, y = gait.distance or (None, None)
        limit = 2.0 * max(0.5, abs(x or 0.0), abs(y or 0.0))
        turn, gone_by = math.degrees(gait.turn or 0.0), _gone_by(document)
        most = max(180.0, abs(turn))
        sliders = {
            "forward": gui.add_slider("Forward [m]", -limit, limit, 0.005, x or 0.0, hint="In one cycle, or from start to end"),
            "aside": gui.add_slider("Aside [m]", -limit, limit, 0.005, y or 0.0, hint="To the left"),
            "turn": gui.add_slider("Turn [deg]", -most, most, 1.0, turn, hint="To the left"),
        }
        for name, slider in sliders.items():
            drag = Drag(ui, f"goal {name}", "gait.goal", valid=lambda: _gone_by(session.document) == gone_by)
            scale = math.pi / 180.0 if name == "turn" else 1.0
            drag.follow(slider, partial(_goal, name, scale))

        def set_gait(field: str, scale: float, value: float) -> None:
            session.do("gait.set", field=field, value=scale * float(value))

        low, high = min(0.1, gait.duration), max(60.0, gait.duration)
        duration = gui.add_number("Duration [s]", gait.duration, min=low, max=high, step=0.05)
        ui.changed(duration, partial(set_gait, "duration", 1.0), key="gait duration")
        patterns = (*PATTERNS, "custom") if gait.pattern == "custom" else PATTERNS
        pattern = gui.add_dropdown("Pattern", patterns, initial_value=gait.pattern if gait.pattern in patterns else patterns[0])
        ui.changed(pattern, lambda value: None if value == "custom" else session.do("gait.set", field="pattern", value=value))
        lift = round(1e3 * gait.swing_height, 1)
        height = gui.add_number("Swing height [mm]", lift, min=min(1.0, lift), max=max(300.0, lift), step=1.0)
        ui.changed(height, partial(set_gait, "swing_height", 1e-3), key="swing height")
        self._inputs = sliders | {"duration": duration, "pattern": pattern, "height": height}

    def clear(self) -> None:
        """The widgets were taken away."""
        self._inputs = {}

    def follow(self, document: Document) -> None:
        """After undo: what was typed goes back too."""
        gait = document.gait
        if gait is None or not self._inputs:
            return
        x, y = gait.distance or (None, None)
        values = {"forward": x or 0.0, "aside": y or 0.0, "turn": math.degrees(gait.turn or 0.0)}
        values |= {"duration": gait.duration, "height": round(1e3 * gait.swing_height, 1)}
        for name, value in values.items():
            handle = self._inputs[name]
            if not handle.min <= value <= handle.max:  # it came otherwise than by hand
                handle.min, handle.max = min(handle.min, value), max(handle.max, value)
            put(handle, value, within=1e-3)
        pattern = self._inputs["pattern"]
        if gait.pattern not in pattern.options:
            pattern.options = (*pattern.options, gait.pattern)
        put(pattern, gait.pattern)


def held_joints(character: Character, gait: Gait) -> str:
    """Chips of the driven joints, pressed where the gait holds them at home; a click sends joint.lock (joint)."""
    wheels = {tip.body for tip in character.end_effectors if tip.spins}
    turning = {axis.name for joint in character.joints if joint.child in wheels for axis in joint.axes}
    chips = []
    for name in character.driven:
        if name in turning:
            continue
        held = name in gait.locked
        look = ";background:rgba(224,49,49,.75);color:#fff" if held else ""
        chips.append(
            f'<span role="button" tabindex="0" aria-pressed="{str(held).lower()}" data-click="joint.lock" '
            f'data-joint="{escape(name)}" title="{"free" if held else "hold"} {escape(name)}" style="{CHIP}{look}">'
            f"{escape(name)}</span>"
        )
    words = '<div style="font-size:12px;opacity:.8;padding-bottom:.2em">A click holds a joint at home, another frees it.</div>'
    return f'<div style="padding:.1em .6em">{words}{"".join(chips)}</div>'


def _goal(name: str, scale: float, value: float) -> dict[str, Any]:
    return {name: scale * float(value)}


def _gone_by(document: Document) -> tuple[str | None, str] | None:
    """Who goes by which clip; None without a gait."""
    if document.clip is None or document.gait is None:
        return None
    return None if document.base is None else document.base.name, document.clip.name
