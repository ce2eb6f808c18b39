"""Cubature of a Neo-Hookean part: a few cells with weights stand for all of them in the reduced force and stiffness.

    f(u) = sum_e Phi_e' f_e(Phi u)  ~  sum_(e chosen) w_e Phi_e' f_e(Phi u),    w_e > 0

The weights make the reduced forces of training states right in the sense of least squares, measured in the compliance at rest
(f' K^-1 f is an energy; bare forces would be all about the stiff shapes, whose forces cancel), and so the stiffness at rest, on
which the frequencies depend. Cells are added where the residual asks most for them, the weights found by non-negative least
squares. For strains above 2 %, where the polynomial strain of :mod:`strain` (exact for St. Venant-Kirchhoff) no longer is the
material.

In the tree, f and d f/d u take the places of J's and J'J + s.Q of a segment; all they need are the arrays of :class:`Cubature`
(cells over local nodes, gradients, quadrature weights times w, Lame's numbers, shapes at the local nodes), all constant:
displacements of the local nodes by one product, the kernels of the solid, one product back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic import tetrahedra_kernels as kernels
from bunraku.mechanics.elastic.material import MODELS
from bunraku.mechanics.elastic.pattern import BlockPattern, block_pattern
from bunraku.mechanics.elastic.reduction.strain import displacement_gradients, scaled_strain
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cubature:
    """The ``chosen`` cells (m,) with ``weights`` (m,), and what remained of the training forces (relative).

    ``cells`` (m, k) over local nodes, ``gradients`` (m, q, 3, k), ``measures`` (m, q) (quadrature weights times w), ``shapes``
    (r, local nodes, 3).
    """

    chosen: Indices
    weights: Array
    residual: float
    model: int
    lame: tuple[Array, Array]
    cells: Indices
    gradients: Array
    measures: Array
    shapes: Array

    @cached_property
    def pattern(self) -> BlockPattern:
        """The pattern of the local stiffness."""
        return block_pattern(self.cells, self.shapes.shape[1])

    def energy(self, u: ArrayLike) -> float:
        """The elastic energy [J] at modal coordinates u (r,); infinite when a chosen cell has collapsed."""
        x = self._local(u)
        return float(kernels.forces(*self._arrays, x, np.zeros_like(x))[0])

    def force(self, u: ArrayLike) -> Array:
        """The modal elastic force (r,). Raises Collapsed."""
        x = self._local(u)
        f = np.zeros_like(x)
        _, cell = kernels.forces(*self._arrays, x, f)
        if cell >= 0:
            raise Collapsed(int(self.chosen[cell]))
        return np.asarray(self.shapes.reshape(len(self.shapes), -1) @ f.ravel())

    def force_and_stiffness(self, u: ArrayLike) -> tuple[Array, Array]:
        """The modal elastic force (r,) and its derivative (r, r). Raises Collapsed."""
        x, data = self._local(u), self.pattern.zeros()
        f = np.zeros_like(x)
        _, cell = kernels.tangents(*self._arrays, x, self.pattern.slot, self.pattern.start, f, data)
        if cell >= 0:
            raise Collapsed(int(self.chosen[cell]))
        flat = self.shapes.reshape(len(self.shapes), -1)
        return flat @ f.ravel(), flat @ np.asarray(self.pattern.matrix(data) @ flat.T)

    @property
    def _arrays(self) -> tuple[int, Array, Array, Indices, Array, Array]:
        return self.model, *self.lame, self.cells, self.gradients, self.measures

    def _local(self, u: ArrayLike) -> Array:
        x = np.asarray(u, dtype=np.float64)
        if x.shape != (len(self.shapes),):
            raise BadInput(f"the modal coordinates have shape {x.shape}; ({len(self.shapes)},) is needed")
        return np.ascontiguousarray(np.tensordot(x, self.shapes, axes=1))


def cell_forces(solid: ElasticSolid, shapes: Array, states: Array) -> Array:
    """The modal forces (s, r, m) of every one of the m cells at modal states (s, r). Raises Collapsed."""
    grads = displacement_gradients(solid, shapes)
    r, m, q = grads.shape[:3]
    flat = grads.reshape(r, m * q, 9)
    lam, mu = solid.material.lame
    result = np.empty((len(states), r, m))
    for row, u in enumerate(states):
        H = np.ascontiguousarray(np.tensordot(u, flat, axes=1).reshape(-1, 3, 3))
        energy, P = kernels.stresses(MODELS[solid.material.model], lam, mu, H)
        if not np.isfinite(energy).all():
            raise Collapsed(int(np.argmin(np.isfinite(energy))) // q)
        work = np.einsum("ni,rni->rn", P.reshape(-1, 9), flat)
        result[row] = (work.reshape(r, m, q) * solid.weights).sum(axis=2)
    return result


def make_cubature(
    solid: ElasticSolid, shapes: ArrayLike, states: ArrayLike, *, tolerance: float = 1e-3, max_cells: int = 300, batch: int = 4
) -> Cubature:
    """Choose cells and weights for shapes (r, 3 n) from training ``states`` (s, r), until the residual is below ``tolerance``."""
    phi, u = np.asarray(shapes, dtype=np.float64), np.atleast_2d(np.asarray(states, dtype=np.float64))
    if phi.ndim != 2 or phi.shape[1] != solid.size or u.shape[1] != len(phi) or not np.isfinite(u).all():
        raise BadInput(
            f"shapes {phi.shape} and states {u.shape} do not fit; (r, {solid.size}) and (s, r) finite numbers are needed"
        )
    K = phi @ np.asarray(solid.stiffness() @ phi.T)
    root = np.linalg.cholesky(0.5 * (K + K.T))
    forces = np.linalg.solve(root, cell_forces(solid, phi, u))
    sizes = np.linalg.norm(forces.sum(axis=2), axis=1)
    moved = sizes > 0.0
    if not moved.any():
        raise BadInput("all training states of a cubature are at rest; give states that are bent")
    columns = (forces[moved] / sizes[moved, None, None]).reshape(-1, forces.shape[2])
    unit = np.asarray(np.linalg.solve(root, phi), dtype=np.float64)
    columns = np.vstack([columns, np.sqrt(moved.sum() / len(phi)) * _rest_stiffness(solid, unit)])
    chosen, weights, residual = _greedy(columns, columns.sum(axis=1), tolerance, max_cells, batch)
    nodes, place = np.unique(solid.mesh.cells[chosen], return_inverse=True)
    cells = np.asarray(place, dtype=np.int64).reshape(len(chosen), -1)
    lame = solid.lame[0][chosen].copy(), solid.lame[1][chosen].copy()
    local = np.ascontiguousarray(phi.reshape(len(phi), -1, 3)[:, nodes])
    measures = np.ascontiguousarray(solid.weights[chosen] * weights[:, None])
    gradients = np.ascontiguousarray(solid.gradients[chosen])
    return Cubature(chosen, weights, residual, MODELS[solid.material.model], lame, cells, gradients, measures, local)


def _rest_stiffness(solid: ElasticSolid, shapes: Array) -> Array:
    """Rows (r (r + 1) / 2, m): the stiffness at rest of every cell, over pairs of shapes; those of different ones count twice."""
    H = displacement_gradients(solid, shapes)
    lam, mu = (part[:, None] for part in solid.lame)
    y = scaled_strain(lam, mu, solid.weights, 0.5 * (H + H.swapaxes(-1, -2))).reshape(len(shapes), H.shape[1], -1)
    a, b = np.triu_indices(len(shapes))
    return np.asarray(np.where(a == b, 1.0, np.sqrt(2.0))[:, None] * np.einsum("pex,pex->pe", y[a], y[b]))


def _greedy(columns: Array, target: Array, tolerance: float, limit: int, batch: int) -> tuple[Indices, Array, float]:
    """Few columns with positive weights whose sum is the target: cells with weights, and the relative residual."""
    lengths = np.linalg.norm(columns, axis=0)
    unit = columns / np.where(lengths > 0.0, lengths, 1.0)
    chosen: list[int] = []
    weights, rest, whole = np.zeros(0), target, float(np.linalg.norm(target))
    while len(chosen) < min(limit, columns.shape[1]) and np.linalg.norm(rest) > tolerance * whole:
        asks = unit.T @ rest
        asks[chosen] = -np.inf
        new = [int(i) for i in np.argsort(-asks)[:batch] if asks[i] > 0.0]
        if not new:
            break
        chosen += new
        weights, _ = nnls(columns[:, chosen], target, maxiter=30 * len(chosen))
        chosen = [cell for cell, weight in zip(chosen, weights, strict=True) if weight > 0.0]
        weights = weights[weights > 0.0]
        rest = target - columns[:, chosen] @ weights
    return np.array(chosen, dtype=np.int64), weights, float(np.linalg.norm(rest)) / whole
