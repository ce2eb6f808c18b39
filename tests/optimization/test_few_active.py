"""Quadratic programs of which few rows bind, against an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bunraku.optimization.few_active import minimise_few_active, nonnegative_quadratic
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.optimization.solution import Status


@pytest.mark.parametrize(("n", "push"), [(12, 5.0), (40, 50.0), (90, 20.0)])
def test_same_minimum_as_an_active_set_solver(n, push):
    rng = np.random.default_rng(n)
    J = rng.normal(size=(2 * n, n))
    H, g = J.T @ J + 1e-3 * np.eye(n), push * rng.normal(size=n)
    D = sparse.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))
    A = sparse.csr_array(sparse.vstack([sparse.eye_array(n), D]))
    lower, upper = np.full(2 * n - 1, -0.1), np.full(2 * n - 1, 0.05)
    found = minimise_few_active(np.linalg.cholesky(H), g, A, lower, upper)
    other = solve_quadratic(QuadraticProgram(H, g, A, lower, upper), solver="daqp")
    assert found.status.good
    assert other.status.good
    assert np.abs(found.x - other.x).max() < 1e-7
    assert np.abs(H @ found.x + g + A.T @ found.y).max() < 1e-7 * np.abs(g).max()
    assert (found.y != 0.0).any()


def test_no_row_binds():
    H, g = np.diag([2.0, 4.0]), np.array([-2.0, 4.0])
    found = minimise_few_active(np.linalg.cholesky(H), g, sparse.csr_array(np.eye(2)), np.full(2, -9.0), np.full(2, 9.0))
    assert found.x == pytest.approx([1.0, -1.0])
    assert not found.y.any()


def test_rows_that_contradict_each_other_are_infeasible_unless_soft():
    A = sparse.csr_array(np.array([[1.0, 0.0], [1.0, 0.0]]))
    lower, upper = np.array([1.0, -np.inf]), np.array([np.inf, 0.0])
    hard = minimise_few_active(np.eye(2), np.zeros(2), A, lower, upper)
    assert hard.status is Status.INFEASIBLE
    soft = minimise_few_active(np.eye(2), np.zeros(2), A, lower, upper, soft=np.full(2, 1e-3))
    assert soft.x == pytest.approx([1.0 / (2.0 + 1e-3), 0.0], abs=1e-9)


def test_nonnegative_quadratic_meets_its_optimality_conditions():
    rng = np.random.default_rng(3)
    R = rng.normal(size=(15, 30))
    G, d = R.T @ R, R.T @ rng.normal(size=15)
    y, good = nonnegative_quadratic(G, d)
    slope = G @ y - d
    assert good
    assert y.min() >= 0.0
    assert (y > 0.0).any()
    assert slope.min() > -1e-7
    assert np.abs(y * slope).max() < 1e-7
