"""How faces hang together: edges, components, holes, handles. Only vertex numbers matter here, no coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from bunraku.arrays import Indices


@dataclass(frozen=True)
class Edges:
    """The edges of faces: ``ends`` (e, 2) rising, ``forward`` and ``backward`` (e,): how many faces run along it each way."""

    ends: Indices
    forward: Indices
    backward: Indices

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which edges have one face only."""
        return self.forward + self.backward == 1

    @property
    def crowded(self) -> NDArray[np.bool_]:
        """Which edges have more than two faces."""
        return self.forward + self.backward > 2

    @property
    def twisted(self) -> NDArray[np.bool_]:
        """Which edges have two faces that run along it the same way, so that one of them faces inwards."""
        return (self.forward + self.backward == 2) & (self.forward != 1)

    @property
    def closed(self) -> bool:
        """Whether every edge has exactly two faces, that run along it opposite ways."""
        return bool(((self.forward == 1) & (self.backward == 1)).all())


def edges_of(faces: Indices) -> Edges:
    """The edges of ``faces`` (m, 3)."""
    sides = _sides(faces)
    n = int(faces.max()) + 1
    key, place = np.unique(sides.min(axis=1) * n + sides.max(axis=1), return_inverse=True)
    along = sides[:, 0] < sides[:, 1]
    forward = np.bincount(place[along], minlength=len(key))
    backward = np.bincount(place[~along], minlength=len(key))
    return Edges(np.stack([key // n, key % n], axis=1), forward.astype(np.int64), backward.astype(np.int64))


def components(faces: Indices) -> Indices:
    """The component (m,) of every face, numbered from 0 in the order they first appear; faces that share a vertex hang together."""
    n = int(faces.max()) + 1
    sides = _sides(faces)
    graph = coo_matrix((np.ones(len(sides), dtype=np.int8), (sides[:, 0], sides[:, 1])), shape=(n, n))
    label = connected_components(graph, directed=False)[1][faces[:, 0]]
    _, first, numbers = np.unique(label, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[numbers]


def euler_characteristic(faces: Indices) -> int:
    """χ = vertices - edges + faces; 2 for a sphere, 0 for a torus, the sum over components."""
    return len(np.unique(faces)) - len(edges_of(faces).ends) + len(faces)


def genus(faces: Indices) -> int:
    """The number of handles of one closed component, g = 1 - χ / 2: 0 for a sphere, 1 for a torus."""
    return 1 - euler_characteristic(faces) // 2


def boundary_loops(faces: Indices) -> list[Indices]:
    """The open edges as loops of vertex numbers, each in the direction in which faces that fill it must run.

    Where loops touch in a vertex they are taken apart, so that every loop passes a vertex once.
    """
    sides = _sides(faces)
    n = int(faces.max()) + 1
    key, back = sides[:, 0] * n + sides[:, 1], sides[:, 1] * n + sides[:, 0]
    free = sides[~np.isin(back, key)][:, ::-1]
    follow: dict[int, list[int]] = {}
    for start, end in free.tolist():
        follow.setdefault(start, []).append(end)
    loops = []
    for start in sorted(follow):
        while follow[start]:
            path, place = [start], {start: 0}
            while True:
                ends = follow.get(path[-1], [])
                if not ends:
                    break
                step = ends.pop()
                if step in place:
                    loops.append(np.array(path[place[step] :], dtype=np.int64))
                    for vertex in path[place[step] + 1 :]:
                        del place[vertex]
                    path = path[: place[step] + 1]
                    if len(path) == 1:
                        break
                else:
                    place[step] = len(path)
                    path.append(step)
    return loops


def pinched_vertices(faces: Indices) -> Indices:
    """Vertices where two or more fans of faces meet in nothing but that vertex; a surface proper has none."""
    m, n = len(faces), int(faces.max()) + 1
    sides = _sides(faces)
    key = sides.min(axis=1) * n + sides.max(axis=1)
    order = np.argsort(key, kind="stable")
    same = key[order][:-1] == key[order][1:]
    first, second = order[:-1][same], order[1:][same]
    corner = np.arange(3 * m).reshape(3, m)  # corner i of face f is node i m + f; side i of f ends in the corners i and i + 1
    nodes_a, nodes_b = [], []
    for end in range(2):
        i, f = first // m, first % m
        mine = corner[(i + end) % 3, f]
        vertex = sides[first, end]
        j, g = second // m, second % m
        other = np.where(sides[second, 0] == vertex, corner[j, g], corner[(j + 1) % 3, g])
        nodes_a.append(mine)
        nodes_b.append(other)
    a, b = np.concatenate(nodes_a), np.concatenate(nodes_b)
    graph = coo_matrix((np.ones(len(a), dtype=np.int8), (a, b)), shape=(3 * m, 3 * m))
    fan = connected_components(graph, directed=False)[1]
    vertex_of = np.concatenate([faces[:, 0], faces[:, 1], faces[:, 2]])
    _, where = np.unique(fan, return_index=True)
    count = np.bincount(vertex_of[where], minlength=n)
    return np.flatnonzero(count > 1).astype(np.int64)


def _sides(faces: Indices) -> Indices:
    """All sides (3 m, 2) of faces: first the sides 0-1 of all faces, then 1-2, then 2-0."""
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
