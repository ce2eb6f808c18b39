"""The derivative checker: right derivatives pass, wrong ones fail, down to the mistakes that rounding hides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from bunraku.errors import BadInput
from bunraku.optimization.derivative_check import check_gradient, check_hessian, check_jacobian, check_product

W = np.random.default_rng(0).normal(size=(6, 4))
X = np.array([0.3, -1.2, 0.8, 2.0])


def function(x):
    return np.sin(W @ x) + (W @ x) ** 2


def jacobian(x):
    return (np.cos(W @ x) + 2.0 * (W @ x))[:, None] * W


def scalar(x):
    return float(np.sum(np.exp(0.3 * W @ x)))


def gradient(x):
    return W.T @ (0.3 * np.exp(0.3 * W @ x))


def hessian(x):
    return (W.T * (0.09 * np.exp(0.3 * W @ x))) @ W


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, aslinearoperator])
def test_a_right_jacobian_shows_slope_two_in_every_form(form):
    report = check_jacobian(function, lambda x: form(jacobian(x)), X)
    assert report.holds
    assert report.order == pytest.approx(2.0, abs=0.1)
    assert report.table.shape == (3, 13, 2)
    assert "is right" in str(report)


@pytest.mark.parametrize("mistake", [1.0, 1e-2, 1e-4])
def test_one_wrong_entry_of_the_jacobian_shows_slope_one(mistake):
    def wrong(x):
        J = jacobian(x)
        J[2, 1] += mistake
        return J

    report = check_jacobian(function, wrong, X)
    assert not report.holds
    assert report.order == pytest.approx(1.0, abs=0.2)
    assert "WRONG" in str(report)


def test_products_without_a_matrix():
    assert check_product(function, lambda x, d: jacobian(x) @ d, X).holds
    assert not check_product(function, lambda x, d: jacobian(x) @ d[::-1], X).holds


def test_gradients_and_hessians():
    assert check_gradient(scalar, gradient, X).order == pytest.approx(2.0, abs=0.1)
    assert not check_gradient(scalar, lambda x: gradient(x) * (1 + 1e-5), X).holds
    assert check_hessian(scalar, gradient, hessian, X).order == pytest.approx(3.0, abs=0.15)
    report = check_hessian(scalar, gradient, lambda x: hessian(x) * 1.001, X)
    assert not report.holds
    assert report.order == pytest.approx(2.0, abs=0.2)


def test_linear_functions_pass_with_infinite_order_and_fail_when_wrong():
    assert check_jacobian(lambda x: W @ x + 3.0, lambda x: W, X).order == np.inf
    assert check_jacobian(lambda x: W @ x + 3.0, lambda x: W, X).holds
    report = check_jacobian(lambda x: W @ x, lambda x: W + 1e-6, X)
    assert report.order == pytest.approx(1.0, abs=0.05)


def test_a_vanishing_second_derivative_is_no_mistake():
    report = check_jacobian(lambda x: x**3, lambda x: np.diag(3 * x**2), np.zeros(3))
    assert report.order == pytest.approx(3.0, abs=0.1)
    assert report.holds


def test_a_function_with_a_kink_at_the_point_fails():
    assert not check_gradient(lambda x: float(np.abs(x).sum()), lambda x: np.sign(x), np.zeros(3)).holds


def test_shapes_are_checked():
    with pytest.raises(BadInput, match="has 5 numbers, the function 6"):
        check_jacobian(function, lambda x: jacobian(x)[:5], X)
    with pytest.raises(BadInput, match="finite vector"):
        check_jacobian(function, jacobian, np.full(4, np.nan))
