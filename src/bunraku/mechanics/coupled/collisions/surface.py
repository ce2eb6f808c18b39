"""A surface that collides with itself: pairs of nodes and triangles, forces, energy and stiffness.

A node of area A (a third of its triangles', at rest) at x is paired with the nearest point y = sum_i b_i y_i of the triangles that
face it (opposing normals) and are no neighbours of it in the mesh. Its gap is g = n.(x - y), n = +-(x - y)/|x - y| pointing out of
the triangle's solid, and it carries the energy A/2 e(g) of :mod:`.penalty` (a half, because the other surface's nodes see this one
too). The forces are -A/2 e' times dg = n.(dx - sum_i b_i dy_i), exact wherever the nearest point does not jump, equal and opposite;
the stiffness A/2 e'' dg dg' leaves out the turning of n, so it is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces
from bunraku.mechanics.coupled.collisions import surface_kernels as kernels
from bunraku.mechanics.coupled.collisions.penalty import Penalty

Blocks = tuple[Indices, Indices, Array]
"""Node rows (m,), node columns (m,), blocks (m, 3, 3); repeated places add up."""


@dataclass(frozen=True)
class Pairs:
    """Who touches whom: ``nodes`` (k, 4), the node and then the three of its triangle; ``weights`` (k, 4), 1 and -b.

    ``normal`` (k, 3) out of the triangle's solid, ``gap`` (k,) [m] when found, ``area`` (k,) [m^2] (halved), ``onset`` (k,) [m].
    """

    nodes: Indices
    weights: Array
    normal: Array
    gap: Array
    area: Array
    onset: Array

    @property
    def count(self) -> int:
        """How many."""
        return len(self.gap)

    @property
    def deepest(self) -> float:
        """The greatest depth [m] among them; 0 when none overlap."""
        return float(np.max(-self.gap, initial=0.0))


class SurfaceCollisions:
    """Finds what of a surface touches what, and how hard it pushes.

    ``mesh`` gives rest positions, surface and neighbourhood: the boundary faces of its cells, each of a quadratic mesh cut into
    four flat triangles. Nodes and triangles less than ``rings`` + 1 cells apart never collide; nor do pairs whose normals do not
    oppose each other (cosine above ``facing``). A node that at rest is nearer to a facing triangle than the onset has an onset
    of four fifths of that distance, so that the surface at rest is free of forces; one that overlaps at rest is left out and
    counted in ``left_out``.
    """

    def __init__(self, mesh: TetMesh, *, penalty: Penalty | None = None, rings: int = 1, facing: float = -0.2) -> None:
        if rings < 0 or not -1.0 < facing <= 0.0:
            raise BadInput(f"rings = {rings}, facing = {facing}: rings not negative and a cosine in (-1, 0] are needed")
        self.penalty, self.facing = penalty or Penalty(), facing
        self.size = len(mesh.nodes)
        self.faces = surface_triangles(mesh)
        self.query: Indices = np.unique(self.faces)
        X = np.array(mesh.nodes)
        edges = X[self.faces[:, [1, 2, 0]]] - X[self.faces]
        area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
        shares = np.bincount(self.faces.ravel(), np.repeat(area / 3.0, 3), minlength=self.size)
        self.area: Array = np.asarray(0.5 * shares[self.query], dtype=np.float64)
        reach = max(self.penalty.onset, self.penalty.deepest)
        cell = max(reach, float(np.median(np.linalg.norm(edges, axis=2))))
        self._excluded = _neighbours(mesh, self.query, self.faces, rings)
        buckets = 1 << max(4, int(np.ceil(np.log2(2.0 * len(self.query)))))
        m = len(self.query)
        self._grid = kernels.NodeGrid(cell, np.zeros(buckets + 1, dtype=np.int64), np.zeros(m, dtype=np.int64))
        self._nearest = kernels.NearestTriangles(np.zeros(m), np.zeros(m, dtype=np.int64), np.zeros((m, 3)))
        self._triangles = kernels.SurfaceTriangles(self.faces, np.zeros((len(self.faces), 3)), np.zeros((self.size, 3)))
        self.onset = np.full(m, self.penalty.onset)
        self.left_out = self._settle(X)

    def find(self, x: ArrayLike) -> Pairs:
        """The pairs nearer than their onset (and no deeper than the penalty's deepest) at node positions x (n, 3) [m]."""
        touching, normal, gap = self._gaps(x)
        near = (gap < self.onset[touching]) & (gap > -self.penalty.deepest)
        touching, normal, gap = touching[near], normal[near], gap[near]
        corners = self.faces[self._nearest.triangle[touching]]
        nodes = np.column_stack([self.query[touching], corners])
        weights = np.column_stack([np.ones(len(touching)), -self._nearest.weights[touching]])
        return Pairs(nodes, weights, normal, gap, self.area[touching], self.onset[touching])

    def force(self, x: ArrayLike, pairs: Pairs) -> tuple[Array, float]:
        """Forces (n, 3) [N] on the nodes, and the energy [J], of pairs whose nearest points and normals stay as found."""
        gap = self._gap(x, pairs)
        push = pairs.area * self.penalty.pressure(gap, pairs.onset)
        each = push[:, None, None] * pairs.weights[:, :, None] * pairs.normal[:, None, :]
        f = np.zeros((self.size, 3))
        np.add.at(f, pairs.nodes.ravel(), each.reshape(-1, 3))
        return f, float(pairs.area @ self.penalty.energy(gap, pairs.onset))

    def stiffness(self, x: ArrayLike, pairs: Pairs) -> Blocks:
        """The derivative of minus the force, as 3 x 3 blocks between nodes: symmetric, never negative."""
        c = pairs.area * self.penalty.slope(self._gap(x, pairs), pairs.onset)
        outer = c[:, None, None] * pairs.normal[:, :, None] * pairs.normal[:, None, :]
        blocks = np.einsum("ka,kb,kij->kabij", pairs.weights, pairs.weights, outer)
        rows, columns = np.repeat(pairs.nodes, 4, axis=1).ravel(), np.tile(pairs.nodes, (1, 4)).ravel()
        return rows, columns, blocks.reshape(-1, 3, 3)

    def _gap(self, x: ArrayLike, pairs: Pairs) -> Array:
        X = np.asarray(x, dtype=np.float64).reshape(-1, 3)
        return np.asarray(np.einsum("ka,kai,ki->k", pairs.weights, X[pairs.nodes], pairs.normal))

    def _gaps(self, x: ArrayLike) -> tuple[Indices, Array, Array]:
        """Places (k,) in the query of nodes with a triangle in reach, normals (k, 3) and gaps (k,)."""
        at = np.require(np.asarray(x, dtype=np.float64).reshape(-1, 3), requirements=["C", "W"])
        if len(at) != self.size or not np.isfinite(at).all():
            raise BadInput(f"positions of shape {np.shape(x)} arrived; ({self.size}, 3) finite numbers are needed")
        _, of_face, of_node = self._triangles
        best, face, weights = self._nearest
        kernels.normals(at, self.faces, of_face, of_node)
        kernels.sort_nodes(at, self.query, *self._grid)
        reach = max(self.penalty.onset, self.penalty.deepest)
        kernels.nearest(at, self.query, self._triangles, self._grid, reach, self.facing, self._excluded, self._nearest)
        reached = np.flatnonzero(face >= 0)
        corners = self.faces[face[reached]]
        b = weights[reached]
        offset = at[self.query[reached]] - np.einsum("ka,kai->ki", b, at[corners])
        outwards = np.einsum("ka,kai->ki", b, of_node[corners])
        distance = np.sqrt(best[reached])
        sign = np.where((offset * outwards).sum(axis=1) < 0.0, -1.0, 1.0)
        clear = distance > 1e-12
        normal = np.where(clear[:, None], (sign / np.where(clear, distance, 1.0))[:, None] * offset, of_face[face[reached]])
        return reached, normal, sign * distance

    def _settle(self, X: Array) -> int:
        """Onsets below the gaps at rest; how many nodes overlap at rest."""
        reached, _, gap = self._gaps(X)
        near = gap < self.penalty.onset
        self.onset[reached[near]] = np.maximum(0.8 * gap[near], 1e-9)
        overlapping = reached[gap <= 0.0]
        self.area[overlapping] = 0.0
        return len(overlapping)


def surface_triangles(mesh: TetMesh) -> Indices:
    """The surface as flat triangles (f, 3): boundary faces, each of a quadratic mesh cut into four at its middle nodes."""
    faces = boundary_faces(mesh)
    if mesh.order == 1:
        return np.ascontiguousarray(faces)
    cut = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
    return np.ascontiguousarray(faces[:, cut].reshape(-1, 3))


def _neighbours(mesh: TetMesh, query: Indices, faces: Indices, rings: int) -> kernels.Excluded:
    """For each query node the sorted triangles it never collides with."""
    n, (m, k) = len(mesh.nodes), mesh.cells.shape
    of_cell = csr_array((np.ones(m * k, dtype=np.int32), mesh.cells.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n))
    near = csr_array((np.ones(len(query), dtype=np.int32), query, np.arange(len(query) + 1)), shape=(len(query), n))
    for _ in range(rings):
        near = csr_array(near @ of_cell.T @ of_cell)
        near.data[:] = 1
    f = len(faces)
    of_face = csr_array((np.ones(3 * f, dtype=np.int32), faces.ravel(), np.arange(0, 3 * f + 1, 3)), shape=(f, n))
    touched = csr_array(near @ of_face.T)
    touched.sort_indices()
    return kernels.Excluded(touched.indptr.astype(np.int64), touched.indices.astype(np.int64))
