"""Interfaces: where a rigid body holds an elastic solid. The mean position and mean rotation of a patch of its surface.

With x = X + u on the patch, area A, rest centroid c0 and d = X - c0, both are integrals over the (curved) patch and linear in the
nodes:

    c(u) = 1/A int x dA = sum_a w_a x_a                             w_a = 1/A int N_a dA
    A(u) = (int x d' dA) (int d d' dA)^+ = sum_a x_a m_a'           m_a = (int d d' dA)^+ int N_a d dA
    R(u) = the rotation for which A R' is symmetric, nearest to A

The pseudo-inverse ^+ serves flat patches: with normal n, A(0) = I - n n', and the rotation is determined all the same. Derivative
of R (from flat or full A): with Q = A R', omega = (tr(Q) I - Q)^-1 ax(dA R'), ax(M) = (M32 - M23, M13 - M31, M21 - M12), dR =
[omega]x R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.rotations import nearest_rotation
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.geometry.tetrahedra import triangle_gradients, triangle_rule, triangle_values


@dataclass(frozen=True)
class Interface:
    """A named patch of the surface: its nodes (k,), their area weights w (k,) and moment weights m (k, 3) [1/m].

    ``rest`` (k, 3) are the nodes' rest positions; ``area`` [m^2], ``centroid`` (3,) and the mean outward ``normal`` (3,) are
    those at rest.
    """

    name: str
    nodes: NDArray[np.int64]
    weights: Array
    moments: Array
    rest: Array
    area: float
    centroid: Array
    normal: Array

    @property
    def unknowns(self) -> NDArray[np.int64]:
        """The places (3 k,) of the interface's displacements among those of the solid."""
        places: NDArray[np.int64] = (3 * self.nodes[:, None] + np.arange(3)).ravel()
        return places

    def position(self, u: ArrayLike) -> Array:
        """The mean position c (3,) [m] at displacements u (3 n,) of the solid."""
        return np.asarray(self.weights @ self._points(u))

    def stretch(self, u: ArrayLike) -> Array:
        """The mean deformation A (3, 3) of the patch."""
        return np.asarray(self._points(u).T @ self.moments)

    def rotation(self, u: ArrayLike) -> Array:
        """The mean rotation R (3, 3) from rest: the polar rotation of A."""
        return nearest_rotation(self.stretch(u))

    def jacobian(self, u: ArrayLike) -> Array:
        """B (6, 3 k): angular velocity [rad/s], then velocity of the centroid, from the velocities at :attr:`unknowns`.

        World axes.
        """
        R = self.rotation(u)
        Q = self.stretch(u) @ R.T
        turned = self.moments @ R.T
        axial: Array = np.zeros((3, len(self.nodes), 3))
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            axial[i, :, k] = turned[:, j]
            axial[i, :, j] = -turned[:, k]
        angular = np.linalg.solve(np.trace(Q) * np.eye(3) - Q, axial.reshape(3, -1))
        return np.vstack([angular, np.kron(self.weights, np.eye(3))])

    def load(self, u: ArrayLike, *, force: ArrayLike = (0.0, 0.0, 0.0), moment: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Nodal loads (3 n,) that do the work of a force [N] at the centroid and a moment [N·m] on the mean rotation.

        B' (moment, force).
        """
        loads = np.zeros(np.size(np.asarray(u)))
        loads[self.unknowns] = np.concatenate([np.asarray(moment, float), np.asarray(force, float)]) @ self.jacobian(u)
        return loads

    def _points(self, u: ArrayLike) -> Array:
        return self.rest + np.asarray(u, dtype=np.float64).reshape(-1, 3)[self.nodes]


def make_interface(mesh: TetMesh, patch: str) -> Interface:
    """The interface on a named patch of a mesh."""
    faces = mesh.faces(patch)
    if not len(faces):
        raise BadInput(f"patch {patch!r} has no face; an interface needs some area")
    points, weights = triangle_rule(2 if mesh.order == 1 else 8)
    N, dN = triangle_values(mesh.order, points), triangle_gradients(mesh.order, points)
    X = mesh.nodes[faces]
    tangent = np.einsum("fai,qaj->fqij", X, dN)
    normals = np.cross(tangent[..., 0], tangent[..., 1])
    dA = np.linalg.norm(normals, axis=-1) * weights
    x = np.einsum("fai,qa->fqi", X, N)
    area = float(dA.sum())
    c0 = np.einsum("fq,fqi->i", dA, x) / area
    d = x - c0
    nodes, place = np.unique(faces, return_inverse=True)
    place = np.asarray(place).reshape(faces.shape)
    w, first = np.zeros(len(nodes)), np.zeros((len(nodes), 3))
    np.add.at(w, place, np.einsum("fq,qa->fa", dA, N) / area)
    np.add.at(first, place, np.einsum("fq,qa,fqi->fai", dA, N, d))
    second = np.einsum("fq,fqi,fqj->ij", dA, d, d)
    normal = np.einsum("fqi,q->i", normals, weights)
    size = float(np.linalg.norm(normal))
    normal = normal / size if size > 1e-9 * area else np.zeros(3)
    return Interface(
        patch, nodes, w, first @ np.linalg.pinv(second, rcond=1e-9, hermitian=True), mesh.nodes[nodes], area, c0, normal
    )
