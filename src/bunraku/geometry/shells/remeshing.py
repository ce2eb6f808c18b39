"""Isotropic remeshing to a size field: split long edges, collapse short ones, flip towards six neighbours, relax, project back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.shells.closest import ClosestPoints
from bunraku.geometry.shells.triangulation import Triangulation

Size = Callable[[Array], Array]
PASSES = 12


def remesh(vertices: Array, faces: Indices, fixed: Indices, size: Size, onto: ClosestPoints) -> tuple[Array, Indices, Indices]:
    """A surface with edges about as long as ``size`` says: vertices (n, 3), faces (m, 3), and the new numbers of ``fixed``.

    ``size`` maps points (k, 3) to edge lengths (k,) [m]. ``fixed`` vertices stay where they are; the border of an open surface must
    pass through them, and all its other vertices are removed, so that it becomes the polygon of the fixed ones. The other vertices
    lie on the surface ``onto``. Botsch and Kobbelt, "A remeshing approach to multiresolution modeling", 2004.
    """
    mesh, number = Triangulation(vertices, faces, fixed), np.arange(len(vertices))
    for _ in range(8):
        before = len(mesh.faces)
        _collapse_short(mesh, size)
        _clear_border(mesh, force=False)
        mesh, packed = mesh.packed()
        number = np.where(number >= 0, packed[number], -1)
        if len(mesh.faces) > 0.9 * before:
            break
    for i in range(PASSES):
        _split_long(mesh, size)
        _collapse_short(mesh, size)
        _clear_border(mesh, force=i >= 2)
        _flip_to_six(mesh)
        _relax(mesh, onto)
    for _ in range(4):
        _flip_to_angles(mesh)
        _relax(mesh, onto, rate=0.5)
    _flip_to_angles(mesh)
    left = _loose_border(mesh)
    if left:
        x = mesh.points[left[0]]
        raise BadInput(f"the border at ({x[0]:.3f}, {x[1]:.3f}, {x[2]:.3f}) m could not be joined to its ring; use a finer surface")
    mesh, packed = mesh.packed()
    X, F = mesh.arrays()
    return X, F, packed[number[fixed]]


def _lengths(mesh: Triangulation, size: Size) -> tuple[Indices, NDArray[np.bool_], Array, Array]:
    edges, border = mesh.edges()
    X = np.array(mesh.points)
    used = np.unique(edges)
    h = np.zeros(len(X))
    h[used] = size(X[used])
    return edges, border, np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1), 0.5 * (h[edges[:, 0]] + h[edges[:, 1]])


def _split_long(mesh: Triangulation, size: Size) -> None:
    for _ in range(8):
        edges, border, length, target = _lengths(mesh, size)
        rigid = np.array([a in mesh.fixed and b in mesh.fixed for a, b in edges.tolist()])
        long = np.flatnonzero(~border & ((length > target * 4.0 / 3.0) | rigid))
        if not len(long):
            return
        for e in long[np.argsort(-length[long])].tolist():
            a, b = edges[e].tolist()
            if len(mesh.at[a] & mesh.at[b]) == 2:
                mesh.split(a, b)


def _collapse_short(mesh: Triangulation, size: Size) -> None:
    edges, border, length, target = _lengths(mesh, size)
    rim = {p for pair in edges[border].tolist() for p in pair}
    ratio = length / target
    short = np.flatnonzero((ratio < 0.8) & ~border)
    for e in short[np.argsort(ratio[short])].tolist():
        a, b = edges[e].tolist()
        if not mesh.at[a] or not mesh.at[b] or mesh.length(a, b) >= 0.8 * target[e]:
            continue
        if b in rim:
            a, b = b, a
        if b in rim:
            continue
        p, q = mesh.points[a], mesh.points[b]
        middle = p if a in rim else (0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2]))
        mesh.collapse(a, b, middle, longest=4.0 / 3.0 * target[e])


def _loose_border(mesh: Triangulation) -> list[int]:
    edges, border = mesh.edges()
    return [p for p in np.unique(edges[border]).tolist() if p not in mesh.fixed]


def _clear_border(mesh: Triangulation, *, force: bool) -> None:
    """Collapse border points that are no ring points along the border, the shorter edge first."""
    for p in _loose_border(mesh):
        ends = [q for q in mesh.neighbours(p) if len(mesh.at[p] & mesh.at[q]) == 1]
        for q in sorted(ends, key=lambda q: mesh.length(p, q)):
            if mesh.collapse(q, p, mesh.points[q], check=not force):
                break


def _flip_to_six(mesh: Triangulation) -> None:
    edges, border = mesh.edges()
    rim = {p for pair in edges[border].tolist() for p in pair}
    for a, b in edges[~border].tolist():
        wings = mesh.wings(a, b)
        if wings is None:
            continue
        c, d = wings
        excess = [len(mesh.at[p]) - (3 if p in rim else 6) for p in (a, b, c, d)]
        change = sum(abs(x) for x in excess) - sum(abs(x + y) for x, y in zip(excess, (-1, -1, 1, 1), strict=True))
        if change > 0:
            mesh.flip(a, b, bend=0.5)


def _flip_to_angles(mesh: Triangulation) -> None:
    """Flip where the opposite angles add up to more than half a turn (Delaunay)."""
    for _ in range(4):
        edges, border = mesh.edges()
        flips = 0
        for a, b in edges[~border].tolist():
            wings = mesh.wings(a, b)
            if wings is not None and mesh.angle(wings[0], a, b) + mesh.angle(wings[1], a, b) > np.pi + 0.05:
                flips += mesh.flip(a, b, bend=0.5)
        if not flips:
            return


def _relax(mesh: Triangulation, onto: ClosestPoints, rate: float = 0.8) -> None:
    """Move every free point towards the mean of its neighbours along the surface, then to the closest point of the original."""
    edges, border = mesh.edges()
    X, F = mesh.arrays()
    free = np.zeros(len(X), dtype=bool)
    free[F] = True
    free[edges[border]] = False
    free[list(mesh.fixed)] = False
    total, count, N = np.zeros_like(X), np.zeros(len(X)), np.zeros_like(X)
    for a, b in ((0, 1), (1, 0)):
        np.add.at(total, edges[:, a], X[edges[:, b]])
        np.add.at(count, edges[:, a], 1.0)
    n = np.cross(X[F[:, 1]] - X[F[:, 0]], X[F[:, 2]] - X[F[:, 0]])
    for k in range(3):
        np.add.at(N, F[:, k], n)
    X, N = X[free], N[free] / np.maximum(np.linalg.norm(N[free], axis=1, keepdims=True), 1e-30)
    step = total[free] / count[free, None] - X
    step -= N * (step * N).sum(axis=1, keepdims=True)
    moved = onto.query(X + rate * step)[2]
    for p, x in zip(np.flatnonzero(free).tolist(), moved.tolist(), strict=True):
        mesh.points[p] = (x[0], x[1], x[2])
