"""Fixed-penalty methods: all reach the same minimum; Newton's exponent is two; a Hessian that is not definite is escaped from."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.solution import Status

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "_penalty_methods.py"
SPEC = importlib.util.spec_from_file_location("_penalty_methods", PATH)
penalty_methods = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = penalty_methods  # dataclasses look their module up
SPEC.loader.exec_module(penalty_methods)
METHODS, minimize_penalty = penalty_methods.METHODS, penalty_methods.minimize_penalty


def bent(make, T=6):
    """A cyclic problem with curved rows and a border unknown."""

    def objective(z):
        return np.concatenate([z[:T] - 0.5 * np.cos(2 * np.pi * np.arange(T) / T), 0.3 * (np.roll(z[:T], -1) - z[:T]), z[T:] - 1.0])

    def equations(z):
        return z[:T] * np.roll(z[:T], -1) + 0.3 * z[:T] - 0.2 * z[T]

    return make((T, 1, 1), True, objective, equations), np.full(T + 1, 0.2)


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_find_one_minimum(method, shifted_least_squares):
    problem, start = bent(shifted_least_squares)
    given = problem.hessian if method == "newton" else None
    found = minimize_penalty(problem, start, method=method, weight=5.0, hessian=given, max_iterations=500, tolerance=1e-13)
    assert found.status is Status.CONVERGED
    assert np.abs(problem.gradient(found.z, 5.0, problem.zero_shifts())).max() < 1e-4
    reference = minimize_penalty(problem, start, method="levenberg-marquardt", weight=5.0, tolerance=1e-15)
    assert found.energy == pytest.approx(reference.energy, rel=1e-9)
    assert found.energy == pytest.approx(problem.energy(found.z, 5.0, problem.zero_shifts()), rel=1e-12)
    assert np.all(np.diff(found.energies) <= 0.0)
    assert len(found.energies) == len(found.seconds)
    assert found.iterations_to(1.05 * reference.energy) <= len(found.energies)
    assert found.iterations_to(0.5 * reference.energy) is None


def test_newton_with_the_true_hessian_needs_the_fewest_steps(shifted_least_squares):
    """Near the minimum the error of Newton's method is squared; Gauss-Newton misses the curvature of rows that do not vanish."""
    problem, start = bent(shifted_least_squares)
    near = minimize_penalty(problem, start, method="levenberg-marquardt", weight=50.0, tolerance=1e-15).z + 0.02
    newton = minimize_penalty(problem, near, method="newton", weight=50.0, hessian=problem.hessian, tolerance=1e-14)
    gauss = minimize_penalty(problem, near, method="gauss-newton", weight=50.0, tolerance=1e-14)
    assert len(newton.energies) < len(gauss.energies)


def test_an_indefinite_hessian_is_damped_until_it_is_definite(shifted_least_squares):
    """Between the wells of (x^2 - 1)^2 the curvature is negative: more factorizations than steps, and still a well at the end."""
    problem = shifted_least_squares((5, 1, 0), False, lambda z: z**2 - 1.0)
    found = minimize_penalty(problem, np.full(5, 0.1), method="newton", weight=1.0, hessian=problem.hessian)
    assert found.status is Status.CONVERGED
    assert found.factorizations > len(found.energies)
    np.testing.assert_allclose(np.abs(found.z), 1.0, atol=1e-4)


def test_newton_asks_for_its_hessian(shifted_least_squares):
    problem, start = bent(shifted_least_squares)
    with pytest.raises(BadInput, match="hessian"):
        minimize_penalty(problem, start, method="newton")
    with pytest.raises(BadInput, match="known are"):
        minimize_penalty(problem, start, method="steepest")
