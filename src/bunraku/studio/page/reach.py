"""Hands and feet of joint curves: a gizmo that brings a frame or the centre of mass to another place at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bunraku.retargeting.followed_point import point_names
from bunraku.retargeting.reach import path_of
from bunraku.studio.document import Document
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.scene import WORLD
from bunraku.studio.page.ui import RefreshedFolder, Ui, alone
from bunraku.studio.page.view import GREEN, GREY

GIZMO = f"{WORLD}/reach"
MISSED = 1e-3
"""A place that is missed by more than this [m] is reported."""
AROUND = 1.0
"""So long [s] before and after the way as it was is drawn; all of it would be a ball of wool."""


class Reach:
    """One frame held by the hand: its gizmo where it is at that time, its way through space before (grey) and now (green)."""

    def __init__(self, ui: Ui, tab: Any, wake: Callable[[], object]) -> None:
        self._ui, self._wake = ui, wake
        self._lock = threading.RLock()
        self._section = RefreshedFolder(ui, tab, "Hands and feet", order=6.5)
        self._drag = Drag(ui, "reach", "pose.reach")
        self.held: tuple[str, float] | None = None
        """What is held, and at which time [s]."""
        self._before: Any = None
        self._lines: dict[str, Any] = {}
        self._gizmo: Any = None
        self._busy = False
        self._what, self._width = "", 0.3
        self._names: tuple[Any, tuple[str, ...]] = (None, ())

    @alone
    def refresh(self, what: str) -> None:
        """Show what can be grabbed, and what is held where it is now."""
        if what not in ("document", "shown"):
            return
        with self._lock:
            document = self._ui.session.previewed
            names = self._known(document)
            if self.held is not None and self.held[0] not in names:
                self.let_go()
            self._section.show((names, self.held), lambda: self._fill(names), visible=bool(names))
            if self.held is not None:
                self._show(document)

    def grab(self, name: str) -> None:
        """Take a frame by its gizmo at the present time; playing pauses."""
        session = self._ui.session
        curves = session.document.need_clip().need_joints("grabbing")
        session.transport.pause()
        sample = min(round(session.transport.now * curves.rate), len(curves.values) - 1)
        session.transport.scrub(sample / curves.rate)
        self._wake()
        self._take(name, sample / curves.rate)

    @alone
    def _take(self, name: str, time: float) -> None:
        self.let_go()
        self._what, self.held = name, (name, time)
        self._before = self._path(self._ui.session.document)
        self._make()
        self.refresh("document")

    @alone
    def let_go(self) -> None:
        """Take the gizmo and the lines away."""
        with self._lock:
            for handle in (self._gizmo, *self._lines.values()):
                if handle is not None:
                    handle.remove()
            self._gizmo, self._lines, self.held, self._busy = None, {}, None, False

    # inside

    def _known(self, document: Document) -> tuple[str, ...]:
        """What the curves of the clip move."""
        character, clip = document.character, document.clip
        if character is None or clip is None or clip.joints is None:
            return ()
        key = (document.base, tuple(document.dimensions.items()), clip.joints.names)
        if self._names[0] is None or self._names[0][0] is not key[0] or self._names[0][1:] != key[1:]:
            self._names = (key, point_names(character, clip.joints.names))
        return self._names[1]

    def _fill(self, names: tuple[str, ...]) -> None:
        ui, gui = self._ui, self._ui.gui
        first = next((name for name in (self._what, "r_hand", "right_hand", "hand") if name in names), names[0])
        ui.dropdown("What", names, partial(setattr, self, "_what"), initial_value=first)
        self._what = first
        hint = "How long before and after the motion changes with it"
        width = gui.add_slider("Over [s]", 0.05, 1.5, 0.05, self._width, hint=hint)
        ui.changed(width, partial(setattr, self, "_width"))
        ui.button("Grab at this time", lambda: self.grab(self._what), hint="Then drag its gizmo in the scene")
        if self.held is not None:
            ui.words(f"Holding {self.held[0]} at {self.held[1]:.2f} s")
            ui.button("Let go", self._release)

    def release(self) -> None:
        """No hand is on the gizmo any more."""
        self._busy = False

    def _release(self) -> None:
        self.let_go()
        self.refresh("document")

    def _path(self, document: Document) -> Any:
        """The way (m, 3) [m] of what is held."""
        wish = document.wish
        if self.held is None or wish is None or wish.joints is None:
            return np.zeros((1, 3))
        return path_of(document.need_character(), wish.joints, self.held[0])

    def _show(self, document: Document) -> None:
        """The gizmo where the frame is, unless a hand is on it; both lines."""
        if self.held is None:
            return
        path, rate = self._path(document), document.need_clip().need_joints("showing").rate
        k = min(round(self.held[1] * rate), len(path) - 1)
        if not self._busy and self._gizmo is not None:
            here = tuple(float(part) for part in path[k])
            if max(abs(a - b) for a, b in zip(self._gizmo.position, here, strict=True)) > 1e-6:
                self._gizmo.position = here
        self._draw_lines(path, k, rate)

    def _draw_lines(self, path: Any, k: int, rate: float) -> None:
        """The way around the sample ``k``, grey as it was when it was grabbed, and green where it has changed since."""
        around = slice(max(0, k - int(AROUND * rate)), k + int(AROUND * rate) + 1)
        before, now = _segments(self._before[around]), _segments(path)
        changed = np.ones(len(now), dtype=bool) if len(path) != len(self._before) else (now != _segments(self._before)).any((1, 2))
        for name, points, color, wide in (("before", before, GREY, 2.0), ("now", now[changed], GREEN, 4.0)):
            line = self._lines.get(name)
            if line is not None and line.points.shape == points.shape:
                line.points = points
                continue
            if line is not None:
                self._lines.pop(name).remove()
            if len(points):
                add, look = self._ui.server.viser.scene.add_line_segments, {"thickness": wide, "thickness_units": "screen"}
                self._lines[name] = add(f"{GIZMO}-{name}", points, colors=color, **look)

    def _make(self) -> None:
        session = self._ui.session
        motion = session.shown.wish or session.shown.motion
        size = 0.5 if motion is None else float(np.linalg.norm(motion.upper.max(axis=0) - motion.lower.min(axis=0)))
        add = self._ui.server.viser.scene.add_transform_controls
        self._gizmo = add(GIZMO, scale=0.15 * size, disable_rotations=True, depth_test=False)

        async def moved(event: Any) -> None:
            self.dragged(event.phase)

        self._gizmo.on_update(moved)

    def dragged(self, phase: str) -> None:
        """The hand on the gizmo: "start", "update" wherever it goes, "end" when it lets go."""
        if phase == "update":
            self._busy = True
            self._ui.act(self._move, key="gizmo reach")
        elif phase == "end" and self._busy:  # a click that moves nothing is no edit
            self._ui.act(self._end)

    def _arguments(self) -> dict[str, Any]:
        name, time = self.held or ("", 0.0)
        place = [] if self._gizmo is None else [float(part) for part in self._gizmo.position]
        return {"frame": name, "time": time, "place": place, "width": self._width}

    def _move(self) -> None:
        if self.held is not None:
            self._drag.move(self._arguments(), rests=False)

    def _end(self) -> None:
        """One edit; what could not be reached is reported, and the gizmo goes to where the frame is."""
        self._busy = False
        if self.held is None:
            return
        session, arguments = self._ui.session, self._arguments()
        self._drag.end(arguments)
        rate = session.document.need_clip().need_joints("showing").rate
        there = self._path(session.document)[round(self.held[1] * rate)]
        miss = float(np.linalg.norm(there - np.array(arguments["place"])))
        if miss > MISSED:
            session.say("note", f"{self.held[0]} comes no nearer than {1e3 * miss:.0f} mm to where you put it")


def _segments(path: Any) -> Any:
    """The way (m, 3) as pieces (m - 1, 2, 3), float32."""
    return np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
