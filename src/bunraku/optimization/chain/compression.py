"""Smaller gestures instead of clipped ones: piecewise compression of a motion that is too fast, as one convex problem.

The idea is eq. (8)-(10) of Elanjimattathil Vijayan et al. (section III.B): give each segment of a joint curve a scale a_r in
[0.5, 1] so that a motion beyond the speed limit becomes a smaller motion of the same shape and timing. As printed, (8)
divides the speed by the scale in the dynamics: whatever is executed then either exceeds the speed limit by 1 / a or drifts away,
and the problem is bilinear. Here the *target* is scaled instead. With reference r, c the chord (piecewise linear curve) through the
reference at the segment boundaries and a_r the scale of the segment of sample k,

    target   r^a_k = c_k + a_r (r_k - c_k),        error  e = x - r^a,
    minimise q1 |e|^2 + (q2 / h^2) |De|^2 + q3 sum_r (a_r - 1)^2     over x and a
    subject to lower <= x <= upper,  |x_k - x_{k-1}| <= step,  scale_range[0] <= a_r <= scale_range[1].

The limits hold for the executed x, and the target is affine in a, so this is one convex quadratic program in (x, a). For fixed
a it is the chain of :mod:`bunraku.optimization.chain.chain`, solved exactly; a Newton method finds a.

Boundaries are kept by the target: r^a equals r there whatever the scales, so neighbouring segments join. The
executed x passes through them too unless the limits forbid it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.chain.arrays import as_array, one_row_each
from bunraku.optimization.chain.chain_kernels import INFEASIBLE, POOL_TOO_SMALL, largest_pool, work_arrays
from bunraku.optimization.chain.scale_kernels import scale_segments
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class CompressionSolution:
    """The optimal compressed motion of one joint.

    Attributes:
        values: executed samples x, shape (n,); within bounds and steps like those of ``solve_chain``.
        target: scaled reference r^a, shape (n,); equals the reference at the segment boundaries.
        scales: a, shape (Q,), one a segment.
        status: CONVERGED, INFEASIBLE (no motion keeps all limits; ``values`` is the least violating) or MAX_ITERATIONS.
        objective: q1 |e|^2 + (q2 / h^2) |De|^2 + q3 |a - 1|^2.
        iterations: Newton steps taken.
    """

    values: Array
    target: Array
    scales: Array
    status: Status
    objective: float
    iterations: int


def solve_compression(
    reference: ArrayLike,
    *,
    start: float | None,
    lower: ArrayLike,
    upper: ArrayLike,
    step: ArrayLike,
    position_weight: float = 5.0,
    difference_weight: float,
    scale_weight: float = 10.0,
    boundaries: ArrayLike,
    scale_range: tuple[float, float] = (0.5, 1.0),
    max_iterations: int = 100,
) -> CompressionSolution:
    """Compress the segments of one joint curve just as much as pays, and track the result exactly.

    A legal reference comes back unchanged with every scale 1 (when the range reaches 1).

    Args:
        reference: wished samples r, shape (n,), n >= 2, finite.
        start: given value of the first sample (its position term is left out), or None for a free first sample.
        lower: least values, scalar or (n,), may be -inf.
        upper: largest values, scalar or (n,), may be +inf.
        step: largest change into each sample, v h, scalar or (n,), >= 0, may be infinite.
        position_weight: q1 > 0.
        difference_weight: q2 / h^2 >= 0.
        scale_weight: q3 > 0, the cost of (a_r - 1)^2 in each segment, whatever its length; 10 in the paper.
        boundaries: increasing sample indices, from 0 to n - 1, shape (Q + 1,); see ``cut_segments``.
        scale_range: least and largest scale.
        max_iterations: limit of Newton steps; a handful is usual.

    Returns:
        The optimum; see :class:`CompressionSolution`.
    """
    r, cuts, limits, weights = _checked(
        (reference, boundaries),
        (start, lower, upper, step),
        (position_weight, difference_weight, scale_weight, *scale_range),
    )
    n, least, most = r.size, weights[3], weights[4]
    scales = np.full(cuts.size - 1, min(max(1.0, least), most))
    x, target = np.empty(n), np.empty(n)
    segments = (*_shape(r, cuts), cuts)
    most_knots = largest_pool(n)
    pool = min(16 * n + 64, most_knots)
    while True:
        code, iterations, converged, objective = scale_segments(
            segments, limits, weights, max_iterations, scales, x, target, work_arrays(n, pool)
        )
        if code != POOL_TOO_SMALL or pool == most_knots:
            break
        pool = min(4 * pool, most_knots)
    if code == INFEASIBLE:
        status = Status.INFEASIBLE
    else:
        status = Status.CONVERGED if converged else Status.MAX_ITERATIONS
    return CompressionSolution(x, target, scales, status, float(objective), int(iterations))


def _checked(
    curve: tuple[ArrayLike, ArrayLike],
    limits: tuple[float | None, ArrayLike, ArrayLike, ArrayLike],
    weights: tuple[float, float, float, float, float],
) -> tuple[Array, NDArray[np.int64], tuple[float, Array, Array, Array], tuple[float, float, Array, float, float]]:
    """Reference (n,), boundaries (Q + 1,), limits and weights as the kernel takes them; what cannot be is refused."""
    r = np.ascontiguousarray(curve[0], dtype=np.float64)
    if r.ndim != 1 or r.size < 2 or not np.isfinite(r).all():
        raise BadInput(f"reference has shape {r.shape} or is not finite; give a finite curve (n,) of at least two samples")
    n = r.size
    cuts = np.asarray(curve[1])
    whole = cuts.ndim == 1 and cuts.size >= 2 and cuts.dtype.kind in "iu"
    if not whole or cuts[0] != 0 or cuts[-1] != n - 1 or (np.diff(cuts) < 1).any():
        raise BadInput(f"boundaries are {cuts.tolist()}; give increasing whole sample indices from 0 to {n - 1}")
    start = limits[0]
    low, high, step = (_samples(v, name, n) for v, name in zip(limits[1:], ("lower", "upper", "step"), strict=True))
    if (low == np.inf).any() or (high == -np.inf).any() or (step < 0).any():
        raise BadInput("a lower bound is +inf, an upper bound is -inf or a step is negative; give lower <= upper and steps >= 0")
    q1, w, q3, least, most = (float(number) for number in weights)
    if not (0 < q1 < np.inf and 0 <= w < np.inf and 0 < q3 < np.inf):
        raise BadInput(f"weights are {q1}, {w}, {q3} (position, difference, scale); give numbers > 0, >= 0 and > 0")
    if not (0 <= least <= most < np.inf):
        raise BadInput(f"scale range is {(least, most)}; give 0 <= least <= largest")
    if start is not None and not np.isfinite(start):
        raise BadInput(f"start is {start}; give a finite number or None")
    first = np.nan if start is None else float(start)
    return r, cuts.astype(np.int64), (first, low, high, step), (q1, w, np.full(cuts.size - 1, q3), least, most)


def _shape(r: Array, cuts: NDArray[np.int64]) -> tuple[Array, Array]:
    """Chord c (n,) and shape B (n,) with r^a = c + a_q B on segment q; B is zero at the boundaries, where segments meet."""
    chord = np.interp(np.arange(r.size), cuts, r[cuts])
    chord[cuts] = r[cuts]
    return chord, r - chord


def _samples(value: ArrayLike, name: str, n: int) -> Array:
    """One number a sample, (n,), not NaN."""
    array = as_array(value, name)
    if array.shape not in ((), (n,)) or np.isnan(array).any():
        raise BadInput(f"{name} has shape {array.shape} or holds NaN; give a number or ({n},) of them (inf for no limit)")
    return one_row_each(array[..., None], name, n, 1)[0]
