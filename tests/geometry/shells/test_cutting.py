"""Cutting a region out: two borders, each through its ring's points; area and orientation of what is left."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.geometry.shells.cutting import CutSurface, cut_region
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.rings import fold_rings

Surface = tuple[NDArray[np.float64], NDArray[np.int64]]


def area(X: NDArray[np.float64], F: NDArray[np.int64]) -> float:
    return float(0.5 * np.linalg.norm(np.cross(X[F[:, 1]] - X[F[:, 0]], X[F[:, 2]] - X[F[:, 0]]), axis=1).sum())


def borders(F: NDArray[np.int64]) -> set[tuple[int, int]]:
    directed = {(a, b) for face in F.tolist() for a, b in zip(face, face[1:] + face[:1], strict=True)}
    assert len(directed) == 3 * len(F)
    return {(a, b) for a, b in directed if (b, a) not in directed}


@pytest.mark.parametrize("z", [0.0, 0.0123])
def test_a_slab_leaves_two_borders_through_its_rings(tube: Surface, z: float) -> None:
    X, F = tube
    fold = FoldRegion((0.0, 0.0, z), (0.0, 0.0, 1.0), 0.06, 2, 0.008, 0.0025, 14)
    rings = fold_rings(X, F, fold, "tube")
    cut = CutSurface(X, F)
    low, high = cut_region(cut, fold, rings, "tube")
    side = 2 * 40 * 0.038 * np.sin(np.pi / 40)
    np.testing.assert_allclose(area(X, F) - area(cut.vertices, cut.faces), 0.06 * side, rtol=0.01)
    np.testing.assert_allclose(cut.vertices[low], rings.points[0], atol=1e-15)
    np.testing.assert_allclose(cut.vertices[high], rings.points[-1], atol=1e-15)
    rim = {a for a, _ in borders(cut.faces)}
    assert set(low.tolist()) | set(high.tolist()) <= rim
    assert len(set(low.tolist())) == len(set(high.tolist())) == 14
    off = (cut.vertices[list(rim), 2] - z) / 0.03
    np.testing.assert_allclose(np.abs(off), 1.0, atol=1e-9)


def test_regions_that_overlap_are_refused(tube: Surface) -> None:
    X, F = tube
    cut = CutSurface(X, F)
    for z in (0.0, 0.03):
        fold = FoldRegion((0.0, 0.0, z), (0.0, 0.0, 1.0), 0.05, 1, 0.008, 0.0025, 14)
        rings = fold_rings(X, F, fold, f"fold at {z}")
        if z == 0.0:
            cut_region(cut, fold, rings, "first")
        else:
            with pytest.raises(BadInput, match="second"):
                cut_region(cut, fold, rings, "second")


def test_a_slab_through_a_handle_is_refused(torus: Surface) -> None:
    X, F = torus
    fold = FoldRegion((0.1, 0.0, 0.0), (0.0, 1.0, 0.0), 0.06, 0, 0.0, 0.003, 12)
    cut = CutSurface(X, F)
    cut_region(cut, fold, fold_rings(X, F, fold, "handle"), "handle")
    assert len({a for a, _ in borders(cut.faces)}) > 24
    assert cut.vertices[np.unique(cut.faces), 0].min() < -0.1
