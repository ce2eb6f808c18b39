"""How good a shell is: dihedral angles, thickness against nominal, closed nested boundaries, genus, crossings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput


@dataclass(frozen=True)
class ShellQuality:
    """Figures of a shell: dihedral angles [rad], least thickness / nominal thickness, least cell volume [m^3], genus, crossings.

    ``thinnest`` is measured against the thickness used, which is below the one asked for at ``thinned`` vertices whose limb is too
    narrow for it.
    """

    least_angle: float
    greatest_angle: float
    thinnest: float
    least_volume: float
    genus: int
    crossings: int
    thinned: int


def dihedral_angles(X: Array) -> Array:
    """The six dihedral angles (m, 6) [rad] of tetrahedra with corners X (m, 4, 3), positive volume assumed."""
    normals = np.stack(
        [cross(X[:, b] - X[:, a], X[:, c] - X[:, a]) for a, b, c in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))], axis=1
    )
    normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-300)
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    cosines = np.stack([-(normals[:, a] * normals[:, b]).sum(axis=1) for a, b in pairs], axis=1)
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)))


def cell_merits(X: Array) -> Array:
    """Least dihedral angle (m,) [rad] of tetrahedra with corners X (m, 4, 3); about -1 for inverted ones."""
    volume = np.einsum("ij,ij->i", cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), X[:, 3] - X[:, 0])
    return np.where(volume > 0.0, dihedral_angles(X).min(axis=1), -1.0 + volume)


def cross(a: Array, b: Array) -> Array:
    """Cross products (m, 3) of vectors (m, 3), (m, 3)."""
    return np.stack(
        [a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2], a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]],
        axis=1,
    )


def check_closed(faces: Indices, what: str) -> None:
    """Refuse a surface that is not closed, not a manifold or not oriented: every directed edge once, and its reverse."""
    directed = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    keys, count = np.unique(directed, axis=0, return_counts=True)
    if (count > 1).any():
        edge = keys[count > 1][0].tolist()
        raise BadInput(
            f"{what}: {int((count > 1).sum())} edges belong twice to faces in the same direction, first {edge}; repair it"
        )
    loose = {(a, b) for a, b in keys.tolist()} - {(b, a) for a, b in keys.tolist()}
    if loose:
        raise BadInput(f"{what} is not closed: {len(loose)} edges have one face only, first {min(loose)}; close its holes")


def crossing_faces(vertices: Array, faces: Indices) -> Indices:
    """Pairs (k, 2) of an edge's first face and a face that the edge pierces though they share no vertex: none when embedded."""
    corners = vertices[faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    crossing = []
    for start in range(0, len(faces), 256):
        part = np.arange(start, min(start + 256, len(faces)))
        p, q = np.nonzero((low[part, None, 0] <= high[:, 0]) & (high[part, None, 0] >= low[:, 0]))
        p = part[p]
        for axis in (1, 2):
            near = (low[p, axis] <= high[q, axis]) & (high[p, axis] >= low[q, axis])
            p, q = p[near], q[near]
        apart = (faces[p][:, :, None] != faces[q][:, None, :]).all(axis=(1, 2))
        p, q = p[apart], q[apart]
        for k in range(3):
            hit = _pierces(corners[p, k], corners[p, (k + 1) % 3], corners[q])
            crossing.append(np.column_stack([p[hit], q[hit]]))
    return np.concatenate(crossing)


def _pierces(A: Array, B: Array, corners: Array) -> NDArray[np.bool_]:
    P, Q, R = corners[:, 0], corners[:, 1], corners[:, 2]

    def volume(a: Array, b: Array, c: Array, d: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", cross(b - a, c - a), d - a))

    across = volume(P, Q, R, A) * volume(P, Q, R, B) < 0.0
    s1, s2, s3 = volume(A, B, P, Q), volume(A, B, Q, R), volume(A, B, R, P)
    within = ((s1 > 0) & (s2 > 0) & (s3 > 0)) | ((s1 < 0) & (s2 < 0) & (s3 < 0))
    return np.asarray(across & within)
