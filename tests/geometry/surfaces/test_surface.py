"""Closed forms of area, volume, center and topology; what is counted on damaged surfaces."""

from __future__ import annotations

import numpy as np
import pytest

from _surfaces import box, sphere, torus
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.checks import check_surface
from bunraku.geometry.surfaces.surface import Surface, joined
from bunraku.geometry.surfaces.topology import boundary_loops, components, edges_of, euler_characteristic, genus, pinched_vertices


def test_a_box_is_exact() -> None:
    solid = box([0.2, 0.3, 0.5]).moved(lambda points: points + np.array([3.0, -2.0, 1.0]))
    assert solid.area() == pytest.approx(2 * (0.06 + 0.10 + 0.15), rel=1e-13)
    assert solid.volume() == pytest.approx(0.03, rel=1e-12)
    np.testing.assert_allclose(solid.center(), [3.0, -2.0, 1.0], atol=1e-13)
    np.testing.assert_allclose(solid.bounds, [[2.9, -2.15, 0.75], [3.1, -1.85, 1.25]], atol=1e-13)
    assert solid.size == pytest.approx(np.sqrt(0.04 + 0.09 + 0.25))
    # At a corner of a box every side has the same angle, so the vertex normal is the diagonal, whatever the triangles.
    outwards = np.sign(solid.vertices - [3.0, -2.0, 1.0])
    np.testing.assert_allclose(solid.vertex_normals(), outwards / np.sqrt(3.0), atol=1e-12)
    assert genus(solid.faces) == 0


@pytest.mark.parametrize(
    ("make", "area", "volume", "handles"),
    [
        (lambda n: sphere(0.5, n), np.pi, np.pi / 6, 0),
        (lambda n: torus(0.4, 0.1, 4 * n, n), 4 * np.pi**2 * 0.04, 2 * np.pi**2 * 0.004, 1),
    ],
)
def test_areas_and_volumes_converge_with_the_second_order(make, area: float, volume: float, handles: int) -> None:  # type: ignore[no-untyped-def]
    coarse, fine = make(12), make(24)
    for exact, of in ((area, Surface.area), (volume, Surface.volume)):
        assert np.log2((exact - of(coarse)) / (exact - of(fine))) == pytest.approx(2.0, abs=0.05)
    assert genus(fine.faces) == handles
    assert edges_of(fine.faces).closed


def test_normals_of_a_sphere_point_along_the_radius() -> None:
    ball = sphere(2.0, 20)
    assert np.einsum("ij,ij->i", ball.vertex_normals(), ball.vertices / 2.0).min() > 0.9999
    assert ball.flipped().volume() == pytest.approx(-ball.volume())


def test_components_euler_and_parts() -> None:
    both = joined([torus(1.0, 0.2, 12, 8), sphere(0.1, 3)])
    label = components(both.faces)
    assert np.bincount(label).tolist() == [2 * 12 * 8, 8 * 9]
    assert euler_characteristic(both.faces) == 0 + 2
    assert check_surface(both).genus == (1, 0)
    assert both.part(label == 1).volume() == pytest.approx(sphere(0.1, 3).volume())


def test_holes_are_loops_that_faces_can_fill() -> None:
    ball = sphere(1.0, 6)
    cut = Surface(ball.vertices, ball.faces[~(ball.faces == 30).any(axis=1)])
    (loop,) = boundary_loops(cut.faces)
    ring = np.setdiff1d(ball.faces[(ball.faces == 30).any(axis=1)], [30])
    np.testing.assert_array_equal(np.sort(loop), ring)
    fan = np.stack([loop, np.roll(loop, -1), np.full(len(loop), 30)], axis=1)
    assert edges_of(np.concatenate([cut.faces, fan])).closed


def test_a_figure_of_eight_is_two_loops() -> None:
    # Two triangles removed that meet in a vertex only.
    ball = sphere(1.0, 6)
    at = np.flatnonzero((ball.faces == 30).any(axis=1))
    opposite = next(k for k in at if len(set(ball.faces[k]) & set(ball.faces[at[0]])) == 1)
    cut = ball.part(~np.isin(np.arange(len(ball.faces)), [at[0], opposite]))
    assert sorted(len(loop) for loop in boundary_loops(cut.faces)) == [3, 3]


def test_faults_are_counted() -> None:
    ball = sphere(1.0, 5)
    n = len(ball.vertices)
    whole = check_surface(ball)
    assert (whole.watertight, whole.sound, whole.faults()) == (True, True, "")
    inside_out = check_surface(ball.flipped())
    assert (inside_out.watertight, inside_out.sound) == (True, False)
    assert "inside out" in inside_out.faults()
    open_ = check_surface(Surface(ball.vertices, ball.faces[1:]))
    assert (open_.holes, open_.open_edges, open_.genus, open_.watertight) == (1, 3, (-1,), False)
    twisted = check_surface(Surface(ball.vertices, np.concatenate([ball.faces[:1, ::-1], ball.faces[1:]])))
    assert (twisted.twisted_edges, twisted.holes) == (3, 0)
    double = check_surface(Surface(ball.vertices, np.concatenate([ball.faces, ball.faces[:1]])))
    assert (double.duplicate_faces, double.crowded_edges) == (1, 3)
    flat = check_surface(Surface(ball.vertices, np.concatenate([ball.faces, [[0, 0, 1]]])))
    assert flat.degenerate_faces == 1
    twice = check_surface(Surface(np.concatenate([ball.vertices, ball.vertices[:1]]), np.where(ball.faces == 0, n, ball.faces)))
    assert twice.duplicate_vertices == 0
    soup = check_surface(Surface(ball.corners.reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3)))
    assert (soup.components, soup.duplicate_vertices) == (len(ball.faces), 3 * len(ball.faces) - n)


def test_two_cones_that_share_their_tip_are_pinched() -> None:
    one = box([1.0, 1.0, 1.0])
    other = one.moved(lambda points: points + 1.0)
    assert len(pinched_vertices(one.faces)) == 0
    both = joined([one, other])
    faces = np.where(both.faces == 8, 7, both.faces)
    np.testing.assert_array_equal(both.vertices[8], both.vertices[7])
    np.testing.assert_array_equal(pinched_vertices(faces), [7])
    assert edges_of(faces).closed


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (np.zeros((3, 2)), [[0, 1, 2]], r"\(3, 2\); \(n, 3\)"),
        (np.zeros((3, 3)), np.zeros((0, 3)), "at least one triangle"),
        (np.zeros((3, 3)), [[0, 1, 3]], r"face 0 names the vertices \[0, 1, 3\]"),
        ([[0, 0, 0], [1, np.nan, 0], [0, 1, 0]], [[0, 1, 2]], "vertex 1 .* not finite"),
    ],
)
def test_wrong_arrays_are_refused(vertices, faces, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadInput, match=message):
        Surface(np.asarray(vertices, dtype=float), np.asarray(faces, dtype=np.int64))
