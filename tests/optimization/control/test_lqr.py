"""Linear-quadratic control against scipy's Riccati equation and against the whole problem written as one linear system."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from bunraku.errors import BadInput
from bunraku.optimization.control.lqr import infinite_horizon_lqr, linear_quadratic_step, stage_weights, time_varying_lqr


def problem(seed, N=12, n=4, m=2):
    rng = np.random.default_rng(seed)
    A, B = np.eye(n) + 0.4 * rng.normal(size=(N, n, n)), rng.normal(size=(N, n, m))
    F = rng.normal(size=(N, n + m, n + m))
    H = F @ F.transpose(0, 2, 1) + 0.1 * np.eye(n + m)
    E = rng.normal(size=(n, n))
    return A, B, np.ascontiguousarray(H), rng.normal(size=(N, n + m)), E @ E.T, rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
def test_the_step_is_the_minimiser_of_the_whole_problem(seed):
    """The same problem condensed onto v and solved as one dense system."""
    A, B, H, w, Pf, bf = problem(seed)
    N, n, m = B.shape
    step = linear_quadratic_step(A, B, H, w, Pf, bf)
    Z = np.zeros((N + 1, n, N * m))
    for k in range(N):
        Z[k + 1] = A[k] @ Z[k]
        Z[k + 1][:, k * m : (k + 1) * m] += B[k]
    hessian, gradient = Z[N].T @ Pf @ Z[N], Z[N].T @ bf
    for k in range(N):
        V = np.zeros((m, N * m))
        V[:, k * m : (k + 1) * m] = np.eye(m)
        Y = np.vstack([Z[k], V])
        hessian, gradient = hessian + Y.T @ H[k] @ Y, gradient + Y.T @ w[k]
    v = -np.linalg.solve(hessian, gradient)
    np.testing.assert_allclose(step.v.ravel(), v, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(step.z[N], Z[N] @ v, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(step.slope, gradient @ v, rtol=1e-9)


def test_an_indefinite_problem_without_minimum_is_told():
    A, B, H, w, Pf, bf = problem(0)
    H[5, -1, -1] = -1e4
    assert linear_quadratic_step(A, B, H, w, Pf, bf) is None


@pytest.mark.parametrize("cross", [False, True])
def test_the_stationary_gain_solves_the_riccati_equation_of_scipy(cross):
    rng = np.random.default_rng(5)
    for n, m in ((2, 1), (6, 2), (20, 5)):
        A, B = 1.2 * rng.normal(size=(n, n)) / np.sqrt(n), rng.normal(size=(n, m))
        F = rng.normal(size=(n + m, n + m))
        H = F @ F.T / n + 0.5 * np.eye(n + m)
        Q, R = H[:n, :n], H[n:, n:]
        S = H[:n, n:] if cross else np.zeros((n, m))
        K, P = infinite_horizon_lqr(A, B, Q, R, S=S)
        np.testing.assert_allclose(P, solve_discrete_are(A, B, Q, R, s=S), rtol=1e-9, atol=1e-9 * np.abs(P).max())
        np.testing.assert_allclose(K, np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + S.T), rtol=1e-9, atol=1e-9)
        assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1.0


def test_a_long_horizon_forgets_its_end():
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]])
    K, P = infinite_horizon_lqr(A, B, np.eye(2), np.eye(1))
    gains = time_varying_lqr(np.tile(A, (400, 1, 1)), np.tile(B, (400, 1, 1)), np.eye(2), np.eye(1))
    np.testing.assert_allclose(gains.K[0], K, rtol=1e-10)
    np.testing.assert_allclose(gains.P[0], P, rtol=1e-10)


def test_cost_to_go_is_what_the_closed_loop_pays():
    A, B, H, _, Pf, _ = problem(7)
    n = A.shape[1]
    gains = time_varying_lqr(A, B, H[:, :n, :n], H[:, n:, n:], S=H[:, :n, n:], terminal=Pf)
    x0 = x = np.array([1.0, -2.0, 0.3, 0.7])
    paid = 0.0
    for k in range(len(A)):
        y = np.concatenate([x, -gains.K[k] @ x])
        paid += 0.5 * y @ H[k] @ y
        x = A[k] @ x + B[k] @ y[n:]
    np.testing.assert_allclose(paid + 0.5 * x @ Pf @ x, 0.5 * x0 @ gains.P[0] @ x0, rtol=1e-11)


def test_bad_input_is_refused():
    with pytest.raises(BadInput, match="no stabilising"):
        infinite_horizon_lqr(np.diag([2.0, 0.5]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))
    with pytest.raises(BadInput, match="positive"):
        time_varying_lqr(np.ones((3, 1, 1)), np.ones((3, 1, 1)), np.eye(1), -5.0 * np.eye(1))
    with pytest.raises(BadInput, match="needed"):
        time_varying_lqr(np.ones((3, 2, 1)), np.ones((3, 1, 1)), np.eye(1), np.eye(1))
    with pytest.raises(BadInput, match="do not fit"):
        stage_weights(np.eye(2), np.eye(1), np.ones((3, 3)), steps=4)
