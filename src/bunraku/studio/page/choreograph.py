"""Choreograph: speed, turning and footfalls; targets; weights over time; joint curves; the voice; the modes of a show."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

from bunraku.character import Character
from bunraku.editing.emphasis import weight_of_share
from bunraku.editing.keys import Keys
from bunraku.errors import BadInput, BunrakuError
from bunraku.motion import Clip, Gait, JointCurves, Target
from bunraku.studio.document import Document
from bunraku.studio.page.beginning import fill_beginning
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.going import Going, held_joints
from bunraku.studio.page.placed_keys import PlacedKeys
from bunraku.studio.page.targets import has_target
from bunraku.studio.page.ui import Html, RefreshedFolder, Same, Ui, alone, put, words_of
from bunraku.studio.page.voice import Voice, performed_curves
from bunraku.studio.widgets.blocks import blocks
from bunraku.studio.widgets.curves import CurvesView, curves, curves_view, most_moving
from bunraku.studio.widgets.emphasis import EmphasisView, emphasis, emphasis_view
from bunraku.studio.widgets.footfall import footfall, footfall_scale
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.scale import time_scale

WIDTH = 360.0
MOST_FRAMES = 6
LEAST = 3.0
"""How far [px] a press must move to be a drag."""


class ChoreographTab:
    """Edits the clip: whatever tracks it has."""

    def __init__(self, ui: Ui, tab: Any) -> None:
        self._ui = ui
        self._clip = RefreshedFolder(ui, tab, "Clip", order=1.0)
        self._begin = RefreshedFolder(ui, tab, "New clip", order=1.5, open=False)
        self._going = RefreshedFolder(ui, tab, "Speed and turning", order=2.0)
        self._footfalls = RefreshedFolder(ui, tab, "Footfalls", order=3.0)
        self._targets = RefreshedFolder(ui, tab, "Targets", order=4.0)
        self._held_joints = RefreshedFolder(ui, tab, "Joints that stay still", order=4.5, open=False)
        self._modes = RefreshedFolder(ui, tab, "Primitives", order=5.0)
        self._voice = Voice(ui, tab)
        self._emphasis = RefreshedFolder(ui, tab, "What matters when", order=7.0, open=False)
        self._curves = RefreshedFolder(ui, tab, "Joint curves", order=8.0)
        self._sections = {"footfalls": self._footfalls, "held": self._held_joints, "modes": self._modes}
        self._sections |= {"emphasis": self._emphasis, "curves": self._curves}
        self._pictures: dict[str, Any] = {}
        self._goal = Going(ui)
        self._placed = PlacedKeys()
        self._bodies: tuple[str, ...] = ()
        self._joints: tuple[str, ...] = ()
        self._kind = "position"
        self._curves_view: CurvesView | None = None
        self._emphasis_view: EmphasisView | None = None
        self._picked: dict[str, int] = {}
        self._title: Html | None = None
        self._target_rows: list[Html] = []
        self._target_inputs: dict[str, Any] = {}
        self._dragging = ""
        self._held: dict[str, Any] = {}
        self._listen()
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show the tracks of the clip."""
        if what not in ("document", "shown", "result", "selection"):
            return
        base, document = self._ui.session.both
        clip = base.clip or Clip("none")
        ready = base.clip is not None and base.base is not None
        if what in ("document", "selection"):
            selection = self._ui.session.selection
            kind = (Same(base.base), base.clip is not None, clip.name)
            captured = clip.skeleton is not None and clip.joints is None
            self._clip.show((kind, captured), lambda: self._fill_clip(base))
            if self._title is not None and ready:
                self._title.content = words_of(_title(clip))
            self._begin.show(Same(base.base), lambda: fill_beginning(self._ui, base.need_character()), visible=ready)
            goes, moves = ready and clip.gait is not None, ready and clip.joints is not None
            self._going.show(kind, lambda: self._goal.fill(base), visible=goes)
            if not self._going.shown:
                self._goal.clear()
            self._footfalls.show(kind, lambda: self._picture("footfalls"), visible=goes)
            targets = () if clip.gait is None else clip.gait.targets
            self._targets.show((kind, len(targets), selection.target), lambda: self._fill_targets(base), visible=goes)
            if clip.gait is not None and self._targets.shown:
                self._follow_targets(clip.gait)
            self._held_joints.show(kind, lambda: self._picture("held"), visible=goes)
            modes = () if clip.modes is None else tuple(mode.primitive for mode in clip.modes.modes)
            seen = ready and clip.modes is not None
            self._modes.show((kind, modes, selection.mode), lambda: self._fill_modes(base), visible=seen)
            self._voice.show(kind, base)
            self._emphasis.show(kind, lambda: self._fill_emphasis(base), visible=moves)
            moved = () if clip.joints is None else clip.joints.names
            self._curves.show((kind, moved, self._joints), lambda: self._fill_curves(base), visible=moves)
            self._goal.follow(base)
        if ready and document.clip is not None and document.base is not None:
            self._draw(document)

    def release(self) -> None:
        """No hand is on a picture any more."""
        self._dragging, self._held = "", {}

    # pictures

    def _picture(self, name: str) -> None:
        self._pictures[name] = self._ui.html("")

    def _draw(self, document: Document) -> None:
        clip, character = document.need_clip(), document.need_character()
        drawn: dict[str, str] = {}
        if clip.gait is not None:
            drawn["footfalls"] = footfall(character, clip.gait, 0.0, width=WIDTH)
            drawn["held"] = held_joints(character, clip.gait)
        if clip.modes is not None:
            drawn["modes"] = blocks(clip.modes, selected=self._ui.session.selection.mode, time=0.0, width=WIDTH)
        self._voice.draw(clip)
        if clip.joints is not None:
            if not self._dragging.startswith("emphasis") or self._emphasis_view is None:
                names = (*self._bodies, *_bodies(character)[:MOST_FRAMES])
                self._emphasis_view = emphasis_view(clip.emphasis, names, clip.duration, width=WIDTH)
            drawn["emphasis"] = emphasis(self._emphasis_view, clip.emphasis, selected=self._picked.get("emphasis"), time=0.0)
            drawn["curves"] = self._curve_rows(document, clip.joints)
        for name, content in drawn.items():  # a section that was taken away comes back with the news of the document, if late
            if name in self._pictures and self._sections[name].shown:
                self._pictures[name].content = content

    def _curve_rows(self, document: Document, wished: JointCurves) -> str:
        session = self._ui.session
        performed = performed_curves(session.result)
        if not self._dragging.startswith("keys") or self._curves_view is None:
            self._placed.follow(document.need_clip())
            names = [name for name in self._joints if name in wished.names] or most_moving(wished, 3)
            keys = {name: self._placed.on(wished, name) for name in names} if len(wished.values) > 1 else {}
            self._curves_view = curves_view(document.need_character(), wished, names, performed=performed, keys=keys, width=WIDTH)
        joint, key = session.selection.joint, self._picked.get("key")
        selected = (joint, key) if joint and key is not None else joint or None
        held = self._held if self._dragging == "keys.move" else {}
        dragged = (str(held["joint"]), int(held["key"]), float(held["time"])) if held else None
        marks: dict[str, Any] = {"muted": document.muted, "locked": document.need_clip().held, "selected": selected}
        return curves(self._curves_view, wished, performed, **marks, dragged=dragged, time=0.0)

    # widgets

    def _fill_clip(self, document: Document) -> None:
        ui, clip = self._ui, document.clip
        self._title = None
        if clip is None:
            begin = ", or begin one:" if document.base is not None else "."
            ui.html(notice(f"No clip is open. Pick one from the gallery, open a file{begin}", "info"))
            if document.base is not None:
                fill_beginning(ui, document.need_character())
            return
        self._title = ui.words(_title(clip))
        if clip.skeleton is not None and clip.joints is None:
            ui.html(notice("A captured skeleton. Retarget it to see and edit its curves on this character.", "info"))
            ui.button("Retarget to this character", ui.session.make.retarget, color="green")

    def _fill_targets(self, document: Document) -> None:
        ui, session, gui = self._ui, self._ui.session, self._ui.gui
        gait, who = document.need_gait(), document.need_character()
        what = gui.add_dropdown("What", ("com", "base", *(tip.name for tip in who.end_effectors)))
        hint = "Where it is now; then drag its gizmo in the scene"
        ui.button("Add a target at this time", lambda: self._add_target(what.value), hint=hint)
        self._target_rows, self._target_inputs = [], {}
        for k, target in enumerate(gait.targets):
            chosen = session.selection.target == k
            self._target_rows.append(ui.html(_target_row(k, target, chosen)))
            if chosen:
                time = gui.add_number("Time [s]", round(target.time, 3), min=0.0, max=gait.duration, step=0.01)
                self._target_inputs = {"time": time, "weight": gui.add_number("Weight", target.weight, min=0.0, max=1e6)}
                for field, handle in self._target_inputs.items():
                    ui.changed(handle, partial(self._set_target, k, field), key=f"target {field}")
                ui.button("Remove this target", partial(self._remove_target, k), color="red")

    def _follow_targets(self, gait: Gait) -> None:
        """After an edit or undo: times and weights as they are now."""
        chosen = self._ui.session.selection.target
        for k, (row, target) in enumerate(zip(self._target_rows, gait.targets, strict=False)):
            row.content = _target_row(k, target, chosen == k)
            if chosen == k and self._target_inputs:
                self._target_inputs["time"].max = max(gait.duration, target.time)
                put(self._target_inputs["time"], round(target.time, 3), within=1e-6)
                put(self._target_inputs["weight"], target.weight, within=1e-6)

    def _add_target(self, what: str) -> None:
        session = self._ui.session
        gait = session.document.need_gait()
        time = min(session.transport.now, gait.duration)
        session.do("target.add", what=what, time=time, place=list(session.place_of(what, time)))
        session.select(target=len(gait.targets))

    def _set_target(self, index: int, field: str, value: float) -> None:
        if has_target(self._ui.session.document, index):
            self._ui.session.do("target.move", index=index, **{field: float(value)})

    def _remove_target(self, index: int) -> None:
        self._ui.session.select(target=None)
        if has_target(self._ui.session.document, index):  # else another browser was faster
            self._ui.session.do("target.remove", index=index)

    def _fill_modes(self, document: Document) -> None:
        ui, session, gui = self._ui, self._ui.session, self._ui.gui
        show = document.need_clip().modes
        assert show is not None  # noqa: S101
        self._picture("modes")
        names = tuple(one.name for one in show.primitives)
        chosen = session.selection.mode
        if chosen is not None and chosen < len(show.modes):
            replace, now = partial(session.do, "mode.replace", mode=chosen), show.modes[chosen].primitive
            ui.dropdown("This mode is", names, lambda name: replace(primitive=name), initial_value=now)
        more = gui.add_dropdown("Add", names)
        ui.button("Add at the end", lambda: session.do("mode.add", primitive=more.value))
        ui.button("Optimize the timing", session.make.time_modes, color="green", hint="Switching times that meet the score best")

    def _fill_emphasis(self, document: Document) -> None:
        """Which body gets a row first, and what of it counts."""
        ui, names = self._ui, _bodies(document.need_character())
        self._bodies = tuple(name for name in self._bodies if name in names)
        first = (*self._bodies, names[0])[0]
        ui.dropdown("Body", names, self._choose_body, initial_value=first, hint="The row of this body comes first")
        keep = partial(setattr, self, "_kind")
        ui.dropdown("Counts", ("position", "orientation"), keep, initial_value=self._kind, hint="Of what is added next")
        self._picture("emphasis")

    def _choose_body(self, name: str) -> None:
        self._bodies = (str(name), *(one for one in self._bodies if one != name))[:MOST_FRAMES]
        self.refresh("shown")

    def _fill_curves(self, document: Document) -> None:
        joints = document.need_clip().need_joints("showing")
        groups = ("those that move most", *document.need_character().groups, *joints.names)
        shown = self._joints[0] if len(self._joints) == 1 else groups[0]
        self._ui.dropdown("Show", groups, self._choose_joints, initial_value=shown if shown in groups else groups[0])
        self._picture("curves")

    def _choose_joints(self, name: str) -> None:
        document = self._ui.session.document
        who, joints = document.need_character(), document.need_clip().joints
        known = () if joints is None else joints.names
        if name in who.groups:
            self._joints = tuple(one for one in who.groups[name] if one in known)[:8]
        else:
            self._joints = (name,) if name in known else ()
        self._curves_view = None
        self.refresh("document")

    # events of the pictures

    def _listen(self) -> None:
        ui, session = self._ui, self._ui.session
        drags = {
            "gait.swing": self._swing_place,
            "keys.move": self._key_place,
            "phrase.border": lambda f: {"index": int(f["index"]), "end": f["end"], "track": f["track"], "time": self._time(f)},
            "mode.border": lambda f: {"mode": int(f["mode"]), "time": self._time(f)},
            "emphasis.border": lambda f: {"index": int(f["index"]), "end": f["end"], "time": self._time(f)},
            "accent.move": lambda f: {"index": int(f["index"]), "time": self._time(f)},
            "emphasis.weight": self._weight_place,
        }
        clicks = {
            "gait.toggle": lambda f: session.do("gait.toggle", foot=f["foot"], cell=int(f["cell"]), cells=int(f["cells"])),
            "keys.add": lambda f: self._add_key(f["joint"]),
            "keys.remove": lambda f: self._remove_key(f["joint"], int(f["key"])),
            "keys.select": lambda f: self._pick("key", int(f["key"]), joint=f["joint"]),
            "joint.mute": lambda f: session.do("joint.mute", joint=f["joint"]),
            "joint.lock": lambda f: session.do("joint.lock", joint=f["joint"]),
            "emphasis.select": lambda f: self._pick("emphasis", int(f["index"])),
            "emphasis.remove": lambda f: session.do("emphasis.remove", index=int(f["index"])),
            "emphasis.add": lambda f: self._add_emphasis(f["frame"], float(f["t"])),
            "mode.select": lambda f: session.select(mode=int(f["mode"])),
            "mode.remove": lambda f: self._remove_mode(int(f["mode"])),
            "mode.add": lambda f: self._add_mode(int(f["at"])),
            "target.select": lambda f: session.select(target=int(f["index"])),
        }
        for name, arguments in drags.items():
            self._drag(name, arguments)
        for name, act in clicks.items():
            ui.on(name, act)

    def _drag(self, name: str, arguments: Any) -> None:
        """An event of a drag: previewed while it moves, one edit at its end. What is refused while dragging is not shown.

        A press that does not move is a click, and no edit.
        """
        ui, drag = self._ui, Drag(self._ui, name, name)
        start = {"x": 0.0, "y": 0.0, "moved": 0.0}

        def handle(fields: dict[str, str]) -> None:
            phase = fields["phase"]
            x, y = float(fields["x"]), float(fields["y"])
            if phase == "start":
                start.update(x=x, y=y, moved=0.0)
                return
            start["moved"] = max(start["moved"], abs(x - start["x"]) + abs(y - start["y"]))
            if start["moved"] < LEAST:
                return
            ui.act(lambda: self._dragged(name, drag, phase, arguments(fields)), key=f"{name} move" if phase == "move" else "")

        ui.server.on_event(name, handle)

    def _dragged(self, name: str, drag: Drag, phase: str, arguments: dict[str, Any]) -> None:
        self._dragging = "" if phase == "end" else name
        self._held = arguments
        try:
            if phase == "end":
                if name == "keys.move":
                    rate = self._ui.session.document.need_clip().need_joints("moving a key").rate
                    keys = Keys(tuple(arguments["keys"]), rate)
                    self._placed.move(arguments["joint"], keys, arguments["key"], arguments["time"])
                drag.end(arguments)
            else:
                drag.move(arguments, rests=False)
                self.refresh("shown")
        except BunrakuError:
            if phase == "end":
                self._ui.session.drop_preview()
                raise

    def _time(self, fields: dict[str, str]) -> float:
        return time_scale(WIDTH, self._ui.session.document.need_clip().duration).time(float(fields["x"]))

    def _swing_place(self, fields: dict[str, str]) -> dict[str, Any]:
        phase = footfall_scale(WIDTH).time(float(fields["x"]))
        return {"foot": fields["foot"], "swing": int(fields["swing"]), "end": fields["end"], "phase": phase}

    def _key_place(self, fields: dict[str, str]) -> dict[str, Any]:
        assert self._curves_view is not None  # noqa: S101 - the event comes from its picture
        joint = fields["joint"]
        time, value = self._curves_view.place(joint, float(fields["x"]), float(fields["y"]))
        return {"joint": joint, "key": int(fields["key"]), "time": time, "value": value, "keys": self._samples(joint)}

    def _samples(self, joint: str) -> list[int]:
        """Where the keys of a joint stand that are shown: their numbers count these."""
        rows = () if self._curves_view is None else self._curves_view.rows
        keys = next((row.keys for row in rows if row.name == joint), None)
        if keys is None:
            raise BadInput(f"the keys of {joint[:60]!r} are not shown; choose it above its curve")
        return list(keys.samples)

    def _weight_place(self, fields: dict[str, str]) -> dict[str, Any]:
        assert self._emphasis_view is not None  # noqa: S101 - the event comes from its picture
        index = int(fields["index"])
        one = self._ui.session.document.need_clip().emphasis[index]
        return {"index": index, "weight": self._emphasis_view.weight(one, float(fields["y"]))}

    def _pick(self, what: str, index: int, joint: str = "") -> None:
        self._picked[what] = index
        self._ui.session.select(**({"joint": joint} if joint else {}))

    def _add_key(self, joint: str) -> None:
        """A key on the curve at the playhead: a handle, which changes nothing until it is dragged."""
        session = self._ui.session
        curves = session.document.need_clip().need_joints("adding a key")
        sample = min(round(session.transport.now * curves.rate), len(curves.values) - 1)
        self._placed.place(joint, sample)
        self._pick("key", self._placed.on(curves, joint).samples.index(sample), joint=joint)

    def _remove_key(self, joint: str, key: int) -> None:
        samples = self._samples(joint)
        self._ui.session.do("keys.remove", joint=joint, key=key, keys=samples)
        self._placed.remove(joint, samples[key])
        self._picked.pop("key", None)
        self.refresh("shown")

    def _add_emphasis(self, frame: str, time: float) -> None:
        session = self._ui.session
        duration = session.document.need_clip().duration
        start = min(time, max(0.0, duration - 0.1))
        end = min(duration, start + 0.25 * duration) if duration else None
        session.do("emphasis.add", frame=frame, weight=weight_of_share(0.8, self._kind), start=start, end=end, kind=self._kind)

    def _add_mode(self, at: int) -> None:
        show = self._ui.session.document.need_clip().modes
        if show is not None:
            self._ui.session.do("mode.add", primitive=show.modes[min(at, len(show.modes)) - 1].primitive, at=at)

    def _remove_mode(self, mode: int) -> None:
        self._ui.session.select(mode=None)
        self._ui.session.do("mode.remove", mode=mode)


def _bodies(character: Character) -> tuple[str, ...]:
    """What can be emphasised: frames, then bodies."""
    return tuple(dict.fromkeys((*(frame.name for frame in character.frames), *(body.name for body in character.bodies))))


def _title(clip: Clip) -> str:
    return f"{clip.name}, {clip.duration:.1f} s: {', '.join(clip.tracks) or 'empty'}"


def _target_row(k: int, target: Target, chosen: bool) -> str:
    return (
        f'<div data-click="target.select" data-index="{k}" style="cursor:pointer;font-size:12px;padding:.15em .6em;'
        f'{"font-weight:600" if chosen else ""}">{k + 1}. {escape(target.what)} at {target.time:.2f} s</div>'
    )
