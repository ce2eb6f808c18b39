"""The MJCF that replays run on: built-ins against our own tree, imported robots against MuJoCo's reading of the original."""

from __future__ import annotations

import importlib.resources
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from _mass_properties import Facts, differences, facts_of_character, facts_of_model, mujoco_mjcf, mujoco_urdf, random_qpos

from bunraku.character import Character
from bunraku.errors import BunrakuError
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos, qpos_to_coordinates
from bunraku.formats.mjcf_read import read_mjcf
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.registry import read_character
from bunraku.formats.unbent import unbent
from bunraku.formats.urdf_read import read_urdf

mujoco = pytest.importorskip("mujoco")

BUILT_IN = sorted(
    entry.name.removesuffix(".character.yaml")
    for entry in (importlib.resources.files("bunraku") / "assets" / "characters").iterdir()
    if entry.name.endswith(".character.yaml")
)
SAME = 1e-8


def written(character: Character, q: np.ndarray) -> tuple[list[Facts], tuple[str, ...]]:
    """What MuJoCo makes of our MJCF at configurations (m, coordinates), and what the writer changed."""
    text, notes = export_mjcf(character, floor=False)
    model = mujoco.MjModel.from_xml_string(text)
    return [facts_of_model(model, row) for row in coordinates_to_qpos(character, model, q)], notes


def changed(character: Character, notes: tuple[str, ...]) -> frozenset[str]:
    """Bodies of which the notes say that their mass or inertia was not kept."""
    words = ("massless but moving", "inertia without mass", "inertia is that of no solid body")
    told = [note for note in notes if any(word in note for word in words)]
    return frozenset(body.name for body in character.bodies if any(note.startswith(f"body {body.name}:") for note in told))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_character_is_written_as_it_is(name: str) -> None:
    """Masses, centres, inertias, axes, anchors and frames at home and in three random poses, within 1e-8."""
    character = unbent(read_character(name))
    rng = np.random.default_rng([7, len(name)])
    home = np.array([character.home.get(coordinate, 0.0) for coordinate in character.coordinates])
    q = np.vstack([home, rng.uniform(-0.8, 0.8, (3, len(home)))])
    found, notes = written(character, q)
    excused = changed(character, notes)
    for row, there in zip(q, found, strict=True):
        here = facts_of_character(character, row)
        off = differences(here, there, without=excused)
        assert max(off.values()) < SAME, (off, notes)
        known = {joint.name for joint in character.joints if joint.kind == "free"}
        assert {axis for axis in here.joints if axis.rsplit(".", 1)[0] not in known} == set(there.joints)
        assert set(here.frames) <= set(there.frames)
        if not excused:
            assert there.mass == pytest.approx(here.mass, rel=1e-9)


def test_what_was_changed_is_found() -> None:
    """A gram, a millimetre, a milliradian: each is seen."""
    character = read_character("nao")
    q = np.zeros((1, len(character.coordinates)))
    here = facts_of_character(character, q[0])
    last, frame = character.bodies[-1], character.frames[0]
    moved = frame.changed(pose=frame.pose.changed(position=tuple(value + 1e-3 for value in frame.pose.position)))
    for key, other in (
        ("mass", last.changed(mass=last.mass + 1e-3)),
        ("centre", last.changed(center_of_mass=tuple(value + 1e-3 for value in last.center_of_mass))),
        ("inertia", last.changed(inertia=tuple(1.001 * value for value in last.inertia))),
        ("frame", None),
    ):
        bodies = character.bodies if other is None else (*character.bodies[:-1], other)
        frames = (moved, *character.frames[1:]) if other is None else character.frames
        ((there,), _) = written(character.changed(bodies=bodies, frames=frames), q)
        assert [name for name, off in differences(here, there).items() if off > SAME] == [key]


def judge_import(path: Path) -> None:
    """MuJoCo's reading of the original against our import, written as MJCF and read by MuJoCo."""
    urdf = path.suffix == ".urdf"
    model = mujoco_urdf(path) if urdf else mujoco_mjcf(path)
    character, notes = (read_urdf if urdf else read_mjcf)(path.read_bytes(), file=path.name, folder=path.parent)
    rng = np.random.default_rng(11)
    qpos = np.array([model.qpos0, *(random_qpos(model, rng) for _ in range(3))])
    found, more = written(character, qpos_to_coordinates(character, model, qpos))
    excused = changed(character, (*notes, *more)) | (frozenset() if urdf else weighed_by_meshes(path, character, notes))
    for row, there in zip(qpos, found, strict=True):
        here = facts_of_model(model, row)
        off = differences(here, there, without=excused)
        assert max(off.values()) < 1e-6, (path.name, {key: value for key, value in off.items() if value > 1e-9}, notes)
        assert set(here.joints) & set(there.joints) or not here.joints


def weighed_by_meshes(path: Path, character: Character, notes: tuple[str, ...]) -> frozenset[str]:
    """Bodies that may weigh what their meshes do, which the import says it leaves out: those that state no inertia."""
    if not any("nor adds mass" in note for note in notes):
        return frozenset()
    stated = {body.get("name") for body in ET.parse(path).getroot().iter("body") if body.find("inertial") is not None}
    return frozenset(body.name for body in character.bodies) - stated


@pytest.mark.parametrize("ends", ["0.1 0.2 0.3 0.4 -0.2 0.1", "0 0 1 0 0 0", "0 0 0 0 0 1"])
def test_a_site_between_two_points_stands_along_them(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "site.xml"
    body = f'<body name="a"><joint/><geom size="0.1"/><site name="s" type="capsule" size="0.01" fromto="{ends}"/></body>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    judge_import(path)


@pytest.mark.shared
@pytest.mark.parametrize("place", ["booster_t1/t1.xml", "unitree_go1/go1.xml"])
def test_an_imported_robot_is_the_original(data: Path, place: str) -> None:
    path = data / "robots" / place
    if not path.is_file():
        pytest.skip(f"{place} is not beside the repository")
    judge_import(path)


def packaged() -> list[Path]:
    """URDF and MJCF files of the packages example-robot-data and dm_control (extra check-all), where they are installed."""
    found: set[Path] = set()
    for folder in (Path(entry) for entry in sys.path if entry):
        found |= set((folder / "cmeel.prefix/share/example-robot-data/robots").rglob("*.urdf"))
        for inside in ("suite", "locomotion/walkers/assets", "third_party/ant"):
            found |= set((folder / "dm_control" / inside).rglob("*.xml"))
    return sorted(found)


@pytest.mark.exhaustive
def test_forty_imported_robots_are_the_originals() -> None:
    """Every file that MuJoCo itself reads whole; at least forty of them."""
    paths = packaged()
    if not paths:
        pytest.skip("pip install example-robot-data dm_control")
    judged, wrong = 0, []
    for path in paths:
        try:
            model = mujoco_urdf(path) if path.suffix == ".urdf" else mujoco_mjcf(path)
        except (ValueError, mujoco.FatalError):
            continue
        if model.nbody <= 1:
            continue
        judged += 1
        try:
            judge_import(path)
        except (AssertionError, BunrakuError) as error:
            wrong.append(f"{path.name}: {str(error)[:400]}")
    assert not wrong, "\n".join(wrong)
    assert judged >= 40
