"""The rows that hold an interface of an elastic piece to a rigid body, with exact derivatives.

The interface's centroid y and the columns A_j of its mean deformation are the means Y = (y, A_1, A_2, A_3) of the piece; the body
stands at c with rotation R_b, and R = R_b R_BP would be the interface's rotation, with columns R_j. Six rows:

    y - (c + a) = 0,   a = R_b r                      r from the body's centre of mass to the interface's centroid
    sum_j R_j x A_j = 0                               A R' symmetric: R is the polar rotation of A

The second says the same as R = polar(A) on the branch near it, is linear in the nodes, and holds for flat interfaces (A of rank
two, the column along the normal zero). A force f and moment mu of its multipliers act on the means as q = (f, mu x R_j), and on the
body as the force -f and the moment -a x f + sum_j R_j x (A_j x mu).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.poses import Rigid
from bunraku.geometry.rotations import cross_matrix
from bunraku.mechanics.elastic.interface import Interface


@dataclass(frozen=True)
class HeldRows:
    """At one interface: values C (6,), forces on means q (12,) and body (6,), and derivatives.

    ``by_means`` (6, 12) and ``by_body`` (6, 6) of C; ``q_by_body`` (12, 6) of q, its transpose being that of the body's force by
    the means; ``force_by_body`` (6, 6).
    """

    values: Array
    q: Array
    force: Array
    by_means: Array
    by_body: Array
    q_by_body: Array
    force_by_body: Array


def held_values(Y: Array, c: Array, R_b: Array, r: Array, R_BP: Array) -> Array:
    """C (6,) at means Y (4, 3) and a body at c, R_b."""
    R = R_b @ R_BP
    return np.concatenate([Y[0] - c - R_b @ r, _summed(cross_matrix(R.T), Y[1:])])


def held_rows(Y: Array, c: Array, R_b: Array, r: Array, R_BP: Array, lam: Array) -> HeldRows:
    """All of it at means Y (4, 3), a body at c (3,), R_b (3, 3), and multipliers lam (6,)."""
    f, mu, a, columns = lam[:3], lam[3:], R_b @ r, (R_b @ R_BP).T
    unit, Rx, Ax, ax, mx = np.eye(3), cross_matrix(columns), cross_matrix(Y[1:]), cross_matrix(a), cross_matrix(mu)
    by_means, by_body = np.zeros((6, 12)), np.zeros((6, 6))
    by_means[:3, :3] = unit
    by_means[3:, 3:] = Rx.transpose(1, 0, 2).reshape(3, 9)
    by_body[:3, :3], by_body[:3, 3:] = -unit, ax
    by_body[3:, 3:] = np.einsum("kij,kjl->il", Ax, Rx)
    q = by_means.T @ lam
    z = Ax @ mu
    force = np.concatenate([-f, _summed(Rx, z) - ax @ f])
    q_by_body = np.zeros((12, 6))
    q_by_body[3:, 3:] = -(mx @ Rx).reshape(9, 3)
    force_by_body = np.zeros((6, 6))
    force_by_body[3:, 3:] = -np.outer(a, f) + (a @ f) * unit + columns.T @ z - np.sum(columns * z) * unit
    values = np.concatenate([Y[0] - c - a, _summed(Rx, Y[1:])])
    return HeldRows(values, q, force, by_means, by_body, q_by_body, force_by_body)


def _summed(matrices: Array, vectors: Array) -> Array:
    """The sum of K_k v_k over k."""
    return np.asarray(np.matmul(matrices, vectors[:, :, None]).sum(axis=0)[:, 0])


def arm(interface: Interface, pose: Rigid, center: Array) -> Array:
    """R (3,): from the body's centre of mass to the interface's centroid at rest, in the body's axes."""
    R_BP, p = pose
    return np.asarray(R_BP @ interface.centroid + p - center)
