"""A small one-layer skin of quadratic tetrahedra: matrix of an implicit step, held glue nodes, border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array

from bunraku.geometry.tet_mesh import TetMesh, cell_volumes, quadratic
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid


@dataclass(frozen=True)
class Skin:
    """Matrix A (n, n), node coordinates, free unknowns (n,), border B (n, k)."""

    matrix: csr_array
    nodes: np.ndarray
    free: np.ndarray
    border: np.ndarray

    @property
    def reference(self) -> np.ndarray:
        """A_ff^-1 B_f by a dense solver."""
        inner = np.ix_(self.free, self.free)
        return np.linalg.solve(self.matrix.toarray()[inner], self.border[self.free])


def tube(around: int, along: int, radius: float = 0.038, wall: float = 0.004) -> TetMesh:
    """A tube of one layer of prisms, each cut into three quadratic tetrahedra."""
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    height = np.linspace(0.0, along * 0.008, along + 1)
    places = [np.stack([np.repeat(r * ring[:, i], along + 1) for i in (0, 1)], axis=1) for r in (radius, radius - wall)]
    nodes = np.vstack([np.column_stack([place, np.tile(height, around)]) for place in places])
    i, j = (index.ravel() for index in np.meshgrid(np.arange(around), np.arange(along), indexing="ij"))
    a, b = i * (along + 1) + j, (i + 1) % around * (along + 1) + j
    triangles = np.sort(np.vstack([np.stack([a, b, b + 1], axis=1), np.stack([a, b + 1, a + 1], axis=1)]), axis=1)
    n = around * (along + 1)
    x, y, z = triangles.T
    cells = [(x, y, z, x + n), (y, z, x + n, y + n), (z, x + n, y + n, z + n)]
    mesh = TetMesh(nodes, np.vstack([np.stack(cell, axis=1) for cell in cells]))
    inverted = (cell_volumes(mesh) < 0.0)[:, None]
    return quadratic(TetMesh(nodes, np.where(inverted, mesh.cells[:, [1, 0, 2, 3]], mesh.cells)))


@pytest.fixture(scope="session")
def skin() -> Skin:
    mesh = tube(8, 5)
    solid = ElasticSolid(mesh, Material(young=1.3e6, poisson=0.46, density=1100.0))
    matrix = solid.stiffness()
    matrix.data = matrix.data + solid.mass.data / 5e-3**2
    rng = np.random.default_rng(3)
    held = rng.choice(solid.nodes, 12, replace=False)
    free = np.ones(solid.size, dtype=bool)
    free[(3 * held[:, None] + np.arange(3)).ravel()] = False
    moved = np.zeros((solid.size, 4))
    moved[~free] = rng.normal(size=(36, 4))
    moved[~free, 3] *= held.repeat(3) < np.median(held)
    loads = np.zeros((solid.size, 3))
    for axis in range(3):
        loads[3 * np.arange(8) + axis, axis] = 1.0
    return Skin(matrix, mesh.nodes, free, np.column_stack([matrix @ moved, loads, rng.normal(size=solid.size)]))
