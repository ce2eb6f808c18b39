"""Design: components at sockets, dimensions, how the design follows, warnings; for skins the surface and its recipe."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

from bunraku.building.components.dimensions import dimensions
from bunraku.building.components.library import KINDS, Dimension, component, library
from bunraku.building.components.sockets import sockets
from bunraku.building.servos import SERVOS
from bunraku.design.warnings import DesignWarning, warnings_of
from bunraku.errors import BunrakuError
from bunraku.studio.document import Document
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.handles import Handles
from bunraku.studio.page.ui import RefreshedFolder, Same, Ui, alone, put
from bunraku.studio.widgets.notice import notice

MODES = {"Manual": "manual", "Semi-automatic": "semi-automatic", "Automatic": "automatic"}
FEATURES = ("feet", "com", "joints", "orientation", "position")
FOLLOWING = ("mode", "kept", "aim", "mirror", "free")
"""What the document says about how its design follows."""
AIMS = ("energy", "target", "torque")
MOST_SLIDERS = 60
UNNAMED = "unnamed"
ALL = "all dimensions"


class DesignTab:
    """Edits the character."""

    def __init__(self, ui: Ui, tab: Any, handles: Handles) -> None:
        self._ui, self._handles = ui, handles
        with tab:
            self._warnings = ui.html("", order=1.0)
        self._components = RefreshedFolder(ui, tab, "Components", order=2.0)
        self._part = RefreshedFolder(ui, tab, "Selected part", order=3.0, open=False)
        self._follow = RefreshedFolder(ui, tab, "How the design follows", order=4.0)
        self._dimensions = RefreshedFolder(ui, tab, "Dimensions", order=5.0)
        self._choice = {"kind": "motor", "component": ""}
        self._sliders: dict[str, Any] = {}
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show what can be edited."""
        if what not in ("document", "selection", "shown"):
            return
        session = self._ui.session
        document = session.document
        open_one = document.base is not None
        if what != "shown":
            choice = (session.selection.socket, *self._choice.values(), document.mirror)
            key = (Same(document.base), document.dimensions == {}, *choice)
            self._components.show(key, lambda: self._fill_components(document), visible=open_one)
            self._part.show(
                (Same(document.base), session.selection),
                lambda: self._fill_part(document),
                visible=open_one and bool(session.selection.body),
            )
            self._follow.show(
                (Same(document.base), document.gait is not None, *(getattr(document, name) for name in FOLLOWING)),
                lambda: self._fill_follow(document),
                visible=open_one,
            )
            self._dimensions.show(Same(document.base), lambda: self._fill_dimensions(document), visible=open_one)
            self._set_sliders(document)
        self._warn(session.previewed)

    # components

    def _fill_components(self, document: Document) -> None:
        ui, session = self._ui, self._ui.session
        names = tuple(one.name for one in sockets(document.need_character()))
        if not names:
            ui.words("This character has no place to attach something.")
            return
        chosen = session.selection.socket if session.selection.socket in names else names[0]
        hint = "Where; a click on the character picks the nearest"
        place = ui.dropdown("Socket", names, lambda name: session.select(socket=name), initial_value=chosen, hint=hint)
        ui.checkbox("Show sockets", self._handles.shown, self._handles.want, hint="As balls in the scene, to be clicked")
        kind = self._choice["kind"]
        ui.dropdown("Add", KINDS, lambda value: self._choose(kind=value, component=""), initial_value=kind)
        models = tuple(name for name, one in library().items() if one.kind == kind)
        picked = self._choice["component"] if self._choice["component"] in models else models[0]
        ui.dropdown("Which", models, lambda value: self._choose(component=value), initial_value=picked)
        one = component(picked)
        ui.html(_small(one.figures))
        inputs = {size.name: self._dimension(size) for size in one.dimensions}
        hint = "On both sides, where the character is symmetric"
        ui.checkbox("Mirror", document.mirror, lambda on: session.do("design.mirror", on=on), hint=hint)

        def add() -> None:
            sizes = {key: read() for key, read in inputs.items()}
            session.do("component.add", socket=place.value, component=picked, dimensions=sizes)

        ui.button(f"Add {one.kind}", add, color="green")

    def _dimension(self, size: Dimension) -> Callable[[], float | str]:
        """A widget for a dimension of a component, and how to read it: lengths in mm, angles in degrees."""
        gui = self._ui.gui
        if size.choices:
            choice = gui.add_dropdown(size.name, size.choices, initial_value=str(size.default), hint=size.meaning)
            return lambda: str(choice.value)
        scale, unit = {"m": (1e3, "mm"), "rad": (180.0 / math.pi, "deg")}.get(size.unit, (1.0, size.unit))
        low, high = (None if bound is None else round(scale * bound, 3) for bound in (size.low, size.high))
        label = f"{size.name} [{unit}]" if unit else size.name
        number = gui.add_number(label, round(scale * float(size.default), 3), min=low, max=high, hint=size.meaning)
        return lambda: float(number.value) / scale

    def _choose(self, **fields: str) -> None:
        self._choice |= fields
        self.refresh("document")

    def _fill_part(self, document: Document) -> None:
        ui, session = self._ui, self._ui.session
        who, name = document.need_character(), session.selection.body
        body = next((one for one in who.bodies if one.name == name), None)
        if body is None:
            ui.words("Nothing is selected.")
            return
        ui.words(f"{name}: {1e3 * body.mass:.0f} g, {len(body.shapes)} shapes")
        joint = next((one for one in who.joints if one.child == name), None)
        motor = None if joint is None else next((m for m in who.motors if m.coordinate in {axis.name for axis in joint.axes}), None)
        if motor is not None:
            now = motor.model or UNNAMED
            known = (*(() if now in SERVOS else (now,)), *SERVOS)  # what is no servo of ours stays first, until one is chosen
            choose, hint = partial(self._choose_servo, motor.name), f"Drives {motor.coordinate}"
            ui.dropdown("Motor", known, choose, initial_value=now, hint=hint)
        ui.button("Remove it and all beyond", lambda: session.do("component.remove", body=name), color="red")

    def _choose_servo(self, motor: str, servo: str) -> None:
        if servo in SERVOS:
            self._ui.session.do("component.servo", motor=motor, servo=servo)

    # following

    def _fill_follow(self, document: Document) -> None:
        ui, session, gui = self._ui, self._ui.session, self._ui.gui
        label = next(key for key, value in MODES.items() if value == document.mode)
        ui.dropdown("Mode", MODES, lambda value: session.do("design.mode", mode=MODES[value]), initial_value=label)
        if document.mode == "semi-automatic":
            for name in FEATURES:
                box = gui.add_checkbox(f"Keep {name}", name in document.kept.split("+"), hint="Stays while other dimensions follow")
                ui.changed(box, partial(self._keep, box, name))
            ui.button("Let the others follow", session.make.improve, color="green", hint="After a drag they do by themselves")
        elif document.mode == "automatic":
            ui.dropdown("Improve", AIMS, lambda value: session.do("design.aim", aim=value), initial_value=document.aim)
            ui.button("Improve the design", session.make.improve, color="green")
        if document.mode == "manual":
            follows = "The motion follows while a dimension is dragged."
            ui.html(_small(follows if document.gait is not None else "After a change, run the performer again."))
        else:
            if document.gait is None:
                ui.html(notice("This needs a gait: open a clip with one, or begin one in Choreograph.", "info"))
            self._fill_free(document)

    def _keep(self, box: Any, name: str, on: bool) -> None:
        """A feature more or less to keep; the last one stays."""
        kept = self._ui.session.document.kept.split("+")
        chosen = [one for one in FEATURES if (on if one == name else one in kept)]
        if chosen:
            self._ui.session.do("design.kept", feature="+".join(chosen))
        else:
            box.value = True

    def _fill_free(self, document: Document) -> None:
        """Which dimensions may change by themselves: all, or those of one part."""
        assert document.base is not None  # noqa: S101 - shown only then
        parts: dict[str, list[str]] = {}
        for name in dimensions(document.base).names:
            parts.setdefault(name.rpartition(" ")[0], []).append(name)
        chosen = next((part for part, names in parts.items() if set(document.free) == set(names)), ALL)
        hint = "Which dimensions follow by themselves"
        ui, free = self._ui, partial(self._ui.session.do, "design.free")
        ui.dropdown("May change", (ALL, *parts), lambda part: free(names=parts.get(part, [])), initial_value=chosen, hint=hint)

    # dimensions

    def _fill_dimensions(self, document: Document) -> None:
        ui, session, gui = self._ui, self._ui.session, self._ui.gui
        self._sliders = {}
        assert document.base is not None  # noqa: S101 - shown only then
        try:
            design = dimensions(document.base)
        except BunrakuError as error:
            ui.words(str(error))
            return
        groups: dict[str, list[Any]] = {}
        for one in design.parameters[:MOST_SLIDERS]:
            groups.setdefault(one.name.rpartition(" ")[0], []).append(one)
        for group, parameters in groups.items():
            with gui.add_folder(group, expand_by_default=len(groups) <= 4):
                for one in parameters:
                    value = document.dimensions.get(one.name, one.value)
                    label = one.name.rpartition(" ")[2] + " [mm]"
                    low, high = round(1e3 * one.low, 2), round(1e3 * one.high, 2)
                    shown = round(min(max(1e3 * value, low), high), 1)
                    self._sliders[one.name] = gui.add_slider(label, low, max(high, low + 0.1), 0.1, shown, hint=one.name)
                    self._drag(self._sliders[one.name], one, document)
        if not design.parameters:
            ui.words("This character has no dimension that could be changed here.")
        ui.button("Take the dimensions over", lambda: session.do("dimension.fix"), hint="Count further changes from here")

    def _drag(self, slider: Any, parameter: Any, document: Document) -> None:
        """While dragged: shown and solved live. When it rests: one edit."""

        def value(raw: float) -> dict[str, Any]:
            return {"name": parameter.name, "value": min(max(1e-3 * float(raw), parameter.low), parameter.high)}

        session, base = self._ui.session, document.base
        drag = Drag(self._ui, f"dimension {parameter.name}", "dimension.set", valid=lambda: session.document.base is base)
        drag.follow(slider, value)

    def _set_sliders(self, document: Document) -> None:
        """After undo: the sliders go back too."""
        if document.base is None or not self._sliders:
            return
        design = dimensions(document.base)
        values = dict(zip(design.names, design.initial, strict=True)) | dict(document.dimensions)
        for name, slider in self._sliders.items():
            put(slider, round(min(max(1e3 * float(values[name]), slider.min), slider.max), 1), within=0.05)

    def _warn(self, document: Document) -> None:
        if document.base is None:
            self._warnings.content = notice("No character yet: open an example from the gallery, or a file of your own.", "empty")
            return
        try:
            warnings = warnings_of(document.need_character(), bed=self._ui.session.make.printer)
        except BunrakuError as error:
            self._warnings.content = f'<div style="font-size:12px;padding:.2em .6em">{escape(str(error))}</div>'
            return
        colors = {"error": "#e03131", "warning": "#e8890c", "note": "#868e96"}
        rows = [
            f'<div {_click(one)}border-left:3px solid {colors[one.severity]};padding:.1em .5em;margin:.15em .4em">'
            f"<b>{escape(one.kind)}</b> {escape(one.text)}</div>"
            for one in warnings[:8]
        ]
        more = f'<div style="opacity:.6;padding:0 .6em">and {len(warnings) - 8} more</div>' if len(warnings) > 8 else ""
        self._warnings.content = f'<div class="bunraku-warnings" style="font-size:12px">{"".join(rows)}{more}</div>'


def _small(text: str) -> str:
    return f'<div style="font-size:12px;opacity:.8;padding:0 .6em">{escape(text)}</div>'


def _click(one: DesignWarning) -> str:
    """The part that a warning is about is selected by a click; most are about bodies, some about motors."""
    if not one.about:
        return 'style="'
    kind = "motor" if one.kind in ("torque", "figures") else "body"
    return f'data-click="select" data-kind="{kind}" data-name="{escape(one.about)}" style="cursor:pointer;'
