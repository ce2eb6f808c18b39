"""An elastic piece in world coordinates: forces, effective stiffness, and its elimination onto a few interface quantities.

The nodes stand at x (n, 3) in the world; displacement u = x - X from the rest positions X of the piece's own frame, so that grad u
holds the turn of the piece too (the energy does not mind). What the constraints see of x are means with fixed weights S (n, k):

    Y = S' x  (k, 3)     for each interface its centroid (weights w) and the three columns of A (weights m): four rows

With the effective stiffness A = a M + b D + K (mass, damping, stiffness), a Newton step has dx = A^-1 (r - S q) for the residual r
and forces q (k, 3) on the means, and dY = S' A^-1 r - W q with W = (S x I)' A^-1 (S x I), k blocks of three. The factors of A and W
are kept while they serve. Where the piece has turned since, its stiffness has turned with it: with T the turn of every node's
neighbourhood since the factorization (one turn for all nodes of an interface), A^-1 = T A_f^-1 T' is applied instead, exact for a
rigid turn and good for bending, so that a bent rod needs new factors far less often.

In statics A = K alone has the six rigid motions as null space. Three nodes far apart are then held by springs that enter A and are
taken out again exactly: their motions t are three more means, on which forces - spring t act (unknowns of the small system).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bunraku.arrays import Array, Indices
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.mechanics.full_order import turn_kernels as kernels
from bunraku.mechanics.full_order.description import ElasticPiece
from bunraku.optimization.linear import EliminationPlan, Factorization, NotFactorizable, analyse


@dataclass(frozen=True)
class Eliminated:
    """A factorized effective stiffness: ``Z`` (3 n, 3 k) = A^-1 (S x I), ``W`` (3 k, 3 k).

    ``gradients`` (n, 3, 3): mean deformation gradient about each node when it was made. ``spring`` [N/m]: stiffness of the springs
    in it that are to be taken out again (0: none).
    """

    factor: Factorization
    Z: Array
    W: Array
    gradients: Array
    spring: float


@dataclass(frozen=True)
class Turns:
    """How a piece has turned since its factorization: about each node (n, 3, 3), and of each mean (k, 3, 3)."""

    nodes: Array
    means: Array


@dataclass(frozen=True)
class PieceForces:
    """Elastic and damping force (n, 3) [N] on the side that resists, at x and v."""

    elastic: Array
    damping: Array


class WorldPiece:
    """A piece ready for stepping; ``bodies`` are the numbers of the bodies at its interfaces."""

    def __init__(self, piece: ElasticPiece, bodies: Indices, gravity: Array) -> None:
        self.piece, self.solid, self.bodies = piece, piece.solid, bodies
        solid: ElasticSolid = piece.solid
        self.X = solid.mesh.nodes
        interfaces = [held.interface for held in piece.held]
        self.pins = _far_apart(self.X, interfaces[0].nodes)
        self.S = np.zeros((solid.nodes, 4 * len(interfaces) + 3))
        for k, interface in enumerate(interfaces):
            self.S[interface.nodes, 4 * k] = interface.weights
            self.S[interface.nodes, 4 * k + 1 : 4 * k + 4] = interface.moments
        self.S[self.pins, 4 * len(interfaces) + np.arange(3)] = 1.0
        self.support = np.flatnonzero(np.any(self.S != 0.0, axis=1))
        self.means = 4 * len(interfaces)
        self.weight = solid.weight(gravity).reshape(-1, 3)
        self.mass = _scalar_mass(solid)
        self.damped = solid.material.strain_damping > 0.0
        self._plan: EliminationPlan | None = None
        self.patches = [interface.nodes for interface in interfaces]
        self._group = np.full(solid.nodes, -1, dtype=np.int64)
        for k, nodes in enumerate(self.patches):
            self._group[nodes] = k
        self._cells = solid.mesh.cells
        self._mean_gradients = np.ascontiguousarray(solid.gradients.mean(axis=1).transpose(0, 2, 1))
        m, k = self._cells.shape
        count = np.bincount(self._cells.ravel(), minlength=solid.nodes)
        places = (1.0 / count[self._cells.ravel()], (self._cells.ravel(), np.repeat(np.arange(m), k)))
        self._neighbours = csr_array(places, shape=(solid.nodes, m))
        self.extent = float(np.ptp(self.X, axis=0).max())

    @property
    def name(self) -> str:
        """The name of the piece."""
        return self.piece.name

    def forces(self, x: Array, v: Array | None) -> PieceForces:
        """The forces at positions x and velocities v (n, 3); no damping without v. Raises Collapsed."""
        u = x - self.X
        elastic = self.solid.force(u).reshape(-1, 3)
        damping = np.zeros_like(x) if v is None or not self.damped else self.solid.damping_force(u, v).reshape(-1, 3)
        return PieceForces(elastic, damping)

    def mean_values(self, x: Array) -> Array:
        """Y (k, 3) at x, interfaces only."""
        return np.asarray(self.S[self.support, : self.means].T @ x[self.support])

    def spread(self, q: Array) -> Array:
        """S q (n, 3): nodal forces of forces q (k, 3) on the means of the interfaces."""
        out = np.zeros((len(self.S), 3))
        out[self.support] = self.S[self.support, : self.means] @ q
        return out

    def eliminate(self, x: Array, mass: float, rate: float, *, velocity: Array | None = None, definite: bool = False) -> Eliminated:
        """Factorize A = mass M + rate D + K at x. Without mass, springs hold it. ``definite``: refuse a matrix that is not.

        Without ``velocity`` damping enters as beta K, which it is at small strain and in slow motion (Newton's matrix only; the
        residual has it exactly); with it, its exact derivatives by velocities and positions. Raises Collapsed and NotFactorizable.
        """
        u = x - self.X
        data, spring = self.solid.force_and_stiffness(u)[1].data, 0.0
        exact = velocity is not None and self.damped
        if velocity is not None and self.damped:
            _, by_v, by_u = self.solid.damping(u, velocity)
            data = data + rate * by_v.data + by_u.data
        else:
            data = (1.0 + rate * self.solid.material.strain_damping) * data
        if mass > 0.0:
            data = data + mass * self.solid.mass.data
        else:
            data, spring = self._with_springs(data)
        matrix = self.solid.pattern.matrix(data)
        if self._plan is None:
            self._plan = analyse(matrix)
        try:
            factor = self._plan.factorize(matrix, definite=not exact)
        except NotFactorizable:
            if definite:
                raise
            factor = self._plan.factorize(matrix)
        count = self.means if spring == 0.0 else self.S.shape[1]
        Z = factor.solve(np.kron(self.S[:, :count], np.eye(3)))
        W = np.einsum("nk,njm->kjm", self.S[self.support, :count], Z.reshape(-1, 3, 3 * count)[self.support])
        return Eliminated(factor, Z, W.reshape(3 * count, 3 * count), self._gradients(x), spring)

    def turns(self, kept: Eliminated, x: Array) -> Turns:
        """How the piece has turned since ``made``, at x; no turn at all where that is not well defined."""
        T = np.empty((len(self.X), 3, 3))
        far = kernels.relative_turns(self._gradients(x), kept.gradients, self._group, T)
        if not far < 1e-6:  # torn or collapsed somewhere: no turn is as good as any
            T[:] = np.eye(3)
        k = kept.W.shape[0] // 3
        means = np.array([T[nodes[0]] for nodes in self.patches for _ in range(4)])
        pins = np.broadcast_to(means[0], (k - self.means, 3, 3))
        return Turns(T, np.concatenate([means, pins]))

    def _gradients(self, x: Array) -> Array:
        """The deformation gradient (n, 3, 3) about each node: the mean over its cells."""
        F = x[self._cells].transpose(0, 2, 1) @ self._mean_gradients
        return np.asarray((self._neighbours @ F.reshape(-1, 9)).reshape(-1, 3, 3))

    def _with_springs(self, data: Array) -> tuple[Array, float]:
        pattern = self.solid.pattern
        data = data.copy()
        rows = (3 * self.pins[:, None] + np.arange(3)).ravel()
        places = [
            pattern.indptr[r] + int(np.searchsorted(pattern.indices[pattern.indptr[r] : pattern.indptr[r + 1]], r)) for r in rows
        ]
        spring = float(np.median(np.abs(data[places])))
        data[places] += spring
        return data, spring

    def solved(self, kept: Eliminated, r: Array, turns: Turns) -> tuple[Array, Array, Array]:
        """A^-1 r (n, 3), its means (3 k,), and W (3 k, 3 k); with springs, the pins' means too."""
        local = np.einsum("nij,ni->nj", turns.nodes, r)
        free = np.einsum("nij,nj->ni", turns.nodes, kept.factor.solve(local.ravel()).reshape(-1, 3))
        k = kept.W.shape[0] // 3
        y = self.S[self.support, :k].T @ free[self.support]
        W = turns.means[:, None] @ kept.W.reshape(k, 3, k, 3).transpose(0, 2, 1, 3) @ turns.means[None].transpose(0, 1, 3, 2)
        return free, y.ravel(), W.transpose(0, 2, 1, 3).reshape(3 * k, 3 * k)

    def moved(self, kept: Eliminated, q: Array, turns: Turns) -> Array:
        """A^-1 S q (n, 3) for forces q (k, 3) on the means."""
        local = kept.Z @ np.einsum("kij,ki->kj", turns.means, q).ravel()
        return np.einsum("nij,nj->ni", turns.nodes, local.reshape(-1, 3))


def _scalar_mass(solid: ElasticSolid) -> csr_array:
    """The mass matrix between nodes (n, n): that of the solid without its unit blocks."""
    return csr_array(solid.mass[::3, ::3])


def _far_apart(X: Array, nodes: Indices) -> Indices:
    """Three nodes of a patch that are far apart and not in a line."""
    points = X[nodes]
    first = int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))
    second = int(np.argmax(np.linalg.norm(points - points[first], axis=1)))
    line = points[second] - points[first]
    third = int(np.argmax(np.linalg.norm(np.cross(points - points[first], line), axis=1)))
    return np.asarray(nodes[[first, second, third]], dtype=np.int64)
