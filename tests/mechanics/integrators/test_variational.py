"""The variational integrator: derivatives, order, invariants, failures."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.constraints import Distance
from bunraku.mechanics.dynamics.continuous import continuous
from bunraku.mechanics.dynamics.equation_kernels import gradient, make_room
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import whole
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.derivative_check import check_jacobian
from bunraku.optimization.solution import Status


@njit
def total_momentum(model, q, v):
    """Spatial momentum (6,) of everything about the world origin: angular, then linear."""
    n, room, total = len(q), make_room(model, q), np.empty(16)
    gradient(model, q, v, room, np.empty(n), np.empty(n))
    whole(model, room.W, total)
    return total[10:]


def on_constraints(system, seed=0):
    """A configuration of the mechanism that meets its constraints and a step input near it."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        q = rng.normal(size=system.nq)
        if "l" in system.names:
            q[system.index("l")] = rng.uniform(0.8, 2.0)
        found = make_consistent(system, q, 0.3 * rng.normal(size=system.nq))
        if system.nc == 0 or (found.status.good and np.linalg.cond(system.constraint_jacobian(found.q)[:, system.dynamic]) < 50):
            break
    p = system.lagrangian_derivatives(found.q, found.v).v[system.dynamic]
    return found.q, p, rng.normal(size=system.nu), found.q[system.kinematic] + 1e-3 * rng.normal(size=system.nk)


@pytest.mark.parametrize("kinematic", [("l",), ("q1", "l"), ("q4", "q0", "l")])
def test_derivatives_of_a_mechanism_with_everything(everything, kinematic) -> None:
    system = everything(1, kinematic, constraints=kinematic == ("l",))
    integrator = VariationalIntegrator(system, 0.02, tolerance=1e-13, max_iterations=40)
    q, p, u, k2 = on_constraints(system)
    sizes = np.cumsum([system.nq, system.nd, system.nu])
    w = np.concatenate([q, p, u, k2])

    def solve(w):
        step = integrator.step(*np.split(w, sizes))
        assert np.all(np.isfinite(step.q2))
        return step

    def value(w):
        step = solve(w)
        return np.concatenate([step.q2[system.dynamic], step.p2, step.lam])

    def jacobian(w):
        d = integrator.first(solve(w))
        return np.vstack([d.factors.Y[system.nc :], d.factors.G, d.factors.Y[: system.nc]])

    assert check_jacobian(value, jacobian, w, scale=1e-3, noise=1e-10).holds
    z = np.random.default_rng(7).normal(size=2 * system.nd + system.nc)
    d = integrator.first(solve(w))
    nd = system.nd
    H = integrator.contracted(d, z[:nd], z[nd : 2 * nd], z[2 * nd :])
    np.testing.assert_allclose(H, H.T, atol=1e-9 * np.abs(H).max())
    assert check_jacobian(lambda w: z @ jacobian(w), lambda w: H, w, scale=1e-3, noise=1e-10).holds
    tensor = integrator.second(d)
    full = np.concatenate([tensor.q2, tensor.p2, tensor.lam])
    np.testing.assert_allclose(H, np.einsum("i,ijk", z, full), atol=1e-10 * np.abs(H).max())


@pytest.mark.shared
def test_trajectory_kernels_agree_with_single_steps(golden_case) -> None:
    system, z = golden_case("puppet22_18")
    integrator = VariationalIntegrator(system, 0.01)
    N = 5
    run = integrator.rollout(z["q"][0], z["p"][0], z["u"][:N], z["k2"][:N])
    lines = integrator.linearize(run)
    rng = np.random.default_rng(0)
    zq, zp, zl = rng.normal(size=(N, 22)), rng.normal(size=(N, 22)), rng.normal(size=(N, 6))
    bend = integrator.contract(run, zq, zp, zl)
    for k in range(N):
        d = integrator.first(run.step(k))
        np.testing.assert_allclose(lines.A[k][system.dynamic], d.factors.Y[6:, :62], atol=1e-13)
        np.testing.assert_allclose(lines.A[k][40:], d.factors.G[:, :62], atol=1e-9)
        np.testing.assert_allclose(lines.B[k][system.dynamic], d.block("q2", "k2"), atol=1e-13)
        np.testing.assert_array_equal(lines.B[k][system.kinematic], np.eye(18))
        np.testing.assert_array_equal(lines.A[k][system.kinematic], 0.0)
        np.testing.assert_allclose(lines.lam[k], d.factors.Y[:6], atol=1e-10)
        np.testing.assert_allclose(bend[k], integrator.contracted(d, zq[k], zp[k], zl[k]), atol=1e-9)
    # feedback: a gain on a deviation moves the inputs by exactly that
    K = 1e-3 * rng.normal(size=(N, 18, 62))
    reference = run.state + 0.01
    fed = integrator.rollout(z["q"][0], z["p"][0], z["u"][:N], z["k2"][:N], reference=reference, gain=K)
    assert fed.status.good
    for k in range(N):
        np.testing.assert_allclose(fed.k2[k], z["k2"][k] - K[k] @ (fed.state[k] - reference[k]), atol=1e-14)
    np.testing.assert_array_equal(fed.q[1:, system.kinematic], fed.k2)


@pytest.mark.shared
def test_any_order_of_coordinates(golden_case) -> None:
    """Kinematic coordinates before, between and after dynamic ones: the same motion, rows permuted."""
    system, z = golden_case("puppet22_18")
    rng = np.random.default_rng(0)
    order = rng.permutation(40)  # new place i holds old coordinate order[i]
    back = np.argsort(order)
    m = system.model
    node = m.node_i.copy()
    node[:, 2] = back[node[:, 2]]
    rows = m.constraint_i.copy()
    rows[:, 4] = back[rows[:, 4]]
    old_dynamic = np.isin(np.arange(40), m.dynamic)[order]
    model = m._replace(
        node_i=node, constraint_i=rows, coordinate_f=m.coordinate_f[order].copy(), dynamic=np.flatnonzero(old_dynamic),
        kinematic=np.flatnonzero(~old_dynamic),
    )  # fmt: skip
    mixed = System(system.tree, tuple(system.names[i] for i in order), (), system.constraint_names, model)
    d_order = np.array([list(m.dynamic).index(order[i]) for i in model.dynamic])
    k_order = np.array([list(m.kinematic).index(order[i]) for i in model.kinematic])
    a, b = VariationalIntegrator(system, 0.01, 1e-12), VariationalIntegrator(mixed, 0.01, 1e-12)
    one = a.step(z["q"][50], z["p"][50], (), z["k2"][50])
    two = b.step(z["q"][50][order], z["p"][50][d_order], (), z["k2"][50][k_order])
    np.testing.assert_allclose(two.q2, one.q2[order], atol=1e-12)
    np.testing.assert_allclose(two.p2, one.p2[d_order], atol=1e-10)
    first, second = a.first(one), b.first(two)
    np.testing.assert_allclose(second.block("q2", "q1"), first.block("q2", "q1")[d_order][:, order], atol=1e-10)
    np.testing.assert_allclose(second.block("p2", "k2"), first.block("p2", "k2")[d_order][:, k_order], atol=1e-8)
    H = a.contracted(first, np.ones(22), np.ones(22))
    G = b.contracted(second, np.ones(22), np.ones(22))
    w = np.concatenate([order, 40 + d_order, 62 + k_order])
    np.testing.assert_allclose(G, H[np.ix_(w, w)], atol=1e-9 * np.abs(H).max())


@pytest.mark.shared
def test_second_order(golden_case) -> None:
    """Against a fine Runge-Kutta solution of the continuous equations: the error falls fourfold when dt halves."""
    system, _ = golden_case("spatial_double_pendulum")
    q0, v0, T = np.array([0.4, -0.3, 0.5, 0.2]), np.array([0.5, 0.2, -0.4, 0.3]), 0.5
    x, h = np.concatenate([q0, v0]), T / 1000

    def f(x):
        return np.concatenate([x[4:], continuous(system, x[:4], x[4:])[0]])

    for _ in range(1000):
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))
    errors = []
    for N in (25, 50, 100, 200):
        integrator = VariationalIntegrator(system, T / N, 1e-12)
        start = integrator.initial(q0, v0=v0)
        run = integrator.rollout(start.q, start.p, np.zeros((N, 0)), np.zeros((N, 0)))
        errors.append(np.abs(run.q[-1] - x[:4]).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.1), orders


@pytest.mark.shared
def test_energy_stays_bounded(golden_case) -> None:
    """Conservative, 1e5 steps: the energy error does not grow. Energy at nodes by the discrete momentum, v = M^-1 p."""
    system, z = golden_case("pendulum")
    integrator = VariationalIntegrator(system, 0.02)
    N = 100_000
    run = integrator.rollout(z["q"][0], z["p"][0], np.zeros((N, 0)), np.zeros((N, 0)))
    assert run.status.good
    inertia = 0.3 + 2.0 * 1.3**2
    energy = run.p[:, 0] ** 2 / (2 * inertia) - 2.0 * 9.8 * 1.3 * np.cos(run.q[:, 0])
    assert energy[0] == pytest.approx(system.energy(run.q[0], run.p[0] / inertia), rel=1e-12)
    error = np.abs(energy - energy[0])
    assert error.max() < 1e-3 * (energy.max() - energy.min() + 2 * 2.0 * 9.8 * 1.3)
    assert error[-10_000:].max() < 1.01 * error[:10_000].max()


def test_momentum_of_a_free_mechanism(random_tree) -> None:
    """Without gravity and anchors: linear momentum along the base slide is kept to rounding, until a slide has run metres away."""
    tree = random_tree(2)
    system = build_system(tree, gravity=(0.0, 0.0, 0.0))
    rng = np.random.default_rng(0)
    integrator = VariationalIntegrator(system, 0.01, 1e-11)
    start = integrator.initial(0.3 * rng.normal(size=6), v0=rng.normal(size=6))
    run = integrator.rollout(start.q, start.p, np.zeros((600, 0)), np.zeros((600, 0)))
    assert run.status.good
    assert np.abs(run.p[:, 0] - run.p[0, 0]).max() < 1e-8
    assert np.ptp(run.p[:, 1]) > 0.1  # the others are no invariants
    # the base slides along a fixed direction, so p_0 is the total linear momentum along it
    axis = tree.fixed_rotation[0] @ tree.axis[0]
    v = np.linalg.solve(system.lagrangian_derivatives(run.q[-1], np.zeros(6)).vv, run.p[-1])
    assert total_momentum(system.model, run.q[-1], v)[3:] @ axis == pytest.approx(run.p[-1, 0], rel=1e-10)


@pytest.mark.shared
def test_constraints_do_not_drift(golden_case) -> None:
    system, z = golden_case("fourbar")
    integrator = VariationalIntegrator(system, 0.01)
    run = integrator.rollout(z["q"][0], z["p"][0], np.zeros((5000, 1)), np.zeros((5000, 0)))
    assert run.status.good
    assert max(abs(system.constraint_values(q)[0]) for q in run.q) <= 1e-10


@pytest.mark.shared
def test_failures_are_told(golden_case) -> None:
    system, z = golden_case("puppet22_18")
    integrator = VariationalIntegrator(system, 0.01, max_iterations=8)
    q, p, k2 = z["q"][0], z["p"][0], z["k2"][0]
    with pytest.raises(BadInput, match="k2 holds nan"):
        integrator.step(q, p, (), np.where(np.arange(18) == 3, np.nan, k2))
    with pytest.raises(BadInput, match="p1 has shape"):
        integrator.step(q, p[:3], (), k2)
    with pytest.raises(BadInput, match="not finite"):
        integrator.rollout(q, p, np.zeros((2, 0)), np.full((2, 18), np.nan))
    with pytest.raises(BadInput, match="dt"):
        VariationalIntegrator(system, 0.0)
    far = k2.copy()
    far[[0, 3, 6, 9]] = [50.0, -50.0, 50.0, -50.0]  # carriages that no puppet can follow
    failed = integrator.step(q, p, (), far)
    assert failed.status in (Status.MAX_ITERATIONS, Status.STALLED)
    run = integrator.rollout(q, p, np.zeros((4, 0)), np.array([k2, k2, far, k2]))
    assert run.steps == 2
    assert not run.status.good
    assert np.isfinite(run.q[:3]).all()
    assert np.isnan(run.q[3:]).all()
    with pytest.raises(BadInput, match="failed after 2 steps"):
        integrator.linearize(run)


def test_redundant_constraints_are_refused(random_tree) -> None:
    system = build_system(random_tree(0), constraints=[Distance("tip", "world", 1.0, "one"), Distance("world", "tip", 1.0, "two")])
    integrator = VariationalIntegrator(system, 0.01)
    q = make_consistent(system, np.full(6, 0.2)).q
    with pytest.raises(BadInput, match="'two' repeats"):
        integrator.initial(q)
    assert integrator.step(q, np.zeros(6)).status is Status.STALLED
