"""A small set of vertices that cuts a graph in two: where to cut along a given function of the vertices, and the least such set.

A cut is sought in two steps. First every place along the sorted values of a function (a coordinate, a distance) is tried at once:
cutting before position t leaves as separator the vertices below t with a neighbour at or above it. Then the vertices near
that place are given to a maximum flow (each vertex may carry as much as it weighs, edges any amount): its minimum cut is
the lightest set of vertices that separates what lies below them from what lies above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from bunraku.arrays import Array

Indices = NDArray[np.int64]

BELOW, CUT, ABOVE = 0, 1, 2
EDGE = np.int32(1 << 24)
"""Capacity of what must not be cut; far above the weight of all vertices of a separator."""


@dataclass(frozen=True)
class Cut:
    """``side`` (n,) of every vertex: 0 below, 1 in the separator, 2 above; ``cost`` is what is to be made small."""

    side: NDArray[np.int8]
    cost: float


def cost_of(separator: float, below: float, above: float) -> float:
    """The weight of a separator, dearer when the two parts (weights) differ: s / (4 b a / (b + a)^2)^(1/2)."""
    total = below + above
    return np.inf if not below or not above else float((separator + 0.5) / np.sqrt(4.0 * below * above / total**2))


def best_place(graph: csr_array, weight: Indices, values: Array, margin: float = 0.3) -> tuple[float, int, Indices]:
    """The best place t along ``values`` (n,): its cost, t, and the vertices in rising order; the first t of them lie below.

    ``margin``: at least this share of the weight lies on each side.
    """
    n = len(values)
    order = np.argsort(values, kind="stable")
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    pointer, neighbours = graph.indptr, rank[graph.indices]
    filled = np.diff(pointer) > 0
    furthest, nearest = rank.copy(), rank.copy()
    starts = pointer[:-1][filled]
    if len(starts):
        furthest[filled] = np.maximum(rank[filled], np.maximum.reduceat(neighbours, starts))
        nearest[filled] = np.minimum(rank[filled], np.minimum.reduceat(neighbours, starts))
    below, above = np.zeros(n + 2), np.zeros(n + 2)
    np.add.at(below, rank + 1, weight)
    np.add.at(below, furthest + 1, -weight)
    np.add.at(above, nearest + 1, weight)
    np.add.at(above, rank + 1, -weight)
    lower, upper = np.cumsum(below)[: n + 1], np.cumsum(above)[: n + 1]
    size = np.minimum(lower, upper)
    passed = np.concatenate([[0.0], np.cumsum(weight[order])])
    share = passed / passed[-1]
    cost = (size + 0.5) / np.sqrt(np.maximum(4.0 * share * (1.0 - share), 1e-9))
    cost[(share < margin) | (share > 1.0 - margin)] = np.inf
    t = int(np.argmin(cost))
    if not np.isfinite(cost[t]):
        t = int(np.argmin(np.abs(share - 0.5)))
    return float(cost[t]), t, order


def least_separator(graph: csr_array, weight: Indices, order: Indices, place: int, reach: float) -> Cut:
    """The lightest separator among the vertices within ``reach`` times n positions of ``place`` along ``order``."""
    n = len(order)
    width = max(1, round(reach * n))
    low, high = max(1, place - width), min(n - 1, place + width)
    side = np.full(n, CUT, dtype=np.int8)
    side[order[:low]] = BELOW
    side[order[high:]] = ABOVE
    band = np.flatnonzero(side == CUT)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    columns = graph.indices.astype(np.int64)
    if len(band) and not np.any((side[rows] == BELOW) & (side[columns] == ABOVE)):
        return _flow(rows, columns, weight, side, band)
    side[order[:place]], side[order[place:]] = BELOW, ABOVE
    side[rows[(side[rows] == BELOW) & (side[columns] == ABOVE)]] = CUT
    return _judged(side, weight)


def _judged(side: NDArray[np.int8], weight: Indices) -> Cut:
    separator, below, above = (float(weight[side == which].sum()) for which in (CUT, BELOW, ABOVE))
    return Cut(side, cost_of(separator, below, above))


def _flow(rows: Indices, columns: Indices, weight: Indices, side: NDArray[np.int8], band: Indices) -> Cut:
    """The minimum vertex cut of the band; of the two found next to either end the better balanced one."""
    k = len(band)
    local = np.full(len(side), -1, dtype=np.int64)
    local[band] = np.arange(k)
    source, sink = 2 * k, 2 * k + 1
    inside = (side[rows] == CUT) & (side[columns] == CUT)
    entries = np.unique(local[columns[(side[rows] == BELOW) & (side[columns] == CUT)]])
    exits = np.unique(local[rows[(side[rows] == CUT) & (side[columns] == ABOVE)]])
    tails = np.concatenate([2 * np.arange(k), 2 * local[rows[inside]] + 1, np.full(len(entries), source), 2 * exits + 1])
    heads = np.concatenate([2 * np.arange(k) + 1, 2 * local[columns[inside]], 2 * entries, np.full(len(exits), sink)])
    capacity = np.concatenate([weight[band].astype(np.int32), np.full(len(tails) - k, EDGE, dtype=np.int32)])
    network = csr_array((capacity, (tails, heads)), shape=(2 * k + 2, 2 * k + 2))
    network.indices, network.indptr = network.indices.astype(np.int32), network.indptr.astype(np.int32)
    rest = network - maximum_flow(network, source, sink).flow
    rest.data = (rest.data > 0).astype(np.int8)
    rest.eliminate_zeros()
    cuts = []
    for start, graph in ((source, rest), (sink, rest.T.tocsr())):
        reached = np.zeros(2 * k + 2, dtype=bool)
        reached[breadth_first_order(graph, start, return_predecessors=False)] = True
        reached = reached if start == source else ~reached
        before, after = reached[0 : 2 * k : 2], reached[1 : 2 * k : 2]
        trial = side.copy()
        trial[band] = np.where(before & after, BELOW, np.where(before, CUT, ABOVE))
        cuts.append(_judged(trial, weight))
    best = min(cuts, key=lambda cut: cut.cost)
    return best if np.isfinite(best.cost) else _judged(side, weight)
