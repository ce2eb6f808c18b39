"""The analysis: pieces that only touch their ancestors, rows that hold all fill, work that grows with the length of a tube."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from bunraku.optimization.condensation.dissection import dissect
from bunraku.optimization.condensation.fronts import FIRST, LIST, PARENT, PIVOTS, ROWS, UPDATE, analyse_fronts


def ring_tube(around, along):
    """A tube's graph: each vertex touches the eight around it; its matrix (diagonal too) and coordinates."""
    i, j = np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    rows, columns = [], []
    for a in (-1, 0, 1):
        for b in (-1, 0, 1):
            inside = (j + b >= 0) & (j + b < along)
            rows.append((i * along + j)[inside])
            columns.append(((i + a) % around * along + j + b)[inside])
    row, column = np.concatenate(rows), np.concatenate(columns)
    pattern = csr_array((np.ones(len(row)), (row, column)), shape=(around * along,) * 2)
    angle = 2.0 * np.pi * i.ravel() / around
    return pattern, np.stack([np.cos(angle), np.sin(angle), 6.0 / around * j.ravel()], axis=1)


def analysed(pattern, coordinates, leaf):
    return analyse_fronts(pattern, np.arange(pattern.nnz), coordinates, leaf)


@pytest.mark.parametrize("known", [True, False])
def test_pieces_touch_only_their_ancestors(known):
    pattern, coordinates = ring_tube(12, 40)
    graph = pattern.copy()
    graph.setdiag(0.0)
    graph.eliminate_zeros()
    pieces = dissect(graph, np.ones(480, dtype=np.int64), coordinates if known else None, leaf=20)
    of = np.empty(480, dtype=np.int64)
    for number, piece in enumerate(pieces):
        of[piece.vertices] = number
        assert piece.parent == -1 or piece.parent > number
    assert sorted(np.concatenate([piece.vertices for piece in pieces])) == list(range(480))
    ancestors = [set() for _ in pieces]
    for number in reversed(range(len(pieces))):
        parent = pieces[number].parent
        ancestors[number] = {number} | (ancestors[parent] if parent >= 0 else set())
    for a, b in zip(*graph.nonzero(), strict=True):
        assert of[b] in ancestors[of[a]] or of[a] in ancestors[of[b]]
    assert max(len(piece.vertices) for piece in pieces) <= 24, "a ring of twelve vertices cuts this tube, two rings close it"


def test_rows_hold_all_fill_and_updates_never_overlap():
    pattern, coordinates = ring_tube(10, 24)
    plan = analysed(pattern, coordinates, 15)
    filled = (pattern.toarray() != 0.0)[np.ix_(plan.order, plan.order)]
    for k in range(len(filled)):
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        filled[np.ix_(below, below)] = True
    table = plan.table
    for front in range(len(table) - 1):
        first, p = table[front, FIRST], table[front, PIVOTS]
        rows = plan.rows[table[front, LIST] : table[front + 1, LIST]]
        needed = np.flatnonzero(filled[first + p :, first : first + p].any(axis=1)) + first + p
        assert (np.diff(rows) > 0).all()
        assert set(needed) == set(rows), "a front has the rows that its elimination fills, and no others"
    living = []
    for front in range(len(table) - 1):
        begin, end = table[front, UPDATE], table[front, UPDATE] + table[front, ROWS] ** 2
        assert all(end <= table[g, UPDATE] or begin >= table[g, UPDATE] + table[g, ROWS] ** 2 for g in living)
        living = [g for g in living if table[g, PARENT] != front] + [front]


def test_work_grows_with_the_length_of_a_tube_only():
    work = [analysed(*ring_tube(16, along), 40).operations for along in (40, 80, 160)]
    assert work[1] / work[0] < 2.5
    assert work[2] / work[1] < 2.5
    pattern, _ = ring_tube(16, 160)
    assert analysed(pattern, None, 40).operations < 1.5 * work[2], "without coordinates the order is nearly as good"


def test_blocks_of_equal_rows_become_one_vertex():
    pattern, coordinates = ring_tube(8, 12)
    blocks = csr_array(np.kron(pattern.toarray(), np.ones((3, 3))))
    single, triple = analysed(pattern, coordinates, 20), analysed(blocks, np.repeat(coordinates, 3, axis=0), 60)
    assert (triple.order.reshape(-1, 3) == 3 * single.order[:, None] + np.arange(3)).all()
    assert triple.factor_size == 9 * single.factor_size
