"""Mass invariants of a part with given shapes, exact in the consistent mass matrix.

N_a = int rho phi_a,    E_ab = int rho phi_a phi_b'        phi_0 = X, the rest positions; phi_1 ... phi_r the shapes
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.flexible.segment import ChildInterface
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.solid import ElasticSolid


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
