"""Slope tests over every force, potential and constraint; what wrenches and springs mean."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.dynamics.constraints import Distance, PointOnPlane, PointToPoint, SquareDirections
from bunraku.mechanics.dynamics.forces import CoordinateForce, Damping, PointDamper, Wrench
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.potentials import CoordinateSpring, PointSpring
from bunraku.mechanics.dynamics.system import build_system
from bunraku.optimization.derivative_check import check_gradient, check_hessian, check_jacobian

FORCES = {
    "damping": Damping({"q0": 0.3, "q3": 0.2}),
    "point-damper": PointDamper("b5", "tip", 1.4),
    "point-damper-world": PointDamper(Place("world", (0.0, 1.0, 0.0)), "b4", 0.7),
    "coordinate-force": CoordinateForce("q3", "a", 2.0),
    "body-wrench": Wrench("tip", (0.3, "b", 0.1), ("c", 0.2, -0.4), "body"),
    "hybrid-wrench": Wrench(Place("b5", (0.1, 0.0, 0.3)), ("a", 0.4, 0.0), (0.1, "b", 0.0), "hybrid"),
    "world-wrench": Wrench("b4", (0.2, "c", 0.5), ("b", 0.0, 0.3), "world"),
}
POTENTIALS = {
    "point-spring": PointSpring("b5", "tip", 12.0, 0.4),
    "point-spring-slack": PointSpring("tip", Place("world", (1.0, 0.0, 2.0)), 30.0),
    "coordinate-spring": CoordinateSpring("q2", 4.0, 0.3),
}
CONSTRAINTS = {
    "string": Distance("b5", Place("world", (0.3, -0.2, 1.5)), "l"),
    "rod": Distance("tip", "b5", 1.7),
    "point": PointToPoint("b7", Place("b0", (0.1, 0.2, 0.3)), "xyz"),
    "plane": PointOnPlane(Place("b1", (0.1, 0.0, 0.2)), (0.3, -0.5, 0.8), Place("tip", (0.0, 0.1, 0.0))),
    "square": SquareDirections("b2", (1.0, 0.2, 0.0), "b4", (0.0, 0.3, 1.0), 0.1),
}


@pytest.mark.parametrize("name", FORCES)
def test_forces(random_tree, name) -> None:
    system = build_system(random_tree(1), inputs=("a", "b", "c"), forces=[FORCES[name]])
    n = system.nq
    x = np.random.default_rng(2).normal(size=2 * n + 3)

    def split(x):
        return x[:n], x[n : 2 * n], x[2 * n :]

    def jacobian(x):
        return np.hstack(system.force_derivatives(*split(x))[1:])

    assert np.abs(jacobian(x)).max() > 0.1
    assert check_jacobian(lambda x: system.force(*split(x)), jacobian, x, scale=0.3).holds
    mu = np.random.default_rng(3).normal(size=n)
    bend = check_jacobian(lambda x: mu @ jacobian(x), lambda x: system.force_curvature(*split(x), mu), x, scale=0.3)
    assert bend.holds, bend


@pytest.mark.parametrize("name", POTENTIALS)
def test_potentials(random_tree, name) -> None:
    tree = random_tree(1)
    system, bare = build_system(tree, potentials=[POTENTIALS[name]]), build_system(tree)
    zero, q = np.zeros(system.nq), np.random.default_rng(2).normal(size=system.nq)

    def value(q):
        return system.lagrangian(q, zero) - bare.lagrangian(q, zero)

    def gradient(q):
        return system.lagrangian_derivatives(q, zero).q - bare.lagrangian_derivatives(q, zero).q

    def hessian(q):
        return system.lagrangian_derivatives(q, zero).qq - bare.lagrangian_derivatives(q, zero).qq

    assert np.abs(gradient(q)).max() > 0.1
    assert check_gradient(value, gradient, q, scale=0.3).holds
    assert check_hessian(value, gradient, hessian, q, scale=0.3).holds


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(random_tree, name) -> None:
    system = build_system(random_tree(1), kinematic=["l"], lengths=["l"], constraints=[CONSTRAINTS[name]])
    q = np.random.default_rng(4).normal(size=system.nq)
    weights = np.arange(1.0, system.nc + 1.0)
    assert check_jacobian(system.constraint_values, system.constraint_jacobian, q, scale=0.3).holds

    def slope(q):
        return weights @ system.constraint_jacobian(q)

    H = system.constraint_curvature(q, weights)
    np.testing.assert_allclose(H, H.T, atol=1e-12)
    assert check_jacobian(slope, lambda q: system.constraint_curvature(q, weights), q, scale=0.3).holds


def test_constraint_values(random_tree) -> None:
    tree = random_tree(1)
    system = build_system(tree, kinematic=["l"], lengths=["l"], constraints=tuple(CONSTRAINTS.values()))
    q = np.random.default_rng(4).normal(size=system.nq)
    at = tree.configuration(system.tree_configuration(q))

    def point(body, local=(0.0, 0.0, 0.0)):
        R, p = at.pose(body)
        return p + R @ local

    plane = (point("b1", (0.1, 0.0, 0.2)) - point("tip", (0.0, 0.1, 0.0))) @ at.pose("b1")[0] @ [0.3, -0.5, 0.8]
    expected = [
        np.sum((point("b5") - [0.3, -0.2, 1.5]) ** 2) - q[system.index("l")] ** 2,
        np.sum((point("tip") - point("b5")) ** 2) - 1.7**2,
        *(point("b7") - point("b0", (0.1, 0.2, 0.3))),
        plane,
        (at.pose("b2")[0] @ [1.0, 0.2, 0.0]) @ (at.pose("b4")[0] @ [0.0, 0.3, 1.0]) - 0.1,
    ]
    np.testing.assert_allclose(system.constraint_values(q), expected, atol=1e-12)


@pytest.mark.parametrize("axes", ["body", "hybrid", "world"])
def test_a_wrench_does_the_work_of_its_force_and_torque(random_tree, axes) -> None:
    tree = random_tree(1, coupled=False)
    f, t = np.array([0.3, -0.7, 0.4]), np.array([0.2, 0.5, -0.1])
    system = build_system(tree, forces=[Wrench("tip", tuple(f), tuple(t), axes)])
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=7), rng.normal(size=7)
    at = tree.configuration(q)
    linear, angular = at.jacobian("tip")
    R, p = at.pose("tip")
    if axes == "body":
        f, t = R @ f, R @ t
    if axes == "world":
        t = t - np.cross(p, f)
    assert system.force(q, v) @ v == pytest.approx(f @ linear @ v + t @ angular @ v, rel=1e-12)


def test_dampers_take_energy_out(random_tree) -> None:
    system = build_system(random_tree(1), forces=[FORCES["damping"], FORCES["point-damper"]])
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v = rng.normal(size=system.nq), rng.normal(size=system.nq)
        assert system.force(q, v) @ v < 0.0
