"""Principal shapes of snapshots."""

from __future__ import annotations

import numpy as np
import pytest

from _principal import base_frame, mass_pca
from bunraku.errors import BadInput
from bunraku.geometry.rotations import exponential
from bunraku.mechanics.elastic.reduction.loaded import load_full, load_reduced
from bunraku.mechanics.elastic.reduction.reduce import reduce_to


@pytest.fixture(scope="module")
def states(short_rod):
    """Rest of the whole rod under growing forces across it, in one plane (7, 3 n)."""
    still = np.zeros(short_rod.solid.size)
    return np.array(
        [
            load_full(short_rod.bench, short_rod.end.load(still, force=[f, 0.0, 0.0]), count=1).u
            for f in (-20, -12, -5, 3, 8, 15, 20)
        ]
    )


def test_the_span_of_the_snapshots_is_kept(short_rod, states) -> None:
    """All snapshots are combinations of the shapes; with fewer shapes the lost mass is the sum of the squares left out."""
    bench = short_rod.bench
    full = mass_pca(bench, states, 20)
    weighed = bench.inertia @ np.ascontiguousarray(full.shapes.T)
    np.testing.assert_allclose((states @ weighed) @ full.shapes, states, atol=1e-9 * np.abs(states).max())
    values = np.linalg.svd(states @ weighed, compute_uv=False)
    two = mass_pca(bench, states, 2).shapes
    rest = states - (states @ (bench.inertia @ np.ascontiguousarray(two.T))) @ two
    lost = np.einsum("si,is->", rest, bench.inertia @ np.ascontiguousarray(rest.T))
    assert lost == pytest.approx((values[2:] ** 2).sum(), rel=1e-6)
    assert values[0] > 100.0 * values[2]


def test_a_rigid_motion_of_the_base_is_taken_out(short_rod, states) -> None:
    """Turned and moved snapshots come back to the base's frame; with the motion in them they are refused."""
    X = short_rod.solid.mesh.nodes
    R, p = exponential([0.4, -0.9, 0.3]), np.array([0.3, 0.1, -0.2])
    moved = np.array([((X + u.reshape(-1, 3)) @ R.T + p - X).ravel() for u in states])
    np.testing.assert_allclose(base_frame(short_rod.solid, short_rod.base, moved), states, atol=1e-13)
    with pytest.raises(BadInput, match="base_frame"):
        mass_pca(short_rod.bench, moved, 3)


def test_both_bases_find_a_state_that_was_not_recorded(short_rod, states) -> None:
    """A force between those of the snapshots: principal shapes and modal derivatives agree with the whole solid."""
    load = short_rod.end.load(np.zeros(short_rod.solid.size), force=[-16.0, 0.0, 0.0])
    expected = short_rod.end.position(load_full(short_rod.bench, load, count=1).u) - short_rod.end.centroid
    snapshots = reduce_to(short_rod.bench, mass_pca(short_rod.bench, states, 5))
    assert snapshots.segment.r == 5
    for reduction in (snapshots, short_rod.reduction):
        found = load_reduced(short_rod.solid, reduction.segment, reduction.shapes, load, short_rod.bench.carried, count=1)
        tip = short_rod.end.position(found.u @ reduction.shapes) - short_rod.end.centroid
        assert np.linalg.norm(tip - expected) < 5e-4 * np.linalg.norm(expected)
