"""Self-collision: against an exhaustive search, closed forms of pressed blocks, derivatives, balance of forces and moments."""

from __future__ import annotations

import numpy as np
import pytest
from block_matrix import block_matrix

from _tubes import cosine_tube
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh, quadratic
from bunraku.mechanics.coupled.collisions import surface_kernels as kernels
from bunraku.mechanics.coupled.collisions.penalty import Penalty
from bunraku.mechanics.coupled.collisions.surface import SurfaceCollisions
from bunraku.mechanics.coupled.tubes.mesh import Tube, bricks

PENALTY = Penalty(stiffness=1e8, onset=4e-4, deepest=1.5e-3)


def block(shape, size, at):
    """A block of bricks (nx, ny, nz) of edges size, its low corner at ``at``."""
    nx, ny, nz = shape
    i, j, k = np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), np.arange(nz + 1), indexing="ij")
    nodes = np.stack([i, j, k], axis=-1).reshape(-1, 3) * np.asarray(size) / np.array(shape) + np.asarray(at)
    around = bricks(nx + 1, ny, nz)  # closed round the first direction: leave out the bricks that close it
    x = nodes[around][:, :, 0]
    return nodes, around[np.ptp(x, axis=1) < 1.5 * size[0] / nx]


def two_blocks(gap, order=1):
    """One block over another, their faces ``gap`` apart at rest."""
    low, cells = block((4, 4, 2), (0.02, 0.02, 0.01), (0.0, 0.0, 0.0))
    high, others = block((3, 3, 2), (0.01, 0.01, 0.01), (0.0037, 0.0062, 0.01 + gap))
    mesh = TetMesh(np.vstack([low, high]), np.vstack([cells, others + len(low)]))
    return (quadratic(mesh) if order == 2 else mesh), len(low)


@pytest.fixture(scope="module")
def crumpled():
    """A folded tube squeezed and bent until its walls meet."""
    mesh = cosine_tube(Tube(folds=3, depth=0.012, wall=0.0025, around=12, rows=8))
    X = mesh.nodes
    t = (X[:, 2] - 0.01) / 0.06
    squeezed = X.copy()
    squeezed[:, 2] = X[:, 2] - 0.78 * 0.06 * np.clip(t, 0.0, 1.0) * (0.75 + 9.0 * X[:, 0])
    return mesh, squeezed + 1e-5 * np.random.default_rng(4).normal(size=X.shape)


def test_the_penalty_is_smooth_and_the_pressure_its_slope():
    g = np.linspace(-8e-4, 6e-4, 141)
    e = 1e-9
    slope = (PENALTY.energy(g + e, PENALTY.onset) - PENALTY.energy(g - e, PENALTY.onset)) / (2 * e)
    np.testing.assert_allclose(-slope, PENALTY.pressure(g, PENALTY.onset), atol=2e-3)
    slope = (PENALTY.pressure(g + e, PENALTY.onset) - PENALTY.pressure(g - e, PENALTY.onset)) / (2 * e)
    np.testing.assert_allclose(-slope, PENALTY.slope(g, PENALTY.onset), atol=1e3)
    assert PENALTY.pressure(np.array([-1e-3]), PENALTY.onset)[0] == pytest.approx(1e8 * (2e-4 + 1e-3))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("depth", [-2e-4, 3e-4])
def test_a_block_pressed_on_another_is_pushed_back_by_pressure_times_area(order, depth):
    mesh, first = two_blocks(2e-3, order)
    upper = np.zeros(len(mesh.nodes), dtype=bool)
    upper[np.unique(mesh.cells[mesh.cells[:, 0] >= first])] = True
    collisions = SurfaceCollisions(mesh, penalty=PENALTY)
    x = mesh.nodes.copy()
    x[upper, 2] -= 2e-3 + depth
    pairs = collisions.find(x)
    np.testing.assert_allclose(pairs.gap, -depth, atol=1e-12)
    np.testing.assert_allclose(np.abs(pairs.normal[:, 2]), 1.0, atol=1e-9)
    f, energy = collisions.force(x, pairs)
    np.testing.assert_allclose(f.sum(axis=0), 0.0, atol=1e-9)
    # half of it from the nodes of the upper face, whose shares of area at its rim lie partly on its sides
    onto = pairs.nodes[:, 0]
    area = pairs.area[upper[onto]].sum() + pairs.area[~upper[onto]].sum()
    expected = area * float(PENALTY.pressure(np.array([-depth]), PENALTY.onset)[0])
    assert f[upper, 2].sum() == pytest.approx(expected, rel=1e-9)
    assert energy == pytest.approx(area * float(PENALTY.energy(np.array([-depth]), PENALTY.onset)[0]), rel=1e-9)
    assert 0.5e-4 <= area <= 1.6e-4


def test_the_grid_finds_what_an_exhaustive_search_finds(crumpled):
    mesh, x = crumpled
    collisions = SurfaceCollisions(mesh, penalty=PENALTY)
    pairs = collisions.find(x)
    assert pairs.count > 30
    assert pairs.deepest > 1e-4
    of_face, of_node = np.zeros((len(collisions.faces), 3)), np.zeros((len(x), 3))
    kernels.normals(x, collisions.faces, of_face, of_node)
    far = np.full(len(collisions.query), np.inf)
    w = np.zeros(3)
    some = set(range(0, len(collisions.query), 23)) | {
        int(q) for q in np.flatnonzero(np.isin(collisions.query, pairs.nodes[::4, 0]))
    }
    for q, node in enumerate(collisions.query):
        if q not in some:
            continue
        out = set(collisions._excluded.triangle[collisions._excluded.first[q] : collisions._excluded.first[q + 1]].tolist())
        for t in np.flatnonzero(of_face @ of_node[node] < collisions.facing):
            if int(t) not in out:
                far[q] = min(far[q], kernels.closest(*x[node], x, *collisions.faces[t], w))
    found = {int(n): g for n, g in zip(pairs.nodes[:, 0], pairs.gap, strict=True)}
    for q in some:
        d, node = np.sqrt(far[q]), collisions.query[q]
        if int(node) in found:
            assert abs(found[int(node)]) == pytest.approx(d, abs=1e-12)
        else:
            assert d >= PENALTY.onset - 1e-12  # beyond the onset outside, or deeper than counts


def test_nearest_points_are_the_nearest_of_many():
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(3), size=4000)
    share = np.vstack([share, [[t, 1 - t, 0] for t in np.linspace(0, 1, 101)], [[0, t, 1 - t] for t in np.linspace(0, 1, 101)]])
    share = np.vstack([share, [[t, 0, 1 - t] for t in np.linspace(0, 1, 101)]])
    w = np.zeros(3)
    for _ in range(60):
        x = rng.normal(size=(3, 3))
        p = 2.0 * rng.normal(size=3)
        d = kernels.closest(*p, x, 0, 1, 2, w)
        assert w.min() >= -1e-12
        assert w.sum() == pytest.approx(1.0)
        assert d == pytest.approx(((p - w @ x) ** 2).sum(), rel=1e-9)
        assert d <= ((p - share @ x) ** 2).sum(axis=1).min() + 1e-12


def test_forces_are_the_slope_of_the_energy_while_pairs_are_found_anew(crumpled):
    mesh, x = crumpled
    collisions = SurfaceCollisions(mesh, penalty=PENALTY)
    f, _ = collisions.force(x, collisions.find(x))

    def energy(y):
        return collisions.force(y, collisions.find(y))[1]

    rng = np.random.default_rng(2)
    for _ in range(5):
        d = rng.normal(size=x.shape)
        e = 1e-9
        assert (energy(x + e * d) - energy(x - e * d)) / (2 * e) == pytest.approx(-(f * d).sum(), rel=1e-3)


def test_stiffness_is_the_slope_of_the_forces_of_given_pairs_and_never_negative(crumpled):
    mesh, x = crumpled
    collisions = SurfaceCollisions(mesh, penalty=PENALTY)
    pairs = collisions.find(x)
    K = block_matrix(len(x), collisions.stiffness(x, pairs))
    assert abs(K - K.T).max() <= 1e-9 * abs(K).max()
    rng = np.random.default_rng(3)
    for _ in range(3):
        d = rng.normal(size=x.shape)
        e = 1e-9
        slope = (collisions.force(x + e * d, pairs)[0] - collisions.force(x - e * d, pairs)[0]) / (2 * e)
        np.testing.assert_allclose(-slope.ravel(), K @ d.ravel(), atol=1e-5 * np.abs(K @ d.ravel()).max())
        assert d.ravel() @ (K @ d.ravel()) >= 0.0


def test_forces_and_moments_balance(crumpled):
    mesh, x = crumpled
    collisions = SurfaceCollisions(mesh, penalty=PENALTY)
    f, _ = collisions.force(x, collisions.find(x))
    size = np.abs(f).sum()
    np.testing.assert_allclose(f.sum(axis=0), 0.0, atol=1e-12 * size)
    np.testing.assert_allclose(np.cross(x, f).sum(axis=0), 0.0, atol=1e-10 * size)


def test_at_rest_nothing_pushes_even_where_walls_are_near():
    mesh, first = two_blocks(1e-4)
    collisions = SurfaceCollisions(mesh, penalty=PENALTY)
    assert collisions.find(mesh.nodes).count == 0
    assert collisions.left_out == 0
    x = mesh.nodes.copy()
    x[first:, 2] -= 5e-5
    assert collisions.find(x).count > 0
    turned = mesh.nodes @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0].T
    assert collisions.find(turned + 3.0).count == 0


def test_what_is_no_position_is_refused():
    mesh, _ = two_blocks(1e-3)
    collisions = SurfaceCollisions(mesh)
    with pytest.raises(BadInput, match="finite"):
        collisions.find(np.full(mesh.nodes.shape, np.nan))
    with pytest.raises(BadInput):
        SurfaceCollisions(mesh, facing=0.5)
    with pytest.raises(BadInput):
        Penalty(onset=0.0)
