"""Modal derivatives: how a part must deform a second time when two of its modes bend it far.

Static displacements u = sum u_a phi_a + 1/2 sum u_a u_b phi_ab under loads that the shapes phi_a balance to first order satisfy
to second order K phi_ab = -g_ab, with g_ab the third derivative of the St. Venant-Kirchhoff energy, V'''(phi_a, phi_b, .), which
is (dK/du . phi_b) phi_a and symmetric in a and b. With H_a = grad phi_a, e_a = sym(H_a) and Hooke's law S(.),

    g_ab = int P_ab G,    P_ab = S(sym(H_a' H_b)) + H_a S(e_b) + H_b S(e_a)

Without them a slender rod locks: bending would stretch it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.mechanics.elastic.reduction.strain import displacement_gradients
from bunraku.mechanics.elastic.solid import ElasticSolid


def second_forces(solid: ElasticSolid, shapes: ArrayLike, pairs: Indices) -> Array:
    """g_ab (m, 3 n) for the ``pairs`` (m, 2) of shapes (r, 3 n)."""
    H = displacement_gradients(solid, shapes)
    lam, mu = (part[:, None, None, None] for part in solid.lame)
    w = solid.weights[:, :, None, None]

    def hooke(E: Array) -> Array:
        """Second Piola stress, times the weight, of the symmetric part of E (e, q, 3, 3)."""
        trace = np.trace(E, axis1=-2, axis2=-1)[..., None, None]
        return np.asarray(w * (lam * trace * np.eye(3) + mu * (E + E.swapaxes(-1, -2))))

    stress = {a: hooke(H[a]) for a in np.unique(pairs).tolist()}
    forces = np.empty((len(pairs), solid.nodes, 3))
    places = solid.mesh.cells.ravel()
    for row, (a, b) in enumerate(pairs.tolist()):
        P = hooke(np.matmul(H[a].swapaxes(-1, -2), H[b])) + np.matmul(H[a], stress[b]) + np.matmul(H[b], stress[a])
        local = np.einsum("eqij,eqja->eai", P, solid.gradients, optimize=True)
        for i in range(3):
            forces[row, :, i] = np.bincount(places, weights=local[:, :, i].ravel(), minlength=solid.nodes)
    return forces.reshape(len(pairs), -1)
