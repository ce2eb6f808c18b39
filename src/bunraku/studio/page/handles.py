"""Handles in the scene: a click on the character picks a body and the nearest socket; sockets can be shown and clicked."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.building.components.sockets import Socket, sockets
from bunraku.stage.figure.motion import drawn_pose, picked
from bunraku.stage.figure.solids import unit_mesh
from bunraku.studio.page.scene import WORLD, Scene
from bunraku.studio.page.ui import Same, Ui, alone
from bunraku.studio.page.view import GREEN, RED


class Handles:
    """Picking in the scene, and the sockets of the character at home as small balls."""

    def __init__(self, ui: Ui, scene: Scene) -> None:
        self._ui, self._scene = ui, scene
        self._balls: Any = None
        self._shown: tuple[Any, ...] = ()
        self.shown = False
        scene.on_click(lambda origin, direction: ui.act(lambda: self._clicked(origin, direction)))

    def want(self, on: bool) -> None:
        """Show the sockets or hide them."""
        self.shown = bool(on)
        self.refresh("selection")

    @alone
    def refresh(self, what: str) -> None:
        """Show the sockets of the document's character, the picked one in red."""
        if what not in ("document", "selection", "shown"):
            return
        session = self._ui.session
        character = session.document.character
        chosen = session.selection.socket
        key = (Same(character), chosen, self.shown, session.shown.motion is None)
        if key == self._shown:
            return
        self._shown = key
        if self._balls is not None:
            self._balls.remove()
            self._balls = None
        if not self.shown or character is None:
            return
        shown = sockets(character)
        places = self._places(shown)
        if not len(places):
            return
        vertices, faces = unit_mesh("ball")
        size = 0.012 * float(np.linalg.norm(np.ptp(places, axis=0)) or 0.2)
        colors = np.array([RED if one.name == chosen else GREEN for one in shown], dtype=np.uint8)
        self._balls = self._ui.server.viser.scene.add_batched_meshes_simple(
            f"{WORLD}/sockets",
            size * vertices,
            faces,
            np.tile([1.0, 0.0, 0.0, 0.0], (len(shown), 1)),
            places,
            batched_colors=colors,
            lod="off",
        )

        async def clicked(event: Any) -> None:
            ray = (np.array(event.ray_origin), np.array(event.ray_direction))
            self._ui.act(lambda: self._pick_socket(shown, places, *ray))

        self._balls.on_click(clicked)

    def _places(self, shown: tuple[Socket, ...]) -> Any:
        """Where sockets are in the world, at home."""
        motion = drawn_pose(self._ui.session.document.need_character())
        R, p = motion.figure.poses(motion.figure.home[None, :])
        index = {name: k for k, name in enumerate(motion.figure.bodies)}
        at = [(index.get(one.body), np.array(one.pose.position)) for one in shown]
        return np.array([place if k is None else p[0, k] + R[0, k] @ place for k, place in at]).reshape(-1, 3)

    def _clicked(self, origin: Any, direction: Any) -> None:
        """A click on the character: its body, and of its sockets the one nearest to the point."""
        session = self._ui.session
        motion = self._scene.shown
        if motion is None:
            return
        hit = picked(motion, motion.at(session.transport.now), np.asarray(origin) - np.array(self._scene.offset), direction)
        if hit is None:
            return
        who = session.document.need_character()
        mine = [one for one in sockets(who) if one.body == hit.body]
        socket = min(mine, key=lambda one: float(np.linalg.norm(np.array(one.pose.position) - hit.local))).name if mine else ""
        joint = next((one for one in who.joints if one.child == hit.body), None)
        session.select(body=hit.body, socket=socket, joint=joint.axes[0].name if joint is not None and joint.axes else "")

    def _pick_socket(self, shown: tuple[Socket, ...], places: Any, origin: Any, direction: Any) -> None:
        """The socket nearest to the ray."""
        d = direction / np.linalg.norm(direction)
        away = places + np.array(self._scene.offset) - origin
        off = np.linalg.norm(away - (away @ d)[:, None] * d, axis=1)
        one = shown[int(np.argmin(off))]
        self._ui.session.select(socket=one.name, body=one.body if one.body != "world" else "")
