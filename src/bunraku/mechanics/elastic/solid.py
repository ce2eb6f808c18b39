"""An elastic solid: a mesh with a material, its energy, forces, stiffness, mass, weight and damping.

Displacements u and velocities v are flat (3 n,), node by node. The elastic energy is V(u) = sum over cells and quadrature points of
w W(I + grad u); :meth:`ElasticSolid.force` is dV/du (what must be applied to hold u), :meth:`ElasticSolid.stiffness` d2V/du2. All
matrices share one pattern, so that K + c M is an addition of their ``data``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.errors import BadInput, BunrakuError
from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.geometry.tetrahedra import shape_gradients, shape_values, tetrahedron_rule
from bunraku.mechanics.elastic import tetrahedra_kernels as kernels
from bunraku.mechanics.elastic.material import MODELS, Material
from bunraku.mechanics.elastic.pattern import BlockPattern, block_pattern


class Collapsed(BunrakuError):
    """A cell of a Neo-Hookean solid is turned inside out, where the energy is infinite; ``cell`` says which."""

    def __init__(self, cell: int) -> None:
        super().__init__(f"cell {cell} is turned inside out (its volume is not positive); take a smaller step")
        self.cell = cell


class ElasticSolid:
    """A mesh (checked here) with a material, linear or quadratic, curved or not.

    ``density`` [kg/m^3] replaces the material's: one number, or one a cell. ``degree`` is the degree of the quadrature of the
    energy: 1 for linear cells and 2 (four points) for quadratic ones unless given. The mass is integrated exactly. A skin may fall
    into pieces (not ``one_piece``); what hangs on nothing else is its owner's matter.
    """

    def __init__(
        self,
        mesh: TetMesh,
        material: Material,
        *,
        density: ArrayLike | None = None,
        degree: int | None = None,
        one_piece: bool = True,
    ) -> None:
        self.mesh, self.material = check_mesh(mesh, one_piece=one_piece), material
        self.nodes = len(mesh.nodes)
        self.size = 3 * self.nodes
        points, weights = tetrahedron_rule((1 if mesh.order == 1 else 2) if degree is None else degree)
        self.gradients, det = _physical_gradients(mesh, points)
        self.weights = np.ascontiguousarray(det * weights)
        m = len(mesh.cells)
        self.lame = np.full(m, material.lame[0]), np.full(m, material.lame[1])
        self._density = material.density if density is None else density
        self._cells = mesh.cells.copy()  # writable, as all arrays of the kernels: one signature, one compilation
        self._model = MODELS[material.model]

    @cached_property
    def pattern(self) -> BlockPattern:
        """The pattern of all matrices."""
        return block_pattern(self._cells, self.nodes)

    def energy(self, u: ArrayLike) -> float:
        """Elastic energy V(u) [J]; infinite when a cell has collapsed."""
        return float(kernels.forces(*self._arrays, self._vector(u), np.zeros((self.nodes, 3)))[0])

    def force(self, u: ArrayLike) -> Array:
        """dV/du (3 n,) [N]. Raises :class:`Collapsed`."""
        f = np.zeros((self.nodes, 3))
        _, cell = kernels.forces(*self._arrays, self._vector(u), f)
        if cell >= 0:
            raise Collapsed(int(cell))
        return f.ravel()

    def force_and_stiffness(self, u: ArrayLike) -> tuple[Array, csr_array]:
        """dV/du (3 n,) [N] and d2V/du2 [N/m] on :attr:`pattern`. Raises :class:`Collapsed`."""
        f, data = np.zeros((self.nodes, 3)), self.pattern.zeros()
        _, cell = kernels.tangents(*self._arrays, self._vector(u), self.pattern.slot, self.pattern.start, f, data)
        if cell >= 0:
            raise Collapsed(int(cell))
        return f.ravel(), self.pattern.matrix(data)

    def stiffness(self, u: ArrayLike | None = None) -> csr_array:
        """d2V/du2 [N/m], at rest when u is not given. Raises :class:`Collapsed`."""
        return self.force_and_stiffness(np.zeros(self.size) if u is None else u)[1]

    @cached_property
    def mass(self) -> csr_array:
        """The consistent mass matrix M_ab = integral of rho N_a N_b, times the unit matrix [kg]."""
        order = self.mesh.order
        points, weights = tetrahedron_rule(2 if order == 1 else 7)
        N = shape_values(order, points)
        X = self.mesh.nodes[self._cells]
        det = np.linalg.det(np.einsum("eai,qaj->eqij", X, shape_gradients(order, points)))
        rho = self._densities(len(X))
        k = N.shape[1]
        local = (det * rho * weights) @ np.einsum("qa,qb->qab", N, N).reshape(len(N), k * k)
        data = self.pattern.zeros()
        kernels.spread_mass(self._cells, local.reshape(-1, k, k), self.pattern.slot, self.pattern.start, data)
        return self.pattern.matrix(data)

    def weight(self, gravity: ArrayLike) -> Array:
        """The load (3 n,) [N] of gravity (3,) [m/s^2], integral of rho N_a g: M times g at every node."""
        g = np.asarray(gravity, dtype=np.float64)
        if g.shape != (3,):
            raise BadInput(f"gravity has shape {g.shape}; (3,) is needed")
        return np.asarray(self.mass @ np.tile(g, self.nodes))

    @cached_property
    def total_mass(self) -> float:
        """Mass of the solid [kg]."""
        return float(self.weight([1.0, 0.0, 0.0])[::3].sum())

    def damping_force(self, u: ArrayLike, v: ArrayLike) -> Array:
        """The damping (3 n,) [N] at displacement u and velocity v, on the side of the elastic force (it opposes v)."""
        f, none = np.zeros((self.nodes, 3)), np.zeros(0)
        kernels.damping(*self._viscous, self._vector(u), self._vector(v), self.pattern.slot, self.pattern.start, f, none, none)
        return f.ravel()

    def damping(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, csr_array, csr_array]:
        """The damping force f(u, v), df/dv (symmetric, not negative) and df/du (not symmetric), on :attr:`pattern`."""
        f, by_v, by_u = np.zeros((self.nodes, 3)), self.pattern.zeros(), self.pattern.zeros()
        kernels.damping(*self._viscous, self._vector(u), self._vector(v), self.pattern.slot, self.pattern.start, f, by_v, by_u)
        return f.ravel(), self.pattern.matrix(by_v), self.pattern.matrix(by_u)

    @property
    def _arrays(self) -> tuple[int, Array, Array, NDArray[np.int64], Array, Array]:
        return self._model, *self.lame, self._cells, self.gradients, self.weights

    @property
    def _viscous(self) -> tuple[Array, Array, NDArray[np.int64], Array, Array]:
        beta = self.material.strain_damping
        return beta * self.lame[0], beta * self.lame[1], self._cells, self.gradients, self.weights

    def _vector(self, u: ArrayLike) -> Array:
        array = np.asarray(u, dtype=np.float64)
        if array.size != self.size:
            raise BadInput(f"a vector of shape {array.shape} arrived; the solid has {self.nodes} nodes, ({self.size},) is needed")
        if not np.isfinite(array).all():
            raise BadInput(f"the vector is not finite at node {int(np.argmin(np.isfinite(array.ravel()))) // 3}")
        return np.require(array.reshape(-1, 3), requirements=["C", "W"])

    def _densities(self, cells: int) -> Array:
        """Density (m, 1) of the cells."""
        given = np.asarray(self._density, dtype=np.float64)
        if given.shape not in ((), (cells,)):
            raise BadInput(f"the density has shape {given.shape}; one number or one a cell ({cells},) is needed")
        rho = np.broadcast_to(given, (cells,))
        wrong = ~(rho > 0.0) | ~np.isfinite(rho)
        if wrong.any():
            cell = int(np.argmax(wrong))
            raise BadInput(f"the density is {rho[cell]:g} kg/m^3 in cell {cell}; it must be positive")
        return rho[:, None]


def _physical_gradients(mesh: TetMesh, points: Array) -> tuple[Array, Array]:
    """Gradients (m, q, 3, k) of the shape functions by X, and det(dX/dxi) (m, q)."""
    local = shape_gradients(mesh.order, points)
    J = np.einsum("eai,qaj->eqij", mesh.nodes[mesh.cells], local)
    G = np.einsum("qaj,eqji->eqia", local, np.linalg.inv(J))
    return np.ascontiguousarray(G), np.asarray(np.linalg.det(J))
