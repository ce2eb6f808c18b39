"""Cubature of a Neo-Hookean part: a few cells with weights stand for all of them in the reduced force and stiffness.

    f(u) = sum_e Phi_e' f_e(Phi u)  ~  sum_(e chosen) w_e Phi_e' f_e(Phi u),    w_e > 0

The weights make the reduced forces of training states right in the sense of least squares, measured in the compliance at rest
(f' K^-1 f is an energy; bare forces would be all about the stiff shapes, whose forces cancel), and so the stiffness at rest, on
which the frequencies depend. Cells are added where the residual asks most for them, the weights found by non-negative least
squares. For strains above 2 %, where the polynomial strain of :mod:`strain` (exact for St. Venant-Kirchhoff) no longer is the
material.

In the segment the quadrature points of the chosen cells take the place of s.s/2; inertia, interfaces and the strains, which the
damping needs and which are exact for the strain rate of any material, stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.flexible.segment import NeoHookeanPoints
from bunraku.mechanics.elastic import tetrahedra_kernels as kernels
from bunraku.mechanics.elastic.material import MODELS
from bunraku.mechanics.elastic.reduction.basis import Workbench
from bunraku.mechanics.elastic.reduction.loaded import load_reduced
from bunraku.mechanics.elastic.reduction.reduce import Reduction
from bunraku.mechanics.elastic.reduction.strain import displacement_gradients, scaled_strain
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid

SOFT = 0.02
"""The strain above which a Neo-Hookean part gets cubature: the polynomial strain departs from it in proportion to the strain."""
STATES = 24
"""States a cubature is trained on."""
TOLERANCE = 2e-3
"""What may remain of the training forces, in the norm of the compliance."""
CELLS = 200
"""The most cells that are taken."""
BATCH = 4
"""Cells added at a time."""


@dataclass(frozen=True, eq=False)
class Cubature:
    """The ``chosen`` cells (m,) with ``weights`` (m,), what remained of the training forces (relative), their weighed points."""

    chosen: Indices
    weights: Array
    residual: float
    points: NeoHookeanPoints


def with_cubature(bench: Workbench, reduction: Reduction, loads: Sequence[Array]) -> Reduction:
    """The reduction with cubature trained under the ``loads`` (3 n,); its note says how many cells it has."""
    solid = bench.solid
    cubature = make_cubature(solid, reduction.shapes, training_states(bench, reduction, loads))
    note = (
        f"{reduction.note}; Neo-Hookean cubature of {len(cubature.chosen)} of {len(solid.mesh.cells)} cells "
        f"(training forces within {cubature.residual:.1e})"
    )
    return replace(reduction, segment=replace(reduction.segment, points=cubature.points), note=note)


def training_states(bench: Workbench, reduction: Reduction, loads: Sequence[Array]) -> Array:
    """Modal states (s, r) at rest under the ``loads`` (3 n,), their opposites and mixtures that bend the part as far as these.

    Mixtures are random, of the loads and accelerations along x, y and z.
    """
    rng = np.random.default_rng(0)
    sources = np.vstack([*loads, bench.gravity_loads])
    answers = bench.factor.solve(np.ascontiguousarray(sources.T)).T
    reach = np.linalg.norm(answers.reshape(len(sources), -1, 3), axis=2).max(axis=1)
    far = float(reach[: len(loads)].max())
    mixed = [sign * load for load in loads for sign in (1.0, -1.0)]
    while len(mixed) < STATES:
        c = rng.uniform(-1.0, 1.0, len(sources)) * np.minimum(1.0, far / reach)
        bent = float(np.linalg.norm((c @ answers).reshape(-1, 3), axis=1).max())
        mixed.append(min(1.0, far / bent) * c @ sources)
    solid, shapes, segment = bench.solid, reduction.shapes, replace(reduction.segment, points=None)
    states = [load_reduced(solid, segment, shapes, load, (), count=1).u for load in mixed]
    return np.array([u for u in states if np.any(u) and np.isfinite(solid.energy(u @ shapes))])


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


def make_cubature(solid: ElasticSolid, shapes: ArrayLike, states: ArrayLike, *, tolerance: float = TOLERANCE) -> Cubature:
    """Choose cells and weights for shapes (r, 3 n) from training ``states`` (s, r), until the residual is below ``tolerance``."""
    if solid.material.model != "neo-hookean":
        raise BadInput("only a Neo-Hookean part has points; the strains of a St. Venant-Kirchhoff part are exact without them")
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
    chosen, weights, residual = _greedy(columns, columns.sum(axis=1), tolerance)
    local = phi.reshape(len(phi), -1, 3)[:, solid.mesh.cells[chosen]]
    G = np.einsum("reki,eqjk->eqrij", local, solid.gradients[chosen], optimize=True)
    lame = np.column_stack([np.repeat(part[chosen], G.shape[1]) for part in solid.lame])
    measures = (solid.weights[chosen] * weights[:, None]).ravel()
    points = NeoHookeanPoints(measures, lame, np.ascontiguousarray(G.reshape(-1, *G.shape[2:])))
    return Cubature(chosen, weights, residual, points)


def _rest_stiffness(solid: ElasticSolid, shapes: Array) -> Array:
    """Rows (r (r + 1) / 2, m): the stiffness at rest of every cell, over pairs of shapes; those of different ones count twice."""
    H = displacement_gradients(solid, shapes)
    lam, mu = (part[:, None] for part in solid.lame)
    y = scaled_strain(lam, mu, solid.weights, 0.5 * (H + H.swapaxes(-1, -2))).reshape(len(shapes), H.shape[1], -1)
    a, b = np.triu_indices(len(shapes))
    return np.asarray(np.where(a == b, 1.0, np.sqrt(2.0))[:, None] * np.einsum("pex,pex->pe", y[a], y[b]))


def _greedy(columns: Array, target: Array, tolerance: float) -> tuple[Indices, Array, float]:
    """Few columns with positive weights whose sum is the target: cells with weights, and the relative residual."""
    lengths = np.linalg.norm(columns, axis=0)
    unit = columns / np.where(lengths > 0.0, lengths, 1.0)
    chosen: list[int] = []
    weights, rest, whole = np.zeros(0), target, float(np.linalg.norm(target))
    while len(chosen) < min(CELLS, columns.shape[1]) and np.linalg.norm(rest) > tolerance * whole:
        asks = unit.T @ rest
        asks[chosen] = -np.inf
        new = [int(i) for i in np.argsort(-asks)[:BATCH] if asks[i] > 0.0]
        if not new:
            break
        chosen += new
        weights, _ = nnls(columns[:, chosen], target, maxiter=30 * len(chosen))
        chosen = [cell for cell, weight in zip(chosen, weights, strict=True) if weight > 0.0]
        weights = weights[weights > 0.0]
        rest = target - columns[:, chosen] @ weights
    return np.array(chosen, dtype=np.int64), weights, float(np.linalg.norm(rest)) / whole
