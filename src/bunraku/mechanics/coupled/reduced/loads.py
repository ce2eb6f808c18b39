"""What a loaded skin adds to the stiffness that a step sees: forces in the skin turn with its bodies.

A frame of the whole skin is linear in the places of nodes; one in coordinates y = (q, s) has the same matrix only if the turning of
forces is counted. With x_i(y) the places and f_i the elastic forces of nodes,

    B'K B = d²E/dy² - sum_i f_i · d²x_i/dy²,      B = dx/dy

Forces are f = K Phi s, linear in s. Turns about a hinge a and one b below it bend ways by a x (b x r), so that per share of skin

    turning q, q    a·Z b - (a·b) tr Z,  Z = sum_i r_i f_i'     from the sums of forces and their moments by s
    turning q, s    a·sum_i Phi_i x f_i                         from the moments of fields and forces, f those of the patches

Under a sole that carries a quarter of the weight this makes an ankle some 5 % softer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.mechanics.coupled.share import SkinShare
from bunraku.mechanics.coupled.skinned import SkinnedModel

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class SkinLoads:
    """Elastic forces of each share by the coordinates s, in the frame of its body.

    Their ``sum`` (k, 3, ns) [N/s], their ``virial`` sum X f' (k, 3, 3, ns) [N·m/s], and the ``moments`` Phi x f (k, 3, ns, 3 P) of
    fields (third index) and forces of patches (last).
    """

    sum: Array
    virial: Array
    moments: Array


def skin_loads(model: SkinnedModel, share: SkinShare, shapes: Array) -> SkinLoads:
    """The loads by the coordinates of ``shapes`` (3 n, ns), which are in the world at home, patches first."""
    n, ns, P3 = model.solid.nodes, shapes.shape[1], 3 * model.n_patches
    forces = np.asarray(model.solid.stiffness() @ shapes).reshape(n, 3, ns)
    fields = shapes.reshape(n, 3, ns)
    at, K = model.tree.configuration(model.home), len(share.bodies)
    total, virial, moments = np.zeros((K, 3, ns)), np.zeros((K, 3, 3, ns)), np.zeros((K, 3, ns, P3))
    for k, node in enumerate(share.nodes):
        mine = np.flatnonzero(share.owner == k)
        R = at.rotation[node]
        f = np.einsum("ji,njc->nic", R, forces[mine])
        local = (model.mesh.nodes[mine] - at.position[node]) @ R
        total[k], virial[k] = f.sum(axis=0), np.einsum("na,nbc->abc", local, f)
        u, p = np.einsum("ji,njc->nic", R, fields[mine]), f[:, :, :P3]
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            moments[k, a] = u[:, b].T @ p[:, c] - u[:, c].T @ p[:, b]
    return SkinLoads(total, virial, moments)


def turning_of_forces(force: Array, virial: Array, axes: Array, arm: Array) -> Array:
    """sum_i f_i · d²x_i/dq² (nq, nq) of shares whose forces add up to ``force`` (k, 3) and ``virial`` (k, 3, 3), in world axes.

    ``axes`` (k, 3, nq) of the hinges that turn each share's body, zero for other coordinates; ``arm`` (k, 3, nq) from each hinge to
    the body's origin. Coordinates come after those that carry them.
    """
    # a·Z b - (a·b) tr Z with Z = virial + arm_b force', b the hinge below
    pulled = np.einsum("ka,kaq->kq", force, axes)
    along = np.einsum("kaq,kab,kbr->qr", axes, virial, axes)
    levers = np.einsum("kaq,kar,kr->qr", axes, arm, pulled)
    trace = np.trace(virial, axis1=1, axis2=2)[:, None] + np.einsum("ka,kaq->kq", force, arm)
    both = np.einsum("kaq,kar,kr->qr", axes, axes, trace)
    upper = np.triu(along + levers - both)
    return np.asarray(upper + np.triu(upper, 1).T)
