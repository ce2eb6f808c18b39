"""The variational integrator as discrete dynamics: derivatives of golden systems with strings and carriages, by their slopes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from frame_graph import system_of_graph

from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.derivative_check import check_product

pytestmark = pytest.mark.shared
N = 4


def load(golden, name, velocity):
    system = system_of_graph(json.loads((golden / "marionette" / f"{name}.json").read_text()))
    data = np.load(golden / "marionette" / f"{name}.npz")
    dynamics = VariationalDynamics(VariationalIntegrator(system, float(data["dt"]), tolerance=1e-11), kinematic_velocity=velocity)
    rates = np.vstack([np.zeros(system.nk), np.diff(data["q"][:, system.kinematic], axis=0) / float(data["dt"])])
    x = dynamics.state(data["q"], data["p"], rates)
    return dynamics, x, np.hstack([data["u"], data["k2"]]), data


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize("name", ["fourbar", "puppet22_18"])
def test_rolling_out_the_golden_inputs_gives_the_golden_motion(golden, name, velocity):
    dynamics, x, u, data = load(golden, name, velocity)
    assert dynamics.nx == (62 if name == "puppet22_18" else 4) + (dynamics.system.nk if velocity else 0)
    rolled = dynamics.simulate(x[0], u[:50])
    assert rolled.good
    assert np.abs(rolled.x - x[:51]).max() <= 1e-8 * np.abs(x[:51]).max()
    np.testing.assert_allclose(rolled.x[:, : dynamics.system.nq], data["q"][:51], atol=1e-9)
    np.testing.assert_allclose(dynamics.multipliers(rolled.x, u[:50]), data["lam"][:50], atol=1e-7)


@pytest.mark.parametrize("velocity", [False, True])
def test_the_golden_derivatives_stand_in_their_places(golden, velocity):
    dynamics, x, u, data = load(golden, "puppet22_18", velocity)
    k = int(next(key for key in data if key.startswith("d1_")).split("_")[1])
    A, B = dynamics.linearize(x[k : k + 2], u[k : k + 1])
    nq, nd = dynamics.system.nq, dynamics.system.nd
    for rows, out in ((dynamics.system.dynamic, "q2"), (nq + np.arange(nd), "p2")):
        for block, part in ((A[0, rows, :nq], "dq1"), (A[0, rows, nq : nq + nd], "dp1"), (B[0, rows], "dk2")):
            exact = data[f"d1_{k}_{out}_{part}"]
            np.testing.assert_allclose(block, exact, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("velocity", [False, True])
@pytest.mark.parametrize("name", ["fourbar", "puppet22_18"])
def test_linearization_and_curvature_pass_the_slope_test(golden, name, velocity):
    """Each step on its own: x_k and U_k moved, states as if the others were not there."""
    dynamics, x, u, _ = load(golden, name, velocity)
    x, u, nx = x[20 : 21 + N].copy(), u[20 : 20 + N].copy(), dynamics.nx
    rng = np.random.default_rng(0)
    zero = np.zeros((1, dynamics.nu, nx))
    moves = rng.normal(size=(N, nx + dynamics.nu)) * np.concatenate([np.abs(x).max(axis=0) + 0.1, np.abs(u).max(axis=0) + 0.1])
    chi, weights = rng.normal(size=(N, nx)), rng.normal(size=(N, dynamics.system.nc))

    def moved(scale):
        a, b = x.copy(), u.copy()
        a[:N] += scale * moves[:, :nx]
        return a, b + scale * moves[:, nx:]

    def after(scale):
        a, b = moved(float(scale[0]))
        arrived = [dynamics.rollout(a[k], a[[k, k]], b[k : k + 1], zero).x[1] for k in range(N)]
        return np.concatenate([np.ravel(arrived), dynamics.multipliers(a, b).ravel()])

    def slope(scale, d):
        a, b = moved(float(scale[0]))
        A, B = dynamics.linearize(a, b)
        w = moves * d[0]
        state = np.einsum("kij,kj->ki", A, w[:, :nx]) + np.einsum("kij,kj->ki", B, w[:, nx:])
        return np.concatenate([state.ravel(), np.einsum("kij,kj->ki", dynamics.multiplier_jacobian(a, b), w).ravel()])

    def pulled(scale):
        a, b = moved(float(scale[0]))
        A, B = dynamics.linearize(a, b)
        first = np.einsum("ki,kij->kj", chi, np.concatenate([A, B], axis=2))
        return (first + np.einsum("ki,kij->kj", weights, dynamics.multiplier_jacobian(a, b))).ravel()

    def bend(scale, d):
        a, b = moved(float(scale[0]))
        H = dynamics.curvature(a, b, chi) + dynamics.multiplier_curvature(a, b, weights)
        return np.einsum("kij,kj->ki", H, moves * d[0]).ravel()

    report = check_product(after, slope, [0.0], directions=1, scale=1e-2, noise=1e-11)
    assert report.holds, str(report)
    report = check_product(pulled, bend, [0.0], directions=1, scale=1e-2, noise=1e-11)
    assert report.holds, str(report)


def test_the_projection_of_the_marionette_is_a_projection(golden):
    dynamics, x, u, _ = load(golden, "puppet22_18", False)
    x, u = x[:31], u[:30]
    A, B = dynamics.linearize(x, u)
    K = time_varying_lqr(A, B, np.eye(62), 1e3 * np.eye(18)).K
    xb = x + 1e-3 * np.random.default_rng(1).normal(size=x.shape)
    xb[0] = x[0]
    once = dynamics.project(xb, u, K)
    twice = dynamics.project(once.x, once.u, K)
    assert once.good
    assert np.abs(once.x - x).max() > 1e-4
    assert np.abs(twice.x - once.x).max() <= 1e-12
    assert np.abs(twice.u - once.u).max() <= 1e-12


def test_a_step_that_cannot_be_made_ends_the_roll_out(golden):
    dynamics, x, u, _ = load(golden, "puppet22_18", False)
    u = u[:20].copy()
    u[7] += 5.0
    rolled = dynamics.simulate(x[0], u)
    assert rolled.failed_at == 7
    u[3] = np.nan
    assert dynamics.simulate(x[0], u).failed_at == 3
