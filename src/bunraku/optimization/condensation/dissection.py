"""The order of elimination: nested dissection of a graph, from the coordinates of its vertices where they are known.

The vertices are cut in two by a small separator, each part again, until parts are small. Parts are eliminated before the
separator between them: what one part fills in never touches the other. Every part and every separator becomes one
:class:`DissectionPiece`; pieces form a tree. Functions tried for a cut: the principal axes of the coordinates, and differences of
distances
(in edges) to two far ends, which also follow a bent limb.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from bunraku.arrays import Array
from bunraku.optimization.condensation.separator import ABOVE, BELOW, CUT, Cut, best_place, least_separator

Indices = NDArray[np.int64]

REACH = 0.15
"""Share of the vertices to either side of a cut among which the least separator is sought."""
TRIED = 3
"""How many of the best functions get a flow."""


@dataclass(frozen=True)
class DissectionPiece:
    """Vertices eliminated together, and the piece (its number) whose elimination takes up what they leave; -1 at a root."""

    vertices: Indices
    parent: int


def dissect(graph: csr_array, weight: Indices, coordinates: Array | None = None, leaf: int = 120) -> list[DissectionPiece]:
    """The pieces of a symmetric ``graph`` (no diagonal), children before parents.

    ``weight`` (n,): unknowns of each vertex; ``coordinates`` (n, d) or None; parts of at most ``leaf`` unknowns are not cut.
    """
    pieces: list[tuple[Indices, int]] = []
    work: list[tuple[Indices, int]] = [(np.arange(graph.shape[0]), -1)]
    while work:
        vertices, parent = work.pop()
        if not len(vertices):
            continue
        if weight[vertices].sum() <= leaf or len(vertices) < 4:
            pieces.append((vertices, parent))
            continue
        part = graph[vertices][:, vertices]
        cut = bisect(part, weight[vertices], None if coordinates is None else coordinates[vertices])
        below, above = vertices[cut.side == BELOW], vertices[cut.side == ABOVE]
        if not len(below) or not len(above):
            pieces.append((vertices, parent))
            continue
        number = parent
        if (cut.side == CUT).any():
            number = len(pieces)
            pieces.append((_along(vertices[cut.side == CUT], coordinates), parent))
        work += [(below, number), (above, number)]
    return _postordered(pieces)


def bisect(graph: csr_array, weight: Indices, coordinates: Array | None) -> Cut:
    """The best cut of all functions tried."""
    graph.sort_indices()
    tried = sorted((best_place(graph, weight, f) for f in _functions(graph, coordinates)), key=lambda trial: trial[0])
    cuts = [least_separator(graph, weight, order, place, REACH) for _, place, order in tried[:TRIED]]
    return min(cuts, key=lambda cut: cut.cost)


def _functions(graph: csr_array, coordinates: Array | None) -> list[Array]:
    """Functions (n,) of the vertices along which to cut."""
    functions: list[Array] = []
    if coordinates is not None:
        centred = coordinates - coordinates.mean(axis=0)
        axes = np.linalg.svd(centred.T @ centred)[0]
        functions = [centred @ axis for axis in axes.T]
    hops = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=graph.shape)

    def distances(start: int) -> Array:
        d = np.asarray(dijkstra(hops, indices=[start], unweighted=True)[0])
        far = d[np.isfinite(d)].max() + 1.0
        return np.where(np.isfinite(d), d, far)

    first = distances(int(np.argmax(distances(0))))
    second = distances(int(np.argmax(first)))
    third = distances(int(np.argmax(np.minimum(first, second))))
    fourth = distances(int(np.argmax(third + np.minimum(first, second))))
    return [*functions, first - second, third - fourth, third]


def _along(vertices: Indices, coordinates: Array | None) -> Indices:
    """The vertices along their longest axis, so that what touches a stretch of them has neighbouring places."""
    if coordinates is None or len(vertices) < 3:
        return vertices
    centred = coordinates[vertices] - coordinates[vertices].mean(axis=0)
    return vertices[np.argsort(centred @ np.linalg.svd(centred.T @ centred)[0][:, 0], kind="stable")]


def _postordered(pieces: list[tuple[Indices, int]]) -> list[DissectionPiece]:
    """The same tree with every piece after its children, each subtree in one run."""
    children: list[list[int]] = [[] for _ in pieces]
    roots: list[int] = []
    for number, (_, parent) in enumerate(pieces):
        (roots if parent < 0 else children[parent]).append(number)
    order: list[int] = []
    work = roots[::-1]
    while work:
        number = work.pop()
        order.append(number)
        work += children[number]
    order = order[::-1]
    place = {number: i for i, number in enumerate(order)}
    return [DissectionPiece(pieces[number][0], place.get(pieces[number][1], -1)) for number in order]
