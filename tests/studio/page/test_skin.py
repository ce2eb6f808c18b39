"""The skin's section and its drawing, without a browser: what is in the scene, what the widgets hold, what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.studio.edits.skins import recipe_of
from bunraku.studio.jobs.exchange import write_arrays
from bunraku.studio.jobs.state import JobState
from bunraku.studio.page.skin_figures import even_places, fold_legend, skin_figures
from bunraku.studio.skinning import MadeSkin, PlannedSkin
from bunraku.studio.studio import Studio

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
PLAN = {
    "vertices": np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "faces": np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    "line": np.array([[0.1, 0.1, 0.1], [0.2, 0.2, 0.2]]),
    "edges": np.array([[0, 1]]),
    "joints": np.array([[0.1, 0.1, 0.1]]),
    "struts": np.zeros((1, 2, 3)),
    "case_centers": np.zeros((1, 3)),
    "case_wxyz": np.array([[1.0, 0.0, 0.0, 0.0]]),
    "case_sizes": np.full((1, 3), 0.02),
    "rings": np.zeros((3, 2, 3)),
    "ring_fold": np.array([0, 0, 0]),
}
FIGURES = {"size": [0.73, 0.35, 0.58], "joints": 16, "folds": 12, "into_the_skin": ["servo of <LF.hip>: 1.5 mm"]}


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path / "project", tour=False)
    yield studio
    studio.close()


def in_scene(studio: Studio) -> set[str]:
    """The nodes of a skin that are in the scene."""
    assert studio.page.settle(60.0)
    known = ("surface", "line", "joints", "struts", "servos", "folds", "thickness", "glue-body")
    return {name for name in known if studio.server.viser.scene.get_handle_by_name(f"/world/skin/{name}") is not None}


def test_a_plan_is_drawn_and_taken_away(studio: Studio, tmp_path: Path) -> None:
    session, asked = studio.session, []
    session.skinning._queue = lambda *job: asked.append(job)
    session.bring("monster.obj", TETRAHEDRON.encode())
    assert in_scene(studio) == set()

    def plan() -> None:
        path = tmp_path / f"plan{len(asked)}.npz"
        write_arrays(path, PLAN)
        result: dict[str, Any] = {"arrays": str(path), "folds": ["LF.knee"], "repairs": [], "figures": FIGURES}
        asked[-1][2](JobState(1, "planned", status="done", result=result))

    plan()
    assert in_scene(studio) == {"surface", "line", "joints", "struts", "servos", "folds"}
    surface = studio.server.viser.scene.get_handle_by_name("/world/skin/surface")
    session.do("skin.set", field="thickness", value=0.006)
    plan()
    assert in_scene(studio) == {"surface", "line", "joints", "struts", "servos", "folds"}
    assert studio.server.viser.scene.get_handle_by_name("/world/skin/surface") is surface  # not sent again
    assert studio.page.skin.widget("thickness").value == 6.0
    session.undo()
    assert studio.page.settle(60.0)
    assert studio.page.skin.widget("thickness").value == 4.0
    session.do("skin.end")
    assert in_scene(studio) == set()


def test_the_skin_of_any_character_can_be_seen(studio: Studio) -> None:
    session = studio.session
    session.do("open.character", source="beetle-quick")
    assert in_scene(studio) == set()
    performed = studio.page.scene
    assert performed.shown is not None
    studio.page.skin.see("thickness")
    assert in_scene(studio) == {"thickness"}
    studio.page.skin.see("glue")
    assert in_scene(studio) == {"surface", "glue-body"}
    session.do("open.character", source="tilted-car")
    assert in_scene(studio) == set()


def test_folds_lie_evenly_but_where_they_are_asked_for() -> None:
    assert even_places(SkinRecipe(template="monster")) == {"hip": 0.0, "knee": 0.5, "ankle": 1.0}
    moved = SkinRecipe(template="monster", folds={"roll": True}, places={"knee": 0.4})
    assert even_places(moved) == {"roll": 0.0, "hip": pytest.approx(1 / 3), "knee": 0.4, "ankle": 1.0}
    assert "roll" not in fold_legend(SkinRecipe(template="monster"))
    assert "roll" in fold_legend(moved)


def test_figures_say_what_is_known() -> None:
    assert skin_figures(None, None, None) == ""
    plan = PlannedSkin("key", {}, ("LF.hip",), ("<b> hole",), FIGURES)
    words = skin_figures(plan, None, None)
    assert "73 × 35 × 58 cm, 16 joints" in words
    assert "12 folds" in words
    assert "&lt;b&gt; hole" in words
    assert "reaches into the skin: servo of &lt;LF.hip&gt;: 1.5 mm" in words
    made = MadeSkin("a", FIGURES | {"nodes": 9354, "least_dihedral": 0.14, "into_the_skin": []})
    words = skin_figures(plan, made, None)
    assert "9354 nodes, least dihedral angle 8°" in words
    assert "nothing reaches into" in words


def test_a_slider_of_the_skin_moves_it_whatever_clip_is_open(studio: Studio) -> None:
    session = studio.session
    session.skinning._queue = lambda *job: None
    session.bring("monster.obj", TETRAHEDRON.encode())
    assert studio.page.settle(60.0)
    drag = studio.page.skin._drag("skin thickness", "skin.set")
    session.do("open.clip", source="not-done-yet")
    drag.move({"field": "thickness", "value": 0.011})
    drag.finish()
    assert recipe_of(session.document).thickness == pytest.approx(0.011)
    session.bring("other.obj", TETRAHEDRON.encode())
    drag.move({"field": "thickness", "value": 0.012})
    drag.finish()
    assert recipe_of(session.document).thickness != pytest.approx(0.012)
