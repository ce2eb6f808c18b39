"""What a multifrontal factorisation needs to know of a pattern: its fronts, and where every number goes.

A *front* belongs to a piece of the dissection: p pivots (unknowns eliminated there, consecutive in the order of elimination) and m
further unknowns they touch, its *rows*, all eliminated later. Its part of the factor is a *panel* (p + m, p), column by column;
what it leaves for its parent is an *update* (m, m), held in a shared arena only until the parent has taken it up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.optimization.condensation.dissection import DissectionPiece, dissect

Indices = NDArray[np.int64]

FIRST, PIVOTS, ROWS, PARENT, PANEL, UPDATE, ENTRIES, LIST = range(8)
"""Columns of :attr:`Fronts.table`."""


@dataclass(frozen=True)
class Fronts:
    """The fronts, children first. ``order`` (n,): the unknowns in the order of elimination.

    ``table`` (f + 1, 8), a row a front and one to close the ranges: first pivot, number of pivots p, of rows m, parent (-1: none),
    where its panel begins in the factor, its update in the arena, its entries in ``source`` and ``target``, its rows in ``rows``.
    ``children`` (f, 2): first child and next sibling of each front, -1 for none. ``rows``: places in the order of elimination.
    ``places``: where the same rows are in the parent's front, pivots first. ``length`` stored numbers of the matrix from
    ``source`` on go to the factor from ``target`` on, which has ``factor_size`` numbers. ``operations`` counts
    the additions and multiplications of one factorisation.
    """

    order: Indices
    table: Indices
    children: Indices
    rows: Indices
    places: NDArray[np.int32]
    source: Indices
    target: Indices
    length: Indices
    factor_size: int
    arena_size: int
    operations: float

    @property
    def memory(self) -> int:
        """Bytes of all maps."""
        held = (self.order, self.table, self.children, self.rows, self.places, self.source, self.target, self.length)
        return sum(array.nbytes for array in held)


def analyse_fronts(pattern: csr_array, kept: Indices, coordinates: Array | None, leaf: int) -> Fronts:
    """Analyse the pattern of a square CSR matrix, symmetric in structure; ``coordinates`` (n, d) of its unknowns or None.

    ``kept`` (nnz,), rising, says where the numbers of the pattern are stored.

    ``leaf``: parts of at most so many unknowns are not dissected further.
    """
    group, first = _groups(pattern)
    graph = _quotient(pattern, group, first)
    weight = np.bincount(group)
    pieces = dissect(graph, weight, None if coordinates is None else coordinates[first], leaf)
    vertices = np.concatenate([piece.vertices for piece in pieces])
    begin = np.concatenate([[0], np.cumsum(weight[vertices])])
    order = _ranges(first[vertices], weight[vertices])
    place = np.empty(len(vertices), dtype=np.int64)
    place[vertices] = np.arange(len(vertices))
    rows = _symbolic(graph, pieces, place, begin)
    table, children, arena_size = _storage(pieces, rows, begin)
    source, target, length = _entries(pattern, kept, order, table, rows)
    p, m = table[:-1, PIVOTS].astype(np.float64), table[:-1, ROWS].astype(np.float64)
    operations = float((p**3 / 3.0 + m * p**2 + m**2 * p).sum())
    places = _places(table, rows)
    return Fronts(
        order, table, children, np.concatenate(rows), places, source, target, length, int(table[-1, PANEL]), arena_size, operations
    )


def _groups(pattern: csr_array) -> tuple[Indices, Indices]:
    """Neighbouring unknowns with the same pattern are one vertex: the vertex of every unknown, the first unknown of each."""
    n = pattern.shape[0]
    length = np.diff(pattern.indptr)
    rows = np.repeat(np.arange(n), length)
    same = np.zeros(n, dtype=bool)
    same[1:] = length[1:] == length[:-1]
    before = np.arange(len(rows)) - np.concatenate([[0], length[:-1]])[rows]
    inside = same[rows]
    differs = pattern.indices[inside] != pattern.indices[before[inside]]
    same[rows[inside][differs]] = False
    first = np.flatnonzero(~same)
    return np.cumsum(~same) - 1, first


def _quotient(pattern: csr_array, group: Indices, first: Indices) -> csr_array:
    """The graph (no diagonal) between vertices."""
    count = len(first)
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    leads = np.zeros(pattern.shape[0], dtype=bool)
    leads[first] = True
    chosen = leads[rows] & leads[pattern.indices] & (group[rows] != group[pattern.indices])
    values = np.ones(int(chosen.sum()), dtype=np.int8)
    return csr_array((values, (group[rows[chosen]], group[pattern.indices[chosen]])), shape=(count, count))


def _ranges(starts: Indices, lengths: Indices) -> Indices:
    """starts[i], starts[i] + 1, ... lengths[i] numbers each, one after the other."""
    offset = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(starts - offset, lengths)


def _symbolic(graph: csr_array, pieces: list[DissectionPiece], place: Indices, begin: Indices) -> list[Indices]:
    """The rows of every front, from its pivots' neighbours and its children's rows."""
    touched: list[list[Indices]] = [[] for _ in pieces]
    rows: list[Indices] = []
    start = 0
    for number, piece in enumerate(pieces):
        end = start + len(piece.vertices)
        touching = np.unique(np.concatenate([place[graph[piece.vertices].indices], *touched[number]]))
        touching = touching[touching >= end]
        if piece.parent >= 0:
            touched[piece.parent].append(touching)
        rows.append(_ranges(begin[touching], begin[touching + 1] - begin[touching]))
        start = end
    return rows


def _storage(pieces: list[DissectionPiece], rows: list[Indices], begin: Indices) -> tuple[Indices, Indices, int]:
    """Table (entries still zero) and children of the fronts, and the size of the arena."""
    table = np.zeros((len(pieces) + 1, 8), dtype=np.int64)
    children = np.full((len(pieces), 2), -1, dtype=np.int64)
    arena = _Arena()
    start = 0
    for number, piece in enumerate(pieces):
        end = start + len(piece.vertices)
        p, m = int(begin[end] - begin[start]), len(rows[number])
        table[number, [FIRST, PIVOTS, ROWS, PARENT]] = begin[start], p, m, piece.parent
        table[number, UPDATE] = arena.take(m * m)
        table[number + 1, PANEL] = table[number, PANEL] + p * (p + m)
        table[number + 1, LIST] = table[number, LIST] + m
        child = children[number, 0]
        while child >= 0:
            if table[child, ROWS]:
                arena.give_back(int(table[child, UPDATE]))
            child = children[child, 1]
        if piece.parent >= 0:
            children[number, 1], children[piece.parent, 0] = children[piece.parent, 0], number
        start = end
    table[-1, FIRST] = begin[-1]
    return table, children, arena.size


class _Arena:
    """Room for updates that live for a while: first gap that is wide enough."""

    def __init__(self) -> None:
        self.size = 0
        self._taken: list[tuple[int, int]] = []

    def take(self, length: int) -> int:
        at = 0
        for begin, end in self._taken:
            if begin - at >= length:
                break
            at = end
        if length:
            self._taken = sorted([*self._taken, (at, at + length)])
        self.size = max(self.size, at + length)
        return at

    def give_back(self, at: int) -> None:
        self._taken = [(begin, end) for begin, end in self._taken if begin != at]


def _local(table: Indices, number: int, rows: Indices, places: Indices) -> Indices:
    """Where unknowns (places in the order of elimination) are in a front: pivots first, then its rows."""
    first, p = int(table[number, FIRST]), int(table[number, PIVOTS])
    return np.where(places < first + p, places - first, p + np.searchsorted(rows, places))


def _places(table: Indices, rows: list[Indices]) -> NDArray[np.int32]:
    """Where the rows of every front are in its parent's front."""
    parents = table[:-1, PARENT].tolist()
    inner = [_local(table, q, rows[q], mine) for q, mine in zip(parents, rows, strict=True) if q >= 0]
    return np.concatenate([*inner, np.zeros(0, dtype=np.int64)]).astype(np.int32)


def _entries(
    pattern: csr_array, kept: Indices, order: Indices, table: Indices, rows: list[Indices]
) -> tuple[Indices, Indices, Indices]:
    """Runs of stored numbers that go to the factor, front by front: from, to, how many.

    Where each front begins is put in the table. The row of a pivot in the matrix becomes its column in the panel.
    """
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    column = rank[np.repeat(np.arange(len(order)), np.diff(pattern.indptr))]
    row = rank[pattern.indices]
    source = np.flatnonzero(row >= column)
    row, column = row[source], column[source]
    owner = np.repeat(np.arange(len(rows)), table[:-1, PIVOTS])[column]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(rows)))])
    by_front = np.argsort(owner, kind="stable")
    target = np.empty(len(source), dtype=np.int64)
    for number in range(len(rows)):
        part = by_front[bounds[number] : bounds[number + 1]]
        height = int(table[number, PIVOTS] + table[number, ROWS])
        inside = _local(table, number, rows[number], row[part]) + (column[part] - table[number, FIRST]) * height
        target[part] = table[number, PANEL] + inside
    by_target = np.argsort(target)
    source, target, owner = kept[source[by_target]], target[by_target], owner[by_target]
    begins = np.ones(len(source), dtype=bool)
    begins[1:] = (np.diff(source) != 1) | (np.diff(target) != 1) | (np.diff(owner) != 0)
    starts = np.flatnonzero(begins)
    table[1:, ENTRIES] = np.cumsum(np.bincount(owner[starts], minlength=len(rows)))
    return source[starts], target[starts], np.diff(np.append(starts, len(source)))
