"""The inner surface of a shell: every vertex moved inwards so that the planes of its faces move by the thickness."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array, Indices

MITRE = 2.2
"""Longest offset of a vertex, as a multiple of its thickness."""


def face_normals(vertices: Array, faces: Indices) -> Array:
    """Unit normals (m, 3) of the faces."""
    n = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    return np.asarray(n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300))


def vertex_normals(vertices: Array, faces: Indices) -> Array:
    """Unit normals (n, 3) at the vertices: mean of the faces' normals, weighted by their angle at the vertex."""
    n, w = face_normals(vertices, faces), _corner_angles(vertices, faces)
    N = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(N, faces[:, k], w[:, k, None] * n)
    return np.asarray(N / np.maximum(np.linalg.norm(N, axis=1, keepdims=True), 1e-300))


def inner_surface(vertices: Array, faces: Indices, thickness: Array, firm: Array) -> Array:
    """Inner vertices (n, 3): x - y, where y is the least-squares solution of n_f . y = t for the normals n_f of the faces at x.

    Weights are the faces' angles at x; ``firm`` (n,) is the weight, relative to theirs, that keeps y along the vertex normal where
    the faces leave it open. In a corner between two flanks y is the mitre, so that the wall is ``thickness`` normal to both. Where
    faces leave y open all the same (none has an area there, or their normals cancel), it is the shortest.
    """
    n, w, N = face_normals(vertices, faces), _corner_angles(vertices, faces), vertex_normals(vertices, faces)
    M, g, total = np.zeros((len(vertices), 3, 3)), np.zeros_like(vertices), np.zeros(len(vertices))
    for k in range(3):
        v = faces[:, k]
        np.add.at(M, v, w[:, k, None, None] * n[:, :, None] * n[:, None, :])
        np.add.at(g, v, w[:, k, None] * n)
        np.add.at(total, v, w[:, k])
    M += (firm * total)[:, None, None] * (np.eye(3) - N[:, :, None] * N[:, None, :])
    y = _solved(M, thickness[:, None] * g)
    length = np.linalg.norm(y, axis=1)
    y *= np.minimum(1.0, MITRE * thickness / np.maximum(length, 1e-300))[:, None]
    return np.asarray(vertices - y)


def _solved(M: Array, g: Array) -> Array:
    """The shortest solutions y (n, 3) of M y = g in the sense of least squares, M (n, 3, 3) symmetric and not negative."""
    try:
        return np.asarray(np.linalg.solve(M, g[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:  # one singular matrix among them
        return np.asarray(np.einsum("nij,nj->ni", np.linalg.pinv(M, rcond=1e-9, hermitian=True), g))


def limb_radii(vertices: Array, faces: Indices) -> Array:
    """Radius (n,) [m] of the largest ball that touches the surface from inside at each vertex and reaches no other sample of it.

    With p the vertex and n its outward normal, the least |q - p|^2 / (2 n . (p - q)) over the samples q: all vertices, and the
    centres of the faces that look the other way (those of faces near p lie below the smooth surface and would count as bends).
    """
    N, n = vertex_normals(vertices, faces), face_normals(vertices, faces)
    samples = np.vstack([vertices, vertices[faces].mean(axis=1)])
    radii = np.full(len(vertices), np.inf)
    for start in range(0, len(vertices), 256):
        p, m = vertices[start : start + 256], N[start : start + 256]
        height = (p * m).sum(axis=1)[:, None] - m @ samples.T
        height[:, len(vertices) :] *= m @ n.T < -0.2
        square = (p**2).sum(axis=1)[:, None] - 2.0 * p @ samples.T + (samples**2).sum(axis=1)
        touching = height > 1e-9 + 0.05 * np.sqrt(np.maximum(square, 0.0))
        radii[start : start + 256] = np.where(touching, square / np.maximum(2.0 * height, 1e-12), np.inf).min(axis=1)
    return radii


def _corner_angles(vertices: Array, faces: Indices) -> Array:
    X = vertices[faces]
    angles = np.empty((len(faces), 3))
    for k in range(3):
        p, q = X[:, (k + 1) % 3] - X[:, k], X[:, (k + 2) % 3] - X[:, k]
        angles[:, k] = np.arctan2(np.linalg.norm(np.cross(p, q), axis=1), (p * q).sum(axis=1))
    return angles
