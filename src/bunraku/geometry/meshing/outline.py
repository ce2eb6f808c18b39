"""Sections of printed parts: a polygon or circle with holes, filled with nearly regular triangles.

The boundary is divided into pieces of about the wanted size, a hexagonal lattice of points fills the inside, and their Delaunay
triangulation is smoothed a few times; boundary pieces that it misses are halved until none is missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import Delaunay, QhullError

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.meshing.section import Section, make_section

MAX_POINTS = 200_000


@dataclass(frozen=True)
class Circle:
    """A circle: ``center`` (2,) and ``radius`` [m]."""

    center: tuple[float, float]
    radius: float


Outline = Circle | Sequence[Sequence[float]]
"""A closed curve: a circle, or the corners (k, 2) [m] of a polygon, in order, the first not repeated."""


@dataclass(frozen=True)
class _Loop:
    name: str
    circle: Circle | None
    points: Array


def fill(outer: Outline, size: float, *, holes: Mapping[str, Outline] | None = None) -> Section:
    """The section inside ``outer`` (boundary ``side``) and outside the named ``holes``, triangles with edges of about ``size`` [m].

    Corners of polygons are kept; middles of edges on circles lie on the circle. The same input gives the same triangles.
    """
    if not np.isfinite(size) or size <= 0.0:
        raise BadInput(f"the size of triangles is {size:g} m; a positive length is needed")
    curves: dict[str, Outline] = {"side": outer, **(holes or {})}
    loops = [_sampled(name, curve, size) for name, curve in curves.items()]
    area = abs(_signed_area(loops[0].points)) - sum(abs(_signed_area(loop.points)) for loop in loops[1:])
    if area <= 0.0:
        raise BadInput("the holes are larger than the outline; they must lie inside it")
    inside = _lattice(loops, size, area)
    for _ in range(30):
        points, pieces = _joined(loops, inside)
        triangles = _triangulated(points, loops)
        missing = _missing(pieces, triangles)
        if not missing:
            break
        loops = [_halved(loop, missing) for loop in loops]
    else:
        raise BadInput("the outline cannot be filled; it crosses itself, or a hole crosses it")
    for _ in range(8):
        smoothed = _smoothed(points, triangles, len(inside))
        candidate = _triangulated(smoothed, loops)
        if _missing(pieces, candidate):
            break
        points, triangles = smoothed, candidate
    _check_filled(points, triangles, loops)
    names = {tuple(np.sort([a, b])): loop.name for loop, (a, b) in pieces}
    at = {tuple(point): i for i, point in enumerate(points.tolist())}
    circles = {loop.name: loop.circle for loop in loops}

    def name_of(ends: Array) -> str:
        return names[tuple(np.sort([at[tuple(end)] for end in ends.tolist()]))]

    def arc(name: str, p: Array, q: Array) -> Array:
        circle = circles[name]
        return 0.5 * (p + q) if circle is None else _pushed(0.5 * (p + q), circle)

    return make_section(points, triangles, name_of, arc)


def _sampled(name: str, curve: Outline, size: float) -> _Loop:
    if isinstance(curve, Circle):
        if not np.isfinite([*curve.center, curve.radius]).all() or curve.radius <= 0.0:
            raise BadInput(f"the circle of {name!r} has radius {curve.radius:g} m; a positive one and a finite centre are needed")
        count = max(8, int(np.ceil(2.0 * np.pi * curve.radius / size)))
        _check_count(count)
        angle = 2.0 * np.pi * np.arange(count) / count
        return _Loop(name, curve, np.asarray(curve.center) + curve.radius * np.column_stack([np.cos(angle), np.sin(angle)]))
    corners = np.asarray(curve, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise BadInput(f"the polygon of {name!r} has shape {corners.shape}; at least three finite corners (x, y) are needed")
    points = []
    for p, q in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        length = float(np.hypot(*(q - p)))
        if length <= 1e-9 * size:
            raise BadInput(f"the polygon of {name!r} repeats the corner ({p[0]:g}, {p[1]:g}); name each corner once")
        count = int(np.ceil(length / size - 1e-9))
        _check_count(count)
        points.append(p + np.arange(count)[:, None] / count * (q - p))
    return _Loop(name, None, np.vstack(points))


def _check_count(count: int) -> None:
    if count > MAX_POINTS:
        raise BadInput(f"the outline would take {count} points; at most {MAX_POINTS} are made: choose larger triangles")


def _lattice(loops: list[_Loop], size: float, area: float) -> Array:
    _check_count(int(area / (0.86 * size * size)))
    low, high = loops[0].points.min(axis=0), loops[0].points.max(axis=0)
    height = size * np.sqrt(0.75)
    rows = np.arange(low[1] + 0.5 * height, high[1], height)
    columns = np.arange(low[0], high[0] + size, size)
    if not len(rows):
        width = float((high - low).min())
        raise BadInput(f"triangles of {size:g} m do not fit into an outline {width:g} m wide; choose cells of {width:g} m or less")
    grid = np.concatenate([np.column_stack([columns + 0.5 * size * (j % 2), np.full(len(columns), y)]) for j, y in enumerate(rows)])
    grid = grid[_contains(grid, loops)]
    keep = np.ones(len(grid), dtype=bool)
    for loop in loops:
        for p, q in zip(loop.points, np.roll(loop.points, -1, axis=0), strict=True):
            keep &= _distance(grid, p, q) > 0.6 * size
    return grid[keep]


def _contains(points: Array, loops: list[_Loop]) -> NDArray[np.bool_]:
    """Whether a ray to the right crosses the loops an odd number of times."""
    odd = np.zeros(len(points), dtype=bool)
    for loop in loops:
        for p, q in zip(loop.points, np.roll(loop.points, -1, axis=0), strict=True):
            spans = (p[1] > points[:, 1]) != (q[1] > points[:, 1])
            rise = q[1] - p[1] if q[1] != p[1] else 1.0
            odd ^= spans & (points[:, 0] < p[0] + (points[:, 1] - p[1]) / rise * (q[0] - p[0]))
    return odd


def _distance(points: Array, p: Array, q: Array) -> Array:
    way = q - p
    share = np.clip((points - p) @ way / (way @ way), 0.0, 1.0)
    return np.asarray(np.hypot(*(points - p - share[:, None] * way).T))


def _joined(loops: list[_Loop], inside: Array) -> tuple[Array, list[tuple[_Loop, tuple[int, int]]]]:
    pieces, start = [], 0
    for loop in loops:
        n = len(loop.points)
        pieces += [(loop, (start + i, start + (i + 1) % n)) for i in range(n)]
        start += n
    return np.vstack([*(loop.points for loop in loops), inside]), pieces


def _triangulated(points: Array, loops: list[_Loop]) -> Indices:
    try:
        T = np.asarray(Delaunay(points).simplices, dtype=np.int64)
    except (QhullError, ValueError) as error:
        raise BadInput("the outline has no area; its corners must not lie on one line") from error
    X = points[T]
    area = 0.5 * ((X[:, 1, 0] - X[:, 0, 0]) * (X[:, 2, 1] - X[:, 0, 1]) - (X[:, 1, 1] - X[:, 0, 1]) * (X[:, 2, 0] - X[:, 0, 0]))
    T[area < 0.0] = T[area < 0.0][:, [0, 2, 1]]
    longest = np.max([((X[:, i] - X[:, j]) ** 2).sum(axis=1) for i, j in ((0, 1), (1, 2), (2, 0))], axis=0)
    kept = T[(np.abs(area) > 1e-6 * longest) & _contains(X.mean(axis=1), loops)]
    return kept[np.lexsort(kept.T[::-1])]


def _missing(pieces: list[tuple[_Loop, tuple[int, int]]], triangles: Indices) -> set[tuple[str, int]]:
    """Pieces of the boundary (loop, number within it) that are not the edge of exactly one triangle."""
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, count = np.unique(pairs, axis=0, return_counts=True)
    single = {(int(a), int(b)) for (a, b), c in zip(edges, count, strict=True) if c == 1}
    missing: set[tuple[str, int]] = set()
    first: dict[str, int] = {}
    for number, (loop, (a, b)) in enumerate(pieces):
        first.setdefault(loop.name, number)
        if (min(a, b), max(a, b)) not in single:
            missing.add((loop.name, number - first[loop.name]))
    return missing


def _halved(loop: _Loop, missing: set[tuple[str, int]]) -> _Loop:
    points = []
    for i, (p, q) in enumerate(zip(loop.points, np.roll(loop.points, -1, axis=0), strict=True)):
        points.append(p)
        if (loop.name, i) in missing:
            points.append(0.5 * (p + q) if loop.circle is None else _pushed(0.5 * (p + q), loop.circle))
    _check_count(len(points))
    return _Loop(loop.name, loop.circle, np.array(points))


def _smoothed(points: Array, triangles: Indices, free: int) -> Array:
    """Every inner point moved to the mean of its neighbours."""
    pairs = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    total, count = np.zeros_like(points), np.zeros(len(points))
    for a, b in ((0, 1), (1, 0)):
        np.add.at(total, pairs[:, a], points[pairs[:, b]])
        np.add.at(count, pairs[:, a], 1.0)
    moved = points.copy()
    inner = np.arange(len(points)) >= len(points) - free
    inner &= count > 0
    moved[inner] = total[inner] / count[inner, None]
    return moved


def _check_filled(points: Array, triangles: Indices, loops: list[_Loop]) -> None:
    X = points[triangles]
    cross = (X[:, 1, 0] - X[:, 0, 0]) * (X[:, 2, 1] - X[:, 0, 1]) - (X[:, 1, 1] - X[:, 0, 1]) * (X[:, 2, 0] - X[:, 0, 0])
    area = abs(_signed_area(loops[0].points)) - sum(abs(_signed_area(loop.points)) for loop in loops[1:])
    if abs(0.5 * cross.sum() - area) > 1e-9 * area or len(np.unique(triangles)) != len(points):
        raise BadInput(
            "the outline crosses itself, a hole lies outside it, or two holes meet; draw simple curves that do not touch"
        )


def _signed_area(points: Array) -> float:
    after = np.roll(points, -1, axis=0)
    return 0.5 * float(points[:, 0] @ after[:, 1] - points[:, 1] @ after[:, 0])


def _pushed(point: ArrayLike, circle: Circle) -> Array:
    center = np.asarray(circle.center)
    way = np.asarray(point) - center
    return center + circle.radius * way / np.hypot(*way)
