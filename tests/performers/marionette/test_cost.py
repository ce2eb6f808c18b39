"""The cost of points off their wish: closed form, slopes, and Gauss-Newton where it must be exact."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.systems.marionette import hang
from bunraku.optimization.derivative_check import check_gradient, check_hessian
from bunraku.performers.marionette.cost import PointCost

FRAMES = ("l_hand", "r_knee", "head")
WEIGHTS = np.array([100.0, 30.0, 7.0])
N, EXTRA, INPUTS = 3, 5, 2


class Case:
    """States with ``EXTRA`` numbers after the coordinates, about the hanging marionette, and a wish some centimetres away."""

    def __init__(self) -> None:
        resting = hang(read_character("marionette")).require()
        self.system, self.points = resting.system, Points(resting.system, FRAMES)
        rng = np.random.default_rng(0)
        q = resting.q + 0.3 * rng.normal(size=(N + 1, self.system.nq))
        self.x = np.hstack([q, rng.normal(size=(N + 1, EXTRA))])
        self.u = rng.normal(size=(N, INPUTS))
        self.at = self.points.positions(q)
        self.wish = self.at + 0.05 * rng.normal(size=self.at.shape)

    def cost(self, wish: np.ndarray) -> PointCost:
        return PointCost(self.points, wish, WEIGHTS, self.system.nq)

    def curve(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return w[: self.x.size].reshape(self.x.shape), w[self.x.size :].reshape(self.u.shape)

    @property
    def flat(self) -> np.ndarray:
        return np.concatenate([self.x.ravel(), self.u.ravel()])


@pytest.fixture(scope="module")
def case() -> Case:
    return Case()


def flat_gradient(case, cost, w):
    g, end = cost.gradient(*case.curve(w))
    n = case.x.shape[1]
    return np.concatenate([g[:, :n].ravel(), end, g[:, n:].ravel()])


def flat_hessian(case, cost, w, exact):
    H, P = cost.hessian(*case.curve(w), exact=exact)
    n, m = case.x.shape[1], case.u.shape[1]
    whole = np.zeros((len(w), len(w)))
    for k in range(N):
        where = np.r_[k * n : (k + 1) * n, (N + 1) * n + k * m : (N + 1) * n + (k + 1) * m]
        whole[np.ix_(where, where)] += H[k]
    whole[N * n : (N + 1) * n, N * n : (N + 1) * n] += P
    return whole


def test_moved_by_a_vector_it_costs_half_the_weighted_square(case) -> None:
    off = np.array([0.03, -0.04, 0.12])
    cost = case.cost(case.at - off)
    assert cost.value(case.x, case.u) == pytest.approx(0.5 * (N + 1) * WEIGHTS.sum() * 0.0169, rel=1e-12)


def test_gradient_and_exact_hessian_have_the_right_slope(case) -> None:
    cost = case.cost(case.wish)
    first = check_gradient(lambda w: cost.value(*case.curve(w)), lambda w: flat_gradient(case, cost, w), case.flat)
    assert first.holds, first
    second = check_hessian(
        lambda w: cost.value(*case.curve(w)),
        lambda w: flat_gradient(case, cost, w),
        lambda w: flat_hessian(case, cost, w, True),
        case.flat,
    )
    assert second.holds, second
    H, P = cost.hessian(case.x, case.u, exact=True)
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_allclose(P, P.T, atol=1e-12)


def test_gauss_newton_is_exact_where_nothing_is_off_and_never_indefinite(case) -> None:
    met = case.cost(case.at)
    np.testing.assert_allclose(
        flat_hessian(case, met, case.flat, False), flat_hessian(case, met, case.flat, True), rtol=0.0, atol=1e-11
    )
    off = case.cost(case.at + 2.0)
    exact, gauss = (flat_hessian(case, off, case.flat, exact) for exact in (True, False))
    assert np.linalg.eigvalsh(exact)[0] < -1.0
    assert np.linalg.eigvalsh(gauss)[0] > -1e-9
    np.testing.assert_allclose(gauss, flat_hessian(case, met, case.flat, False), atol=1e-11)


def test_a_wish_that_does_not_fit_is_refused(case) -> None:
    with pytest.raises(BadInput, match="do not fit 3 points"):
        case.cost(case.wish[:, :2])
    with pytest.raises(BadInput, match="do not fit 3 points"):
        PointCost(case.points, case.wish, WEIGHTS[:2], case.system.nq)
