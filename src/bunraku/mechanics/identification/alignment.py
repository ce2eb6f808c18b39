"""Where the camera stands: the similarity between the world of the model and the axes of the record, eliminated from the fit.

    y = c R B x + o

x (3,) in the world, y (d,) in the record; B (d, 3) is the identity in space (d = 3), or the plane of motion, perhaps mirrored, that
a camera looks at squarely (d = 2); R is a rotation, o an offset, c a scale (1 when the record is in metres). For given x(t) the
best c, R, o have a closed form (Procrustes), so that they are no unknowns of the fit; what they can compensate for is taken out of
its derivatives (variable projection), which makes its intervals those of the whole problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array


@dataclass(frozen=True, eq=False)
class Alignment:
    """``view`` B (d, 3), ``rotation`` R (d, d), ``offset`` o (d,) in units of the record, ``scale`` c of them a metre."""

    view: Array
    rotation: Array
    offset: Array
    scale: float
    free_scale: bool

    def apply(self, positions: Array) -> Array:
        """Positions (M, 3) [m] as the record would show them (M, d)."""
        return self.turn(positions) + self.offset

    def turn(self, vectors: Array) -> Array:
        """Vectors (..., 3) of the world in the record's axes (..., d)."""
        return np.asarray(self.scale * vectors @ (self.rotation @ self.view).T)

    @property
    def parameters(self) -> int:
        """How many numbers the alignment has."""
        d = len(self.offset)
        return d + d * (d - 1) // 2 + int(self.free_scale)

    def tangent(self, positions: Array) -> Array:
        """What small changes of the alignment do to the record (M d, parameters), an orthonormal basis of it."""
        moved = self.turn(positions)
        moved = moved - moved.mean(axis=0)
        M, d = moved.shape
        columns = [np.tile(np.eye(d)[i], (M, 1)) for i in range(d)]
        for i in range(d):
            for j in range(i + 1, d):
                turned = np.zeros_like(moved)
                turned[:, i], turned[:, j] = -moved[:, j], moved[:, i]
                columns.append(turned)
        if self.free_scale:
            columns.append(moved)
        T = np.column_stack([column.ravel() for column in columns])
        norms = np.linalg.norm(T, axis=0)
        U, s, _ = np.linalg.svd(T / np.where(norms > 0.0, norms, 1.0), full_matrices=False)
        return np.asarray(U[:, s > 1e-9 * s[0]])


def find_alignment(positions: Array, points: Array, view: Array, *, free_scale: bool) -> Alignment:
    """The alignment that brings positions (M, 3) [m] nearest to points (M, d) of the record, by least squares."""
    x = positions @ view.T
    mean_x, mean_y = x.mean(axis=0), points.mean(axis=0)
    a, b = x - mean_x, points - mean_y
    U, s, Vt = np.linalg.svd(b.T @ a)
    signs = np.ones(len(s))
    signs[-1] = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    R = (U * signs) @ Vt
    size = float(np.einsum("ij,ij->", a, a))
    c = float((s * signs).sum() / size) if free_scale and size > 0.0 else 1.0
    return Alignment(view, R, mean_y - c * R @ mean_x, c, free_scale)


def view_planes(positions: Array, dimensions: int) -> tuple[Array, ...]:
    """The views B to try: the identity in space; for a picture the plane in which positions (M, 3) move, from both sides."""
    if dimensions == 3:
        return (np.eye(3),)
    _, _, Vt = np.linalg.svd(positions - positions.mean(axis=0), full_matrices=False)
    plane = Vt[:2]
    return plane, np.diag([1.0, -1.0]) @ plane
