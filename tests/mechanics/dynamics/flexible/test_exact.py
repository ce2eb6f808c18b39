"""Flexible segments in a tree to rounding: complex steps of every kernel, and second derivatives.

Only these tests need the kernels compiled for complex numbers and for second derivatives: minutes. ``make check-all`` runs them.
"""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics.constraints import Distance, PointOnPlane, PointToPoint, SquareDirections
from bunraku.mechanics.dynamics.continuous import continuous, continuous_contracted, continuous_first
from bunraku.mechanics.dynamics.forces import PointDamper, Wrench
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.potentials import PointSpring
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.derivative_check import check_jacobian

pytestmark = pytest.mark.exhaustive

TINY = 1e-40


def steps(x):
    """The numbers, each with a tiny imaginary step."""
    for j in range(len(x)):
        at = x.astype(complex)
        at[j] += TINY * 1j
        yield j, at


@pytest.mark.parametrize(("faces", "seed"), [(1, 0), (2, 1)])
def test_gradient_and_hessian_are_exact(two_rods, state, faces, seed) -> None:
    system = two_rods(seed, faces=faces)
    n = system.nq
    assert n == 33 + faces
    q, v = state(system, seed)
    d = system.lagrangian_derivatives(q, v)
    blocks = {"qq": d.qq, "qv": d.vq.T, "vq": d.vq, "vv": d.vv}
    gradient = np.empty(2 * n)
    for j, at in steps(np.concatenate([q, v])):
        x, y = at[:n].copy(), at[n:].copy()
        Lv, Lq, *_ = kernels.lagrangian(system.model, x, y)
        with_respect = "q" if j < n else "v"
        for of, column in (("q", Lq.imag / TINY), ("v", Lv.imag / TINY)):
            block = blocks[of + with_respect]
            np.testing.assert_allclose(block[:, j % n], column, rtol=0, atol=1e-12 * np.abs(block).max())
        kinetic, potential = kernels.energies(system.model, x, y)
        gradient[j] = (kinetic - potential).imag / TINY
    np.testing.assert_allclose(np.concatenate([d.q, d.v]), gradient, rtol=0, atol=1e-12 * np.abs(gradient).max())
    np.testing.assert_allclose(d.vv @ v, d.v, rtol=0, atol=1e-12 * np.abs(d.v).max())
    for block in (d.vv, d.qq):
        np.testing.assert_allclose(block, block.T, rtol=0, atol=1e-13 * np.abs(block).max())


LOOP = (
    Distance("b5", Place("b7", (0.1, 0.0, 0.2)), 0.3, "rod"),
    PointToPoint("b4", Place("world", (0.4, 0.1, 0.2)), "xz", "pin"),
    PointOnPlane(Place("b1", (0.1, 0.0, 0.2)), (0.3, -0.5, 0.8), Place("b5", (0.0, 0.1, 0.0)), "plane"),
    SquareDirections("b6", (1.0, 0.2, 0.0), "b5", (0.0, 0.3, 1.0), 0.1, "square"),
)


def test_constraints_across_segments(two_rods, state) -> None:
    """A loop over both faces of one segment and through the other: Dh and the curvature."""
    system = two_rods(2, faces=2, constraints=LOOP)
    q, _ = state(system, 1)
    weights = np.array([0.7, -0.4, 0.3, 1.1, 0.5])
    _, Dh, H = kernels.constraint_terms(system.model, q, weights)
    for j, at in steps(q):
        there = kernels.constraint_terms(system.model, at, weights)
        np.testing.assert_allclose(Dh[:, j], there[0].imag / TINY, atol=1e-12 * np.abs(Dh).max())
        np.testing.assert_allclose(H[:, j], (weights @ there[1]).imag / TINY, atol=1e-12 * np.abs(H).max())


def test_forces_beyond_segments(two_rods, state) -> None:
    """Springs, dampers, wrenches of all kinds and the damping of the material: derivatives by complex steps."""
    system = two_rods(
        4, faces=2, beta=0.02, inputs=("a",),
        potentials=(PointSpring("b5", "b7", 20.0, 0.2),),
        forces=(
            PointDamper("b5", "b7", 0.6),
            Wrench("b5", (0.3, "a", 0.1), (0.4, 0.2, "a"), "body"),
            Wrench(Place("b4", (0.1, 0.0, 0.3)), (0.2, 0.4, 0.0), (0.1, 0.3, -0.2), "hybrid"),
            Wrench("b7", (0.2, 0.1, 0.5), (0.3, 0.0, 0.3), "world"),
        ),
    )  # fmt: skip
    n = system.nq
    q, v = state(system, 3)
    u = np.array([0.8])
    F, Fq, Fv, _ = system.force_derivatives(q, v, u)
    mu = np.random.default_rng(0).normal(size=n)
    S = system.force_curvature(q, v, u, mu)
    d = system.lagrangian_derivatives(q, v)
    for j, at in steps(np.concatenate([q, v])):
        x, y = at[:n].copy(), at[n:].copy()
        there = kernels.force_terms(system.model, x, y, u.astype(complex))
        block = (Fq if j < n else Fv)[:, j % n]
        np.testing.assert_allclose(block, there[0].imag / TINY, atol=1e-12 * max(np.abs(Fq).max(), np.abs(Fv).max()))
        if j < n:
            np.testing.assert_allclose(
                d.qq[:, j], kernels.lagrangian(system.model, x, y)[1].imag / TINY, atol=1e-12 * np.abs(d.qq).max()
            )
    assert np.dot(F, v) != 0.0
    assert np.abs(S - S.T).max() == 0.0


def test_material_damping_and_its_curvature(two_rods, state) -> None:
    """F = -beta J'J v: takes energy, and its closed second derivatives are those of the complex step."""
    system = two_rods(0, beta=0.05)
    n = system.nq
    q, v = state(system, 4)
    F = system.force(q, v)
    rates = {}
    for name, segment in (("rod", 0), ("arm", 1)):
        part = slice(system.index(f"{name}.0"), system.index(f"{name}.0") + 15)
        assert F[part] @ v[part] < 0.0
        rates[segment] = part
    assert np.abs(np.delete(F, np.r_[rates[0], rates[1]])).max() == 0.0
    mu = np.random.default_rng(1).normal(size=n)
    S = system.force_curvature(q, v, (), mu)
    for j, at in steps(np.concatenate([q, v])):
        _, Fq, Fv, _ = kernels.force_terms(system.model, at[:n].copy(), at[n:].copy(), np.zeros(0, complex))
        column = np.concatenate([mu @ Fq, mu @ Fv]).imag / TINY
        np.testing.assert_allclose(S[:, j], column, atol=1e-12 * np.abs(S).max())


def test_continuous_dynamics_and_derivatives(two_rods, state) -> None:
    system = two_rods(5, r=3, k=12, beta=0.02)
    q, v = state(system, 5)
    a, _ = continuous(system, q, v)
    d = system.lagrangian_derivatives(q, v)
    np.testing.assert_allclose(d.vv @ a + d.vq @ v - d.q, system.force(q, v), atol=1e-9)
    n = system.nq
    x = np.concatenate([q, v])
    assert check_jacobian(
        lambda x: continuous(system, x[:n], x[n:])[0], lambda x: continuous_first(system, x[:n], x[n:]).f, x
    ).holds
    z = np.random.default_rng(0).normal(size=n)

    def first(x):
        return z @ continuous_first(system, x[:n], x[n:]).f

    def second(x):
        return continuous_contracted(system, continuous_first(system, x[:n], x[n:]), z)

    assert check_jacobian(first, second, x).holds


@pytest.mark.parametrize("loop", [False, True])
def test_second_derivatives_of_a_step(two_rods, loop) -> None:
    """Contracted second derivatives over (q1, p1, k2) and slopes over dt, motor q1 prescribed, with material damping."""
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
    zq, zp, zl = rng.normal(size=nd), rng.normal(size=nd), rng.normal(size=system.nc)

    def step(w):
        found = integrator.step(w[:n], w[n : n + nd], (), w[n + nd :])
        assert found.status.good
        return found

    def jacobian(w):
        d = integrator.first(step(w))
        return np.vstack([d.factors.Y[system.nc :], d.factors.G, d.factors.Y[: system.nc]])

    def gradient(w):
        return np.concatenate([zq, zp, zl]) @ jacobian(w)

    assert check_jacobian(gradient, lambda w: integrator.contracted(step(w), zq, zp, zl), w, scale=0.02).holds
