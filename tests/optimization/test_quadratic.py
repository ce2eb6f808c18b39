"""Quadratic programs: Clarabel as an independent program, optimality conditions recomputed, infeasible and degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bunraku.errors import BadInput
from bunraku.optimization.quadratic import QuadraticProgram, QuadraticSolution, solve_quadratic
from bunraku.optimization.solution import Status


def clarabel_objective(p: QuadraticProgram) -> tuple[str, float]:
    clarabel = pytest.importorskip("clarabel")
    n = p.q.size
    rows = np.vstack([sparse.csr_array(p.A).toarray(), np.eye(n)])
    lower, upper = np.concatenate([p.lower, p.x_lower]), np.concatenate([p.upper, p.x_upper])
    above, below = np.isfinite(upper), np.isfinite(lower)
    G = np.vstack([rows[above], -rows[below]])
    h = np.concatenate([upper[above], -lower[below]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P = sparse.triu(sparse.csc_matrix(p.P)).tocsc()
    solver = clarabel.DefaultSolver(P, p.q, sparse.csc_matrix(G), h, [clarabel.NonnegativeConeT(len(h))], settings)
    found = solver.solve()
    return str(found.status), found.obj_val


def random_problem(rng, n: int, m: int, *, equalities: int = 0, rank: int | None = None) -> QuadraticProgram:
    """Feasible by construction, limits active with probability."""
    L = rng.normal(size=(n, rank or n))
    P = L @ L.T + (0.0 if rank else 1e-3) * np.eye(n)
    A, inside = rng.normal(size=(m, n)), rng.normal(size=n)
    lower, upper = A @ inside - rng.uniform(0, 0.5, m), A @ inside + rng.uniform(0, 0.5, m)
    lower[rng.uniform(size=m) < 0.2] = -np.inf
    lower[:equalities] = upper[:equalities] = (A @ inside)[:equalities]
    return QuadraticProgram(
        P, 5.0 * rng.normal(size=n), A, lower, upper, inside - rng.uniform(0, 1, n), inside + rng.uniform(0, 1, n)
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_problems_equal_clarabel_and_satisfy_the_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 16)), int(rng.integers(0, 20))
    problem = random_problem(rng, n, m, equalities=min(n - 1, m) // 3 if seed % 2 else 0)
    found = solve_quadratic(problem)
    assert found.status is Status.CONVERGED
    assert found.is_optimal(1e-9)
    assert found.primal_residual <= 1e-12
    status, reference = clarabel_objective(problem)
    assert "Solved" in status
    assert found.objective == pytest.approx(reference, rel=1e-7, abs=1e-7)
    assert found.objective <= reference + 1e-7 * (1 + abs(reference))


@pytest.mark.parametrize("seed", range(20))
def test_singular_objectives_in_a_box_are_solved(seed):
    rng = np.random.default_rng(100 + seed)
    problem = random_problem(rng, 8, 5, rank=3)
    found = solve_quadratic(problem)
    assert found.is_optimal(1e-7)
    assert found.objective == pytest.approx(clarabel_objective(problem)[1], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_badly_scaled_problems_with_repeated_rows_and_equalities_are_solved(seed):
    rng = np.random.default_rng(300 + seed)
    n, m = int(rng.integers(3, 25)), int(rng.integers(3, 30))
    U = np.linalg.qr(rng.normal(size=(n, n)))[0]
    P = (U * 10.0 ** rng.uniform(-6, 2, n)) @ U.T
    A = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-2, 2, (m, 1))
    A[1], A[2] = A[0], 2.0 * A[0]
    inside = rng.normal(size=n)
    below, above = (rng.uniform(0, 0.5, m) * (rng.uniform(size=m) < 0.7) for _ in range(2))
    x_lower, x_upper = inside - rng.uniform(0, 1, n), inside + rng.uniform(0, 1, n)
    problem = QuadraticProgram((P + P.T) / 2, 3.0 * rng.normal(size=n), A, A @ inside - below, A @ inside + above, x_lower, x_upper)
    found = solve_quadratic(problem, solver="daqp")
    assert found.status is Status.CONVERGED
    assert found.primal_residual <= 1e-9
    assert found.is_optimal(1e-8)


def test_without_limits_it_is_a_linear_system():
    rng = np.random.default_rng(1)
    L = rng.normal(size=(6, 6))
    P, q = L @ L.T + np.eye(6), rng.normal(size=6)
    found = solve_quadratic(QuadraticProgram(P, q))
    np.testing.assert_allclose(found.x, np.linalg.solve(P, -q), atol=1e-12)
    np.testing.assert_array_equal(found.multipliers, np.zeros(6))


def test_projection_onto_a_box_and_the_signs_of_multipliers():
    found = solve_quadratic(QuadraticProgram(np.eye(3), [-2.0, 0.1, 3.0], x_lower=-1.0, x_upper=1.0))
    np.testing.assert_allclose(found.x, [1.0, -0.1, -1.0], atol=1e-14)
    np.testing.assert_allclose(found.bound_multipliers, [1.0, 0.0, -2.0], atol=1e-14)
    assert found.objective == pytest.approx(0.5 * 2.01 - 2.0 - 0.01 - 3.0)


def test_a_hand_solved_problem_with_an_equality():
    found = solve_quadratic(QuadraticProgram(np.diag([2.0, 2.0]), np.zeros(2), [[1.0, 1.0]], 1.0, 1.0))
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=1e-14)
    np.testing.assert_allclose(found.row_multipliers, [-1.0], atol=1e-14)


def test_infeasible_problems_are_recognised_and_the_least_violating_point_returned():
    rows = [[1.0, 1.0], [1.0, -1.0]]
    problem = QuadraticProgram(np.eye(2), np.zeros(2), rows, [-0.5, -np.inf], [0.5, np.inf], 0.9, 1.0)
    found = solve_quadratic(problem)
    assert found.status is Status.INFEASIBLE
    assert not found.is_optimal()
    assert found.primal_residual == pytest.approx(1.3 / 3.0, abs=1e-9)
    crossed = solve_quadratic(QuadraticProgram(np.eye(1), [0.0], x_lower=[1.0], x_upper=[0.0]))
    assert crossed.status is Status.INFEASIBLE
    np.testing.assert_allclose(crossed.x, [0.5], atol=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_random_infeasible_problems(seed):
    rng = np.random.default_rng(200 + seed)
    p = random_problem(rng, 5, 8)
    a = rng.normal(size=5)
    contradictory = QuadraticProgram(p.P, p.q, np.vstack([p.A, a, a]), [*p.lower, 1.0, -np.inf], [*p.upper, np.inf, 0.99])
    found = solve_quadratic(contradictory)
    assert found.status is Status.INFEASIBLE
    assert found.primal_residual >= 0.005 - 1e-9


def test_degenerate_and_redundant_rows():
    rows, ends = [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]], [0.5, 0.5, 1.0]
    equal = solve_quadratic(QuadraticProgram(np.eye(2), [-2.0, 1.0], rows, ends, ends))
    np.testing.assert_allclose(equal.x, [1.75, -1.25], atol=1e-12)
    assert equal.is_optimal(1e-10)
    pinned = solve_quadratic(QuadraticProgram(np.eye(2), [-2.0, 1.0], rows, ends, ends, 0.25, 0.25))
    np.testing.assert_allclose(pinned.x, [0.25, 0.25], atol=1e-12)
    assert pinned.is_optimal(1e-10)
    vertex = solve_quadratic(QuadraticProgram(np.eye(2), [-9.0, -9.0], [[1, 1], [1, 0], [0, 1], [1, 2]], -np.inf, [2, 1, 1, 3]))
    np.testing.assert_allclose(vertex.x, [1.0, 1.0], atol=1e-12)
    assert vertex.is_optimal(1e-10)


def test_a_linear_program_has_a_zero_gap():
    found = solve_quadratic(QuadraticProgram(np.zeros((2, 2)), [-2.0, 1.0], [[1.0, 1.0]], -0.5, 0.5, -1.0, 1.0))
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.x, [1.0, -1.0], atol=1e-9)
    assert max(found.gap, found.dual_residual) < 1e-9


def test_an_unbounded_problem_is_not_called_solved():
    found = solve_quadratic(QuadraticProgram(np.zeros((2, 2)), [-2.0, 1.0], x_lower=0.0))
    assert not found.status.good
    assert not found.is_optimal(1e-4)


def test_sparse_matrices_and_the_interior_point_fallback_agree():
    pytest.importorskip("piqp")
    rng = np.random.default_rng(9)
    p = random_problem(rng, 12, 10, equalities=2)
    sparse_problem = QuadraticProgram(sparse.csr_array(p.P), p.q, sparse.csr_array(p.A), p.lower, p.upper, p.x_lower, p.x_upper)
    first, second = solve_quadratic(sparse_problem, solver="daqp"), solve_quadratic(sparse_problem, solver="piqp")
    assert second.solver == "piqp"
    assert first.is_optimal()
    assert second.is_optimal()
    np.testing.assert_allclose(first.x, second.x, atol=1e-7)


def test_a_long_chain_goes_to_the_interior_point_solver_when_it_is_there():
    n = 400
    D = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))
    r = np.sign(np.sin(np.linspace(0, 20, n)))
    problem = QuadraticProgram(sparse.eye_array(n), -r, D, -0.05, 0.05, -0.9, 0.9)
    found = solve_quadratic(problem)
    assert found.is_optimal()
    assert np.abs(np.diff(found.x)).max() <= 0.05 + 1e-8
    assert found.objective == pytest.approx(clarabel_objective(problem)[1], rel=1e-7)


def test_judging_is_not_fooled_by_a_wrong_claim():
    problem = QuadraticProgram(np.eye(2), [-2.0, 0.0], x_upper=1.0)
    right = solve_quadratic(problem)
    assert right.is_optimal(1e-12)
    moved = QuadraticSolution(
        problem, right.x + np.array([0.0, 1e-3]), right.row_multipliers, right.bound_multipliers, Status.CONVERGED, "x"
    )
    assert not moved.is_optimal(1e-4)
    outside = QuadraticSolution(problem, np.array([2.0, 0.0]), np.zeros(0), np.zeros(2), Status.CONVERGED, "x")
    assert not outside.is_optimal(1e-4)
    wrong_side = QuadraticSolution(problem, np.array([0.0, 0.0]), np.zeros(0), np.array([2.0, 0.0]), Status.CONVERGED, "x")
    assert wrong_side.gap == pytest.approx(2.0)
    pulls = QuadraticSolution(problem, np.array([3.0, 0.0]), np.zeros(0), np.array([-1.0, 0.0]), Status.CONVERGED, "x")
    assert pulls.dual_residual == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"P": np.eye(3)}, "do not fit"),
        ({"P": [[1.0, 0.5], [0.0, 1.0]]}, "not symmetric"),
        ({"A": np.ones((1, 3))}, "do not fit"),
        ({"A": np.ones((1, 2)), "lower": [0.0, 0.0]}, "lower has shape"),
        ({"q": [np.nan, 0.0]}, "q holds numbers that are not finite"),
        ({"x_lower": [np.inf, 0.0]}, "x_lower holds inf at 0"),
        ({"x_upper": np.nan}, "x_upper holds nan at 0"),
    ],
)
def test_bad_problems_are_refused(fields, message):
    with pytest.raises(BadInput, match=message):
        QuadraticProgram(**({"P": np.eye(2), "q": np.zeros(2)} | fields))


def test_nonconvex_problems_and_unknown_solvers_are_refused():
    with pytest.raises(BadInput, match="not positive semidefinite"):
        solve_quadratic(QuadraticProgram(np.diag([1.0, -1.0]), np.zeros(2), x_lower=-1.0, x_upper=1.0))
    with pytest.raises(BadInput, match="no QP solver 'magic'; choose auto, daqp, piqp"):
        solve_quadratic(QuadraticProgram(np.eye(1), [1.0]), solver="magic")


def test_the_problem_is_a_frozen_value():
    problem = QuadraticProgram(np.eye(2), np.zeros(2))
    with pytest.raises(ValueError, match="read-only"):
        problem.q[0] = 1.0
