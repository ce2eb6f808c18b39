"""The skin's inertia in few numbers: integrals over each share of the fields it moves by, in the frame of its body.

A point of share k is at p_k + R_k (X + U y) with y the reduced coordinates. Its kinetic energy needs, beside the rigid share,

    first   B_k = int rho U            (3, ny)   against the body's velocity
    second  C_k = int rho X x U        (3, ny)   against its angular velocity
    mass    M_y = sum_k int rho U'U    (ny, ny)

Columns of joints are displacements relative to the body, which turns with them: U = Psi - J_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bunraku.geometry.tetrahedra import shape_values, tetrahedron_rule
from bunraku.mechanics.coupled import carried_point_kernels as kernels
from bunraku.mechanics.coupled.share import SkinShare
from bunraku.mechanics.coupled.skinned import SkinnedModel, skin_materials

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class SkinIntegrals:
    """``first`` and ``second`` (k, 3, ny), ``mass`` (ny, ny)."""

    first: Array
    second: Array
    mass: Array


def relative_fields(model: SkinnedModel, node: int, joints: Array) -> Array:
    """Psi - J_k (3 n, nj): how nodes move relative to the body at tree ``node``, in the world at home."""
    tree, at = model.tree, model.tree.configuration(model.home)
    local = np.ascontiguousarray((model.mesh.nodes - at.position[node]) @ at.rotation[node])
    places, J = np.empty_like(local), np.zeros((3 * len(local), model.nq))
    owner = np.full(len(local), node, dtype=np.int64)
    kernels.glue(tree.parent, tree.kind, tree.coordinate, at.rotation, at.position, at.world_axis, owner, local, places, J)
    return np.asarray(joints - J[:, 6:])


def skin_integrals(model: SkinnedModel, share: SkinShare, joints: Array, shapes: Array) -> SkinIntegrals:
    """The integrals of the fields of ``joints`` (3 n, nj) and the other ``shapes`` (3 n, ns)."""
    n, nj, ns = model.solid.nodes, joints.shape[1], shapes.shape[1]
    at = model.tree.configuration(model.home)
    K = len(share.bodies)
    first, second = np.zeros((K, 3, nj + ns)), np.zeros((K, 3, nj + ns))
    mass = np.zeros((nj + ns, nj + ns))
    mass[nj:, nj:] = shapes.T @ np.asarray(model.mass @ shapes)
    for k, node in enumerate(share.nodes):
        weigh = _share_mass(model, share, k)
        relative = relative_fields(model, int(node), joints)
        U = np.hstack([relative, shapes]).reshape(n, 3, nj + ns)
        heavy = (weigh @ relative.reshape(n, -1)).reshape(3 * n, nj)
        mass[:nj, :nj] += relative.T @ heavy
        mass[:nj, nj:] += heavy.T @ shapes
        R, p = at.rotation[node], at.position[node]
        arm = weigh @ (model.mesh.nodes - p)
        first[k] = R.T @ np.einsum("i,iac->ac", share.moment[[k]].toarray()[0], U)
        turned = np.stack([np.einsum("i,ic->c", arm[:, a], U[:, b]) for a in range(3) for b in range(3)]).reshape(3, 3, -1)
        second[k] = R.T @ np.stack([turned[1, 2] - turned[2, 1], turned[2, 0] - turned[0, 2], turned[0, 1] - turned[1, 0]])
    mass[nj:, :nj] = mass[:nj, nj:].T
    return SkinIntegrals(first, second, 0.5 * (mass + mass.T))


def _share_mass(model: SkinnedModel, share: SkinShare, k: int) -> csr_array:
    """The scalar mass matrix (n, n) [kg] of the cells of share k."""
    cells = model.mesh.cells
    mine = np.flatnonzero(share.owner[cells[:, 0]] == k)
    density = np.array([material.density for material in skin_materials(model.character)])[model.mesh.region[mine]]
    volume = model.solid.weights[mine].sum(axis=1)
    points, weights = tetrahedron_rule(4)
    N = shape_values(2, points)
    unit = np.einsum("q,qa,qb->ab", 6.0 * weights, N, N)
    local = (density * volume)[:, None, None] * unit
    c = cells[mine]
    row, column = np.repeat(c, c.shape[1], axis=1).ravel(), np.tile(c, c.shape[1]).ravel()
    return csr_array((local.ravel(), (row, column)), shape=(len(model.mesh.nodes),) * 2)
