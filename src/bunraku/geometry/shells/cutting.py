"""Cutting regions out of a surface: slice along the loops at their ends, drop what lies between, put the rings' points in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion, fold_frame
from bunraku.geometry.shells.rings import Rings, limb_loop
from bunraku.geometry.shells.sections import Loop, loop_angles

Triangle = tuple[int, int, int]
SNAP = 0.04
"""Vertices nearer to a cutting plane than this part of the local edge length are first moved that far away from it."""


class CutSurface:
    """A surface being cut: ``vertices`` (n, 3) [m], ``faces`` (m, 3); open where regions were taken out. Changed in place."""

    def __init__(self, vertices: Array, faces: Indices) -> None:
        self.vertices = np.array(vertices, dtype=np.float64)
        self.faces = np.array(faces, dtype=np.int64)


def cut_region(surface: CutSurface, fold: FoldRegion, rings: Rings, place: str, *, end: bool = False) -> list[Indices]:
    """Take a region out of the surface; the vertex numbers (n,) of its first and last ring, which now lie on the borders.

    At the ``end`` of a limb, which lies in the plane of the first ring, only the last ring is there.

    The border between two neighbouring ring points may still have further vertices; remeshing removes them.
    """
    half = 0.5 * fold.length
    last = len(rings.stations) - 1
    ends = [(last, half)] if end else [(0, -half), (last, half)]
    loops = [_slice(surface, fold, station, place) for _, station in ends]
    surface.faces = surface.faces[~_between(surface, fold, loops, place)]
    return [_insert_ring(surface, fold, rings, i, loop, place) for (i, _), loop in zip(ends, loops, strict=True)]


def _slice(surface: CutSurface, fold: FoldRegion, station: float, place: str) -> list[int]:
    """Split the faces that the limb's loop at a station crosses; the loop's new vertices in order, turning from u to v."""
    loop = limb_loop(surface.vertices, surface.faces, fold, station, place)
    near = np.unique(surface.faces[loop.faces])
    X = surface.vertices[near]
    d = (X - fold.middle) @ fold.direction - station
    corners = surface.vertices[surface.faces[loop.faces]]
    reach = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).min(axis=1)
    local = np.full(len(surface.vertices), np.inf)
    np.minimum.at(local, surface.faces[loop.faces].ravel(), np.repeat(reach, 3))
    least = SNAP * local[near]
    move = np.where(np.abs(d) < least, np.where(d >= 0.0, least, -least) - d, 0.0)
    surface.vertices[near] = X + move[:, None] * fold.direction
    loop = limb_loop(surface.vertices, surface.faces, fold, station, place)
    return _split_faces(surface, loop)


def _split_faces(surface: CutSurface, loop: Loop) -> list[int]:
    first = len(surface.vertices)
    number = {frozenset(edge): first + i for i, edge in enumerate(loop.edges.tolist())}
    surface.vertices = np.vstack([surface.vertices, loop.points])
    X, added = surface.vertices, []
    for face in surface.faces[loop.faces].tolist():
        a, b, c = face
        for _ in range(3):
            if frozenset((a, b)) in number and frozenset((c, a)) in number:
                break
            a, b, c = b, c, a
        p, q = number[frozenset((a, b))], number[frozenset((c, a))]
        added.append((a, p, q))
        if np.linalg.norm(X[p] - X[c]) < np.linalg.norm(X[q] - X[b]):
            added += [(p, b, c), (p, c, q)]
        else:
            added += [(p, b, q), (b, c, q)]
    keep = np.ones(len(surface.faces), dtype=bool)
    keep[loop.faces] = False
    surface.faces = np.vstack([surface.faces[keep], np.array(added, dtype=np.int64)])
    return [first + i for i in range(len(loop.points))]


def _between(surface: CutSurface, fold: FoldRegion, loops: list[list[int]], place: str) -> NDArray[np.bool_]:
    """Which faces (m,) are reached from the middle cross-section without crossing the loops."""
    blocked = {frozenset((a, b)) for loop in loops for a, b in zip(loop, loop[1:] + loop[:1], strict=True)}
    owner: dict[tuple[int, int], int] = {}
    d = np.abs((surface.vertices - fold.middle) @ fold.direction)
    near = np.flatnonzero((d[surface.faces] < 0.75 * fold.length).any(axis=1))
    faces = dict(zip(near.tolist(), surface.faces[near].tolist(), strict=True))
    for f, (a, b, c) in faces.items():
        owner[a, b] = owner[b, c] = owner[c, a] = f
    inside = np.zeros(len(surface.faces), dtype=bool)
    stack: list[int] = limb_loop(surface.vertices, surface.faces, fold, 0.0, place).faces.tolist()
    inside[stack] = True
    while stack:
        a, b, c = faces[stack.pop()]
        for p, q in ((a, b), (b, c), (c, a)):
            f = owner.get((q, p), -1)
            if f >= 0 and not inside[f] and frozenset((p, q)) not in blocked:
                inside[f] = True
                stack.append(f)
    if d[surface.faces[inside]].max() > 0.5 * fold.length * 1.001 + 1e-6:
        raise BadInput(
            "the surface between the two planes leads on to other parts of the body; shorten the region or move it along the limb",
            place=place,
        )
    return inside


def _insert_ring(surface: CutSurface, fold: FoldRegion, rings: Rings, which: int, loop: list[int], place: str) -> Indices:
    """Put the points of an end ring on the border ``loop``: vertices at hand are moved there, or an edge is split."""
    u, v = fold_frame(fold)
    centre, points = rings.centres[which], rings.points[which]
    phi = np.maximum.accumulate(loop_angles(surface.vertices[loop], centre, u, v))
    k = len(loop)
    wrapped = phi[0] + np.mod(rings.angles - phi[0], 2.0 * np.pi)
    segment = np.searchsorted(phi, wrapped, side="right") - 1
    ends = np.append(phi, phi[0] + 2.0 * np.pi)
    t = (wrapped - ends[segment]) / np.maximum(ends[segment + 1] - ends[segment], 1e-12)
    numbers, taken = np.full(len(points), -1, dtype=np.int64), set()
    for j in np.argsort(np.minimum(t, 1.0 - t)).tolist():
        corner = int(segment[j] if t[j] < 0.5 else (segment[j] + 1) % k)
        if min(t[j], 1.0 - t[j]) < 0.15 and corner not in taken:
            taken.add(corner)
            numbers[j] = loop[corner]
            surface.vertices[loop[corner]] = points[j]
    fresh = np.flatnonzero(numbers < 0)
    numbers[fresh] = len(surface.vertices) + np.arange(len(fresh))
    surface.vertices = np.vstack([surface.vertices, points[fresh]])
    sides = {frozenset((loop[i], loop[(i + 1) % k])): i for i in range(k)}
    inserts: dict[int, list[int]] = {}
    for j in fresh[np.argsort(wrapped[fresh])].tolist():
        inserts.setdefault(int(segment[j]), []).append(int(numbers[j]))
    touched = np.isin(surface.faces, loop).sum(axis=1) >= 2
    pending = [(a, b, c) for a, b, c in surface.faces[touched].tolist()]
    done: list[Triangle] = []
    used = 0
    while pending:
        a, b, c = pending.pop()
        for p, q, r in ((a, b, c), (b, c, a), (c, a, b)):
            i = sides.get(frozenset((p, q)), -1)
            if i in inserts:
                chain = inserts.pop(i)
                used += len(chain)
                chain = [p, *(chain if p == loop[i] else chain[::-1]), q]
                pending += [(x, y, r) for x, y in pairwise(chain)]
                break
        else:
            done.append((a, b, c))
    if used != len(fresh):
        raise BadInput(
            "the border of the region is not one closed loop of the surface; move it away from other regions", place=place
        )
    surface.faces = np.vstack([surface.faces[~touched], np.array(done, dtype=np.int64)])
    return numbers
