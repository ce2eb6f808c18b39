"""Nearest motion within range and speed limits: the exact optimum of a chain of samples by dynamic programming.

The problem is eq. (7) of Elanjimattathil Vijayan, Alexanderson, Beskow and Leite, "Using Constrained Optimization for
Real-Time Synchronization of Verbal and Nonverbal Robot Behavior", section III.A, with the speeds eliminated.
For one joint, sample time h, reference r_k, result x_k, error e_k = x_k - r_k,

    minimise   q1 sum_k e_k^2 + (q2 / h^2) sum_{k >= 1} (e_k - e_{k-1})^2
    subject to lower_k <= x_k <= upper_k,   |x_k - x_{k-1}| <= step_k = v h,   k = 1 .. N,

x_0 given. Joints do not interact, so each is one chain. The cost of arriving at a value is convex with a piecewise linear
derivative, which dynamic programming carries forward exactly: no iteration and no tolerance. Work is proportional to the
number of samples times the few pieces alive (at most about twice range / step of them).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.chain.arrays import as_array, one_each, one_row_each
from bunraku.optimization.chain.chain_kernels import (
    INFEASIBLE,
    POOL_TOO_SMALL,
    column_costs,
    largest_pool,
    track_columns,
    work_arrays,
)


@dataclass(frozen=True)
class ChainSolution:
    """The optimal motion of each column.

    Attributes:
        values: optimal samples x, shape (n, k), unit of the reference.
        feasible: whether all limits can be kept at once, shape (k,). Where not, ``values`` still keeps every step; bounds are
            exceeded as little as possible at worst, and only where the conflict is.
        objective: q1 |e|^2 + (q2 / h^2) |De|^2 at ``values``, shape (k,); a fixed first sample has no position term.
    """

    values: Array
    feasible: NDArray[np.bool_]
    objective: Array


def solve_chain(
    reference: ArrayLike,
    *,
    start: ArrayLike | None,
    lower: ArrayLike,
    upper: ArrayLike,
    step: ArrayLike,
    position_weight: ArrayLike = 5.0,
    difference_weight: ArrayLike,
) -> ChainSolution:
    """Track each column of a reference as closely as its limits allow, exactly.

    A legal reference comes back unchanged, bit for bit. Results keep bounds exactly and computed differences within the step,
    except for one unit of rounding where bound and step coincide.

    Args:
        reference: wished samples r, shape (n, k), finite.
        start: given value of the first sample, shape (k,): ``values[0] = start`` and the sums run over the samples after it,
            as in the paper. None leaves the first sample free, with its own position term and bounds.
        lower: least values, broadcastable to (n, k), may be -inf. A start outside its own bounds makes the column infeasible.
        upper: largest values, broadcastable to (n, k), may be +inf.
        step: largest change into each sample, v h, shape (k,) or (n, k) (row 0 is not used), >= 0, may be infinite.
        position_weight: q1 > 0, scalar or (k,).
        difference_weight: q2 / h^2 >= 0, scalar or (k,). (In the paper's units q1 = 5, q2 = 0.1 s^2.)

    Returns:
        The optimum; see :class:`ChainSolution`.
    """
    r = as_array(reference, "reference")
    if r.ndim != 2 or r.shape[0] < 1:
        raise BadInput(f"reference has shape {r.shape}; give (samples, columns) with at least one sample")
    if not np.isfinite(r).all():
        i, j = np.argwhere(~np.isfinite(r))[0]
        raise BadInput(f"reference holds {r[i, j]} at sample {i}, column {j}; give finite numbers")
    n, k = r.shape
    low, high, limit = as_array(lower, "lower"), as_array(upper, "upper"), as_array(step, "step")
    if np.isnan(low).any() or np.isnan(high).any() or (low == np.inf).any() or (high == -np.inf).any():
        raise BadInput("bounds hold NaN, a lower bound +inf or an upper bound -inf; give numbers, -inf / +inf for no bound")
    if not (limit >= 0).all():
        raise BadInput(f"smallest step is {limit.min()}; give steps >= 0 (inf for no limit)")
    low, high, limit = one_row_each(low, "lower", n, k), one_row_each(high, "upper", n, k), one_row_each(limit, "step", n, k)
    q1, w = one_each(position_weight, "position_weight", k), one_each(difference_weight, "difference_weight", k)
    if not (q1 > 0).all() or not (w >= 0).all():
        raise BadInput(f"weights are {q1.min()} (position) and {w.min()} (difference); give position > 0 and difference >= 0")
    first = np.full(k, np.nan) if start is None else one_each(start, "start", k)
    columns = np.ascontiguousarray(r.T)
    out = np.empty((k, n))
    codes = np.empty(k, dtype=np.int64)
    most = largest_pool(n)
    pool = min(16 * n + 64, most)
    while True:
        track_columns(columns, first, low, high, limit, q1, w, out, codes, work_arrays(n, pool))
        if pool == most or not (codes == POOL_TOO_SMALL).any():
            break
        pool = min(4 * pool, most)
    objective = np.empty(k)
    column_costs(columns, out, start is not None, q1, w, objective)
    return ChainSolution(np.ascontiguousarray(out.T), codes != INFEASIBLE, objective)
