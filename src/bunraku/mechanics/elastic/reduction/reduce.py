"""An elastic part reduced to a flexible segment: a basis of shapes, mass invariants, interfaces and the exact reduced strain.

The mass invariants are exact in the consistent mass matrix:

N_a = int rho phi_a,    E_ab = int rho phi_a phi_b'        phi_0 = X, the rest positions; phi_1 ... phi_r the shapes
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.flexible.segment import ChildInterface, FlexibleSegment
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.reduction.basis import Basis, Workbench
from bunraku.mechanics.elastic.reduction.strain import reduced_strain, strain_pairs
from bunraku.mechanics.elastic.solid import ElasticSolid


@dataclass(frozen=True, eq=False)
class Reduction:
    """The ``segment``, the ``shapes`` (r, 3 n) behind its coordinates with their ``labels``, and a ``note``.

    Displacements of the solid at modal coordinates u (r,) are ``u @ shapes``, in the frame of the solid's mesh. The first
    ``primary`` shapes are modes and attachment shapes, the rest follow them when they are large. ``errors``: those of position and
    frequencies against the whole solid, relative, where they were measured (`choose_reduction`).
    """

    segment: FlexibleSegment
    shapes: Array
    labels: tuple[str, ...]
    primary: int
    note: str
    errors: tuple[float, float] | None = None


def reduce_to(bench: Workbench, basis: Basis) -> Reduction:
    """The part on a given basis, with all products of coordinates in its strain."""
    solid, shapes = bench.solid, basis.shapes
    N, E = mass_invariants(solid, shapes)
    pairs = strain_pairs(len(shapes))
    L1, Q = reduced_strain(solid, shapes, pairs)
    faces = tuple(child_interface(child, shapes) for child in bench.children)
    segment = FlexibleSegment(solid.total_mass, N, E, faces, L1, pairs, Q, solid.material.strain_damping)
    kinds = Counter(label.split()[0] for label in basis.labels)
    parts = ", ".join(f"{count} {word}" for word, count in kinds.items())
    note = f"{len(shapes)} shapes ({parts}) of {solid.size} unknowns; products of coordinates in the strain: all"
    return Reduction(segment, shapes, basis.labels, basis.primary, note)


def mass_invariants(solid: ElasticSolid, shapes: ArrayLike) -> tuple[Array, Array]:
    """N (3, r + 1) and E (r + 1, r + 1, 3, 3) of the shapes (r, 3 n)."""
    phi = np.vstack([solid.mesh.nodes.reshape(1, -1), np.asarray(shapes, dtype=np.float64)])
    r = len(phi)
    weighed = np.asarray(solid.mass @ phi.T).reshape(solid.nodes, 3, r)
    N = weighed.sum(axis=0)
    flat = phi.reshape(r, solid.nodes, 3).transpose(0, 2, 1).reshape(3 * r, solid.nodes)
    E = (flat @ weighed.reshape(solid.nodes, 3 * r)).reshape(r, 3, 3, r).transpose(0, 3, 1, 2)
    return np.ascontiguousarray(N), np.ascontiguousarray(0.5 * (E + E.transpose(1, 0, 3, 2)))


def child_interface(interface: Interface, shapes: ArrayLike) -> ChildInterface:
    """The mean position c0 + C u and deformation A0 + sum A_a u_a of an interface of the solid, for shapes (r, 3 n)."""
    phi = np.asarray(shapes, dtype=np.float64)
    at = phi.reshape(len(phi), -1, 3)[:, interface.nodes]
    still = np.zeros(phi.shape[1])
    C = np.einsum("k,aki->ia", interface.weights, at)
    A = np.einsum("aki,kj->aij", at, interface.moments)
    return ChildInterface(interface.position(still), C, interface.stretch(still), A)
