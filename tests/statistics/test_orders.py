"""Counterbalancing: what a balanced Latin square and balanced sides promise, for every number of items."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.statistics.orders import balanced_orders, balanced_sides


@given(st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_every_item_in_every_place_and_after_every_other(items: int) -> None:
    orders = balanced_orders(items)
    rows = len(orders)
    assert rows == (items if items % 2 == 0 or items == 1 else 2 * items)
    assert all(sorted(row) == list(range(items)) for row in orders.tolist())
    assert all(sorted(column) == sorted(list(range(items)) * (rows // items)) for column in orders.T.tolist())
    after = Counter((a, b) for row in orders.tolist() for a, b in pairwise(row))
    assert len(after) == items * (items - 1)
    assert set(after.values()) <= {rows // items}


@given(st.integers(1, 60), st.integers(1, 13), st.integers(1, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_sides_are_balanced(subjects: int, items: int, half: int, seed: int) -> None:
    rows = 2 * half
    sides = balanced_sides(subjects, items, rows, np.random.default_rng(seed))
    assert sides.shape == (subjects, items)
    assert np.all(np.abs(2 * sides.sum(axis=1) - items) <= items % 2)
    assert np.all(np.abs(2 * sides.sum(axis=0) - subjects) <= 1)
    for start in range(0, subjects - 2 * rows + 1, 2 * rows):
        block = sides[start : start + 2 * rows]
        assert np.array_equal(block[:rows], ~block[rows:])


def test_sides_differ_between_people() -> None:
    sides = balanced_sides(24, 6, 6, np.random.default_rng(1))
    assert len({tuple(row) for row in sides.tolist()}) >= 8


def test_refuses() -> None:
    with pytest.raises(BadInput, match="at least one"):
        balanced_orders(0)
    with pytest.raises(BadInput, match="even number"):
        balanced_sides(4, 2, 3, np.random.default_rng(0))
