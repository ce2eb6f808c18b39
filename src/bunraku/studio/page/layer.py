"""One character in the scene, once: solid, or as a ghost. Its nodes are made once and then only moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.studio.page.view import RED

if TYPE_CHECKING:
    import viser

    from bunraku.stage.figure.motion import DrawnMotion
    from bunraku.stage.figure.parts import Deforming

STRING = (150, 60, 60)
GHOST = 0.97
"""Ghosts are a little thinner: where they agree with the solid character they are inside of it, and tint nothing."""


class Layer:
    """A drawn motion under the scene node ``root``, in its own colours or all in one ``tint``, at an ``opacity``."""

    def __init__(
        self, server: viser.ViserServer, root: str, *, tint: tuple[int, int, int] | None = None, opacity: float | None = None
    ):
        self._server, self._root, self._tint, self._opacity = server, root, tint, opacity
        self.motion: DrawnMotion | None = None
        """What is drawn."""
        """What it shows."""
        self._solids: dict[str, Any] = {}
        self._surfaces: list[tuple[Any, Deforming]] = []
        self._strings: Any = None
        self._frame = -1
        self._shown = True
        self._dim = False
        self._marked: frozenset[str] = frozenset()
        self.on_click: Callable[[Any, Any], object] | None = None
        """Called with the ray (origin, direction) of a click on the character."""

    def show(
        self, motion: DrawnMotion | None, *, visible: bool = True, dim: bool = False, marked: frozenset[str] = frozenset()
    ) -> None:
        """Draw another motion, ``marked`` bodies in red; nodes are kept where the character is the same."""
        old, self.motion = self.motion, motion
        self._frame = -1
        if motion is None:
            self.clear()
            return
        if old is not None and _alike(old, motion) and (dim, marked) == (self._dim, self._marked):
            self._surfaces = [(handle, new) for (handle, _), new in zip(self._surfaces, motion.surfaces, strict=True)]
        else:
            self.clear()
            self._dim, self._marked = dim, marked
            self._make(motion)
        self.visible(visible)

    def visible(self, visible: bool) -> None:
        """Show or hide it."""
        self._shown = visible
        for handle in self._handles():
            if handle.visible != visible:
                handle.visible = visible

    def move(self, time: float) -> None:
        """To a time [s] of the motion."""
        motion = self.motion
        if motion is None or not self._shown:
            return
        k = motion.at(time)
        if k == self._frame:
            return
        self._frame = k
        for kind, handle in self._solids.items():
            placed, seen = motion.placed[kind], motion.figure.seen[kind]
            self._update(handle, batched_positions=placed.positions[k, seen], batched_wxyzs=placed.wxyz[k, seen])
        for handle, surface in self._surfaces:
            self._update(handle, vertices=surface.points[k])
        if self._strings is not None:
            self._update(self._strings, points=motion.strings[k])

    def _update(self, handle: Any, **arrays: Any) -> None:
        """New arrays of a node in one message: half the time of setting its properties one by one, each compared and queued."""
        from viser._messages import SceneNodeUpdateMessage

        self._server.scene._websock_interface.queue_message(SceneNodeUpdateMessage(handle.name, arrays))

    def clear(self) -> None:
        """Take everything away."""
        for handle in self._handles():
            handle.remove()
        self._solids, self._surfaces, self._strings = {}, [], None

    def _handles(self) -> list[Any]:
        strings = [] if self._strings is None else [self._strings]
        return [*self._solids.values(), *(handle for handle, _ in self._surfaces), *strings]

    def _color(self, rgba: Any) -> Any:
        color = np.asarray(rgba, dtype=np.float64)[..., :3] * 255.0
        if self._tint is not None:
            color = np.broadcast_to(np.array(self._tint, dtype=np.float64), color.shape)
        if self._dim:
            color = 0.35 * color + 0.65 * 170.0
        return color.round().astype(np.uint8)

    def _colors(self, motion: DrawnMotion, kind: str) -> Any:
        """Colours of the solids of a kind; those of marked bodies red."""
        solids, seen = motion.figure.solids[kind], motion.figure.seen[kind]
        colors = np.array(self._color(solids.color[seen]))
        for k, body in enumerate(solids.body[seen]):
            if motion.figure.bodies[int(body)] in self._marked:
                colors[k] = RED
        return colors

    def _make(self, motion: DrawnMotion) -> None:
        scene = self._server.scene
        see_through = self._opacity is not None
        look: dict[str, Any] = {"opacity": self._opacity, "cast_shadow": not see_through, "receive_shadow": not see_through}
        for kind, placed in motion.placed.items():
            seen = motion.figure.seen[kind]
            if not len(seen):
                continue
            vertices, faces = motion.figure.mesh(kind)
            solids = motion.figure.solids[kind]
            self._solids[kind] = scene.add_batched_meshes_simple(
                f"{self._root}/{kind.replace(':', '-').replace('/', '-')}",
                vertices,
                faces,
                placed.wxyz[0, seen],
                placed.positions[0, seen],
                batched_scales=(GHOST if see_through else 1.0) * solids.scale[seen].astype(np.float32),
                batched_colors=self._colors(motion, kind),
                lod="off",
                flat_shading=kind == "box",
                **look,
            )
            self._listen(self._solids[kind])
        for surface in motion.surfaces:
            handle = scene.add_mesh_simple(
                f"{self._root}/surface-{surface.name}",
                surface.points[0],
                surface.faces,
                color=tuple(int(part) for part in self._color(surface.color)),
                side="back" if see_through else "double",  # a ghost that agrees is hidden by the front of the solid one
                **look,
            )
            self._listen(handle)
            self._surfaces.append((handle, surface))
        if motion.strings.shape[1]:
            lines = {"colors": self._tint or STRING, "thickness": 1.5, "thickness_units": "screen"}
            self._strings = scene.add_line_segments(f"{self._root}/strings", motion.strings[0], **lines)

    def _listen(self, handle: Any) -> None:
        function = self.on_click
        if function is not None:

            async def clicked(event: Any) -> None:
                function(event.ray_origin, event.ray_direction)

            handle.on_click(clicked)


def _alike(one: DrawnMotion, two: DrawnMotion) -> bool:
    """Whether the nodes of one motion can show the other: the same solids, surfaces and strings."""
    if one.figure is not two.figure and set(one.placed) != set(two.placed):
        return False
    for kind in one.placed:
        a, b = one.figure.solids[kind], two.figure.solids[kind]
        same = np.array_equal(a.scale, b.scale) and np.array_equal(a.color, b.color)
        if not same or not np.array_equal(one.figure.seen[kind], two.figure.seen[kind]):
            return False
    same = [surface.faces.shape for surface in one.surfaces] == [surface.faces.shape for surface in two.surfaces]
    return same and one.strings.shape[1] == two.strings.shape[1]
