"""The projection operator: idempotent to rounding, its derivative right by its slope."""

from __future__ import annotations

import numpy as np

from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.control.riccati_kernels import linear_rollout
from bunraku.optimization.derivative_check import check_product

N, DT = 40, 0.05


def setting(systems):
    """A curve that is no trajectory, and gains."""
    cart = systems.cart_pendulum(DT, inputs=2)
    t = np.arange(N + 1)[:, None] * DT
    xb = np.hstack([0.3 * np.sin(t), 0.8 * np.sin(2 * t), 0.2 * np.cos(t), 0.5 * np.cos(3 * t)])
    ub = np.hstack([np.sin(3 * t[:-1]), 0.5 * np.cos(t[:-1])])
    A, B = cart.linearize(xb, ub)
    return cart, xb, ub, time_varying_lqr(A, B, np.eye(4), np.eye(2)).K


def split(flat):
    return flat[: 4 * (N + 1)].reshape(N + 1, 4), flat[4 * (N + 1) :].reshape(N, 2)


def test_projecting_twice_is_projecting_once(systems):
    cart, xb, ub, K = setting(systems)
    once = cart.project(xb, ub, K)
    twice = cart.project(once.x, once.u, K)
    assert once.good
    assert np.abs(once.x - xb).max() > 0.05
    assert np.abs(twice.x - once.x).max() <= 1e-12
    assert np.abs(twice.u - once.u).max() <= 1e-12


def test_first_derivative_has_slope_two(systems):
    cart, xb, ub, K = setting(systems)

    def value(flat):
        rolled = cart.project(*split(flat), K)
        return np.concatenate([rolled.x.ravel(), rolled.u.ravel()])

    def product(flat, d):
        rolled = cart.project(*split(flat), K)
        return np.concatenate([part.ravel() for part in linear_rollout(*cart.linearize(rolled.x, rolled.u), K, *split(d))])

    report = check_product(value, product, np.concatenate([xb.ravel(), ub.ravel()]), scale=3.0)
    assert report.holds, str(report)


def test_a_derivative_of_a_trajectory_direction_is_itself(systems):
    """DP is a projection too: on its own range it is the identity."""
    cart, xb, ub, K = setting(systems)
    rolled = cart.project(xb, ub, K)
    A, B = cart.linearize(rolled.x, rolled.u)
    rng = np.random.default_rng(4)
    y, w = linear_rollout(A, B, K, rng.normal(size=xb.shape), rng.normal(size=ub.shape))
    again = linear_rollout(A, B, K, y, w)
    np.testing.assert_allclose(again[0], y, atol=1e-12)
    np.testing.assert_allclose(again[1], w, atol=1e-12)
