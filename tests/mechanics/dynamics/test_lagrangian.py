"""The closed-form gradient and Hessian of L, and the arrays a tree compiles to."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics.constraints import Distance
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import build_system
from bunraku.optimization.derivative_check import check_gradient, check_hessian


@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_and_hessian_are_those_of_the_energy(everything, seed) -> None:
    system = everything(seed)
    n = system.nq
    x = np.random.default_rng(seed).normal(size=2 * n)

    def gradient(x):
        d = system.lagrangian_derivatives(x[:n], x[n:])
        return np.concatenate([d.q, d.v])

    def hessian(x):
        d = system.lagrangian_derivatives(x[:n], x[n:])
        return np.block([[d.qq, d.vq.T], [d.vq, d.vv]])

    assert check_gradient(lambda x: system.lagrangian(x[:n], x[n:]), gradient, x, scale=0.1).holds
    assert check_hessian(lambda x: system.lagrangian(x[:n], x[n:]), gradient, hessian, x, scale=0.1).holds
    # entry by entry, exactly: the complex step of the gradient
    H = hessian(x)
    for j in range(2 * n):
        at = x.astype(complex)
        at[j] += 1e-40j
        d = kernels.lagrangian(system.model, at[:n].copy(), at[n:].copy())
        column = np.concatenate([d[1], d[0]]).imag / 1e-40
        np.testing.assert_allclose(H[:, j], column, rtol=0, atol=1e-13 * np.abs(H).max())


def test_kinetic_energy_is_that_of_the_bodies(random_tree) -> None:
    """Sum of m |v|^2 / 2 + w.I w / 2 over the tree's own Jacobians."""
    tree = random_tree(3, coupled=False)
    system = build_system(tree, gravity=(0.0, 0.0, -9.81))
    rng = np.random.default_rng(5)
    q, v = rng.normal(size=7), rng.normal(size=7)
    at = tree.configuration(q)
    kinetic = potential = 0.0
    for node in range(len(tree.parent)):
        name = f"b{node}"
        linear, angular = at.jacobian(name)
        R, p = at.pose(name)
        arm, w = R @ tree.center_of_mass[node], angular @ v
        speed = linear @ v + np.cross(w, arm)
        kinetic += 0.5 * tree.mass[node] * speed @ speed + 0.5 * w @ (R @ tree.inertia[node] @ R.T) @ w
        potential += tree.mass[node] * 9.81 * (p + arm)[2]
    assert system.energies(q, v) == pytest.approx((kinetic, potential), rel=1e-12)


def test_followers_move_with_their_driver(random_tree) -> None:
    """The coupled system is the free one with the follower substituted: q6 = -0.7 q3 + 0.3."""
    free, coupled = build_system(random_tree(2, coupled=False)), build_system(random_tree(2, coupled=True))
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=6), rng.normal(size=6)
    full_q, full_v = np.append(q, -0.7 * q[3] + 0.3), np.append(v, -0.7 * v[3])
    assert coupled.energy(q, v) == pytest.approx(free.energy(full_q, full_v), rel=1e-12)
    np.testing.assert_allclose(coupled.tree_configuration(q), full_q)
    E = np.vstack([np.eye(6), -0.7 * np.eye(6)[3]])
    mine, theirs = coupled.lagrangian_derivatives(q, v), free.lagrangian_derivatives(full_q, full_v)
    for name in ("vv", "vq", "qq"):
        np.testing.assert_allclose(getattr(mine, name), E.T @ getattr(theirs, name) @ E, atol=1e-11)


def test_features_stand_where_the_tree_puts_them(random_tree) -> None:
    tree = random_tree(4)
    system = build_system(tree, constraints=[Distance("tip", Place("b5", (0.1, 0.2, 0.3)), 0.0)])
    q = np.random.default_rng(1).normal(size=system.nq)
    at = tree.configuration(system.tree_configuration(q))
    R, p = at.pose("b5")
    gap = at.pose("tip")[1] - p - R @ [0.1, 0.2, 0.3]
    assert system.constraint_values(q)[0] == pytest.approx(gap @ gap, rel=1e-12)


def test_bad_systems_are_refused(random_tree) -> None:
    tree = random_tree(0)
    with pytest.raises(BadInput, match="names the coordinate 'nose'"):
        build_system(tree, kinematic=["nose"])
    with pytest.raises(BadInput, match="moves no mass"):
        build_system(tree, lengths=["l"])
    with pytest.raises(BadInput, match="called 'q0'"):
        build_system(tree, lengths=["q0"])
    with pytest.raises(BadInput, match="no frame or body"):
        build_system(tree, constraints=[Distance("nose", "tip", 1.0)])
    with pytest.raises(BadInput, match="finite length"):
        build_system(tree, constraints=[Distance("tip", "b1", float("nan"))])
    system = build_system(tree)
    with pytest.raises(BadInput, match="holds nan at place 2"):
        system.energy([0, 0, np.nan, 0, 0, 0], np.zeros(6))
    with pytest.raises(BadInput, match="shape"):
        system.energy(np.zeros(5), np.zeros(6))
