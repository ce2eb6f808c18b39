"""A skin in the scene: its plan (surface, skeleton line, mechanism, folds), its thickness as colours, its glue as points."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.building.creatures.skin_views import WornSkin
from bunraku.stage.figure.solids import unit_mesh
from bunraku.studio.page.scene import WORLD, Scene
from bunraku.studio.page.ui import Ui
from bunraku.studio.page.view import GREY, RED
from bunraku.studio.skinning import PlannedSkin

View = Literal["character", "plan", "thickness", "glue"]
PALETTE = ((224, 119, 20), (34, 139, 230), (47, 158, 68), (174, 62, 201), (224, 49, 49), (12, 133, 153))
SURFACE, LINE, STRUT = (205, 196, 180), (112, 72, 232), (60, 64, 70)
_ROOT = f"{WORLD}/skin"

Array = NDArray[Any]


def fold_color(joint: str, joints: tuple[str, ...]) -> tuple[int, int, int]:
    """The colour of the folds of a joint ("knee", or "LF.knee"), by its number among the ``joints`` of a leg; of a spine, red."""
    name = joint.rpartition(".")[2]
    return PALETTE[joints.index(name) % len(PALETTE)] if name in joints else RED


class SkinScene:
    """What is drawn of a skin in place of the character."""

    def __init__(self, ui: Ui, scene: Scene) -> None:
        self._ui, self._scene = ui, scene
        self._nodes: list[Any] = []
        self._surface: tuple[Array, Any] | None = None
        self._drawn: object = None

    def clear(self) -> None:
        """Take it away and show the character."""
        self._remove()
        self._shatter()
        self._scene.put_aside(None)

    def show_plan(self, plan: PlannedSkin, joints: tuple[str, ...]) -> None:
        """The surface as glass, the skeleton line, joints as balls, servos as boxes, folds as coloured rings."""
        if not self._begin((plan.key, "plan")):
            return
        a = plan.arrays
        size = self._place(a["vertices"])
        with self._ui.server.viser.atomic():
            self._glass(a["vertices"], a["faces"])
            self._segments("line", a["line"][a["edges"]], LINE, 0.007 * size)
            self._segments("struts", a["struts"], STRUT, 0.004 * size)
            self._balls("joints", a["joints"], RED, 0.012 * size)
            vertices, faces = unit_mesh("box")
            look = {"batched_colors": GREY, "opacity": 0.45, "flat_shading": True}
            cases = (vertices / np.ptp(vertices, axis=0), faces, a["case_wxyz"], a["case_centers"])
            self._meshes("servos", *cases, batched_scales=a["case_sizes"].astype(np.float32), **look)
            colors = np.array([fold_color(joint, joints) for joint in plan.folds], dtype=np.uint8).reshape(-1, 3)
            if len(a["rings"]):
                self._segments("folds", a["rings"], np.repeat(colors[a["ring_fold"]][:, None], 2, axis=1), 0.005 * size)

    def show_thickness(self, skin: WornSkin) -> None:
        """The outside of the skin, blue where it is thinnest, red where it is thickest."""
        if not self._begin((id(skin), "thickness")):
            return
        import trimesh

        self._shatter()
        self._place(skin.outer)
        colors = np.column_stack([np.round(255.0 * skin.thickness.colors), np.full(len(skin.outer), 255)]).astype(np.uint8)
        visual = trimesh.visual.ColorVisuals(vertex_colors=colors)
        mesh = trimesh.Trimesh(skin.outer, skin.faces, visual=visual, process=False)
        self._nodes.append(self._ui.server.viser.scene.add_mesh_trimesh(f"{_ROOT}/thickness", mesh))

    def show_glue(self, skin: WornSkin) -> None:
        """The skin as glass, and where it is glued: points in a colour for each body."""
        if not self._begin((id(skin), "glue")):
            return
        size = self._place(skin.outer)
        with self._ui.server.viser.atomic():
            self._glass(skin.outer, skin.faces)
            for k, (body, places) in enumerate(skin.glue.items()):
                self._balls(f"glue-{body}", places, PALETTE[k % len(PALETTE)], 0.005 * size)

    # inside

    def _begin(self, key: object) -> bool:
        """Whether something else has to be drawn than is there."""
        if key == self._drawn:
            return False
        self._remove()
        self._drawn = key
        return True

    def _remove(self) -> None:
        for node in self._nodes:
            node.remove()
        self._nodes, self._drawn = [], None

    def _place(self, points: Array) -> float:
        """Look there; returns the length [m] of the diagonal."""
        low, high = points.min(axis=0), points.max(axis=0)
        self._scene.put_aside((low, high))
        return float(np.linalg.norm(high - low))

    def _glass(self, vertices: Array, faces: Array) -> None:
        """The surface, see-through; one that is there already is not sent again: it is by far the most."""
        if self._surface is not None and np.array_equal(self._surface[0], vertices):
            return
        self._shatter()
        add = self._ui.server.viser.scene.add_mesh_simple
        options: dict[str, Any] = {"color": SURFACE, "opacity": 0.24, "cast_shadow": False, "receive_shadow": False}
        self._surface = (vertices, add(f"{_ROOT}/surface", vertices.astype(np.float32), faces.astype(np.uint32), **options))

    def _shatter(self) -> None:
        if self._surface is not None:
            self._surface[1].remove()
            self._surface = None

    def _segments(self, name: str, points: Array, colors: Any, thickness: float) -> None:
        add = self._ui.server.viser.scene.add_line_segments
        self._nodes.append(add(f"{_ROOT}/{name}", points.astype(np.float32), colors=colors, thickness=thickness))

    def _balls(self, name: str, places: Array, color: tuple[int, int, int], radius: float) -> None:
        vertices, faces = unit_mesh("ball")
        still = np.tile([1.0, 0.0, 0.0, 0.0], (len(places), 1))
        self._meshes(name, radius * vertices, faces, still, places, batched_colors=color)

    def _meshes(self, name: str, *arrays: Any, **look: Any) -> None:
        add = self._ui.server.viser.scene.add_batched_meshes_simple
        self._nodes.append(add(f"{_ROOT}/{name}", *arrays, **look, cast_shadow=False, lod="off"))
