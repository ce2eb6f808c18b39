"""A table of small classic problems (More, Garbow, Hillstrom 1981), free and bounded, against known optima and scipy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import least_squares

from bunraku.errors import BadInput
from bunraku.optimization.derivative_check import check_jacobian
from bunraku.optimization.least_squares import LeastSquares, projected_gradient_norm
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Problem:
    """Residual, Jacobian, start, known optimum (x, |r|^2), bounds."""

    name: str
    residual: Any
    jacobian: Any
    start: Any
    best: Any
    squares: float
    lower: Any = -np.inf
    upper: Any = np.inf
    accuracy: float = 1e-6


def helical(x):
    theta = np.arctan2(x[1], x[0]) / (2 * np.pi)
    return np.array([10 * (x[2] - 10 * theta), 10 * (np.hypot(x[0], x[1]) - 1), x[2]])


def helical_jacobian(x):
    s, r = x[0] ** 2 + x[1] ** 2, np.hypot(x[0], x[1])
    c = 100 / (2 * np.pi * s)
    return np.array([[c * x[1], -c * x[0], 10], [10 * x[0] / r, 10 * x[1] / r, 0], [0, 0, 1]])


Y = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
U = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])


def kowalik(x):
    return Y - x[0] * (U**2 + U * x[1]) / (U**2 + U * x[2] + x[3])


def kowalik_jacobian(x):
    top, low = U**2 + U * x[1], U**2 + U * x[2] + x[3]
    return np.column_stack([-top / low, -x[0] * U / low, x[0] * top * U / low**2, x[0] * top / low**2])


def rosenbrock(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def rosenbrock_jacobian(x):
    return np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])


def powell(x):
    return np.array([x[0] + 10 * x[1], 5**0.5 * (x[2] - x[3]), (x[1] - 2 * x[2]) ** 2, 10**0.5 * (x[0] - x[3]) ** 2])


def powell_jacobian(x):
    a, b = x[1] - 2 * x[2], 10**0.5 * (x[0] - x[3])
    return np.array([[1, 10, 0, 0], [0, 0, 5**0.5, -(5**0.5)], [0, 2 * a, -4 * a, 0], [2 * b, 0, 0, -2 * b]])


def beale(x):
    return np.array([1.5, 2.25, 2.625]) - x[0] * (1 - x[1] ** np.arange(1, 4))


def beale_jacobian(x):
    i = np.arange(1, 4)
    return np.column_stack([-(1 - x[1] ** i), x[0] * i * x[1] ** (i - 1)])


def brown(x):
    return np.array([x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2])


def brown_jacobian(x):
    return np.array([[1.0, 0.0], [0.0, 1.0], [x[1], x[0]]])


def freudenstein(x):
    return np.array([-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]])


def freudenstein_jacobian(x):
    return np.array([[1, 10 * x[1] - 3 * x[1] ** 2 - 2], [1, 3 * x[1] ** 2 + 2 * x[1] - 14]])


KOWALIK = [0.192807, 0.191282, 0.123057, 0.136062]
PROBLEMS = [
    Problem("rosenbrock", rosenbrock, rosenbrock_jacobian, [-1.2, 1.0], [1.0, 1.0], 0.0),
    Problem("powell singular", powell, powell_jacobian, [3.0, -1.0, 0.0, 1.0], [0.0] * 4, 0.0, accuracy=1e-3),
    Problem("beale", beale, beale_jacobian, [1.0, 1.0], [3.0, 0.5], 0.0),
    Problem("helical valley", helical, helical_jacobian, [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.0),
    Problem("brown badly scaled", brown, brown_jacobian, [1.0, 1.0], [1e6, 2e-6], 0.0),
    Problem("kowalik osborne", kowalik, kowalik_jacobian, [0.25, 0.39, 0.415, 0.39], KOWALIK, 3.07505e-4, accuracy=5e-6),
    Problem("freudenstein roth", freudenstein, freudenstein_jacobian, [6.0, 6.0], [5.0, 4.0], 0.0),
    Problem("rosenbrock, wall", rosenbrock, rosenbrock_jacobian, [-1.2, 0.5], [0.5, 0.25], 0.25, upper=[0.5, 2.0]),
    Problem(
        "rosenbrock, corner", rosenbrock, rosenbrock_jacobian, [0.0, 2.0], [0.5, 2.0], 100 * 1.75**2 + 0.25, [0.0, 2.0], [0.5, 3.0]
    ),
    Problem("beale, wall", beale, beale_jacobian, [1.0, 1.0], None, np.nan, lower=[0.6, 0.5], upper=[2.0, 100.0]),
    Problem("powell, wall", powell, powell_jacobian, [3.0, -1.0, 0.0, 1.0], None, np.nan, [0.1, -20, -1, -1], [100, 20, 1, 50]),
    Problem("helical, wall", helical, helical_jacobian, [-1.0, 0.5, 0.5], None, np.nan, [-100, -100, -1], [0.8, 100, 1]),
    Problem("kowalik, wall", kowalik, kowalik_jacobian, [0.25, 0.39, 0.415, 0.39], None, np.nan, [0.0, 0.0, 0.15, 0.0], 0.42),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_the_jacobians_of_the_table_are_right(problem):
    assert check_jacobian(problem.residual, problem.jacobian, np.asarray(problem.start) + 0.1, scale=0.3).holds


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_known_optima_are_reached(problem, form):
    found = LeastSquares().solve(
        problem.residual, lambda x: form(problem.jacobian(x)), problem.start, lower=problem.lower, upper=problem.upper
    )
    assert found.status is Status.CONVERGED
    assert (np.asarray(problem.lower) <= found.x).all()
    assert (found.x <= np.asarray(problem.upper)).all()
    assert found.cost == pytest.approx(0.5 * np.sum(problem.residual(found.x) ** 2), rel=1e-14)
    if problem.best is not None:
        np.testing.assert_allclose(found.x, problem.best, rtol=problem.accuracy, atol=problem.accuracy)
        assert 2 * found.cost == pytest.approx(problem.squares, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_scipy_finds_nothing_better(problem):
    found = LeastSquares().solve(problem.residual, problem.jacobian, problem.start, lower=problem.lower, upper=problem.upper)
    n = len(problem.start)
    bounds = (np.broadcast_to(problem.lower, n) - 1e-12, np.broadcast_to(problem.upper, n) + 1e-12)
    start = np.clip(problem.start, bounds[0] + 1e-9, bounds[1] - 1e-9)
    reference = least_squares(
        problem.residual, start, problem.jacobian, bounds, "trf", xtol=1e-15, ftol=1e-15, gtol=1e-12, max_nfev=2000
    )
    assert found.cost <= reference.cost * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_the_gradient_reported_is_the_projected_gradient_there(problem):
    found = LeastSquares().solve(problem.residual, problem.jacobian, problem.start, lower=problem.lower, upper=problem.upper)
    J, r = problem.jacobian(found.x), problem.residual(found.x)
    lo, hi = np.broadcast_to(problem.lower, found.x.shape), np.broadcast_to(problem.upper, found.x.shape)
    assert found.gradient_norm == projected_gradient_norm(found.x, J.T @ r, lo, hi)
    assert found.gradient_norm <= 1e-10 * (1 + np.linalg.norm(r) * np.linalg.norm(J, axis=0).max())


def test_a_linear_problem_with_bounds_is_the_nonnegative_least_squares_solution():
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    for _ in range(20):
        A, b = rng.normal(size=(15, 8)), rng.normal(size=15)
        found = LeastSquares().solve(lambda x, A=A, b=b: A @ x - b, lambda x, A=A: A, np.ones(8), lower=0.0)
        np.testing.assert_allclose(found.x, nnls(A, b)[0], atol=1e-8)


@pytest.mark.parametrize("upper", [np.inf, 0.9])
def test_a_sparse_chain_with_a_large_residual_meets_its_tolerance(upper):
    n = 40

    def residual(x):
        return np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x])

    def jacobian(x):
        return sparse.vstack(
            [sparse.diags_array([-20 * x[:-1], np.full(n - 1, 10.0)], offsets=[0, 1], shape=(n - 1, n)), -sparse.eye_array(n)]
        )

    found = LeastSquares(max_iterations=500).solve(residual, jacobian, np.full(n, -0.5), upper=upper)
    assert found.status is Status.CONVERGED
    reference = least_squares(
        residual, np.full(n, -0.5), lambda x: jacobian(x).toarray(), (-np.inf, upper), xtol=1e-15, ftol=1e-15, gtol=1e-12
    )
    assert found.cost <= reference.cost * (1 + 1e-12) + 1e-12


def test_the_unit_of_a_variable_does_not_matter():
    scale = np.array([1e-4, 1e3, 1.0, 1e-2])
    plain = LeastSquares().solve(kowalik, kowalik_jacobian, PROBLEMS[5].start)
    other = LeastSquares().solve(
        lambda x: kowalik(scale * x), lambda x: kowalik_jacobian(scale * x) * scale, PROBLEMS[5].start / scale
    )
    np.testing.assert_allclose(scale * other.x, plain.x, rtol=1e-5)


def test_a_rank_deficient_problem_still_converges():
    found = LeastSquares().solve(lambda x: np.array([x[0] + x[1] - 2.0]), lambda x: np.array([[1.0, 1.0]]), np.zeros(2))
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-9)


def test_a_residual_that_is_not_finite_is_stepped_around():
    found = LeastSquares().solve(lambda x: np.log(x) - 1.0, lambda x: np.diag(1.0 / x), np.array([30.0]))
    assert found.status is Status.CONVERGED
    assert found.x[0] == pytest.approx(np.e, rel=1e-9)


class Stopper(Monitor):
    def __init__(self, after):
        self.after, self.costs = after, []

    def report(self, event):
        self.costs.append(event.figures["cost"])

    @property
    def cancelled(self):
        return len(self.costs) >= self.after


def test_cancellation_and_iteration_limit_return_the_best_so_far():
    watch = Stopper(5)
    found = LeastSquares().solve(rosenbrock, rosenbrock_jacobian, [-1.2, 1.0], monitor=watch)
    assert found.status is Status.CANCELLED
    assert watch.costs == sorted(watch.costs, reverse=True)
    assert found.cost == watch.costs[-1] < watch.costs[0]
    short = LeastSquares(max_iterations=4).solve(rosenbrock, rosenbrock_jacobian, [-1.2, 1.0])
    assert short.status is Status.MAX_ITERATIONS
    assert (short.iterations, short.cost) == (4, found.cost)


def test_a_wrong_jacobian_ends_in_a_stall_not_in_a_claim():
    found = LeastSquares().solve(rosenbrock, lambda x: -rosenbrock_jacobian(x), [-1.2, 1.0])
    assert found.status is Status.STALLED
    np.testing.assert_array_equal(found.x, [-1.2, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x0": [np.nan, 1.0]}, "finite vector"),
        ({"x0": [0.0, 0.0], "lower": [0, 2], "upper": 1.0}, r"variable 1 has bounds \[2.0, 1.0\]"),
        ({"x0": [0.0, 0.0], "lower": [0, 1, 2]}, "for 2 variables"),
        ({"x0": [0.0, 0.0], "jacobian": lambda x: np.zeros((3, 2))}, r"needs? \(2, 2\)"),
        ({"x0": [0.0, 0.0], "jacobian": lambda x: np.full((2, 2), np.nan)}, "not finite"),
        ({"x0": [0.0, 0.0], "residual": lambda x: np.full(2, np.inf)}, "not finite at the starting point"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(BadInput, match=message):
        LeastSquares().solve(**({"residual": rosenbrock, "jacobian": rosenbrock_jacobian} | arguments))
