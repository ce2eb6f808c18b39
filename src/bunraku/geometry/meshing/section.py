"""Plane sections to extrude: triangles whose boundary edges may be arcs. Disks, rings and rectangles in regular patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput


@dataclass(frozen=True)
class Section:
    """A triangulated plane shape, possibly with curved edges.

    ``points`` (V, 2) [m]; ``triangles`` (T, 3), counter-clockwise; ``edges`` (E, 2), each pair rising; ``middles`` (E, 2), the
    point in the middle of every edge, on the arc when the edge is one; ``loops``, the numbers of the edges of each named
    boundary.
    """

    points: Array
    triangles: Indices
    edges: Indices
    middles: Array
    loops: Mapping[str, Indices]

    @property
    def area(self) -> float:
        """Area [m^2] inside the quadratic (curved) boundary."""
        total = 0.0
        for a, b in _directed_boundary(self.triangles):
            p, q = self.points[a], self.points[b]
            m = self.middles[np.flatnonzero((self.edges == sorted((a, b))).all(axis=1))[0]]
            total += 0.5 * _cross(p, q) + 2.0 / 3.0 * _cross(q - p, 0.5 * (p + q) - m)
        return float(total)


def make_section(
    points: ArrayLike,
    triangles: ArrayLike,
    name_of: Callable[[Array], str],
    arc: Callable[[str, Array, Array], Array] | None = None,
) -> Section:
    """A section from points (V, 2) and counter-clockwise triangles (T, 3).

    ``name_of`` gives the loop to which a boundary edge belongs by its two points (2, 2); ``arc(loop, p, q)`` the middle of a
    boundary edge from p to q (half-way when it is not given).
    """
    P, T = np.asarray(points, dtype=np.float64), np.asarray(triangles, dtype=np.int64)
    edges = np.unique(np.sort(T[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    middles = 0.5 * P[edges].sum(axis=1)
    number = {(int(a), int(b)): i for i, (a, b) in enumerate(edges)}
    loops: dict[str, list[int]] = {}
    for a, b in _directed_boundary(T):
        edge, name = number[min(a, b), max(a, b)], name_of(P[[a, b]])
        loops.setdefault(name, []).append(edge)
        if arc is not None:
            middles[edge] = arc(name, P[a], P[b])
    return Section(P, T, edges, middles, {name: np.array(sorted(numbers), dtype=np.int64) for name, numbers in loops.items()})


def disk(radius: float, *, rings: int = 1, sectors: int = 7) -> Section:
    """A disk about the origin with boundary ``side``: ring i of ``rings`` carries i * ``sectors`` points.

    There are sectors * rings^2 triangles; the middles of the outer edges lie on the circle, so that one ring of seven sectors
    already has 0.9987 of its area.
    """
    _check_counts(rings=rings, sectors=sectors - 2)
    _check_lengths(radius=radius)
    points, triangles = [np.zeros((1, 2))], []
    start = [0, *(1 + sectors * i * (i + 1) // 2 for i in range(rings))]
    for i in range(1, rings + 1):
        angle = 2.0 * np.pi * np.arange(i * sectors) / (i * sectors)
        points.append(radius * i / rings * np.column_stack([np.cos(angle), np.sin(angle)]))
        for s in range(sectors):
            outer = [start[i] + (s * i + j) % (i * sectors) for j in range(i + 1)]
            inner = [0] if i == 1 else [start[i - 1] + (s * (i - 1) + j) % ((i - 1) * sectors) for j in range(i)]
            triangles += [(inner[j], outer[j], outer[j + 1]) for j in range(i)]
            triangles += [(inner[j], outer[j + 1], inner[j + 1]) for j in range(i - 1)]
    return make_section(np.vstack(points), triangles, lambda _: "side", lambda _, p, q: _on_circle(p, q, np.zeros(2), radius))


def ring(inner: float, outer: float, *, rings: int = 1, sectors: int = 12) -> Section:
    """The section of a tube between two circles about the origin, boundaries ``hole`` and ``side``, all arcs curved."""
    _check_counts(rings=rings, sectors=sectors - 2)
    _check_lengths(inner=inner, outer=outer)
    if outer <= inner:
        raise BadInput(f"a tube with inner radius {inner:g} m and outer radius {outer:g} m has no wall; the outer must be larger")
    angle = 2.0 * np.pi * np.arange(sectors) / sectors
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    radii = np.linspace(inner, outer, rings + 1)
    triangles = []
    for i in range(rings):
        for s in range(sectors):
            a, b = i * sectors + s, i * sectors + (s + 1) % sectors
            c, d = a + sectors, b + sectors
            triangles += [(a, c, d), (a, d, b)] if (s + i) % 2 else [(a, c, b), (b, c, d)]
    half = 0.5 * (inner + outer)
    points = (radii[:, None, None] * circle).reshape(-1, 2)
    section = make_section(points, triangles, lambda ends: "side" if np.hypot(*ends[0]) > half else "hole")
    lengths = np.hypot(*section.points.T)
    for i, (a, b) in enumerate(section.edges):
        length = 0.5 * (lengths[a] + lengths[b])
        section.middles[i] *= length / np.hypot(*section.middles[i])
    return section


def rectangle(width: float, height: float, *, columns: int, rows: int) -> Section:
    """A rectangle centred on the origin in ``columns`` x ``rows`` halved rectangles; boundaries ``-x``, ``+x``, ``-y``, ``+y``."""
    _check_counts(columns=columns, rows=rows)
    _check_lengths(width=width, height=height)
    x, y = np.linspace(-width / 2, width / 2, columns + 1), np.linspace(-height / 2, height / 2, rows + 1)
    points = np.stack(np.meshgrid(x, y, indexing="xy"), axis=-1).reshape(-1, 2)
    triangles = []
    for j in range(rows):
        for i in range(columns):
            a = j * (columns + 1) + i
            b, c, d = a + 1, a + columns + 1, a + columns + 2
            triangles += [(a, b, d), (a, d, c)] if (i + j) % 2 == 0 else [(a, b, c), (b, d, c)]

    def side(ends: Array) -> str:
        horizontal = abs(ends[0, 1] - ends[1, 1]) < abs(ends[0, 0] - ends[1, 0])
        return ("+" if ends[0, 1 if horizontal else 0] > 0 else "-") + ("y" if horizontal else "x")

    return make_section(points, triangles, side)


def _on_circle(p: Array, q: Array, center: Array, radius: float) -> Array:
    """The middle of the arc from p to q."""
    way = 0.5 * (p + q) - center
    return center + radius * way / np.hypot(*way)


def _directed_boundary(triangles: Indices) -> list[tuple[int, int]]:
    """Edges that have a triangle on their left only, in the order of the triangles."""
    directed = [(int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3)]
    present = set(directed)
    return [(a, b) for a, b in directed if (b, a) not in present]


def _cross(p: Array, q: Array) -> float:
    return float(p[0] * q[1] - p[1] * q[0])


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            least = 3 if name == "sectors" else 1
            raise BadInput(f"{name} is {count + least - 1}; at least {least} is needed")


def _check_lengths(**lengths: float) -> None:
    for name, length in lengths.items():
        if not np.isfinite(length) or length <= 0.0:
            raise BadInput(f"{name} is {length:g} m; a positive length is needed")
