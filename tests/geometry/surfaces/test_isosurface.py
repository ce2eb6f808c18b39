"""Marching cubes: closed on any samples, second order on smooth ones, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.surfaces.distance import sampled
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface
from bunraku.geometry.surfaces.topology import components, edges_of, genus, pinched_vertices


@pytest.mark.parametrize("seed", range(4))
def test_noise_gives_closed_surfaces_between_inside_and_outside(seed: int) -> None:
    """White noise takes every one of the 256 cases, the ambiguous ones too."""
    values = np.full((18, 17, 16), 1.0)
    values[1:-1, 1:-1, 1:-1] = np.random.default_rng(seed).normal(size=(16, 15, 14))
    found = isosurface(values, origin=np.zeros(3), spacing=1.0)
    edges = edges_of(found.faces)
    assert edges.closed
    assert len(pinched_vertices(found.faces)) == 0
    assert found.face_areas().min() > 0.0
    # Every vertex lies on an edge of the grid with one end inside and one outside, and every such edge has one vertex.
    inside = values < 0.0
    crossed = sum(int((np.diff(inside, axis=axis)).sum()) for axis in range(3))
    assert len(found.vertices) == crossed
    assert (np.isclose(found.vertices % 1.0, 0.0, atol=1e-12).sum(axis=1) == 2).all()


def test_outside_corners_stay_apart_on_ambiguous_sides() -> None:
    """Two inside samples across the diagonal of a side are joined, which is one body."""
    values = np.full((4, 4, 4), 1.0)
    values[1, 1, 1] = values[2, 2, 1] = -1.0
    found = isosurface(values, origin=np.zeros(3), spacing=1.0)
    assert components(found.faces).max() == 0
    assert genus(found.faces) == 0


def _sphere(spacing: float) -> Surface:
    grid = sampled(lambda at: np.linalg.norm(at - 0.01, axis=1) - 0.5, [-0.6] * 3, [0.65] * 3, spacing, band=spacing)
    return isosurface(grid.values, origin=grid.origin, spacing=spacing)


def test_a_sphere_converges_with_the_second_order() -> None:
    coarse, fine = _sphere(0.1), _sphere(0.025)
    exact = np.pi / 6
    assert np.log((exact - coarse.volume()) / (exact - fine.volume())) / np.log(4.0) == pytest.approx(2.0, abs=0.15)
    np.testing.assert_allclose(fine.center(), 0.01, atol=2e-5)
    assert genus(fine.faces) == 0
    normals = np.einsum("ij,ij->i", fine.face_normals(), fine.corners.mean(axis=1) - 0.01)
    assert np.median(normals) > 0.49


def test_planes_are_met_exactly() -> None:
    """A function that is linear across its level is interpolated without error."""
    grid = sampled(lambda at: np.abs(at).max(axis=1) - 0.3, [-0.5] * 3, [0.5] * 3, 0.07, band=0.07)
    found = isosurface(grid.values, origin=grid.origin, spacing=0.07)
    distance = np.abs(np.abs(found.vertices).max(axis=1) - 0.3)
    assert np.median(distance) < 1e-12


def test_what_reaches_the_border_or_is_empty_is_refused() -> None:
    values = np.full((4, 5, 6), 1.0)
    with pytest.raises(BadInput, match="no sample is below"):
        isosurface(values, origin=np.zeros(3), spacing=1.0)
    values[2, 4, 2] = -1.0
    with pytest.raises(BadInput, match="reaches the highest y"):
        isosurface(values, origin=np.zeros(3), spacing=1.0)
    with pytest.raises(BadInput, match="are no grid"):
        isosurface(values[0], origin=np.zeros(3), spacing=1.0)
