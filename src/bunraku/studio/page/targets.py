"""Gizmos in the scene: each target of the gait can be dragged, and snaps back where it cannot be reached."""

from __future__ import annotations

from typing import Any

from bunraku.motion import Target
from bunraku.studio.document import Document
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.scene import WORLD, Scene
from bunraku.studio.page.ui import Ui, alone


class TargetGizmos:
    """One gizmo a target, at its place; free coordinates of the target cannot be dragged."""

    def __init__(self, ui: Ui, scene: Scene) -> None:
        self._ui, self._scene = ui, scene
        self._gizmos: list[Any] = []
        self._key: Any = None
        self._busy = False

    @alone
    def refresh(self, what: str) -> None:
        """Show the targets of the document."""
        if what not in ("document", "shown"):
            return
        document = self._ui.session.document
        gait = document.gait
        targets = () if gait is None or document.base is None else gait.targets
        key = tuple((one.what, one.time, tuple(part is None for part in one.place)) for one in targets)
        if key != self._key:
            self._key = None
            while self._gizmos:
                self._gizmos.pop().remove()
            self._gizmos = [self._make(k, target) for k, target in enumerate(targets)]
            self._key = key
        if self._busy:
            return
        for gizmo, target in zip(self._gizmos, targets, strict=True):
            place = self._ui.session.place_of(target.what, target.time)
            here = tuple(float(a if b is None else b) for a, b in zip(place, target.place, strict=True))
            if max(abs(a - b) for a, b in zip(gizmo.position, here, strict=True)) > 1e-6:
                gizmo.position = here

    def release(self) -> None:
        """No hand is on a gizmo any more."""
        self._busy = self._scene.held = False

    def _make(self, k: int, target: Target) -> Any:
        session = self._ui.session
        gizmo = self._ui.server.viser.scene.add_transform_controls(
            f"{WORLD}/target-{k}",
            scale=0.12,
            disable_rotations=True,
            active_axes=tuple(part is not None for part in target.place),
            depth_test=False,
        )
        drag = Drag(self._ui, f"target {k}", "target.move", valid=lambda: has_target(session.document, k))
        free = [part is None for part in target.place]

        def arguments() -> dict[str, Any]:
            return {"index": k, "place": [None if loose else float(part) for part, loose in zip(gizmo.position, free, strict=True)]}

        def let_go() -> None:
            self._busy = self._scene.held = False
            drag.end(arguments())
            session.select(target=k)

        async def moved(event: Any) -> None:
            if event.phase == "update":
                self._busy = self._scene.held = True
                self._ui.act(lambda: drag.move(arguments(), rests=False), key=f"gizmo {k}")
            elif event.phase == "end":
                self._ui.act(let_go if self._busy else lambda: session.select(target=k))  # a click only picks it

        gizmo.on_update(moved)
        return gizmo


def has_target(document: Document, index: int) -> bool:
    """Whether there is still such a target."""
    gait = document.gait
    return gait is not None and index < len(gait.targets)
