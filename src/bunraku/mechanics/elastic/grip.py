"""How a rigid body holds an elastic part: the six conditions at its base interface, and linear systems solved under them.

With the part's displacements u in the body's frame, the mean displacement and the mean rotation of the base interface are zero,
which is linear in u (the interface itself may deform: no node is clamped):

    C u = 0:    sum_a w_a u_a = 0,    l ax(sum_a u_a m_a') = 0       ax(M) = (M32 - M23, M13 - M31, M21 - M12)

(weights w_a, m_a of the interface; l, the root of its area, gives all rows one unit). To solve

    K u + C' lambda = b,    C u = 0

six displacements p of base nodes that hold the part without stress are taken out; what is left of K (free f) is as banded as K
and positive definite where the part is stable. Displacements u_p and lambda then follow from a system of twelve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lu_factor, lu_solve, qr
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.linear import EliminationPlan, Factorization, NotFactorizable, analyse


def rigid_motions(points: ArrayLike, about: ArrayLike) -> Array:
    """The small rigid motions (3 n, 6) of points (n, 3): turns about x, y, z through ``about`` (3,), then translations."""
    d = np.asarray(points, dtype=np.float64) - np.asarray(about, dtype=np.float64)
    motions = np.zeros((len(d), 3, 6))
    for i in range(3):
        motions[:, :, i] = np.cross(np.eye(3)[i], d)
        motions[:, i, 3 + i] = 1.0
    return motions.reshape(-1, 6)


class Grip:
    """The conditions C u = 0 of an interface of a solid, analysed once for all its matrices."""

    def __init__(self, solid: ElasticSolid, base: Interface) -> None:
        self.solid, self.base = solid, base
        n, k = solid.size, len(base.nodes)
        rows = np.zeros((6, k, 3))
        size = float(np.sqrt(base.area))
        for i in range(3):
            j, m = (i + 1) % 3, (i + 2) % 3
            rows[i, :, m], rows[i, :, j] = size * base.moments[:, j], -size * base.moments[:, m]
            rows[3 + i, :, i] = base.weights
        self.conditions = np.zeros((6, n))
        self.conditions[:, base.unknowns] = rows.reshape(6, -1)
        motions = rigid_motions(base.rest, base.centroid)
        motions[:, :3] /= size
        self.pins: NDArray[np.int64] = np.sort(base.unknowns[qr(motions.T, mode="r", pivoting=True)[1][:6]])
        free = np.ones(n, dtype=bool)
        free[self.pins] = False
        self._plan: EliminationPlan = analyse(solid.pattern.matrix(solid.pattern.zeros()), free=free)

    def violation(self, u: ArrayLike) -> float:
        """The largest |C u| [m]."""
        return float(np.abs(self.conditions @ np.asarray(u, dtype=np.float64)).max())

    def factorize(self, K: csr_array) -> GripFactor:
        """Factorise the solid's stiffness under the conditions. Raises NotFactorizable where it is singular."""
        try:
            return GripFactor(self, self._plan.factorize(K, definite=True), K, True)
        except NotFactorizable:
            return GripFactor(self, self._plan.factorize(K), K, False)


class GripFactor:
    """A stiffness factorised under the conditions of a grip. ``stable``: it was positive definite."""

    def __init__(self, grip: Grip, factor: Factorization, K: csr_array, stable: bool) -> None:
        self.stable, self._factor, self._pins = stable, factor, grip.pins
        C = grip.conditions
        held = np.zeros((len(grip.pins), C.shape[1]))
        held[np.arange(6), grip.pins] = 1.0
        self._border = np.hstack([K @ held.T, C.T])
        self._answer = factor.solve(self._border)
        small = np.zeros((12, 12))
        small[:6, :6], small[:6, 6:], small[6:, :6] = self._border[grip.pins, :6], C[:, grip.pins].T, C[:, grip.pins]
        small -= self._border.T @ self._answer
        scale = np.ones(12)
        for _ in range(4):
            scale /= np.sqrt(np.abs(scale[:, None] * small * scale).max(axis=1))
        self._scale, self._small = scale, lu_factor(scale[:, None] * small * scale)

    def solve(self, b: ArrayLike) -> Array:
        """The displacements u (3 n,) or (3 n, m) with K u + C' lambda = b and C u = 0."""
        given = np.asarray(b, dtype=np.float64)
        load = given.reshape(len(given), -1)
        u = self._factor.solve(load)
        right = -(self._border.T @ u)
        right[:6] += load[self._pins]
        z = self._scale[:, None] * lu_solve(self._small, self._scale[:, None] * right)
        u -= self._answer @ z
        u[self._pins] = z[:6]
        return u.reshape(given.shape)
