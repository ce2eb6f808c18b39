"""Rings of a fold: on the limb's outline, less the cut, at common angles; and what is no limb."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.rings import fold_rings, ring_faces

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def test_ring_points_lie_exactly_on_the_profile(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.038, 0.3, 32, 40)
    fold = FoldRegion((0.01, -0.005, 0.02), (0.0, 0.0, 1.0), 0.08, 3, 0.010, 0.0025, 16)
    rings = fold_rings(X, F, fold, "tube")
    np.testing.assert_allclose(rings.centres[:, :2], 0.0, atol=1e-12)
    np.testing.assert_allclose(rings.points[:, :, 2], (0.02 + rings.stations)[:, None] * np.ones(16), atol=1e-12)
    radii = np.linalg.norm(rings.points[:, :, :2], axis=2)
    np.testing.assert_allclose(radii, 0.038 - rings.cut[:, None] * np.ones(16), atol=1e-12)
    np.testing.assert_allclose(np.diff(rings.angles), np.pi / 8, atol=1e-4)


def test_angles_divide_an_ellipse_into_equal_arcs(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.04, 0.3, 120, 30)
    X = X * [1.8, 1.0, 1.0]
    rings = fold_rings(X, F, FoldRegion((0, 0, 0), (0, 0, 1), 0.05, 0, 0.0, 0.003, 24), "flat limb")
    edges = np.linalg.norm(np.roll(rings.points, -1, axis=1) - rings.points, axis=2)
    assert edges.max() < 1.03 * edges.min()


def test_rings_follow_a_tapered_oblique_limb(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.04, 0.3, 48, 60)
    X = X * np.column_stack([1.0 + 2.0 * X[:, 2], 1.0 + 2.0 * X[:, 2], np.ones(len(X))])
    turn = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [-0.8, 0.0, 0.6]])
    rings = fold_rings(X @ turn.T, F, FoldRegion((0, 0, 0), (0.8, 0.0, 0.6), 0.06, 2, 0.008, 0.0025, 16), "cone")
    expected = 0.04 * (1.0 + 2.0 * rings.stations)
    np.testing.assert_allclose(rings.radii.mean(axis=1), expected, rtol=3e-3)


def test_triangles_of_rings_look_outwards_and_share_diagonals() -> None:
    n, z = 12, np.linspace(0.0, 1.0, 4)
    th = 2 * np.pi * np.arange(n) / n
    X = np.stack([np.outer(np.ones(4), np.cos(th)), np.outer(np.ones(4), np.sin(th)), np.outer(z, np.ones(n))], axis=-1)
    F = ring_faces(np.arange(4 * n).reshape(4, n))
    T = X.reshape(-1, 3)[F]
    normal = np.cross(T[:, 1] - T[:, 0], T[:, 2] - T[:, 0])
    assert ((normal * T.mean(axis=1))[:, :2].sum(axis=1) > 0.0).all()
    np.testing.assert_allclose(0.5 * np.linalg.norm(normal, axis=1).sum(), 2 * n * np.sin(np.pi / n), rtol=1e-12)
    assert len(np.unique(np.sort(F[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)) == 4 * n + 3 * n + 3 * n


@pytest.mark.parametrize(
    ("center", "length", "depth", "words"),
    [
        ((0.3, 0.0, 0.0), 0.06, 0.008, "limb: the plane at .* has no closed loop"),
        ((0.0, 0.0, 0.17), 0.08, 0.008, "limb: the plane at .* has no closed loop"),
        ((0.0, 0.0, 0.0), 0.10, 0.034, "depth 34.0 mm and wall 2.5 mm leave too little"),
    ],
)
def test_a_slab_off_the_limb_or_too_deep_a_fold_is_refused(
    tube: Surface, center: tuple[float, float, float], length: float, depth: float, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        fold_rings(*tube, FoldRegion(center, (0, 0, 1), length, 1, depth, 0.0025, 16), "limb")


def test_a_slab_that_takes_in_the_body_is_refused(quadruped: Surface) -> None:
    with pytest.raises(BadInput, match="hip: a cross-section is not star-shaped"):
        fold_rings(*quadruped, FoldRegion((0.13, 0.08, 0.22), (0, 0, 1), 0.08, 1, 0.008, 0.0025, 16), "hip")


def test_a_slab_with_a_jump_of_radius_is_refused(capsule: Callable[..., Surface]) -> None:
    X, F = capsule(0.02, 0.3, 32, 60)
    X = X * np.where(X[:, 2] > 0.0, 3.0, 1.0)[:, None] ** [1.0, 1.0, 0.0]
    with pytest.raises(BadInput, match=r"neck: the limb's radius runs from 20\.0 to 60\.0 mm"):
        fold_rings(X, F, FoldRegion((0, 0, 0), (0, 0, 1), 0.06, 0, 0.0, 0.003, 16), "neck")
