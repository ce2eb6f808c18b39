"""Separators: they separate, and are as small as can be known by thought (the width of a grid, the neck of a dumbbell)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from bunraku.optimization.condensation.separator import ABOVE, BELOW, CUT, best_place, least_separator


def graph_of(edges, n):
    a, b = np.array(edges).T
    return csr_array((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, a])), shape=(n, n))


def grid(width, length):
    number = np.arange(width * length).reshape(length, width)
    edges = np.vstack([np.c_[number[:-1].ravel(), number[1:].ravel()], np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()]])
    return graph_of(edges, width * length), np.repeat(np.arange(length), width).astype(float)


def separates(graph, side):
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return not np.any((side[rows] == BELOW) & (side[graph.indices] == ABOVE))


@pytest.mark.parametrize(("width", "length"), [(3, 20), (7, 15)])
def test_a_grid_is_cut_across(width, length):
    graph, along = grid(width, length)
    weight = np.ones(width * length, dtype=np.int64)
    skewed = along + 0.9 * np.tile(np.arange(width), length)
    _, place, order = best_place(graph, weight, skewed)
    cut = least_separator(graph, weight, order, place, 0.25)
    assert separates(graph, cut.side)
    assert (cut.side == CUT).sum() == width, "the slanted cut is straightened to the shortest one"


def test_the_neck_of_a_dumbbell_is_found():
    clique = [(i, j) for i in range(10) for j in range(i)]
    edges = clique + [(i + 13, j + 13) for i, j in clique] + [(9, 10), (10, 11), (11, 12), (12, 13)]
    graph = graph_of(edges, 23)
    weight = np.ones(23, dtype=np.int64)
    weight[11] = 5
    _, place, order = best_place(graph, weight, np.arange(23.0))
    cut = least_separator(graph, weight, order, place, 0.2)
    assert separates(graph, cut.side)
    assert (cut.side == CUT).sum() == 1
    assert cut.side[11] != CUT, "the heavy vertex of the neck is not the lightest cut"


def test_every_place_is_counted_rightly():
    rng = np.random.default_rng(0)
    for _ in range(20):
        edges = np.unique(np.sort(rng.integers(0, 14, (30, 2)), axis=1), axis=0)
        graph = graph_of(edges[edges[:, 0] != edges[:, 1]], 14)
        weight = rng.integers(1, 4, 14)
        values = rng.normal(size=14)
        cost, _, order = best_place(graph, weight, values, margin=0.3)
        costs = []
        for t in range(1, 14):
            low, high = order[:t], order[t:]
            share = weight[low].sum() / weight.sum()
            if not 0.3 <= share <= 0.7:
                continue
            dense = graph.toarray() > 0
            sizes = (
                weight[low][dense[np.ix_(low, high)].any(axis=1)].sum(),
                weight[high][dense[np.ix_(high, low)].any(axis=1)].sum(),
            )
            costs.append((min(sizes) + 0.5) / np.sqrt(4.0 * share * (1.0 - share)))
        assert cost == pytest.approx(min(costs))
