"""Bending: values found by another program of the feasibility study, virtual work, symmetry, the minimum principle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from _tubes import cosine_tube, linear_tube, mesh_error
from bunraku.errors import BadInput
from bunraku.mechanics.coupled.tubes.bending import bend_tube, clamps
from bunraku.mechanics.coupled.tubes.blocks import GrowingPattern
from bunraku.mechanics.coupled.tubes.mesh import Tube, tube_mesh
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid

RUBBER = Material(young=1e6, poisson=0.46, density=1100.0)


def bent(tube, degrees, clamp=0.005, **options):
    solid = ElasticSolid(tube_mesh(tube) if isinstance(tube, Tube) else tube, RUBBER)
    return bend_tube(solid, np.radians(degrees), held=clamps(solid.mesh, clamp), step=np.radians(10.0), **options)


def test_quadratic_cells_give_the_torques_of_the_study_before_and_after_the_wall_kinks():
    found = bent(Tube(around=32, rows=16), [4.0, 8.0])
    assert found.status.good
    assert found.residual.max() < 1e-6
    assert 0.625 <= round(found.torque[0], 3) <= 0.633
    assert 1.045 <= round(found.torque[1], 3) <= 1.049


def test_a_folded_tube_gives_the_torque_of_the_study():
    found = bent(cosine_tube(Tube(folds=3)), [20.0])
    assert 0.483 <= found.torque[0] <= 0.487


@pytest.mark.parametrize(("around", "rows", "layers", "expected"), [(36, 12, 1, 0.770), (72, 24, 2, 0.634)])
def test_linear_cells_are_as_stiff_as_in_the_study_and_fail_the_values_of_quadratic_ones(around, rows, layers, expected):
    found = bent(linear_tube(Tube(around=around, rows=rows), layers), [4.0, 8.0], clamp=0.08 / rows)
    assert found.torque[0] == pytest.approx(expected, abs=1e-3)
    assert found.torque[1] > 1.2 * 1.049  # no kink yet


def test_the_torque_is_the_slope_of_the_energy():
    degrees = np.array([2.98, 3.0, 3.02])
    found = bent(Tube(around=10, rows=6), degrees, tolerance=1e-9)
    slope = (found.energy[2] - found.energy[0]) / (found.angle[2] - found.angle[0])
    assert found.torque[1] == pytest.approx(slope, rel=1e-5)


def test_both_ways_cost_the_same():
    tube = cosine_tube(Tube(around=10, rows=8, folds=1))
    there, back = bent(tube, [15.0]), bent(tube, [-15.0])
    assert there.torque[0] == pytest.approx(-back.torque[0], rel=1e-6)


def test_it_stops_where_the_motor_does():
    found = bent(Tube(around=10, rows=6), np.arange(1.0, 20.0), torque_limit=0.4)
    assert np.abs(found.torque[:-1]).max() <= 0.4 < found.torque[-1]
    angle = found.angle_at(0.4)
    assert found.angle[-2] < angle < found.angle[-1]
    assert np.isnan(found.angle_at(10.0))


def test_refining_makes_it_softer_by_the_minimum_principle():
    tube = Tube(folds=1, depth=0.008, wall=0.003, around=8, rows=4)
    error = mesh_error(tube_mesh(tube), RUBBER, (1e-4,))
    assert error.fine[0] < error.coarse[0]
    assert error.relative[0] == pytest.approx(error.coarse[0] / error.fine[0] - 1.0)


def test_the_growing_pattern_adds_blocks_between_any_nodes():
    solid = ElasticSolid(tube_mesh(Tube(around=6, rows=3)), RUBBER)
    free = np.ones(solid.size, dtype=bool)
    free[: 3 * 12] = False
    pattern = GrowingPattern(solid, free)
    without = pattern.solver
    rng = np.random.default_rng(1)
    K = solid.stiffness()
    a, b = np.array([0, solid.nodes - 1, 3]), np.array([solid.nodes - 1, 0, 3])
    half = rng.normal(size=(3, 3))
    blocks = np.array([half, half.T, np.eye(3)])
    data = pattern.total(K, a, b, blocks)
    dense = K.toarray()
    for i, j, block in zip(a, b, blocks, strict=True):
        dense[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += block
    total = csr_array((data, pattern.pattern.indices, pattern.pattern.indptr), shape=dense.shape)
    np.testing.assert_allclose(total.toarray(), dense, atol=1e-9 * np.abs(dense).max())
    np.testing.assert_allclose(data[pattern.diagonal], dense.diagonal())
    grown = pattern.solver
    assert grown is not without
    pattern.total(K, a[2:], b[2:], blocks[2:])
    assert pattern.solver is grown
    none = np.zeros(0, dtype=np.int64)
    np.testing.assert_array_equal(pattern.total(K, none, none, np.zeros((0, 3, 3))), K.data)
    assert pattern.solver is not grown


def test_clamps_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="do not fit"):
        clamps(tube_mesh(Tube(around=6, rows=3)), 0.05)
