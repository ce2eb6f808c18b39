"""Tubes: volumes of swept polygons, the thickness of walls, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from _tubes import cosine_profile, linear_tube
from bunraku.errors import BadInput
from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import boundary_faces, cell_volumes
from bunraku.mechanics.coupled.tubes.mesh import Tube, mitres, tube_mesh, tube_profile


def polygon_factor(around):
    """Area of a regular polygon of unit circumradius."""
    return 0.5 * around * np.sin(2 * np.pi / around)


SMOOTH = Tube(around=32, rows=16)


@pytest.mark.parametrize(("mesh", "count"), [(tube_mesh(SMOOTH), 6336), (linear_tube(SMOOTH, 2), 32 * 17 * 3)])
def test_a_smooth_tube_is_a_polygonal_ring(mesh, count):
    check_mesh(mesh)
    assert len(mesh.nodes) == count
    expected = polygon_factor(32) * (0.038**2 - 0.034**2) * 0.08
    assert cell_volumes(mesh).sum() == pytest.approx(expected, rel=1e-12)
    x = mesh.nodes[mesh.faces("top")[:, :3]]
    area = 0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum()
    assert area == pytest.approx(expected / 0.08, rel=1e-12)


def test_the_surface_is_that_of_a_torus():
    mesh = linear_tube(Tube(folds=2, depth=0.008, wall=0.003, around=9, rows=4))
    check_mesh(mesh)
    faces = boundary_faces(mesh)
    edges = len(np.unique(np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0))
    assert len(np.unique(faces)) - edges + len(faces) == 0


def test_teeth_have_their_wall_on_every_straight_piece():
    tube = Tube(folds=3, depth=0.01, wall=0.0025, rows=4)
    middle = tube_profile(tube)
    outwards = mitres(middle)
    inner, outer = middle - 0.5 * tube.wall * outwards, middle + 0.5 * tube.wall * outwards
    along = np.diff(middle, axis=0)
    normal = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    for end in (slice(None, -1), slice(1, None)):
        np.testing.assert_allclose(((outer - inner)[end] * normal).sum(axis=1), tube.wall, rtol=1e-12)
    assert middle[:, 0].max() - middle[:, 0].min() == pytest.approx(tube.depth)
    np.testing.assert_allclose(middle[:, 0], middle[::-1, 0], atol=1e-15)  # the same from above as from below


def test_a_cosine_fold_has_its_wall_along_the_normal_at_every_row():
    middle, outwards = cosine_profile(0.036, 0.08, 3, 0.008, 0.01, 200)
    np.testing.assert_allclose(np.linalg.norm(outwards, axis=1), 1.0, rtol=1e-12)
    inside = slice(10, -10)
    slope = np.gradient(middle[inside, 0], middle[inside, 1])
    np.testing.assert_allclose((-outwards[inside, 1] / outwards[inside, 0])[1:-1], slope[1:-1], atol=1e-3)


def test_mitres_of_a_right_angle():
    out = mitres(np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]]))
    np.testing.assert_allclose(out, [[1.0, 0.0], [1.0, -1.0], [0.0, -1.0]], atol=1e-15)


@pytest.mark.parametrize(
    "wrong",
    [
        {"wall": 0.05},
        {"around": 2},
        {"folds": 3, "end": 0.05},
        {"folds": 3, "rows": 6},
        {"length": float("nan")},
    ],
)
def test_what_is_no_tube_is_refused(wrong):
    with pytest.raises(BadInput):
        Tube(**wrong)


def test_folds_too_narrow_for_their_wall_are_refused():
    with pytest.raises(BadInput, match="folds over itself"):
        tube_mesh(Tube(folds=6, depth=0.012, wall=0.006, rows=8))
