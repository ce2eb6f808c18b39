"""Counterbalanced orders: Latin squares in which every item also follows every other equally often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput


def balanced_orders(items: int) -> NDArray[np.int64]:
    """Orders of ``items`` things after Williams (Australian Journal of Scientific Research A 2, 1949), shape (rows, items).

    In each place every item stands equally often, and every item comes right after every other equally often. An even number of
    items takes as many rows, an odd number twice as many (the square and its mirror image): their number is even, but for one item.
    """
    if items < 1:
        raise BadInput(f"{items} items arrived; give at least one to be put in order")
    first = np.zeros(items, dtype=np.int64)
    first[1::2] = np.arange(1, items // 2 + 1)
    first[2::2] = items - np.arange(1, (items + 1) // 2)
    square = (first[None, :] + np.arange(items)[:, None]) % items
    return square if items % 2 == 0 or items == 1 else np.vstack([square, square[:, ::-1]])


def balanced_sides(subjects: int, items: int, rows: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of two sides each item is on, shape (subjects, items), for subjects who take ``rows`` orders, an even number, in turn.

    Each subject has half of the items on either side (one more or less where their number is odd). Subjects 2k and 2k + 1 are
    opposite, so that sides are balanced for every item after any even number of subjects; subjects s and s + rows, who have the
    same order, are opposite too, so that after 2 rows sides are balanced for every item in every place. Otherwise random.
    """
    if rows % 2 or rows < 2:
        raise BadInput(f"{rows} orders arrived; sides are balanced over an even number of them")
    sides = np.zeros((-(-subjects // (2 * rows)) * 2 * rows, items), dtype=np.bool_)
    for block in range(0, len(sides), 2 * rows):
        for pair in range(block, block + rows, 2):
            pattern = np.zeros(items, dtype=np.bool_)
            pattern[rng.permutation(items)[: items // 2]] = True
            sides[pair], sides[pair + 1] = pattern, ~pattern
        sides[block + rows : block + 2 * rows] = ~sides[block : block + rows]
    return sides[:subjects]
