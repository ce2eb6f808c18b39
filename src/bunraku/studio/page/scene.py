"""The scene: the character performed (solid), wished (green), as it was before (grey), in foreign physics (blue), on the ground."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.errors import BadInput, BunrakuError
from bunraku.stage.figure.motion import DrawnMotion, drawn_pose
from bunraku.studio.page.layer import Layer
from bunraku.studio.page.ui import Same
from bunraku.studio.page.view import BLUE, COVERED, GREEN, GREY, PHONE, camera_for
from bunraku.studio.rendering import beyond_limits
from bunraku.studio.session import Session

if TYPE_CHECKING:
    import viser


LAYERS = {"performed": "Performed", "wish": "Wished (green)", "before": "Before (grey)", "replay": "MuJoCo replay (blue)"}
WORLD = "/world"
GAP = 1.15
"""How far the replay stands to the side, in widths of all that moves."""


class Scene:
    """Layers of the character under one node, which may go along with it."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session = server, session
        self.still = threading.RLock()
        """Held by who needs that nobody else draws or moves anything: the player moves layers while others make them anew."""
        scene = server.scene
        scene.set_up_direction("+z")
        self._root = scene.add_frame(WORLD, show_axes=False)
        self._grid = scene.add_grid(f"{WORLD}/ground", 8.0, 8.0, cell_size=0.1, section_size=0.5, plane="xy")
        self._label = scene.add_label(f"{WORLD}/label", "", visible=False)
        self._aside = scene.add_frame(f"{WORLD}/replay", show_axes=False)
        looks = {"performed": (None, None), "wish": (GREEN, 0.35), "before": (GREY, 0.35), "replay": (BLUE, 0.45)}
        self._layers = {name: Layer(server, f"{WORLD}/{name}", tint=tint, opacity=seen) for name, (tint, seen) in looks.items()}
        self.asked = {"performed": True, "wish": True, "before": False, "replay": True}
        self.beside = True
        """Whether the replay stands beside the plan, to the left of the character; else it is drawn over it."""
        self.follow = False
        self.followed: bool | None = None
        """Whether the user wants it to go along; None: as the clip is."""
        self.held = False
        """While a hand drags something in the scene the world stays where it is: else it would run away under the hand."""
        self._recorded: float | None = None
        self._home: tuple[Any, DrawnMotion] | None = None
        self._box: tuple[Any, Any] | None = None
        self._broken: tuple[Same, frozenset[str]] | None = None
        self._instead: tuple[Any, Any] | None = None

    @property
    def box(self) -> tuple[Any, Any]:
        """Lower and upper corner (3,) [m] of all that is shown while it plays."""
        if self._box is None:
            raise BadInput("nothing is shown yet; open a character")
        return self._box

    @property
    def offset(self) -> tuple[float, float, float]:
        """Where the world stands in the scene: it is moved when the view goes along with the character."""
        x, y, z = map(float, self._root.position)
        return x, y, z

    def darken(self, on: bool) -> None:
        """The ground for dark mode, or for light."""
        self._grid.cell_color, self._grid.section_color = ((52, 54, 58), (88, 92, 98)) if on else ((200, 200, 200), (140, 140, 140))

    def on_click(self, function: Callable[[Any, Any], object]) -> None:
        """Call ``function`` with the ray (origin, direction) of every click on the character."""
        self._layers["performed"].on_click = function

    @property
    def shown(self) -> DrawnMotion | None:
        """The motion that is solid: the one performed, else the wish, else the character at home."""
        return self._layers["performed"].motion

    def refresh(self) -> None:
        """Show what the session shows."""
        session = self._session
        shown, stale = session.shown, session.stale
        solid = shown.motion or shown.wish or self._at_home()
        wish = shown.wish if shown.motion is not None else None
        drawn = {"performed": solid, "wish": wish, "before": shown.before, "replay": shown.replay}
        self.follow = self.followed if self.followed is not None else session.previewed.gait is not None
        with self.still, self._server.atomic():
            for name, motion in drawn.items():
                first = name == "performed"
                marked = self._violating() if first else frozenset[str]()
                self._layers[name].show(motion, visible=self._visible(name), dim=stale and first, marked=marked)
            self._label.visible = bool(stale and solid is not None and self._instead is None)
            if stale and solid is not None:
                self._label.text = "out of date"
                k = solid.at(session.transport.now)
                x, y, _ = (0.5 * (solid.lower[k] + solid.upper[k])).tolist()
                self._label.position = (x, y, 1.06 * float(solid.upper[k, 2]))
        self.move(session.transport.now)
        if self._instead is not None:
            self._turn(self._instead)
        elif solid is not None:
            self._frame(solid, shown.replay if self.asked["replay"] else None)

    def put_aside(self, box: tuple[Any, Any] | None) -> None:
        """Hide the character while something else is shown, which fills ``box`` (lower, upper corner [m]); None: show it again."""
        if box is None and self._instead is None:
            return
        self._instead = box
        self.refresh()

    def want(self, name: str, on: bool) -> None:
        """Show a layer or hide it."""
        self.asked[name] = on
        with self.still:
            self._layers[name].visible(self._visible(name))
        self.move(self._session.transport.now)
        if name == "replay":
            self.refresh()

    def _visible(self, name: str) -> bool:
        return self.asked[name] and self._instead is None

    def put_beside(self, on: bool) -> None:
        """The replay beside the plan, or over it."""
        self.beside = bool(on)
        self.refresh()

    def record(self, time: float | None) -> None:
        """Everything to a time [s], where it stays whatever the clock says; None: where the clock is, again."""
        self._recorded = time
        self.move(self._session.transport.now)

    def move(self, time: float) -> None:
        """Everything to a time [s]; not while it is recorded."""
        with self.still, self._server.atomic():
            time = time if self._recorded is None else self._recorded
            for layer in self._layers.values():
                layer.move(time)
            solid = self.shown
            following = solid is not None and self.follow and self._instead is None
            com = solid.com[solid.at(time)] if solid is not None and following else np.zeros(3)
            here = (-float(com[0]), -float(com[1]), 0.0)
            if tuple(self._root.position) != here and not self.held:
                self._root.position = here

    def look(self, client: viser.ClientHandle | None = None) -> None:
        """Point cameras at the character: all, or one."""
        if self._box is None:
            return
        for one in [client] if client is not None else list(self._server.get_clients().values()):
            camera = one.camera
            wide, tall = float(camera.image_width or 770), float(camera.image_height or 850)
            covered = COVERED if wide > PHONE else 0.5 * tall
            middle, away = camera_for(*self._box, field=float(camera.fov), width=wide, height=tall, covered=covered)
            with one.atomic():
                camera.position = tuple(middle + away)  # first: it takes what is looked at along
                camera.look_at = tuple(middle)

    def _frame(self, motion: DrawnMotion, replay: DrawnMotion | None = None) -> None:
        """Keep the box of all that moves, and the replay beside it; another one turns the cameras to it."""
        shift = np.where([True, True, False], motion.com, 0.0) if self.follow else np.zeros(3)
        low, high = (motion.lower - shift).min(axis=0), (motion.upper - shift).max(axis=0)
        here = (0.0, GAP * float(high[1] - low[1]) if replay is not None and self.beside else 0.0, 0.0)
        if tuple(self._aside.position) != here:
            self._aside.position = here
        self._turn((low, high + np.array(here)))

    def _turn(self, box: tuple[Any, Any]) -> None:
        old, self._box = self._box, box
        middle, away = camera_for(*self._box)
        self._server.initial_camera.look_at = tuple(middle)
        self._server.initial_camera.position = tuple(middle + away)
        size = float(np.linalg.norm(box[1] - box[0]))
        if old is None or not np.allclose(np.concatenate(old), np.concatenate(box), atol=0.2 * size):
            self.look()

    def _violating(self) -> frozenset[str]:
        """The bodies whose joint goes beyond a limit in the performance that is shown."""
        latest = self._session.latest
        if latest is None or self._session.shown.live or self._session.shown.motion is None:
            return frozenset()
        key = Same(latest.performance)
        if self._broken is None or self._broken[0] != key:
            self._broken = (key, beyond_limits(latest.performance))
        return self._broken[1]

    def _at_home(self) -> DrawnMotion | None:
        character = self._session.previewed.character
        if character is None:
            return None
        if self._home is None or self._home[0] is not character:
            try:
                self._home = (character, drawn_pose(character))
            except BunrakuError as error:
                self._session.messages.add("warning", f"the character cannot be drawn: {error}")
                return None
        return self._home[1]
