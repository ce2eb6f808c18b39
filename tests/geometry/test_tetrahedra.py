from __future__ import annotations

from math import factorial

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.geometry.tetrahedra import (
    EDGES,
    FACES,
    lattice,
    shape_gradients,
    shape_values,
    tetrahedron_rule,
    triangle_gradients,
    triangle_rule,
    triangle_values,
)
from bunraku.optimization.derivative_check import check_jacobian

CORNERS = np.vstack([np.zeros(3), np.eye(3)])
NODES = np.vstack([CORNERS, [CORNERS[list(edge)].mean(axis=0) for edge in EDGES]])


@pytest.mark.parametrize("order", [1, 2])
def test_each_shape_function_is_one_at_its_own_node(order: int) -> None:
    nodes = NODES[: 4 if order == 1 else 10]
    np.testing.assert_allclose(shape_values(order, nodes), np.eye(len(nodes)), atol=1e-15)
    flat = nodes[np.abs(nodes[:, 2]) < 1e-12][:, :2]
    at = flat if order == 1 else flat[[0, 1, 2, 3, 4, 5]]
    np.testing.assert_allclose(np.sort(triangle_values(order, at).max(axis=1)), np.ones(len(at)), atol=1e-15)


@pytest.mark.parametrize("order", [1, 2])
def test_shape_functions_sum_to_one_and_reproduce_places(order: int) -> None:
    points = np.random.default_rng(1).dirichlet(np.ones(4), size=20)[:, 1:]
    N = shape_values(order, points)
    np.testing.assert_allclose(N.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(N @ NODES[: N.shape[1]], points, atol=1e-14)
    np.testing.assert_allclose(shape_gradients(order, points).sum(axis=1), 0.0, atol=1e-14)


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_derivatives(order: int) -> None:
    at = np.array([0.2, 0.3, 0.1])
    assert check_jacobian(lambda x: shape_values(order, x[None])[0], lambda x: shape_gradients(order, x[None])[0], at).holds
    flat = at[:2]
    assert check_jacobian(lambda x: triangle_values(order, x[None])[0], lambda x: triangle_gradients(order, x[None])[0], flat).holds


@pytest.mark.parametrize("degree", range(9))
def test_rules_integrate_monomials_exactly(degree: int) -> None:
    points, weights = tetrahedron_rule(degree)
    flat, areas = triangle_rule(degree)
    assert (weights > 0).all()
    assert (areas > 0).all()
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            exact = factorial(i) * factorial(j) / factorial(i + j + 2)
            assert (flat[:, 0] ** i * flat[:, 1] ** j) @ areas == pytest.approx(exact, rel=1e-13)
            for k in range(degree + 1 - i - j):
                exact = factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + 3)
                assert (points ** [i, j, k]).prod(axis=1) @ weights == pytest.approx(exact, rel=1e-13)


def test_the_four_point_rule_is_not_exact_for_cubics() -> None:
    points, weights = tetrahedron_rule(2)
    assert len(points) == 4
    assert abs(points[:, 0] ** 3 @ weights - 6 / 720) > 1e-4


def test_faces_look_outward() -> None:
    for face in FACES:
        a, b, c = NODES[list(face[:3])]
        assert np.cross(b - a, c - a) @ (a - 0.25) > 0
        for corner, middle in ((0, 3), (1, 4), (2, 5)):
            np.testing.assert_allclose(NODES[face[middle]], 0.5 * (NODES[face[corner]] + NODES[face[(corner + 1) % 3]]))


def test_the_cubic_lattice_has_twenty_points() -> None:
    assert len(np.unique(lattice(3), axis=0)) == 20


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(BadInput, match="order 3"):
        shape_values(3, np.zeros((1, 3)))
    with pytest.raises(BadInput, match="degree 31"):
        tetrahedron_rule(31)
    with pytest.raises(BadInput, match=r"\(m, 3\)"):
        shape_values(1, np.zeros((1, 2)))
