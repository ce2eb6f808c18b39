"""Costs and constraints: every member of the families passes the slope test."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.control.constrained import _Penalised
from bunraku.optimization.control.constraints import InputBounds, StateBounds
from bunraku.optimization.control.cost import LinearResidualCost, SumOfCosts, TrackingCost
from bunraku.optimization.derivative_check import check_hessian

N, NX, NU = 5, 3, 2
RNG = np.random.default_rng(0)
WISH, U_WISH = RNG.normal(size=(N + 1, NX)), RNG.normal(size=(N, NU))
X, U = RNG.normal(size=(N + 1, NX)), RNG.normal(size=(N, NU))


def spd(*shape):
    F = RNG.normal(size=(*shape, shape[-1]))
    return F @ np.swapaxes(F, -1, -2)


TRACKING = TrackingCost(WISH, spd(N, NX), spd(NU), terminal=spd(NX), u_wish=U_WISH)
BOUNDS = [InputBounds([-0.5, -np.inf], [0.4, 0.3]), StateBounds([-np.inf, -0.3, -0.1], [0.6, np.inf, 0.1])]
MULTIPLIERS = [(RNG.uniform(size=(N, 3)), np.zeros(0)), (RNG.uniform(size=(N, 4)), RNG.uniform(size=4))]
COSTS = {
    "tracking": TRACKING,
    "sum": SumOfCosts(TRACKING, TrackingCost(0 * WISH, np.eye(NX), np.eye(NU))),
    "residual": LinearResidualCost(RNG.normal(size=(4, NX + NU)), [1.0, 2.0, 0.5, 3.0], RNG.normal(size=(N, 4))),
    "augmented": _Penalised(TRACKING, BOUNDS, MULTIPLIERS, 7.0),
}


def split(flat):
    return flat[: NX * (N + 1)].reshape(N + 1, NX), flat[NX * (N + 1) :].reshape(N, NU)


def join(w, last):
    """Stage rows (N, NX + NU) and the terminal row, in the order of the flat vector."""
    return np.concatenate([w[:, :NX].ravel(), last, w[:, NX:].ravel()])


@pytest.mark.parametrize("name", COSTS)
def test_gradient_and_hessian_pass_the_slope_test(name):
    cost = COSTS[name]

    class Product:
        def __init__(self, flat):
            self.H, self.last = cost.hessian(*split(flat), exact=True)

        def __matmul__(self, d):
            dx, du = split(d)
            return join(np.einsum("kij,kj->ki", self.H, np.hstack([dx[:-1], du])), self.last @ dx[-1])

    flat = np.concatenate([X.ravel(), U.ravel()])
    report = check_hessian(lambda f: cost.value(*split(f)), lambda f: join(*cost.gradient(*split(f))), Product, flat, scale=0.3)
    assert report.holds, str(report)


def test_tracking_carries_the_factor_one_half():
    cost = TrackingCost(np.zeros((2, 1)), np.eye(1), 3.0 * np.eye(1), terminal=5.0 * np.eye(1))
    assert cost.value(np.array([[2.0], [4.0]]), np.array([[1.0]])) == 0.5 * (4.0 + 3.0 + 5.0 * 16.0)


def test_bad_shapes_are_refused():
    with pytest.raises(BadInput, match="nx"):
        TrackingCost(np.zeros(4), np.eye(2), np.eye(1))
    with pytest.raises(BadInput, match="terminal weight"):
        TrackingCost(np.zeros((4, 2)), np.eye(2), np.eye(1), terminal=np.eye(3))
    with pytest.raises(BadInput, match="4 rows"):
        LinearResidualCost(np.ones((4, 5)), np.ones(3))
    with pytest.raises(BadInput, match="no costs"):
        SumOfCosts()
