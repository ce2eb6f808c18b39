"""Second derivatives and Jacobians by coloured differences against plain ones, column by column."""

import numpy as np
import pytest

from bunraku.building.robot_design import built_in_design
from bunraku.design.curvature import SOFT, _groups, active_rows, lagrangian_gradient, row_jacobian, row_values, second_order
from bunraku.design.study import gait_study
from bunraku.formats.registry import read_clip
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian


def to_dense(H, B, C, *, cyclic):
    """The whole symmetric matrix of blocks of which the lower triangle counts."""
    T, nv, nd = len(H), H.shape[-1], len(C)
    A = np.zeros((T * nv + nd, T * nv + nd))
    for i in range(T):
        for d in range(3):
            if i + d < T or cyclic:
                j = (i + d) % T
                A[j * nv : (j + 1) * nv, i * nv : (i + 1) * nv] += np.tril(H[i, 0]) if d == 0 else H[i, d]
        A[T * nv :, i * nv : (i + 1) * nv] = B[i]
    A[T * nv :, T * nv :] = np.tril(C)
    return A + A.T - np.diag(np.diag(A))


CASES = {
    "cycle": ("swizzlebot", Gait(1.2, distance=(0.5, 0.0), turn=0.3), 7),
    "once": ("agilebot", Gait(1.2, periodic=False, distance=(0.3, 0.0), turn=0.2), 8),
    "mirrored": ("walker", Gait(0.6, "trot", distance=(0.1, 0.0), turn=0.0, symmetric=True), 12),
}


@pytest.fixture(scope="module", params=CASES)
def roughly(request):
    """A problem, a point and the rows of a solve that has hardly begun, so that nothing vanishes by chance."""
    robot, gait, samples = CASES[request.param]
    problem = gait_study(built_in_design(robot), gait, samples=samples).problem(built_in_design(robot).initial)
    solution = AugmentedLagrangian(max_iterations=3).solve(problem, problem.still())
    z = solution.z + 0.02 * np.random.default_rng(1).standard_normal(problem.size)
    return problem, z, active_rows(problem, solution)


@pytest.mark.parametrize("apart", [3, 5])
def test_groups_hold_every_sample_once_and_keep_their_distance(apart):
    for T in range(apart, 80):
        groups = _groups(T, apart)
        assert sorted(np.concatenate(groups)) == list(range(T))
        for group in groups:
            gaps = np.diff([*group, group[0] + T])
            assert gaps.min() >= min(apart, T)
        assert len(groups) < 2 * apart


def test_the_hessian_of_the_lagrangian_is_that_of_plain_differences(roughly):
    problem, z, rows = roughly
    soft = rows.shifts(rows.scale, SOFT)
    H2 = to_dense(*second_order(problem, z, rows), cyclic=problem.cyclic)
    _, H, B, C, _, _ = problem.assemble(z, SOFT, soft)
    whole = to_dense(H.copy(), B.copy(), C.copy(), cyclic=problem.cyclic) + H2
    rng = np.random.default_rng(2)
    for k in [*rng.choice(problem.size, 12, replace=False), problem.size - 1]:
        e = np.zeros(problem.size)
        e[k] = 1e-5
        column = (lagrangian_gradient(problem, z + e, rows) - lagrangian_gradient(problem, z - e, rows)) / 2e-5
        assert whole[:, k] == pytest.approx(column, abs=2e-6 * max(1.0, np.abs(column).max()))
    assert np.abs(H2).max() > 1e-2  # the part that Gauss-Newton leaves out is not small


def test_the_jacobian_of_active_rows_is_the_one_in_the_kernels_blocks(roughly):
    problem, z, rows = roughly
    A = row_jacobian(problem, z, rows).toarray()
    flags = np.where(rows.active, 1.0, -1e9)
    dense = []
    for weight in (0.0, 3.0):
        _, H, B, C, _, _ = problem.assemble(z, weight, np.where(rows.unequal, flags, 0.0))
        dense.append(to_dense(H.copy(), B.copy(), C.copy(), cyclic=problem.cyclic))
    expected = 2.0 * 3.0 * A.T @ (rows.scale[:, None] ** 2 * A)
    assert dense[1] - dense[0] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
    d = np.random.default_rng(3).standard_normal(problem.size)
    along = (row_values(problem, z + 1e-6 * d) - row_values(problem, z - 1e-6 * d)) / 2e-6
    assert (A @ d)[rows.active] == pytest.approx(along[rows.active], abs=1e-4 * np.abs(along).max())


def test_a_converged_motion_has_no_gradient_of_its_lagrangian(derived):
    s = derived("crawl")
    gradient = lagrangian_gradient(s.variant.problem, s.variant.motion, s.rows)
    assert np.abs(gradient).max() < 1e-9
    assert np.abs(row_values(s.variant.problem, s.variant.motion)[~s.rows.unequal]).max() < 1e-10
    assert s.rows.multipliers[s.rows.unequal].min() >= 0.0
    assert read_clip("crawl").gait is not None
