"""Measured order of convergence: Hooke's law with a manufactured solution on refined boxes; error in L2."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry.meshing.shapes import box
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces
from bunraku.geometry.tetrahedra import shape_gradients, shape_values, tetrahedron_rule
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.linear import factorize

MATERIAL = Material(young=1.0, poisson=0.3, density=1.0)
WAVES = np.array([[1.0, 2.0, -1.0], [2.0, -1.0, 1.0], [-1.0, 1.5, 2.0]])


def exact(X: np.ndarray) -> np.ndarray:
    """u_i = sin(k_i . X)."""
    return np.sin(X @ WAVES.T)


def body_force(X: np.ndarray) -> np.ndarray:
    """-div sigma = -(lam + mu) grad div u - mu laplace u."""
    lam, mu = MATERIAL.lame
    s = np.sin(X @ WAVES.T)
    grad_div = -np.einsum("...i,i,ij->...j", s, np.diag(WAVES), WAVES)
    return -(lam + mu) * grad_div + mu * s * (WAVES**2).sum(axis=1)


def quadrature(mesh: TetMesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    points, weights = tetrahedron_rule(6)
    N, X = shape_values(mesh.order, points), mesh.nodes[mesh.cells]
    det = np.linalg.det(np.einsum("eai,qaj->eqij", X, shape_gradients(mesh.order, points)))
    return N, np.einsum("eai,qa->eqi", X, N), det * weights


def error(order: int, n: int) -> float:
    mesh = box((1, 1, 1), (n, n, n), order=order)
    solid = ElasticSolid(mesh, MATERIAL)
    N, x, w = quadrature(mesh)
    load = np.zeros((solid.nodes, 3))
    np.add.at(load, mesh.cells, np.einsum("eq,qa,eqi->eai", w, N, body_force(x)))
    held = np.unique(boundary_faces(mesh))
    free = np.repeat(~np.isin(np.arange(solid.nodes), held), 3)
    u = np.where(free, 0.0, exact(mesh.nodes).ravel())
    K = solid.stiffness()
    u += factorize(K, definite=True, free=free).solve(load.ravel() - K @ u)
    gap = np.einsum("qa,eai->eqi", N, u.reshape(-1, 3)[mesh.cells]) - exact(x)
    return float(np.sqrt(np.einsum("eq,eqi->", w, gap**2)))


@pytest.mark.parametrize(("order", "sizes", "expected"), [(1, (4, 8), 2.0), (2, (3, 6), 3.0)])
def test_the_error_falls_with_the_order_of_the_cells(order: int, sizes: tuple[int, int], expected: float) -> None:
    coarse, fine = (error(order, n) for n in sizes)
    assert np.log(coarse / fine) / np.log(sizes[1] / sizes[0]) == pytest.approx(expected, abs=0.25)
