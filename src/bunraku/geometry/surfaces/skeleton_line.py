"""The skeleton line of a closed surface: nodes in the middle of its limbs, edges between them, the room around each.

The contracted surface (`contraction`) is divided into regions about as long as it is thick, by distance along the surface. A region
is a node, in the middle of the part of the original surface that it comes from; regions that touch are linked. Where more than two
regions touch in one place, and wherever the graph has more loops than the surface has handles, the shortest links are drawn
together. Spurs are dropped, and branches closer than their radius become one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import dijkstra

from bunraku.arrays import Array, Indices
from bunraku.geometry.surfaces.contraction import contracted
from bunraku.geometry.surfaces.distance import closest_points, inside, libigl
from bunraku.geometry.surfaces.surface import Surface
from bunraku.geometry.surfaces.topology import edges_of, genus


@dataclass(frozen=True)
class SkeletonLine:
    """``nodes`` (k, 3) [m], ``edges`` (e, 2) of node numbers, ``radius`` (k,) [m]: how far the surface is from each node."""

    nodes: Array
    edges: Indices
    radius: Array

    @property
    def degree(self) -> Indices:
        """How many edges (k,) each node has."""
        return np.bincount(self.edges.ravel(), minlength=len(self.nodes)).astype(np.int64)

    @property
    def leaves(self) -> Indices:
        """The nodes where a limb ends."""
        return np.flatnonzero(self.degree == 1)

    @property
    def branches(self) -> Indices:
        """The nodes where three or more limbs meet."""
        return np.flatnonzero(self.degree >= 3)

    def limbs(self) -> list[Indices]:
        """The paths of nodes between leaves and branches, each once, from its branch where it has one."""
        around = self.neighbours()
        ends = {int(node) for node in (*self.branches, *self.leaves)}
        limbs, seen = [], set()
        for start in (*self.branches.tolist(), *self.leaves.tolist()):
            for step in around[start]:
                path = [start, step]
                while path[-1] not in ends:
                    path += [node for node in around[path[-1]] if node != path[-2]][:1]
                key = (min(path[0], path[-1]), max(path[0], path[-1]), *sorted(path[1:-1])[:1])
                if key not in seen:
                    seen.add(key)
                    limbs.append(np.array(path, dtype=np.int64))
        return limbs

    def neighbours(self) -> list[list[int]]:
        """For each node the nodes it is linked to."""
        around: list[list[int]] = [[] for _ in self.nodes]
        for a, b in self.edges.tolist():
            around[a].append(b)
            around[b].append(a)
        return around


def skeleton_line(surface: Surface, *, faces: int = 6000, length: float | None = None) -> SkeletonLine:
    """The skeleton line of a closed surface of one component.

    It is first made coarser, to about so many ``faces``. ``length`` [m] of a region is 0.7 of the
    mean radius 2 volume / area if None.
    """
    coarse = coarser(surface, faces)
    tips = contracted(coarse).vertices
    if length is None:
        length = 1.4 * coarse.volume() / coarse.area()
    region = _regions(tips, coarse.faces, length)
    nodes, weights = _middles(coarse, tips, region)
    graph = _Graph(nodes, weights)
    ends = edges_of(coarse.faces).ends
    for a, b in region[ends].tolist():
        graph.link(a, b)
    graph.without_loops(genus(coarse.faces))
    return _pruned(graph.line(), surface, length)


def coarser(surface: Surface, faces: int) -> Surface:
    """About so many ``faces`` by drawing together the shortest edges; the surface itself when it has no more."""
    if len(surface.faces) <= faces:
        return surface
    vertices, triangles = libigl().decimate(surface.vertices, surface.faces, faces)[:2]
    return Surface(vertices, triangles)


def _regions(tips: Array, faces: Indices, length: float) -> Indices:
    """The region (n,) of each vertex: seeds are put one after the other where it is furthest to those there are."""
    ends = edges_of(faces).ends
    size = np.linalg.norm(tips[ends[:, 0]] - tips[ends[:, 1]], axis=1) + 1e-9 * length
    n = len(tips)
    graph = csr_matrix(
        coo_matrix((np.r_[size, size], (np.r_[ends[:, 0], ends[:, 1]], np.r_[ends[:, 1], ends[:, 0]])), shape=(n, n))
    )
    first = int(np.argmax(dijkstra(graph, indices=[0])[0]))
    nearest = dijkstra(graph, indices=[first])[0]
    region = np.zeros(n, dtype=np.int64)
    for number in range(1, n):
        if nearest.max() <= length:
            break
        other = dijkstra(graph, indices=[int(np.argmax(nearest))])[0]
        region[other < nearest] = number
        nearest = np.minimum(nearest, other)
    return np.unique(region, return_inverse=True)[1]


def _middles(surface: Surface, tips: Array, region: Indices) -> tuple[Array, Array]:
    """For each region the middle of the original surface it comes from, or of the contracted one when that is outside; its area."""
    area = np.bincount(surface.faces.ravel(), weights=np.repeat(surface.face_areas() / 3.0, 3), minlength=len(tips))
    total: Array = np.bincount(region, weights=area).astype(np.float64)
    both = [
        np.stack([np.bincount(region, weights=area * points[:, i]) for i in range(3)], axis=1) / total[:, None]
        for points in (surface.vertices, tips)
    ]
    return np.where(inside(surface, both[0])[:, None], both[0], both[1]), total


class _Graph:
    """Nodes with weights and links, that can be drawn together."""

    def __init__(self, nodes: Array, weights: Array) -> None:
        self.nodes = nodes.copy()
        self.weights = weights.copy()
        self.around: dict[int, set[int]] = {number: set() for number in range(len(nodes))}

    def link(self, a: int, b: int) -> None:
        if a != b:
            self.around[a].add(b)
            self.around[b].add(a)

    def gap(self, a: int, b: int) -> float:
        return float(np.linalg.norm(self.nodes[a] - self.nodes[b]))

    def links(self) -> list[tuple[float, int, int]]:
        return sorted((self.gap(a, b), a, b) for a, others in self.around.items() for b in others if a < b)

    def join(self, a: int, b: int) -> None:
        """Draw b into a, the place weighted by what both stand for."""
        share = self.weights[b] / (self.weights[a] + self.weights[b])
        self.nodes[a] += share * (self.nodes[b] - self.nodes[a])
        self.weights[a] += self.weights[b]
        for other in self.around.pop(b):
            self.around[other].discard(b)
            self.link(a, other)

    def without_loops(self, handles: int) -> None:
        """Draw together the shortest links of triangles, then of any loop, until there are as many loops as handles."""
        while True:
            triangle = next(((a, b) for _, a, b in self.links() if self.around[a] & self.around[b]), None)
            if triangle is None:
                break
            self.join(*triangle)
        while sum(map(len, self.around.values())) // 2 - len(self.around) + 1 > handles:
            self.join(*next((a, b) for _, a, b in self.links() if self._on_loop(a, b)))

    def _on_loop(self, a: int, b: int) -> bool:
        """Whether b can be reached from a without their link."""
        seen, stack = {a}, [other for other in self.around[a] if other != b]
        while stack:
            node = stack.pop()
            if node == b:
                return True
            if node not in seen:
                seen.add(node)
                stack += self.around[node]
        return False

    def line(self) -> SkeletonLine:
        place = {node: number for number, node in enumerate(self.around)}
        edges = [(place[a], place[b]) for _, a, b in self.links()]
        return SkeletonLine(self.nodes[list(place)], np.array(edges, dtype=np.int64).reshape(-1, 2), np.zeros(len(place)))


def _pruned(line: SkeletonLine, surface: Surface, length: float) -> SkeletonLine:
    """With radii, without spurs, and with branches nearer than their radius made one."""
    while True:
        line = replace(line, radius=closest_points(surface, line.nodes)[0])
        spur = _spur(line, length)
        if spur is not None:
            line = _without(line, spur)
            continue
        near = _near_branches(line)
        if near is None:
            return line
        a, b = near
        graph = _Graph(line.nodes, line.radius)
        for edge in line.edges.tolist():
            graph.link(*edge)
        graph.join(a, b)
        line = graph.line()


def _spur(line: SkeletonLine, length: float) -> Indices | None:
    """The nodes, but the first, of the shortest limb that ends in a leaf and is a spur, if there is one.

    A spur reaches less far than the diameter at the branch it comes out of, or than two regions of the given ``length``, or it
    is shorter than the radius at one of its ends.
    """
    shortest: tuple[float, Indices] | None = None
    for path in line.limbs():
        if line.degree[path[0]] >= 3 and line.degree[path[-1]] == 1:
            along = float(np.linalg.norm(np.diff(line.nodes[path], axis=0), axis=1).sum())
            reach = along + line.radius[path[-1]]
            short = along < max(line.radius[path[0]], line.radius[path[-1]]) or reach < 2.0 * max(line.radius[path[0]], length)
            if short and (shortest is None or along < shortest[0]):
                shortest = (along, path[1:])
    return None if shortest is None else shortest[1]


def _near_branches(line: SkeletonLine) -> tuple[int, int] | None:
    """The ends of the shortest edge between two branches that is shorter than the radius at both."""
    degree = line.degree
    near = []
    for a, b in line.edges.tolist():
        gap = float(np.linalg.norm(line.nodes[a] - line.nodes[b]))
        if degree[a] >= 3 and degree[b] >= 3 and gap < min(line.radius[a], line.radius[b]):
            near.append((gap, a, b))
    return min(near)[1:] if near else None


def _without(line: SkeletonLine, dropped: Indices) -> SkeletonLine:
    kept = np.setdiff1d(np.arange(len(line.nodes)), dropped)
    place = np.full(len(line.nodes), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    edges = place[line.edges]
    return SkeletonLine(line.nodes[kept], edges[(edges >= 0).all(axis=1)], line.radius[kept])
