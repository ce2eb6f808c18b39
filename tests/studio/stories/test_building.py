"""Stories of building: a part put where the scene was clicked, a surface of one's own, parts for the printer."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.stage.figure.motion import drawn_pose


def test_a_part_is_added_where_the_scene_was_clicked(story: Any) -> None:
    session = story.session
    story.tab("Gallery")
    story.press("New character")
    story.until(lambda: session.history.words[-1:] == ("Began a new character, mine",))
    story.rest()
    story.tab("Design")
    pose = drawn_pose(session.document.need_character())
    top = (*(0.5 * (pose.lower[0] + pose.upper[0]))[:2], pose.upper[0, 2])
    story.clear_view()
    story.page.mouse.click(*story.pixel("/world", tuple(float(part) for part in top)))
    story.until(lambda: session.selection.body == "body" and session.selection.socket)
    story.settle()
    socket = session.selection.socket
    story.until(lambda: story.ui.field("Socket").input_value() == socket)
    bodies = len(session.document.base.bodies)
    story.press("Add motor")
    story.until(lambda: len(session.document.base.bodies) > bodies)
    assert session.document.base.motors
    assert socket in session.history.edits[-1].arguments["socket"]


def test_a_surface_of_ones_own_is_planned(story: Any, tmp_path: Path) -> None:
    pytest.importorskip("igl")
    from _surfaces import RoundLimb, limb_surface
    from bunraku.formats.surface_file import write_surface

    trunk = RoundLimb(np.array([[-0.26, 0.0, 0.5], [0.26, 0.0, 0.5], [0.5, 0.0, 0.55]]), np.array([0.11, 0.11, 0.06]))
    legs = [
        RoundLimb(np.array([[x, 0.7 * y, 0.46], [x, y, 0.02]]), np.array([0.055, 0.05]))
        for x in (0.26, -0.26)
        for y in (0.13, -0.13)
    ]
    write_surface(tmp_path / "stool.obj", limb_surface([trunk, *legs], spacing=0.025, blend=0.05, ground=True))
    session = story.session
    story.bring(tmp_path / "stool.obj")
    assert session.document.recipe["source"].endswith("stool.obj")
    story.tab("Design")
    story.until(lambda: session.skinning.plan_of(session.document) is not None or session.skinning.trouble)
    assert not session.skinning.trouble
    story.rest()
    story.ui.wait_for_node("/world/skin/surface")
    story.ui.wait_for_node("/world/skin/line")
    story.page.get_by_role("button", name="Make the creature", exact=True).wait_for()
    story.press("Leave the skin")
    story.until(lambda: not session.document.recipe)


def test_parts_are_made_and_come_as_a_zip(story: Any) -> None:
    pytest.importorskip("manifold3d")
    story.example("Legs and wheels", "tilted-car")
    session = story.session
    story.tab("Check & export")
    story.unfold("Make it")
    story.press("Make the parts")
    story.until(lambda: session.run is not None and session.run.verb == "fabricate" and not session.run.running)
    story.rest()
    assert session.run.status == "done", story.said
    found = story.download("Download the parts (ZIP)")
    with zipfile.ZipFile(io.BytesIO(Path(found.path()).read_bytes())) as box:
        names = box.namelist()
    folder = session.project.folder / "parts"
    assert sorted(names) == sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())
    assert any(name.endswith(".stl") for name in names)
