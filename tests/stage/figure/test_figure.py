"""Posed figures: a chain by hand, MuJoCo's geoms, hooks of strings, boxes around what is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Shape
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.formats.registry import read_character
from bunraku.formats.surface_file import write_surface
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.geometry.surfaces.surface import Surface
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.systems.character_system import character_system
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.solids import unit_mesh

MARKS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def chain() -> Character:
    """Two links of 0.5 m along x that turn about z, a box in the middle of each and a ball at the end."""
    box = Shape(kind="box", size=(0.25, 0.02, 0.01), pose=Pose(position=(0.25, 0.0, 0.0)))
    ball = Shape(kind="sphere", size=(0.05,), pose=Pose(position=(0.5, 0.0, 0.0)))
    return Character(
        name="chain",
        bodies=(Body(name="first", mass=1.0, shapes=(box,)), Body(name="second", mass=1.0, shapes=(box, ball))),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="first"),
            Joint(name="b", kind="hinge", parent="first", child="second", pose=Pose(position=(0.5, 0.0, 0.0))),
        ),
    )


def test_a_chain_of_two_links_stands_as_worked_out_by_hand() -> None:
    figure = Figure(chain())
    a, b = np.array([0.0, 0.5 * np.pi, 0.3]), np.array([0.0, -0.5 * np.pi, 0.9])
    placed = figure.placed(*figure.poses(np.column_stack([a, b])))
    along = np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    further = np.stack([np.cos(a + b), np.sin(a + b), 0 * a], axis=1)
    np.testing.assert_allclose(placed["box"].positions[:, 0], 0.25 * along, atol=1e-6)
    np.testing.assert_allclose(placed["box"].positions[:, 1], 0.5 * along + 0.25 * further, atol=1e-6)
    np.testing.assert_allclose(placed["ball"].positions[:, 0], 0.5 * along + 0.5 * further, atol=1e-6)
    half = 0.5 * (a + b)
    wanted = np.stack([np.cos(half), 0 * a, 0 * a, np.sin(half)], axis=1)
    np.testing.assert_allclose(placed["box"].wxyz[:, 1], wanted, atol=1e-6)
    assert placed["box"].positions.dtype == np.float32
    assert placed["box"].wxyz.dtype == np.float32


def marked(position: np.ndarray, rotation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The marks of unit shapes (n, 12): their middles and the ends of their half axes."""
    return (position[:, None] + np.einsum("nij,nkj->nki", rotation, scale[:, None] * MARKS)).reshape(len(position), -1)


def mujoco_marks(model, data, kinds: dict[str, list[tuple[int, float]]]) -> dict[str, np.ndarray]:
    found: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
    for g in range(model.ngeom):
        kind, size = int(model.geom_type[g]), model.geom_size[g]
        at, turn = data.geom_xpos[g], data.geom_xmat[g].reshape(3, 3)
        for name, wanted in kinds.items():
            for code, shift in wanted:
                if code != kind:
                    continue
                scale = {"box": size, "tube": size[[0, 0, 1]]}.get(name, size if kind == 4 else size[[0, 0, 0]])
                found[name].append(marked((at + shift * size[1] * turn[:, 2])[None], turn[None], scale[None])[0])
    return {kind: np.array(rows) for kind, rows in found.items()}


@pytest.mark.parametrize("name", ["humanoid", "walker", "marionette"])
def test_solids_are_where_mujoco_has_its_geoms(name) -> None:
    mujoco = pytest.importorskip("mujoco")
    character = read_character(name)
    figure = Figure(character)
    model = mujoco.MjModel.from_xml_string(write_mjcf(character))
    data = mujoco.MjData(model)
    own = len(character.bodies)
    q = np.random.default_rng(3).uniform(-1.0, 1.0, (4, len(character.coordinates)))
    placed = figure.placed(*figure.poses(figure.configurations(character.coordinates, q)))
    kinds = {"box": [(6, 0.0)], "ball": [(2, 0.0), (4, 0.0), (3, -1.0), (3, 1.0)], "tube": [(5, 0.0), (3, 0.0)]}
    seen = 0
    for k, pose in enumerate(q):
        data.qpos[:] = coordinates_to_qpos(character, model, pose)[0]
        mujoco.mj_kinematics(model, data)
        theirs = mujoco_marks(model, data, kinds)
        for kind, solids in figure.solids.items():
            mine = solids.body < own
            turns = matrix_of_quaternion(placed[kind].wxyz[k].astype(np.float64))
            ours = marked(placed[kind].positions[k].astype(np.float64), turns, solids.scale)[mine]
            apart = np.abs(ours[:, None] - theirs[kind][None]).max(axis=2).min(axis=1)
            assert apart.max() < 2e-6
            seen += len(ours)
    shapes = [shape for body in character.bodies for shape in body.shapes]
    assert seen >= 4 * sum(3 if shape.kind == "capsule" else 1 for shape in shapes)


def test_strings_end_at_their_hooks_and_carriages() -> None:
    character = read_character("marionette")
    rng = np.random.default_rng(5)
    frames = [f.changed(pose=f.pose.changed(quaternion=tuple(rng.normal(size=4).tolist()))) for f in character.frames]
    strings = [string.changed(point=tuple(rng.uniform(-0.1, 0.1, 3).tolist())) for string in character.strings]
    character = character.changed(frames=tuple(frames), strings=tuple(strings))
    figure = Figure(character)
    system = character_system(character)
    names = (*character.coordinates, *character.prescribed)
    values = rng.uniform(-0.8, 0.8, (5, len(names)))
    R, p = figure.poses(figure.configurations(names, values))
    ends = figure.strings(R, p)
    q = np.column_stack([values[:, names.index(name)] for name in system.names])
    hooks = Points(system, [Place(string.hook, string.point) for string in character.strings]).positions(q)
    held = Points(system, [Place(string.carriage) for string in character.strings]).positions(q)
    assert np.abs(ends[:, :, 1] - hooks).max() < 1e-9
    assert np.abs(ends[:, :, 0] - held).max() < 1e-9


def test_carriages_are_posed_and_drawn_but_no_part_of_the_box() -> None:
    character = read_character("marionette")
    figure = Figure(character)
    R, p = figure.poses(figure.home[None])
    for carriage in character.carriages:
        np.testing.assert_allclose(p[0, figure.bodies.index(carriage.name)], carriage.home, atol=1e-12)
    drawn = [body for solids in figure.solids.values() for body in solids.body]
    assert all(figure.bodies.index(carriage.name) in drawn for carriage in character.carriages)
    _, upper = figure.box(R, p)
    assert upper[0, 2] < min(carriage.home[2] for carriage in character.carriages)


def test_the_box_around_a_figure_touches_what_is_drawn() -> None:
    figure = Figure(read_character("humanoid"))
    q = figure.configurations(figure.names, np.random.default_rng(1).uniform(-1.0, 1.0, (3, len(figure.names))))
    R, p = figure.poses(q)
    lower, upper = figure.box(R, p)
    placed = figure.placed(R, p)
    for k in range(len(q)):
        points = []
        for kind, solids in figure.solids.items():
            turns = matrix_of_quaternion(placed[kind].wxyz[k].astype(np.float64))
            unit = unit_mesh(kind)[0].astype(np.float64)
            local = np.einsum("nij,nvj->nvi", turns, unit * solids.scale[:, None])
            points.append((placed[kind].positions[k][:, None] + local).reshape(-1, 3))
        cloud = np.vstack(points)
        assert (cloud.min(axis=0) > lower[k] - 1e-6).all()
        assert (cloud.max(axis=0) < upper[k] + 1e-6).all()
        assert np.abs(cloud.min(axis=0) - lower[k]).max() < 2e-3  # round things have twenty corners
        assert np.abs(cloud.max(axis=0) - upper[k]).max() < 2e-3


def test_configurations_of_another_size_are_refused() -> None:
    with pytest.raises(BadInput, match=r"\(m, 2\) is needed"):
        Figure(chain()).poses(np.zeros((3, 5)))


def test_mesh_files_are_drawn_when_they_are_at_hand(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    write_surface(tmp_path / "arm.obj", Surface(corners, faces))
    shapes = tuple(Shape(kind="mesh", size=(2.0, 2.0, 2.0), file=file) for file in ("arm.obj", "../arm.obj", "arm.dae"))
    character = Character(
        name="one",
        bodies=(Body(name="arm", mass=1.0, shapes=shapes),),
        joints=(Joint(name="a", kind="hinge", parent="world", child="arm"),),
    )
    figure = Figure(character, folder=tmp_path)
    vertices, drawn = figure.mesh("mesh:arm.obj")
    assert len(drawn) == 4
    R, p = figure.poses(np.array([[0.5 * np.pi]]))
    lower, upper = figure.box(R, p)
    np.testing.assert_allclose([lower[0], upper[0]], [[-0.4, 0.0, 0.0], [0.0, 0.6, 0.2]], atol=1e-6)
    assert len(vertices) == 4
    assert len(figure.notes) == 2
    assert any("leads out of the folder" in note for note in figure.notes)
    assert not Figure(character).meshes
