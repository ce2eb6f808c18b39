"""Flexible segments under the variational integrator: energy, order, loops, first and second derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.dynamics.constraints import PointToPoint
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.derivative_check import check_jacobian


@pytest.fixture
def small(two_rods):
    """Two rods of 4 modes each; ``stiffness`` keeps their frequencies within reach of millisecond steps."""

    def make(**options):
        return two_rods(7, r=4, k=30, stiffness=6.0, size=0.1, **options)

    return make


def test_energy_of_an_undamped_system_is_bounded(small) -> None:
    """Falling from the home position; the deviation is small, does not grow, and falls with the square of the step."""
    system = small()
    zero = np.zeros(system.nq)
    worst = []
    for dt in (2e-3, 1e-3):
        integrator = VariationalIntegrator(system, dt)
        start = integrator.initial(system.home, v0=zero)
        steps = round(1.5 / dt)
        path = integrator.rollout(start.q, start.p, np.zeros((steps, 0)), np.zeros((steps, 0)))
        assert path.status.good
        middle, speed = 0.5 * (path.q[1:] + path.q[:-1]), np.diff(path.q, axis=0) / dt
        parts = np.array([system.energies(q, v) for q, v in zip(middle, speed, strict=True)])
        off = np.abs(parts.sum(axis=1) - parts[0].sum()) / parts[:, 0].max()
        assert parts[:, 0].max() > 0.5
        early, late = off[: steps // 2].max(), off[steps // 2 :].max()
        assert late < 3.0 * early
        worst.append(off.max())
    assert worst[1] < 5e-3
    assert worst[0] / worst[1] > 3.0


@pytest.mark.parametrize("beta", [0.0, 5e-3])
def test_steps_are_of_second_order(small, beta) -> None:
    """From a moving start, without and with material damping: positions and momenta."""
    system = small(beta=beta)
    ends = []
    for dt in (1e-3, 5e-4, 2.5e-4, 3.125e-5):
        integrator = VariationalIntegrator(system, dt, tolerance=1e-11)
        start = integrator.initial(system.home, v0=np.linspace(-0.5, 0.5, system.nq))
        steps = round(0.02 / dt)
        path = integrator.rollout(start.q, start.p, np.zeros((steps, 0)), np.zeros((steps, 0)))
        assert path.status.good
        ends.append(np.concatenate([path.q[-1], path.p[-1]]))
    errors = [np.linalg.norm(end - ends[-1]) for end in ends[:-1]]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.6)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.3)


def test_a_loop_across_segments_stays_closed(small) -> None:
    """The tip pinned to a point of the world: held to the tolerance at every step."""
    free = small(constraints=[PointToPoint("b5", "world", "xyz")])
    where = tuple(free.constraint_values(free.home) + np.array([0.02, -0.01, 0.01]))
    system = small(constraints=[PointToPoint("b5", Place("world", where), "xyz", "pin")])
    integrator = VariationalIntegrator(system, 1e-3)
    begin = make_consistent(system, system.home)
    assert begin.status.good
    start = integrator.initial(begin.q, v0=np.zeros(system.nq))
    path = integrator.rollout(start.q, start.p, np.zeros((200, 0)), np.zeros((200, 0)))
    assert path.status.good
    assert max(np.abs(system.constraint_values(q)).max() for q in path.q) < 1e-10
    assert np.abs(path.q[-1] - path.q[0]).max() > 0.01


@pytest.mark.parametrize("loop", [False, True])
def test_derivatives_of_a_step(two_rods, loop) -> None:
    """First derivatives over (q1, p1, k2), motor q1 prescribed, with material damping."""
    options = {"kinematic": ["q1"], "beta": 5e-3, "r": 3, "k": 12, "faces": 2, "stiffness": 6.0, "size": 0.1}
    if loop:
        options["constraints"] = [PointToPoint("b5", "b7", "xy", "pin")]
    system = two_rods(3, **options)
    integrator = VariationalIntegrator(system, 2e-3, tolerance=1e-11)
    rng = np.random.default_rng(0)
    n, nd, k = system.nq, system.nd, system.index("q1")
    q1 = 0.05 * rng.normal(size=n)
    if loop:
        q1 = make_consistent(system, q1).q
    p1 = integrator.initial(q1, v0=make_consistent(system, q1, 0.3 * rng.normal(size=n)).v).p
    w = np.concatenate([q1, p1, [q1[k] + 0.002]])

    def step(w):
        found = integrator.step(w[:n], w[n : n + nd], (), w[n + nd :])
        assert found.status.good
        return found

    def value(w):
        s = step(w)
        return np.concatenate([s.q2[system.dynamic], s.p2, s.lam])

    def jacobian(w):
        d = integrator.first(step(w))
        return np.vstack([d.factors.Y[system.nc :], d.factors.G, d.factors.Y[: system.nc]])

    assert check_jacobian(value, jacobian, w, scale=0.02).holds
    arrival = step(w)
    np.testing.assert_allclose(integrator.momentum(q1, arrival.q2), arrival.p2, atol=1e-12)
