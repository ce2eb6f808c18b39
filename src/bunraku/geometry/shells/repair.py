"""Local repair of a layer: vertices of cells with small dihedral angles are tried at other places until the angles hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices
from bunraku.geometry.shells.closest import ClosestPoints
from bunraku.geometry.shells.offset import vertex_normals
from bunraku.geometry.shells.quality import cell_merits

ROUNDS = 12
TRIES = 24


def repair_layer(
    outer: Array,
    inner: Array,
    faces: Indices,
    cells: Indices,
    thickness: Array,
    firm: NDArray[np.bool_],
    onto: ClosestPoints,
    least_angle: float,
) -> tuple[Array, Array, bool]:
    """Outer and inner vertices moved so that no dihedral angle is below ``least_angle`` [rad], if that can be had; whether any was.

    ``cells`` are those of :func:`prism_cells`. Inner vertices move within 0.93 to 1.2 thicknesses from the planes of the outer
    faces at hand, those under ``firm`` (n,) vertices within 0.95 to 1.1; other outer vertices slide along the original surface. A
    move is kept when the least angle of the cells at the vertex grows. Rounds end when two of them bring nothing.
    """
    V = len(outer)
    X = np.vstack([outer, inner])
    at: list[list[int]] = [[] for _ in range(V)]
    for f, face in enumerate(faces.tolist()):
        for p in face:
            at[p].append(f)
    random = np.random.default_rng(0)
    target = least_angle * 1.03
    scale, worked, idle, before = 0.5, False, 0, -np.inf
    for _ in range(ROUNDS):
        quality = cell_merits(X[cells])
        bad = np.unique(cells[quality < target] % V)
        merit = float(np.minimum(quality - target, 0.0).sum())
        idle = 0 if merit > before + 1e-3 + 0.02 * abs(before) else idle + 1
        before = merit if np.isinf(before) else max(merit, before)
        if not len(bad) or idle > 1:
            break
        worked = True
        for v in bad[np.argsort([quality[[3 * f + c for f in at[v] for c in range(3)]].min() for v in bad])].tolist():
            mine = cells[np.array([3 * f + c for f in at[v] for c in range(3)])]
            _improve_inner(X, v, V, mine, faces[at[v]], float(thickness[v]), (0.95, 1.1) if firm[v] else (0.93, 1.2), scale, random)
            if not firm[v]:
                _improve_outer(X, v, V, mine, faces[at[v]], onto, scale, random)
        scale *= 0.8
    return X[:V], X[V:], worked


def _improve_inner(
    X: Array,
    v: int,
    V: int,
    cells: Indices,
    faces: Indices,
    t: float,
    band: tuple[float, float],
    scale: float,
    random: np.random.Generator,
) -> None:
    """Move an inner vertex within a band of thicknesses from the planes of the outer faces (or no further out of it than it is)."""
    best = cell_merits(X[cells]).min()
    start = X[V + v].copy()
    A, B, C = X[faces[:, 0]], X[faces[:, 1]], X[faces[:, 2]]
    n = np.cross(B - A, C - A)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    ring = np.unique(faces[faces != v]) + V
    centre = X[ring].mean(axis=0)
    depth = ((A - start) * n).sum(axis=1)
    least, most = min(band[0] * t, depth.min()), max(band[1] * t, depth.max())
    for trial in range(TRIES):
        step = 0.5 * (centre - start) if trial == 0 else scale * t * random.normal(size=3)
        place = start + step
        depth = ((A - place) * n).sum(axis=1)
        if depth.min() < least or depth.max() > most or np.linalg.norm(place - X[v]) > 2.2 * t:
            continue
        X[V + v] = place
        quality = cell_merits(X[cells]).min()
        if quality > best:
            best, start = quality, place.copy()
        else:
            X[V + v] = start


def _improve_outer(
    X: Array, v: int, V: int, cells: Indices, faces: Indices, onto: ClosestPoints, scale: float, random: np.random.Generator
) -> None:
    """Slide an outer vertex, its inner partner following."""
    best = cell_merits(X[cells]).min()
    start, partner = X[v].copy(), X[V + v].copy()
    local, back = np.unique(faces, return_inverse=True)
    N = vertex_normals(X[local], np.asarray(back).reshape(-1, 3))[int(np.searchsorted(local, v))]
    ring = np.unique(faces[faces != v])
    reach = float(np.linalg.norm(X[ring] - start, axis=1).mean())
    steps = 0.3 * scale * reach * random.normal(size=(TRIES // 2, 3))
    steps[0] = 0.5 * (X[ring].mean(axis=0) - start)
    steps -= (steps @ N)[:, None] * N
    for place in onto.query(start + steps)[2]:
        X[v], X[V + v] = place, partner + place - start
        quality = cell_merits(X[cells]).min()
        if quality > best:
            best, start, partner = quality, X[v].copy(), X[V + v].copy()
        X[v], X[V + v] = start, partner
