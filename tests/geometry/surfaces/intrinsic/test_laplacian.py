"""The intrinsic Laplacian: of curvature, of flat flips in closed form, beside libigl's, and on faces of almost no area."""

from __future__ import annotations

import numpy as np
import pytest

from _surfaces import random_quadruped, sphere, torus
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.intrinsic_laplacian import intrinsic_laplacian
from bunraku.geometry.surfaces.surface import Surface


def test_the_laplacian_of_a_sphere_points_inwards() -> None:
    """L x = 2 A H n summed over the fan of a vertex: on a unit sphere the mean curvature is 1 and A sums to 4 π."""
    ball = sphere(1.0, 16)
    L = intrinsic_laplacian(ball.vertices, ball.faces)
    pull = L @ ball.vertices / 2.0
    assert abs(L - L.T).max() < 1e-12
    np.testing.assert_allclose(np.asarray(L.sum(axis=1)).ravel(), 0.0, atol=1e-12)
    assert (L - L.multiply(L < 0)).min() >= 0.0
    np.testing.assert_allclose(-np.einsum("ij,ij->", pull, ball.vertices), 2.0 * 4.0 * np.pi, rtol=0.01)


def test_a_side_between_obtuse_angles_is_flipped() -> None:
    """A rhombus of half diagonals 1 and s, both sheets: cut along the long one in front and along the short one behind.

    Flipped, both are cut along the short one: its two sides see the angle 2 atan s at both ends, cot = (1 - s²) / (2 s); the
    outline sees π / 2 - atan s in both sheets, cot = s; the long diagonal is gone.
    """
    s = 0.4
    points = np.array([[-1, 0, 0], [1, 0, 0], [0, s, 0], [0, -s, 0.0]])
    L = intrinsic_laplacian(points, np.array([[0, 1, 2], [1, 0, 3], [0, 2, 3], [2, 1, 3]])).toarray()
    assert L[2, 3] == pytest.approx(4.0 * (1.0 - s * s) / (2.0 * s), rel=1e-12)
    assert L[0, 2] == pytest.approx(2.0 * s, rel=1e-12)
    assert L[0, 1] == 0.0


def test_open_surfaces_are_refused() -> None:
    ball = sphere(1.0, 3)
    with pytest.raises(BadInput, match="not closed"):
        intrinsic_laplacian(ball.vertices, ball.faces[1:])


@pytest.mark.parametrize("surface", [random_quadruped(3, spacing=0.02), torus(1.0, 0.3, 31, 13)], ids=["creature", "torus"])
def test_it_equals_that_of_libigl(surface: Surface) -> None:
    igl = pytest.importorskip("igl")
    ours = intrinsic_laplacian(surface.vertices, surface.faces)
    theirs = 2.0 * igl.intrinsic_delaunay_cotmatrix(surface.vertices, surface.faces)[0]
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-9 * abs(theirs).max())


def test_faces_of_almost_no_area_do_no_harm() -> None:
    """Squashed to a needle the weights stay finite, not negative, and the flips come to an end."""
    needle = sphere(1.0, 12).moved(lambda points: points * [1.0, 1e-9, 1e-7])
    L = intrinsic_laplacian(needle.vertices, needle.faces)
    off = L.tocoo()
    assert np.isfinite(off.data).all()
    assert off.data[off.row != off.col].min() >= 0.0
