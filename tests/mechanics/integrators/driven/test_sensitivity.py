"""Derivatives of driven motion: forward, backward and by differences, open and in a loop; lifted about motions with defects."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.integrators.driven.linearization import Linearization, linearize_motion
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import Observer, simulate

DT, STEPS, STRIDE = 2e-3, 60, 3


@pytest.fixture(params=[False, True], ids=["open", "loop"])
def problem(request, make_system, make_curve):
    """A motion that tracks its quasi-static targets with random weights; the first control point is fixed in the loop."""
    system = make_system(request.param)
    free = np.arange(9) > 0 if request.param else None
    curves, points = make_curve(system, STEPS, free=free)
    outputs = track(system, ["b5", "b1"], ["b4"])
    K = curves.nodes(points)
    targets = outputs.observe(rest_motion(system, K).q[::STRIDE])
    weights = np.random.default_rng(3).uniform(0.5, 2.0, (STEPS // STRIDE + 1, 9))
    motion = simulate(system, K, DT, tolerance=1e-11)
    return system, curves, points, outputs, targets, weights, motion


def test_forward_adjoint_and_differences_agree(problem) -> None:
    """20 random directions over all free control points: differences 1e-6, adjoint 1e-10."""
    system, curves, points, outputs, targets, weights, motion = problem
    normal = linearize_motion(motion).normal_equations(curves, outputs, targets, weights, stride=STRIDE, jacobian=True)
    cost, gradient = linearize_motion(motion).gradient(curves, outputs, targets, weights, stride=STRIDE)
    assert cost == pytest.approx(normal.cost, rel=1e-12)
    assert np.abs(gradient - normal.gradient).max() <= 1e-10 * np.abs(gradient).max()
    J, e = normal.jacobian, normal.residual
    assert np.abs(J.T @ J - normal.hessian).max() <= 1e-12 * np.abs(normal.hessian).max()
    assert np.abs(J.T @ e - normal.gradient).max() <= 1e-12 * np.abs(gradient).max()
    rng = np.random.default_rng(0)

    def run(change):
        moved = points.copy()
        moved[curves.free] += change.reshape(-1, system.nk)
        other = simulate(system, curves.nodes(moved), DT, tolerance=1e-11)
        return (np.sqrt(weights) * outputs.errors(other.q[::STRIDE], targets)).ravel()

    for _ in range(20):
        d = rng.normal(size=curves.count(system.nk))
        slope = (8.0 * (run(1e-5 * d) - run(-1e-5 * d)) - (run(2e-5 * d) - run(-2e-5 * d))) / 12e-5
        assert np.abs(slope - J @ d).max() <= 1e-6 * np.abs(J @ d).max()


def test_recomputed_step_matrices_give_the_same(problem) -> None:
    system, curves, _, outputs, targets, weights, motion = problem
    kept, anew = linearize_motion(motion), linearize_motion(motion, memory=0.0)
    one = kept.normal_equations(curves, outputs, targets, weights, stride=STRIDE)
    two = anew.normal_equations(curves, outputs, targets, weights, stride=STRIDE)
    assert np.array_equal(one.hessian, two.hessian)
    change = curves.spread(np.random.default_rng(1).normal(size=curves.count(system.nk)), system.nk)
    assert np.array_equal(kept.follow(change), anew.follow(change))


def test_lifted_about_an_exact_motion_is_the_plain_linearization(problem) -> None:
    system, curves, _, outputs, targets, weights, motion = problem
    lifted = Linearization(system, motion.q, motion.lam, DT)
    assert np.abs(lifted.defects).max() < 1e-10
    normal = lifted.normal_equations(curves, outputs, targets, weights, stride=STRIDE)
    assert np.abs(normal.lifted - normal.gradient).max() < 1e-7 * np.abs(normal.gradient).max()
    plain = linearize_motion(motion).normal_equations(curves, outputs, targets, weights, stride=STRIDE)
    assert np.array_equal(plain.hessian, normal.hessian)


def test_lifting_closes_defects_to_second_order(make_system, make_curve) -> None:
    """About a motion that an observer holds near rest: following the defects alone is a Newton step to the true motion."""
    system = make_system()
    errors = []
    for size in (0.004, 0.002):
        curves, points = make_curve(system, STEPS, size)
        K = curves.nodes(points)
        true = simulate(system, K, DT, tolerance=1e-11)
        held = simulate(system, K, DT, observer=Observer(rest_motion(system, K).q, 15.0))
        lifted = Linearization(system, held.q, held.lam, DT)
        assert np.abs(lifted.defects).max() > 1e-4 * size
        errors.append((np.abs(held.q - true.q).max(), np.abs(held.q + lifted.follow(np.zeros_like(K)) - true.q).max()))
    assert errors[0][1] < 0.1 * errors[0][0]
    assert errors[0][1] / errors[1][1] == pytest.approx(4.0, rel=0.3)
    assert errors[0][0] / errors[1][0] == pytest.approx(2.0, rel=0.3)


def test_the_lifted_gradient_is_that_of_the_quadratic_model(make_system, make_curve) -> None:
    """J'(e + d): the slope of the squares of what the lifted linear model predicts, found by following it."""
    system = make_system(True)
    curves, points = make_curve(system, STEPS, 0.02)
    K = curves.nodes(points)
    rest = rest_motion(system, K)
    outputs = track(system, ["b5"], ["b4"])
    targets = outputs.observe(rest.q[::STRIDE] + 0.001)
    lifted = Linearization(system, rest.q, -DT * rest.multipliers[:-1], DT)
    normal = lifted.normal_equations(curves, outputs, targets, stride=STRIDE)

    def predict(p):
        dq = lifted.follow(curves.spread(p, system.nk))
        total = 0.0
        for f in range(STEPS // STRIDE + 1):
            e, D = outputs.jacobian(rest.q[f * STRIDE], targets, f)
            total += 0.5 * np.sum((e + D @ dq[f * STRIDE]) ** 2)
        return total

    d = np.random.default_rng(5).normal(size=curves.count(system.nk))
    slope = (predict(d) - predict(-d)) / 2.0
    bend = predict(d) - 2.0 * predict(0.0 * d) + predict(-d)
    assert predict(0.0 * d) == pytest.approx(normal.lifted_cost, rel=1e-10)
    assert slope == pytest.approx(normal.lifted @ d, rel=1e-9)
    assert bend == pytest.approx(d @ normal.hessian @ d, rel=1e-7)
