import numpy as np
import pytest

from bunraku.mechanics.identification.intervals import Estimate, find_uncertainty


def line(seed, n=40, rho=0.0):
    """Residuals and derivatives of a straight line fitted to noise, and the error of its slope."""
    rng = np.random.default_rng(seed)
    J = np.column_stack([np.linspace(-1.0, 1.0, n), np.ones(n)])
    e = rng.normal(size=n)
    for i in range(1, n):
        e[i] = rho * e[i - 1] + np.sqrt(1 - rho**2) * e[i]
    p = np.linalg.lstsq(J, e, rcond=None)[0]
    return (e - J @ p)[:, None], J, p[0]


def test_noise_and_covariance_are_those_of_linear_regression():
    r, J, _ = line(0)
    found = find_uncertainty(r, J, 2, 0.95)
    s2 = float((r**2).sum()) / 38
    assert found.noise == pytest.approx(np.sqrt(s2))
    np.testing.assert_allclose(found.covariance, s2 * np.linalg.inv(J.T @ J), rtol=1e-10, atol=1e-15)
    assert found.quantile == pytest.approx(2.0244, abs=1e-4)


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_intervals_cover_as_often_as_they_say(rho):
    held = 0
    for seed in range(400):
        r, J, error = line(seed, n=120, rho=rho)
        held += abs(error) <= find_uncertainty(r, J, 2, 0.95).half_width(0)
    assert 0.90 <= held / 400 <= 0.985


def test_what_the_residuals_do_not_see_has_no_bound():
    r, J, _ = line(1)
    J[:, 1] = 0.0
    found = find_uncertainty(r, J, 2, 0.95)
    assert found.half_width(1) == np.inf
    assert found.half_width(0) < 1.0


def test_an_estimate_knows_what_it_covers():
    estimate = Estimate(1.0, 0.5, 2.0)
    assert estimate.half_width == 0.75
    assert estimate.covers(0.5)
    assert not estimate.covers(2.1)
