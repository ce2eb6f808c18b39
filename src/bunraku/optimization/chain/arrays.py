"""What callers give, as the arrays that kernels take: floats, one row a column, the wrong shape refused by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput


def as_array(value: ArrayLike, name: str) -> Array:
    """Numbers of any shape."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} is no array of numbers ({error})") from error


def one_row_each(value: ArrayLike, name: str, n: int, k: int) -> Array:
    """One row a column, (k, n), contiguous, from whatever broadcasts to (n, k)."""
    array = as_array(value, name)
    rows = np.empty((k, n))
    try:
        rows.T[...] = array
    except ValueError as error:
        raise BadInput(f"{name} has shape {array.shape}; give a number, ({k},) or ({n}, {k})") from error
    return rows


def one_each(value: ArrayLike, name: str, k: int) -> Array:
    """One finite number a column, (k,)."""
    array = as_array(value, name)
    if array.shape not in ((), (k,)) or not np.isfinite(array).all():
        raise BadInput(f"{name} has shape {array.shape}; give a finite number or ({k},) of them")
    each = np.empty(k)
    each[...] = array
    return each
