"""Skins in the session: a surface is brought, planned after each edit, made once, opened; and the verb that plans."""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("igl")

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, write_character
from bunraku.formats.surface_file import surface_bytes
from bunraku.geometry.surfaces.shapes import RoundLimb, limb_surface
from bunraku.optimization.monitor import SILENT
from bunraku.studio.edits.skins import recipe_of
from bunraku.studio.jobs.exchange import write_arrays
from bunraku.studio.jobs.state import JobState
from bunraku.studio.jobs.verbs import surface as verbs
from bunraku.studio.session import Session
from bunraku.studio.skinning import PlannedSkin, guessed_scale

FEET = ((0.26, 0.13), (0.26, -0.13), (-0.26, 0.13), (-0.26, -0.13))


@pytest.fixture(scope="module")
def stool() -> bytes:
    """An OBJ file of a trunk on four legs, in metres."""
    trunk = RoundLimb(np.array([[-0.26, 0.0, 0.5], [0.26, 0.0, 0.5]]), np.array([0.11, 0.11]))
    legs = [RoundLimb(np.array([[x, 0.7 * y, 0.46], [x, y, 0.02]]), np.array([0.055, 0.05])) for x, y in FEET]
    return surface_bytes(limb_surface([trunk, *legs], spacing=0.03, blend=0.05, ground=True), "stool.obj")


class Desk:
    """Jobs that a test answers itself: what was asked for, and the answers."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.asked: list[tuple[str, dict[str, Any], Callable[[JobState], None]]] = []
        self.folder = folder
        self.told: list[str] = []
        session.skinning._queue = lambda *job: self.asked.append(job)
        session.listen(self.told.append)

    def answer(self, status: str = "done", error: str = "", **result: Any) -> None:
        verb, _, then = self.asked[-1]
        then(JobState(1, verb, status=status, result=result, error=error))

    def plan(self) -> None:
        path = self.folder / f"plan{len(self.asked)}.npz"
        write_arrays(path, {"vertices": np.eye(3)})
        self.answer(arrays=str(path), folds=["LF.hip"], repairs=["a hole closed"], figures={"folds": 1, "into_the_skin": []})


@pytest.fixture
def session(tmp_path: Path):
    made = Session(tmp_path / "project")
    yield made
    made.close()


@pytest.fixture
def desk(session: Session, tmp_path: Path) -> Desk:
    return Desk(session, tmp_path)


def test_a_surface_that_is_brought_begins_a_recipe_in_its_own_unit(session: Session, desk: Desk, stool: bytes) -> None:
    lines = [line.split() for line in stool.decode().splitlines()]
    for words in lines:
        if words and words[0] == "v":
            words[1:] = [str(1e3 * float(one)) for one in words[1:]]
    name = session.bring("Stool Beetle.obj", "\n".join(" ".join(words) for words in lines).encode())
    assert session.document.recipe["source"] == name
    assert session.document.recipe["scale"] == 0.001
    assert recipe_of(session.document).name == "Stool-Beetle"
    verb, arguments, _ = desk.asked[-1]
    assert verb == "planned"
    assert Path(arguments["file"]).is_file()
    assert arguments["scale"] == 0.001
    assert arguments["recipe"] == recipe_of(session.document).to_json()
    with pytest.raises(BadInput):
        session.bring("broken.obj", b"v 1 2\n")


def test_units_are_guessed_by_size(tmp_path: Path, stool: bytes) -> None:
    (tmp_path / "a.obj").write_bytes(stool)
    assert guessed_scale(tmp_path / "a.obj") == 1.0
    for size, unit in ((40.0, 0.01), (400.0, 0.001)):
        (tmp_path / "b.obj").write_text(f"v 0 0 0\nv {size} 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n")
        assert guessed_scale(tmp_path / "b.obj") == unit


def test_every_edit_of_the_shape_is_planned_once(session: Session, desk: Desk, stool: bytes) -> None:
    session.bring("stool.obj", stool)
    desk.plan()
    first = session.skinning.plan_of(session.document)
    assert first is not None
    assert first.repairs == ("a hole closed",)
    assert "skin" in desk.told
    session.do("skin.set", field="glue", value=200)  # no matter of the plan
    session.do("skin.set", field="name", value="frog")
    assert session.skinning.plan_of(session.document) is first
    assert len(desk.asked) == 1
    session.do("skin.set", field="thickness", value=0.006)
    assert len(desk.asked) == 2
    assert session.skinning.plan_of(session.document) is None
    assert session.skinning.latest(session.document) is first  # still shown, until the new one is there
    desk.plan()
    second = session.skinning.plan_of(session.document)
    assert second is not first
    session.undo()
    assert session.skinning.plan_of(session.document) is first
    session.redo()
    assert session.skinning.plan_of(session.document) is second
    assert len(desk.asked) == 2
    session.do("skin.set", field="scale", value=0.5)
    assert session.skinning.latest(session.document) is None  # another surface
    session.do("skin.end")
    assert session.skinning.plan_of(session.document) is None
    assert len(desk.asked) == 3


def test_a_plan_that_fails_is_said_and_can_be_asked_for_again(session: Session, desk: Desk, stool: bytes) -> None:
    session.bring("stool.obj", stool)
    desk.answer("failed", "the folds find no place")
    assert session.skinning.trouble == "the folds find no place"
    session.do("skin.set", field="glue", value=200)
    assert len(desk.asked) == 1  # the same plan would fail again
    session.plan_skin()
    assert session.skinning.trouble == ""
    assert len(desk.asked) == 2
    desk.plan()
    assert session.skinning.plan_of(session.document) is not None


def test_a_creature_is_made_once_and_opened(session: Session, desk: Desk, stool: bytes) -> None:
    session.bring("stool.obj", stool)
    desk.plan()
    session.make_skin()
    verb, arguments, _ = desk.asked[-1]
    assert verb == "surface"
    home = Path(arguments["folder"])
    assert home.parent == session.project.folder / "files" / "creatures"
    assert home.is_dir()
    write_character(home / "stool.character.yaml", read_character("tilted-car"))
    recipe = session.document.recipe
    desk.answer(path=str(home / "stool.character.yaml"), figures={"nodes": 7})
    assert session.document.base is not None
    assert session.document.sources["character"] == str((home / "stool.character.yaml").relative_to(session.project.folder))
    assert session.document.recipe == recipe
    made = session.skinning.made_of(session.document)
    assert made is not None
    assert made.figures == {"nodes": 7}
    session.undo()
    assert session.document.base is None
    asked = len(desk.asked)
    session.make_skin()  # it is there
    assert session.document.base is not None
    assert len(desk.asked) == asked
    session.do("skin.set", field="glue", value=300)
    session.make_skin()
    assert Path(desk.asked[-1][1]["folder"]) != home  # the first one is kept: undo leads back to it


def test_a_creature_is_not_made_behind_a_link(session: Session, desk: Desk, stool: bytes, tmp_path: Path) -> None:
    """A project from a stranger: where the creature of its recipe would be made lies a link."""
    session.bring("stool.obj", stool)
    desk.plan()
    session.make_skin()
    home, out = Path(desk.asked[-1][1]["folder"]), tmp_path / "out"
    shutil.rmtree(home, ignore_errors=True)
    out.mkdir()
    home.symlink_to(out)
    asked = len(desk.asked)
    with pytest.raises(BadInput, match="link"):
        session.make_skin()
    assert len(desk.asked) == asked
    with pytest.raises(BadInput, match="link"):
        verbs.surface(desk.asked[-1][1], tmp_path, SILENT)
    assert list(out.iterdir()) == []


def test_without_a_recipe_there_is_nothing_to_make(session: Session, desk: Desk) -> None:
    for act in (session.plan_skin, session.make_skin):
        with pytest.raises(BadInput, match="open a surface"):
            act()
    assert not desk.asked


def test_a_plan_comes_from_the_worker_and_after_a_restart(session: Session, stool: bytes) -> None:
    changed = threading.Condition()

    def heard(what: str) -> None:
        with changed:
            changed.notify_all()

    def plan() -> PlannedSkin:
        with changed:
            assert changed.wait_for(lambda: session.skinning.plan_of(session.document) or session.skinning.trouble, 240.0)
        found = session.skinning.plan_of(session.document)
        assert found is not None, session.skinning.trouble
        return found

    session.listen(heard)
    session.bring("stool-monster.obj", stool)
    first = plan()
    session.do("skin.fold", joint="knee", on=False)
    second = plan()
    legs = ("LF", "RF", "LH", "RH")
    assert set(first.folds) == {f"{leg}.{joint}" for leg in legs for joint in ("hip", "knee", "ankle")}
    assert set(second.folds) == {f"{leg}.{joint}" for leg in legs for joint in ("hip", "ankle")}
    assert first.figures["joints"] == len(first.arrays["joints"]) == 16
    assert first.figures["into_the_skin"] == []
    _check_drawing(first)
    again = Session(session.project.folder)
    try:
        assert again.document == session.document
        assert again.busy  # it plans at once what the journal brought back
    finally:
        again.close()


def _check_drawing(plan: PlannedSkin) -> None:
    """Everything lies within the surface, which stands on the ground; rings are closed."""
    arrays = plan.arrays
    assert arrays["vertices"][:, 2].min() == 0.0
    low, high = arrays["vertices"].min(axis=0), arrays["vertices"].max(axis=0)
    for name in ("line", "joints", "rings", "struts", "case_centers"):
        assert (arrays[name].reshape(-1, 3) >= low - 0.01).all()
        assert (arrays[name].reshape(-1, 3) <= high + 0.01).all()
    rings = arrays["rings"]
    assert len(plan.folds) == arrays["ring_fold"].max() + 1
    assert {tuple(point) for point in rings[:, 0].tolist()} == {tuple(point) for point in rings[:, 1].tolist()}


def test_a_surface_is_stood_up_once(stool: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.building.creatures import pipeline

    count: list[int] = []
    monkeypatch.setattr(pipeline, "stand_up", lambda surface: count.append(1) or SimpleNamespace(drop=0.02))
    monkeypatch.setattr(verbs, "_STOOD", OrderedDict())
    for name in ("stool.obj", "same.obj"):
        (tmp_path / name).write_bytes(stool)
    first = verbs._stood_up(tmp_path / "stool.obj", 1.0, SILENT)
    assert first.drawn.vertices[:, 2].min() == 0.0
    assert verbs._stood_up(tmp_path / "same.obj", 1.0, SILENT) is first
    assert len(count) == 1
    for k, scale in enumerate((0.5, 0.6, 0.7)):
        assert verbs._stood_up(tmp_path / "stool.obj", scale, SILENT) is not first
        assert len(count) == k + 2
    assert len(verbs._STOOD) == verbs.MOST_KEPT
    assert verbs._stood_up(tmp_path / "stool.obj", 1.0, SILENT) is not first  # the oldest was dropped
    with pytest.raises(BadInput, match="millimetres"):
        verbs._stood_up(tmp_path / "stool.obj", 100.0, SILENT)
