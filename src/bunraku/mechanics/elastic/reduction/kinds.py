"""What a shape of a part mostly does: bend, twist, or stretch along the axis from its base to its children.

The part is cut in slices across that axis e; of slice k (mass m_k, moment I_k about e through its centre) the shape has the mean
displacement t_k and the mean turn theta_k about e. The three shares of its motion are

    bending  sum m_k |t_k - (t_k.e) e|^2,    axial  sum m_k (t_k.e)^2,    torsion  sum I_k theta_k^2

to which each carried body adds its own (with I and theta of the body).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.solid import ElasticSolid

KINDS = ("bending", "torsion", "axial")
SLICES = 24


def part_axis(solid: ElasticSolid, base: Interface, children: Sequence[Interface]) -> Array:
    """The unit vector (3,) from the base to the mean of the children, or along the part where they coincide."""
    nodes = solid.mesh.nodes
    e = np.mean([child.centroid for child in children], axis=0) - base.centroid
    if np.linalg.norm(e) <= 1e-3 * float(np.ptp(nodes, axis=0).max()):
        e = np.linalg.svd(nodes - nodes.mean(axis=0), full_matrices=False)[2][0]
    return np.asarray(e / np.linalg.norm(e))


def kinds_of(solid: ElasticSolid, shapes: ArrayLike, axis: Array, carried: Sequence[CarriedBody] = ()) -> list[str]:
    """The kind of each of the shapes (r, 3 n)."""
    phi = np.asarray(shapes, dtype=np.float64).reshape(-1, solid.nodes, 3)
    X = solid.mesh.nodes
    mass = np.asarray(solid.mass @ np.tile([1.0, 0.0, 0.0], solid.nodes))[::3]
    mass = np.maximum(mass, 1e-3 * mass.max())
    height = X @ axis
    span = height - height.min()
    place = np.minimum((SLICES * span / max(span.max(), 1e-300)).astype(np.int64), SLICES - 1)

    def gather(values: Array) -> Array:
        total = np.zeros((SLICES, *values.shape[1:]))
        np.add.at(total, place, values)
        return total

    m = gather(mass)
    safe = np.where(m > 0.0, m, 1.0)
    d = X - (gather(mass[:, None] * X) / safe[:, None])[place]
    arm = np.cross(axis, d)
    moment = gather(mass * np.einsum("ni,ni->n", arm, arm))
    shares = np.zeros((len(phi), 3))
    for row, shape in enumerate(phi):
        t = gather(mass[:, None] * shape) / safe[:, None]
        turned = gather(mass * np.einsum("ni,ni->n", arm, shape)) / np.where(moment > 0.0, moment, 1.0)
        along = t @ axis
        shares[row] = m @ (np.einsum("ki,ki->k", t, t) - along**2), moment @ turned**2, m @ along**2
    still = np.zeros(solid.size)
    for body in carried:
        B, whole = body.interface.jacobian(still), body.spatial(np.eye(3))
        for row, shape in enumerate(phi.reshape(len(phi), -1)):
            twist = B @ shape[body.interface.unknowns]
            stretch, turn = float(twist[3:] @ axis), float(twist[:3] @ axis)
            twisting = float(axis @ whole[:3, :3] @ axis) * turn**2
            axial = body.mass * stretch**2
            shares[row] += float(twist @ whole @ twist) - twisting - axial, twisting, axial
    return [KINDS[int(np.argmax(share))] for share in shares]
