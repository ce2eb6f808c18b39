"""Skins as they are drawn: the outer surface, following the bodies, or as it was computed."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Pose, Shape, free_base
from bunraku.formats.registry import read_character
from bunraku.geometry.rotations import axis_angle
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.outer_surface import outer_surface
from bunraku.motion import SurfaceMotion
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.motion import drawn_pose
from bunraku.stage.figure.parts import sampled_surface


@pytest.fixture(scope="module")
def figure() -> Figure:
    return Figure(read_character("beetle-quick"))


def test_the_outer_surface_is_closed_and_encloses_the_inner_one(figure) -> None:
    mesh = skin_of(figure.character)
    nodes, faces = outer_surface(mesh)
    edges = np.sort(np.vstack([faces[:, list(pair)] for pair in ((0, 1), (1, 2), (2, 0))]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    X = mesh.nodes[nodes][faces]
    assert np.einsum("fi,fi->", X[:, 0], np.cross(X[:, 1], X[:, 2])) > 0.0
    assert np.isin(mesh.sole_node, nodes).all()  # soles touch the ground
    assert not np.isin(mesh.glue_node, nodes).any()  # glue is inside
    np.testing.assert_allclose(mesh.nodes[nodes].min(axis=0), mesh.nodes.min(axis=0))
    np.testing.assert_allclose(mesh.nodes[nodes].max(axis=0), mesh.nodes.max(axis=0))


def test_at_home_the_skin_is_as_it_was_made(figure) -> None:
    shown = drawn_pose(figure.character, figure=figure)
    mesh = skin_of(figure.character)
    assert shown.skin is not None
    np.testing.assert_allclose(shown.skin.points[0], mesh.nodes[outer_surface(mesh)[0]], atol=1e-6)


@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_a_rigid_motion_moves_the_skin_rigidly(figure, heading) -> None:
    base = free_base(figure.character)
    assert base is not None
    if heading:  # at home it looks another way, so that its bodies are turned there
        home = {**figure.character.home, base.axes[3].name: heading}
        figure = Figure(figure.character.changed(home=home))
    start = figure.names.index(base.axes[0].name)
    q = np.tile(figure.home, (2, 1))
    q[1, start : start + 3] += [0.3, -0.2, 0.1]
    q[1, start + 3 : start + 6] += [0.4, -0.3, 0.6]
    R, p = figure.poses(q)
    assert figure.skin is not None
    still, moved = figure.skin.points(R, p).astype(np.float64)
    np.testing.assert_allclose(still, figure.skin.rest, atol=1e-6)
    turn = R[1, 0] @ R[0, 0].T
    np.testing.assert_allclose(moved, (still - p[0, 0]) @ turn.T + p[1, 0], atol=1e-6)
    one, two = figure.skin.moment(R, p) / figure.skin.mass.sum()
    np.testing.assert_allclose(two, (one - p[0, 0]) @ turn.T + p[1, 0], atol=1e-9)


def test_glue_pulls_the_skin_along_with_its_body(figure) -> None:
    mesh = skin_of(figure.character)
    skin = figure.skin
    assert skin is not None
    rng = np.random.default_rng(4)
    q = figure.home[None] + 0.4 * rng.uniform(-1.0, 1.0, (1, len(figure.names)))
    R, p = figure.poses(q)
    R0, p0 = figure.poses(figure.home[None])
    points = skin.points(R, p)[0].astype(np.float64)
    rest = skin.rest
    near = np.argmax(skin.weights, axis=1)
    sure = skin.weights.max(axis=1) > 0.9
    assert sure.sum() > 50
    body = skin.bodies[near]
    rigid = np.einsum("vij,vj->vi", R[0, body] @ np.swapaxes(R0[0, body], 1, 2), rest - p0[0, body]) + p[0, body]
    size = np.ptp(mesh.nodes, axis=0).max()
    assert np.linalg.norm(points - rigid, axis=1)[sure].max() < 0.1 * size
    assert np.median(np.linalg.norm(points - rigid, axis=1)[sure]) < 0.01 * size
    np.testing.assert_allclose(skin.weights.sum(axis=1), 1.0)


def test_the_skin_weighs_what_its_material_does(figure) -> None:
    from bunraku.mechanics.coupled.skinned import skinned_model

    model = skinned_model(figure.character)
    assert figure.skin is not None
    assert figure.mass == pytest.approx(model.total_mass, rel=1e-6)
    R, p = figure.poses(figure.home[None])
    com = figure.moment(R, p)[0] / figure.mass
    np.testing.assert_allclose(com, model.center_of_mass(figure.home, model.mesh.nodes), atol=1e-5)


def test_a_computed_surface_is_straight_between_its_frames() -> None:
    turn = axis_angle([0.0, 0.0, 1.0], 0.5)
    first = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    surface = SurfaceMotion(
        np.array([[0, 1, 2]], dtype=np.int32), 10.0, np.stack([first, first @ turn.T, first]).astype(np.float32)
    )
    shown = sampled_surface(surface, np.array([0.0, 0.025, 0.1, 0.2, 5.0]))
    np.testing.assert_allclose(shown.points[0], first, atol=1e-6)
    np.testing.assert_allclose(shown.points[1], 0.75 * first + 0.25 * first @ turn.T, atol=1e-6)
    np.testing.assert_allclose(shown.points[2], first @ turn.T, atol=1e-6)
    np.testing.assert_allclose(shown.points[4], first, atol=1e-6)


def test_what_is_inside_the_skin_is_not_drawn(figure) -> None:
    """Every servo and link of the beetle is inside; a hat on its back and a sole below its foot would be seen."""
    character = figure.character
    body = next(one for one in character.bodies if one.name == "body")
    high = float(figure.skin.rest[:, 2].max())
    hat = Shape(kind="sphere", size=(0.01,), pose=Pose(position=(0.0, 0.0, high + 0.1)))
    worn = character.changed(
        bodies=tuple(one.changed(shapes=(*one.shapes, hat)) if one is body else one for one in character.bodies)
    )
    plain, dressed = ({kind: len(seen) for kind, seen in one.seen.items()} for one in (figure, Figure(worn)))
    assert sum(plain.values()) < 0.2 * sum(len(solids) for solids in figure.solids.values())
    assert sum(dressed.values()) == sum(plain.values()) + 1
    bare = Figure(read_character("nao"))
    assert {kind: len(seen) for kind, seen in bare.seen.items()} == {kind: len(solids) for kind, solids in bare.solids.items()}
