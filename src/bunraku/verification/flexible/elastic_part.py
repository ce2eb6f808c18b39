"""A flexible part of any shape in few coordinates, assembled by scikit-fem: the foreign elasticity of the judge.

From our side come the nodes and cells of the part's mesh and the numbers of its material; stiffness, mass and stresses are
scikit-fem's, linear elasticity on curved quadratic tetrahedra. After Craig and Bampton (1968) the displacement of the part, in the
frame of its base, is u(x) = Phi(x) y: for each body that it carries the six moves of the patch that holds it, with everything
else as statics has it, then the slowest modes with every patch held. Slender parts shorten as they bend, and stiffen under load:
with the stresses S_k of a unit force along axis k of a carried body,

    V(y) = 1/2 e' K e,    e = y + 1/2 sum_k 1_k y' G_k y,    G_k[a, b] = int S_k : (grad Phi_a' grad Phi_b) dV,

the forces K e then act through G as they do on a beam-column (Wallrapp and Schwertassek 1991, geometric stiffening). Inertia is
that of the moving points r = x + Phi y about the base, from the integrals of all products of x and Phi.

Why this and not the flexes of MuJoCo 4.0: their linear tetrahedra bend at 2.8, 2.0 and 1.4 times the frequency of a cantilever of
15 x 2 x 1, 30 x 4 x 1 and 60 x 4 x 2 bricks, at steps of 3 us or less: the first two take 7 to 41 s of CPU a second of
motion. These cells are off by 0.1 % with the first mesh, and are stepped at 1 ms
(`benchmarks/which_foreign_elasticity_bends_right.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.poses import NO_MOVE, Rigid
from bunraku.geometry.tet_mesh import TetMesh

MODES = 8
"""Modes with every patch held, beside the moves of the patches."""

MAX_NODES = 60_000
"""Meshes with more nodes are not reduced: their factorization takes minutes."""


class Elasticity(NamedTuple):
    """Young's modulus [Pa], Poisson's ratio, density [kg/m^3] and strain damping beta [s]."""

    young: float
    poisson: float
    density: float
    damping: float

    @property
    def lame(self) -> tuple[float, float]:
        """Lame's constants lambda and mu [Pa]."""
        E, nu = self.young, self.poisson
        return E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 * E / (1.0 + nu)


@dataclass(frozen=True, eq=False)
class ElasticPart:
    """A part in the coordinates y (r,): six of each carried body (moves along, turns about its axes), then modes.

    ``stiffness`` (r, r) with damping ``beta`` [s] times it; ``geometric`` (r, r, r): G_k, zero except for moves along. Fields are x
    and the columns of Phi: ``mass`` [kg], ``first`` (r + 1, 3) their integrals, ``second`` (r + 1, r + 1, 3, 3) those of their
    products, all times density.
    """

    stiffness: Array
    beta: float
    geometric: Array
    mass: float
    first: Array
    second: Array

    @property
    def size(self) -> int:
        """Number of coordinates r."""
        return len(self.stiffness)

    def strain(self, y: Array) -> tuple[Array, Array]:
        """E (r,) and its derivative (r, r) by y."""
        bent = self.geometric @ y
        return y + 0.5 * bent @ y, np.eye(self.size) + bent

    def force(self, y: Array, rate: Array) -> Array:
        """The elastic and damping force (r,) that holds y against its change."""
        e, A = self.strain(y)
        return np.asarray(A.T @ (self.stiffness @ (e + self.beta * (A @ rate))))

    def tangents(self, y: Array) -> tuple[Array, Array]:
        """The derivatives (r, r) of the force by y, at rest, and by its rate."""
        e, A = self.strain(y)
        K = A.T @ self.stiffness @ A
        return K + np.tensordot(self.stiffness @ e, self.geometric, axes=1), self.beta * K


def elastic_part(mesh: TetMesh, material: Elasticity, base: str, carried: Sequence[tuple[str, Rigid]]) -> ElasticPart:
    """The part held at its patch ``base``, whose patches ``carried`` move with bodies that stand at those poses in its frame."""
    if len(mesh.nodes) > MAX_NODES:
        raise BadInput(f"its mesh has {len(mesh.nodes)} nodes; at most {MAX_NODES} are judged")
    if mesh.order != 2:
        raise BadInput("its mesh is of linear cells, which are far too stiff in bending")
    try:
        grid = foreign_grid(mesh)
    except ImportError as error:
        raise BadInput("it is not installed; `pip install scikit-fem`") from error
    K, M = _matrices(grid, material)
    shapes = _shapes(K, M, [_fit(grid, base, NO_MOVE), *(_fit(grid, patch, pose) for patch, pose in carried)])
    stiffness = shapes.T @ (K @ shapes)
    stiffness = 0.5 * (stiffness + stiffness.T)
    geometric = _geometric(stiffness, *_slopes(grid, shapes), material, 6 * len(carried))
    return ElasticPart(stiffness, material.damping, geometric, *_inertia(M, np.hstack([mesh.nodes.reshape(-1, 1), shapes])))


class ForeignGrid(NamedTuple):
    """scikit-fem's mesh of the same curved cells, and its number of each of our nodes."""

    mesh: TetMesh
    cells: Any
    node: Indices

    def basis(self, order: int, *, vector: bool = False) -> tuple[Any, Array]:
        """Quadratic shape functions integrated to ``order``, and the place of each of our nodes (or their moves) among them."""
        from skfem import Basis, ElementTetP2, ElementVector

        basis = Basis(self.cells, ElementVector(ElementTetP2()) if vector else ElementTetP2(), intorder=order)
        return basis, np.vstack([basis.nodal_dofs.T, basis.edge_dofs.T])[self.node].ravel()


def foreign_grid(mesh: TetMesh) -> ForeignGrid:
    """The mesh for scikit-fem, which numbers corners before the middles of edges, and the edges of a cell as we do."""
    from skfem import MeshTet1, MeshTet2

    corners, cells = np.unique(mesh.cells[:, :4], return_inverse=True)
    straight = MeshTet1(np.ascontiguousarray(mesh.nodes[corners].T), np.ascontiguousarray(cells.reshape(-1, 4).T))
    node = np.zeros(len(mesh.nodes), dtype=np.int64)
    node[corners] = np.arange(len(corners))
    node[mesh.cells[:, 4:]] = len(corners) + straight.t2e.T
    where = np.empty((3, len(mesh.nodes)))
    where[:, node] = mesh.nodes.T
    return ForeignGrid(mesh, MeshTet2(where, straight.t), node)


def _matrices(grid: ForeignGrid, material: Elasticity) -> tuple[Any, Any]:
    """Stiffness (3 n, 3 n) node by node, and mass (n, n) of each direction."""
    from skfem import BilinearForm
    from skfem.helpers import ddot, sym_grad, trace

    lam, mu = material.lame

    @BilinearForm
    def stiff(u: Any, v: Any, _: Any) -> Any:
        return lam * trace(sym_grad(u)) * trace(sym_grad(v)) + 2.0 * mu * ddot(sym_grad(u), sym_grad(v))

    @BilinearForm
    def heavy(u: Any, v: Any, _: Any) -> Any:
        return material.density * u * v

    (moving, places), (still, here) = grid.basis(2, vector=True), grid.basis(4)
    return stiff.assemble(moving).tocsr()[places][:, places], heavy.assemble(still).tocsr()[here][:, here]


def _slopes(grid: ForeignGrid, columns: Array) -> tuple[Array, Array]:
    """Gradients (r, 3, 3, cells, points) of displacements (3 n, r), and the volumes (cells, points) of the points."""
    basis, places = grid.basis(2, vector=True)
    there = np.empty_like(columns)
    there[places] = columns
    return np.stack([np.asarray(basis.interpolate(column).grad) for column in there.T]), np.asarray(basis.dx)


def _fit(grid: ForeignGrid, patch: str, pose: Rigid) -> Array:
    """B (6, 3 n): the moves of the body at ``pose``, in its axes, that the displacements u of the patch mean by definition.

    A patch holds a body by its mean position and the polar rotation of its mean deformation (docs, theory of elasticity): with d
    from the centroid, S = int d d' dA, s = S^+ d and A = S S^+, small moves are t = mean u, theta = (tr A - A)^-1 int s x u dA.
    """
    from skfem import ElementTetP2, FacetBasis, LinearForm

    facets = {tuple(corners): k for k, corners in enumerate(np.sort(grid.cells.facets, axis=0).T.tolist())}
    mine = [facets[tuple(sorted(corners))] for corners in grid.node[grid.mesh.faces(patch)[:, :3]].tolist()]
    basis, here = FacetBasis(grid.cells, ElementTetP2(), facets=np.array(mine), intorder=4), grid.basis(2)[1]
    weights = LinearForm(lambda v, _: v).assemble(basis)[here]
    moments = np.stack([LinearForm(lambda v, w, k=k: v * w.x[k]).assemble(basis)[here] for k in range(3)], axis=1)
    area = weights.sum()
    center = weights @ grid.mesh.nodes / area
    moments = moments - np.outer(weights, center)
    spread = moments.T @ grid.mesh.nodes
    known = np.linalg.pinv(spread, rcond=1e-9, hermitian=True)
    moments, held = moments @ known, spread @ known
    turns = np.linalg.solve(
        np.trace(held) * np.eye(3) - held, np.cross(moments[:, None, :], np.eye(3)[None]).transpose(2, 0, 1).reshape(3, -1)
    )
    shift = np.kron(weights / area, np.eye(3))
    R, p = pose
    arm = np.cross(np.eye(3), center - p).T  # theta x arm = arm' theta
    return np.vstack([R.T @ (shift - arm @ turns), R.T @ turns])


def _shapes(K: Any, M: Any, fits: Sequence[Array]) -> Array:
    """Phi (3 n, r): six columns for each carried body, then modes; ``fits`` B of the base first.

    The moves of the patches are prescribed by multipliers.
    """
    from scipy.sparse import block_array, csr_array, eye_array, kron
    from scipy.sparse.linalg import LinearOperator, eigsh, splu

    n, B = K.shape[0], csr_array(np.vstack(fits))
    size = float(np.abs(K.diagonal()).mean())
    factors = splu(block_array([[K, size * B.T], [size * B, None]], format="csc"))
    right = np.zeros((n + B.shape[0], B.shape[0] - 6))
    right[n + 6 :] = size * np.eye(B.shape[0] - 6)
    columns = factors.solve(right)[:n]

    def answer(load: Array) -> Array:
        return np.asarray(factors.solve(np.concatenate([load, np.zeros(B.shape[0])]))[:n])

    start = answer(np.cos(np.arange(n, dtype=np.float64)))  # the same every time
    heavy = kron(M, eye_array(3), format="csr")
    modes = eigsh(K, k=MODES, M=heavy, sigma=0.0, OPinv=LinearOperator(K.shape, matvec=answer, dtype=np.float64), v0=start)[1]
    return np.hstack([columns, modes])


def _geometric(stiffness: Array, slopes: Array, weights: Array, material: Elasticity, interface: int) -> Array:
    """G_k (r, r, r) of unit forces along each axis of the carried bodies; ``slopes`` (r, 3, 3, cells, points) of Phi."""
    r, (lam, mu) = len(stiffness), material.lame
    answers = np.linalg.inv(stiffness[:interface, :interface])
    G = np.zeros((r, r, r))
    for k in (k for k in range(interface) if k % 6 < 3):
        slope = np.tensordot(answers[k], slopes[:interface], axes=1)
        stress = mu * (slope + slope.swapaxes(0, 1)) + lam * np.einsum("iiep,jl->jlep", slope, np.eye(3))
        loaded = np.einsum("ajiep,ikep->ajkep", slopes, stress * weights)
        G[k] = loaded.reshape(r, -1) @ slopes.reshape(r, -1).T
    return 0.5 * (G + G.swapaxes(1, 2))


def _inertia(M: Any, fields: Array) -> tuple[float, Array, Array]:
    """Mass, first and second integrals of the fields (3 n, r + 1), from the mass matrix (n, n)."""
    n, k = M.shape[0], fields.shape[1]
    values = fields.reshape(n, 3 * k)
    weighed = np.asarray(M @ values).reshape(n, 3, k)
    second = values.T @ weighed.reshape(n, 3 * k)
    first = weighed.sum(axis=0).T
    return float(M.sum()), first, np.ascontiguousarray(second.reshape(3, k, 3, k).transpose(1, 3, 0, 2))
