"""Solids of a character: unit shapes that are closed and of the right size, and nothing of a character left invisible."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, EndEffector, Frame, Joint, Pose, Shape
from bunraku.errors import BadInput
from bunraku.geometry.rotations import axis_angle, matrix_of_quaternion, quaternion_of_matrix
from bunraku.stage.figure.solids import AROUND, DOWN, TIP_COLOR, UNIT_KINDS, Solids, body_names, solids_of, unit_mesh


def two(shapes: tuple[Shape, ...] = (), **more: object) -> Character:
    """An upper and a lower body, the second 0.4 m along x of the first."""
    return Character(
        name="two",
        bodies=(Body(name="upper", mass=1.0, shapes=shapes), Body(name="lower", mass=0.5, center_of_mass=(0.0, 0.0, -0.3))),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="upper"),
            Joint(name="b", kind="hinge", parent="upper", child="lower", pose=Pose(position=(0.4, 0.0, 0.0))),
        ),
        **more,  # type: ignore[arg-type]
    )


def of(solids: dict[str, Solids], character: Character, body: str) -> dict[str, Solids]:
    at = body_names(character).index(body)
    kept = {}
    for kind, all_ in solids.items():
        mine = all_.body == at
        if mine.any():
            kept[kind] = Solids(*(getattr(all_, name)[mine] for name in ("body", "position", "quaternion", "scale", "color")))
    return kept


@pytest.mark.parametrize("kind", UNIT_KINDS)
def test_unit_shapes_enclose_their_volume(kind) -> None:
    vertices, faces = unit_mesh(kind)
    X = vertices.astype(np.float64)[faces]
    volume = float(np.einsum("fi,fi->", X[:, 0], np.cross(X[:, 1], X[:, 2]))) / 6.0
    flat = AROUND / 2.0 * np.sin(2.0 * np.pi / AROUND)  # area of the polygon around
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, DOWN + 1)
    r, z = np.cos(angle), np.sin(angle)
    stacked = flat * float(np.sum(np.diff(z) * (r[1:] ** 2 + r[1:] * r[:-1] + r[:-1] ** 2) / 3.0))  # frusta
    assert volume == pytest.approx({"box": 8.0, "tube": 2.0 * flat, "ball": stacked}[kind], rel=1e-5)
    assert stacked == pytest.approx(4.0 / 3.0 * np.pi, rel=0.05)


@pytest.mark.parametrize("kind", UNIT_KINDS)
def test_unit_shapes_are_closed_and_face_outwards(kind) -> None:
    vertices, faces = unit_mesh(kind)
    _, same = np.unique(np.round(vertices, 5), axis=0, return_inverse=True)  # sharp edges have their vertices more than once
    edges = np.sort(np.vstack([same[faces[:, list(pair)]] for pair in ((0, 1), (1, 2), (2, 0))]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    X = vertices[faces]
    normal = np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0])
    assert np.linalg.norm(normal, axis=1).min() > 1e-4
    assert (np.einsum("fi,fi->f", normal, X.mean(axis=1)) > 0.0).all()
    assert vertices.dtype == np.float32
    assert faces.dtype == np.int32


def test_an_unknown_unit_shape_is_refused() -> None:
    with pytest.raises(BadInput, match="known: box, ball, tube"):
        unit_mesh("cone")


def test_a_capsule_is_a_tube_and_two_balls() -> None:
    turn = axis_angle([0.0, 1.0, 0.0], 0.5 * np.pi)  # z to x
    w, x, y, z = quaternion_of_matrix(turn)
    shape = Shape(kind="capsule", size=(0.03, 0.2), pose=Pose(position=(0.1, 0.0, 0.0), quaternion=(w, x, y, z)))
    character = two((shape,))
    upper = of(solids_of(character), character, "upper")
    np.testing.assert_allclose(upper["tube"].scale, [[0.03, 0.03, 0.2]])
    np.testing.assert_allclose(matrix_of_quaternion(upper["tube"].quaternion[0]), turn, atol=1e-12)
    np.testing.assert_allclose(upper["ball"].position, [[-0.1, 0.0, 0.0], [0.3, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(upper["ball"].scale, np.full((2, 3), 0.03))
    assert "box" not in upper


def test_every_kind_of_shape_becomes_a_unit_shape() -> None:
    shapes = (
        Shape(kind="box", size=(0.1, 0.2, 0.3), color=(0.1, 0.2, 0.3, 0.4)),
        Shape(kind="sphere", size=(0.1,)),
        Shape(kind="ellipsoid", size=(0.1, 0.2, 0.3)),
        Shape(kind="cylinder", size=(0.1, 0.2)),
        Shape(kind="capsule", size=(0.1, 0.0)),
    )
    character = two(shapes)
    upper = of(solids_of(character), character, "upper")
    np.testing.assert_allclose(upper["box"].scale, [[0.1, 0.2, 0.3]])
    np.testing.assert_allclose(upper["box"].color, [[0.1, 0.2, 0.3, 0.4]])
    np.testing.assert_allclose(upper["ball"].scale, [[0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [0.1, 0.1, 0.1]])
    np.testing.assert_allclose(upper["tube"].scale, [[0.1, 0.1, 0.2]])


def test_a_body_without_shape_gets_a_stick_to_what_it_carries() -> None:
    character = two()
    solids = solids_of(character)
    upper, lower = of(solids, character, "upper"), of(solids, character, "lower")
    np.testing.assert_allclose(upper["ball"].position, [[0.0, 0.0, 0.0], [0.4, 0.0, 0.0]], atol=1e-12)
    assert upper["tube"].scale[0, 2] == pytest.approx(0.2)
    np.testing.assert_allclose(lower["ball"].position, [[0.0, 0.0, 0.0], [0.0, 0.0, -0.3]], atol=1e-12)  # to its centre of mass


def test_the_last_body_reaches_to_its_farthest_frame() -> None:
    character = two(frames=(Frame(name="tip", body="lower", pose=Pose(position=(0.0, 0.7, 0.0))),))
    lower = of(solids_of(character), character, "lower")
    np.testing.assert_allclose(lower["ball"].position[1], [0.0, 0.7, 0.0], atol=1e-12)


def test_an_end_effector_is_drawn_unless_a_shape_shows_it() -> None:
    tip = EndEffector(name="foot", kind="ball", body="lower", center=(0.0, 0.0, -0.5), radius=0.02)
    bare = two(end_effectors=(tip,))
    balls = of(solids_of(bare), bare, "lower")["ball"]
    mine = np.flatnonzero((balls.color == TIP_COLOR).all(axis=1))
    np.testing.assert_allclose(balls.position[mine], [[0.0, 0.0, -0.5]])
    np.testing.assert_allclose(balls.scale[mine], [[0.02, 0.02, 0.02]])
    seen = Shape(kind="sphere", size=(0.02,), pose=Pose(position=(0.0, 0.0, -0.5)))
    shown = bare.changed(bodies=(bare.bodies[0], bare.bodies[1].changed(shapes=(seen,))))
    assert len(of(solids_of(shown), shown, "lower")["ball"]) == 1


def test_a_mesh_that_is_not_at_hand_leaves_a_stick() -> None:
    character = two((Shape(kind="mesh", size=(1.0, 1.0, 1.0), file="arm.stl"),))
    without, having = solids_of(character), solids_of(character, meshes=("arm.stl",))
    assert "tube" in of(without, character, "upper")
    assert not any(kind.startswith("mesh") for kind in without)
    assert len(of(having, character, "upper")["mesh:arm.stl"]) == 1
    assert "tube" not in of(having, character, "upper")
