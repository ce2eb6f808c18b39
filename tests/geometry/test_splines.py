"""Splines: exactness, smoothness, measured orders of convergence; scipy as an independent program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline

from bunraku.errors import BadInput
from bunraku.geometry.splines import Spline, SplineBasis, interpolate, resample
from bunraku.optimization.derivative_check import check_jacobian

BASES = [
    SplineBasis.uniform(-1.0, 2.0, 9),
    SplineBasis.uniform(0.0, 1.0, 1),
    SplineBasis.on([0.0, 0.1, 0.5, 0.6, 2.0, 2.2]),
    SplineBasis(np.array([-3.0, -2.5, -1.0, 0.0, 0.4, 1.0, 1.1, 3.0, 3.5, 9.0])),
]


def nearest(basis, t, y):
    """The spline nearest to samples in the sense of least squares."""
    return Spline(basis, np.linalg.lstsq(basis.matrix(t).toarray(), y, rcond=None)[0])


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("derivative", [0, 1, 2, 3])
def test_the_basis_equals_scipys(basis, derivative):
    c = np.random.default_rng(0).normal(size=(basis.size, 2))
    first, last = basis.span
    t = np.concatenate([np.linspace(first, last, 97)[:-1] + 1e-7, [first, last]])
    t = np.minimum(t, last)
    expected = BSpline(basis.knots, c, 3)(t, nu=derivative)
    np.testing.assert_allclose(Spline(basis, c)(t, derivative), expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("basis", BASES)
def test_functions_sum_to_one_and_four_of_them_meet_anywhere(basis):
    t = np.linspace(*basis.span, 50)
    B = basis.matrix(t)
    np.testing.assert_allclose(B.sum(axis=1), 1.0, atol=1e-14)
    assert (B.toarray() >= -1e-15).all()
    assert (np.diff(B.indptr) <= 4).all()
    for derivative in (1, 2, 3):
        np.testing.assert_allclose(basis.matrix(t, derivative).sum(axis=1), 0.0, atol=1e-8)


@pytest.mark.parametrize("basis", BASES)
def test_cubics_are_represented_exactly_with_all_derivatives(basis):
    polynomial = np.polynomial.Polynomial([0.3, -1.0, 0.7, 0.25])
    first, last = basis.span
    t = np.linspace(first, last, 40)
    curve = nearest(basis, t, polynomial(t))
    for derivative in range(4):
        expected = polynomial.deriv(derivative)(t) if derivative else polynomial(t)
        np.testing.assert_allclose(curve(t, derivative), expected, rtol=1e-9, atol=1e-10 * 30**derivative)


def test_two_derivatives_are_continuous_across_knots_and_the_third_is_not():
    basis = SplineBasis.uniform(0.0, 1.0, 5)
    curve = Spline(basis, np.random.default_rng(1).normal(size=basis.size))
    knots = basis.knots[4:8]
    for derivative in (0, 1, 2):
        np.testing.assert_allclose(curve(knots - 1e-10, derivative), curve(knots + 1e-10, derivative), atol=1e-6)
    assert (np.abs(curve(knots - 1e-10, 3) - curve(knots + 1e-10, 3)) > 1.0).all()


def test_the_matrix_is_the_jacobian_of_the_samples():
    basis = SplineBasis.on([0.0, 0.3, 1.0])
    t = np.linspace(0.0, 1.0, 7)
    c = np.random.default_rng(2).normal(size=basis.size)
    report = check_jacobian(
        lambda c: Spline(basis, c)(t, 1) ** 2, lambda c: 2 * Spline(basis, c)(t, 1)[:, None] * basis.matrix(t, 1), c
    )
    assert report.holds, str(report)


def test_interpolation_equals_scipys():
    t = np.sort(np.random.default_rng(3).uniform(0.0, 3.0, 25))
    y = np.column_stack([np.sin(3.0 * t), t**2])
    curve, reference = interpolate(t, y), CubicSpline(t, y)
    fine = np.linspace(t[0], t[-1], 200)
    for derivative, tolerance in ((0, 1e-12), (1, 1e-10), (2, 1e-8)):
        size = np.abs(reference(fine, derivative)).max()
        np.testing.assert_allclose(curve(fine, derivative), reference(fine, derivative), atol=tolerance * size)
    np.testing.assert_allclose(curve(t), y, atol=1e-12)


def order(errors: list[float]) -> float:
    return float(np.log2(errors[-2] / errors[-1]))


@pytest.mark.parametrize("derivative", [0, 1, 2, 3])
def test_interpolation_converges_with_order_four_less_the_derivative(derivative):
    fine = np.linspace(0.0, 2.0, 1001)
    exact = np.real((1j * 2.0) ** derivative * np.exp(1j * (2.0 * fine + 0.4)))
    errors = []
    for n in (40, 80, 160):
        t = np.linspace(0.0, 2.0, n + 1)
        errors.append(np.abs(interpolate(t, np.cos(2.0 * t + 0.4))(fine, derivative) - exact).max())
    assert order(errors) == pytest.approx(4 - derivative, abs=0.2)


@pytest.mark.parametrize("make", [SplineBasis.uniform, lambda a, b, n: SplineBasis.on(np.linspace(a, b, n + 1))])
def test_least_squares_fits_converge_with_order_four(make):
    t = np.linspace(0.0, 2.0, 1500)
    errors = [np.abs(nearest(make(0.0, 2.0, n), t, np.sin(3.0 * t))(t) - np.sin(3.0 * t)).max() for n in (10, 20, 40)]
    assert order(errors) == pytest.approx(4.0, abs=0.2)


def test_few_samples_give_constants_lines_and_parabolas():
    np.testing.assert_allclose(interpolate([2.0], [5.0])([2.0, 2.5]), 5.0)
    np.testing.assert_allclose(interpolate([0.0, 2.0], [1.0, 5.0])([0.5, 1.0]), [2.0, 3.0])
    np.testing.assert_allclose(interpolate([0.0, 1.0, 3.0], [0.0, 1.0, 9.0])([0.5, 2.0]), [0.25, 4.0])


@pytest.mark.parametrize(("rate", "new_rate"), [(25.0, 100.0), (120.0, 100.0), (30.0, 25.0), (100.0, 25.0), (29.97, 50.0)])
def test_resampling_is_exact_for_cubics_and_keeps_the_duration(rate, new_rate):
    old, polynomial = np.arange(61) / rate, np.polynomial.Polynomial([0.1, 1.0, -2.0, 0.4])
    found = resample(np.column_stack([polynomial(old), old]), rate, new_rate)
    new = np.arange(len(found)) / new_rate
    assert -1e-9 <= 60 / rate - new[-1] < 1.0 / new_rate - 1e-9
    np.testing.assert_allclose(found, np.column_stack([polynomial(new), new]), atol=1e-13 * 20)


def test_resampling_there_and_back_returns_the_samples_and_linear_keeps_the_speed():
    y = np.random.default_rng(5).normal(size=(40, 3))
    np.testing.assert_allclose(resample(resample(y, 25.0, 100.0)[::4], 25.0, 25.0), y, atol=1e-12)
    line = resample(y, 25.0, 110.0, kind="linear")
    assert np.abs(np.diff(line, axis=0)).max() * 110.0 <= np.abs(np.diff(y, axis=0)).max() * 25.0 * (1 + 1e-12)
    np.testing.assert_allclose(line[:, 0], np.interp(np.arange(len(line)) / 110.0, np.arange(40) / 25.0, y[:, 0]), atol=1e-13)


def test_resampling_converges_with_order_four():
    errors = []
    for rate in (20.0, 40.0, 80.0):
        found = resample(np.sin(2.0 * np.arange(int(3 * rate) + 1) / rate), rate, 7.0 * rate)
        errors.append(np.abs(found - np.sin(2.0 * np.arange(len(found)) / (7.0 * rate))).max())
    assert order(errors) == pytest.approx(4.0, abs=0.2)


def test_bad_input_is_refused_with_what_to_do():
    basis = SplineBasis.uniform(0.0, 1.0, 4)
    with pytest.raises(BadInput, match=r"on \[0, 1\] s"):
        basis.matrix([1.2])
    with pytest.raises(BadInput, match="each interior one once"):
        SplineBasis.on([0.0, 1.0, 1.0, 2.0])
    with pytest.raises(BadInput, match="must rise"):
        interpolate([0.0, 2.0, 1.0], np.zeros(3))
    with pytest.raises(BadInput, match="not finite"):
        interpolate([0.0, 1.0], [np.nan, 1.0])
    with pytest.raises(BadInput, match="0, 1, 2 and 3 exist"):
        basis.matrix([0.5], 4)
