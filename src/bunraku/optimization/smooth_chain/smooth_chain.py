"""Nearest motion within range, speed, acceleration and jerk limits: a structured interior point on a scaled chain.

For one joint, sample time h = 1 / rate, reference r_k, result x_k (k = 0 .. n-1, x_0 given), error e_k = x_k - r_k,

    minimise   q1 sum_{k >= 1} e_k^2 + (q2 / h^2) sum_{k >= 1} (e_k - e_{k-1})^2
    subject to lower_k <= x_k <= upper_k,  |D x_k| <= v h,  |D^2 x_k| <= a h^2,  |D^3 x_k| <= j h^3,

D the backward difference: the limits of :mod:`bunraku.motion.limits`. The state (x, v h, a h^2, j h^3) is an integrator chain whose
matrices hold only ones, whatever the rate; forming D^3 instead would lose all digits at 100 Hz. Mehrotra's predictor-corrector with
a Riccati recursion takes O(n) work an iteration and 8 to 20 iterations. All limits are tightened by one part in 1e8
(and a few units of rounding), so that the result, an interior point, keeps the stated ones.

When no motion keeps all limits (a start beyond the range, or too fast to stop before it) the range becomes soft, with the penalty
|excess|^2 / (2 eps), eps = 1e-7 / q1; velocity, acceleration and jerk stay hard. When the start's own velocity and acceleration
cannot be kept within those either, velocity and acceleration limits are raised to what the hardest stop from there needs. Both end
``INFEASIBLE``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BadInput
from bunraku.optimization.smooth_chain._kernels import CONVERGED, MAX_ITERATIONS, stop_needs, track, work_array
from bunraku.optimization.solution import Status

__all__ = ["SmoothChainSolution", "solve_smooth_chain"]

Array = NDArray[np.float64]

MARGIN = 1e-8
"""By which part of themselves limits are tightened."""
SOFTNESS = 1e-7
"""Softness of a range that cannot be kept, times the position weight."""
THIN = 1e-9
"""Width below which a range is a single value."""


@dataclass(frozen=True)
class SmoothChainSolution:
    """The optimal motion of each column.

    Attributes:
        values: optimal samples x, shape (n, k), unit of the reference; ``values[0]`` is the start.
        status: the worst end over all columns.
        infeasibility: by how far each column leaves its range [unit of the reference], shape (k,); 0 unless INFEASIBLE.
        rate_infeasibility: largest excess over the velocity, acceleration and jerk limits relative to them, shape (k,).
        iterations: iterations each column took, shape (k,); 0 where the reference was legal and came back.
        objective: q1 |e|^2 + (q2 / h^2) |De|^2 at ``values``, shape (k,).
    """

    values: Array
    status: Status
    infeasibility: Array
    rate_infeasibility: Array
    iterations: NDArray[np.int64]
    objective: Array


def solve_smooth_chain(
    reference: ArrayLike,
    *,
    rate: float,
    start: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    jerk: ArrayLike = np.inf,
    start_velocity: ArrayLike | None = None,
    start_acceleration: ArrayLike | None = None,
    rest_at_end: bool = False,
    position_weight: float = 5.0,
    velocity_weight: float = 0.1,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
) -> SmoothChainSolution:
    """Track each column of a reference as closely as its limits allow.

    A legal reference that begins at ``start`` comes back unchanged.

    Args:
        reference: wanted samples r, shape (n, k), finite, [rad] or [m].
        rate: samples a second [Hz].
        start: value of the first sample, shape (k,).
        lower: lower end of the range, a number, (k,) or (n, k); may be infinite. A start outside makes the column infeasible.
        upper: upper end of the range, likewise.
        velocity: limit [rad/s], a number or (k,), > 0; inf means none.
        acceleration: limit [rad/s^2], likewise.
        jerk: limit [rad/s^3], likewise.
        start_velocity: velocity with which the first sample is reached, shape (k,): limits then hold across the start. None: the
            motion begins with the first sample, as :class:`bunraku.motion.limits.MotionLimits` sees it. Zeros: it starts from rest.
        start_acceleration: acceleration at the first sample, shape (k,), needs ``start_velocity``. None: any.
        rest_at_end: whether holding the last sample must be legal: final velocity below 1e-7 of the limit.
        position_weight: q1 [1/rad^2].
        velocity_weight: q2 [s^2/rad^2].
        tolerance: duality gap relative to the objective at which a column ends.
        max_iterations: most iterations a column.

    Returns:
        The optimum; see :class:`SmoothChainSolution`.
    """
    r = _array(reference, "reference")
    if r.ndim != 2 or len(r) < 1 or not np.isfinite(r).all():
        raise BadInput(f"reference has shape {r.shape}{'' if r.ndim != 2 else ' or holds NaN'}; give finite (samples, columns)")
    if not (0.0 < rate <= 100_000.0 and position_weight > 0.0 and velocity_weight >= 0.0 and 0.0 < tolerance < 1.0):
        raise BadInput(f"rate {rate}, weights {position_weight}, {velocity_weight}, tolerance {tolerance}: give positive numbers")
    n, k = r.shape
    low, high = _wide(lower, "lower", n, k), _wide(upper, "upper", n, k)
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise BadInput("range holds NaN or a lower end above its upper end; give lower <= upper, infinite for none")
    limits = np.stack([_row(value, name, k) for value, name in _named(velocity, acceleration, jerk)])
    if not (limits > 0.0).all():
        raise BadInput(f"the smallest velocity, acceleration or jerk limit is {limits.min()}; give limits > 0, inf for none")
    first = _row(start, "start", k)
    if start_velocity is None and start_acceleration is not None:
        raise BadInput("start_acceleration came without start_velocity; give both")
    v0 = np.full(k, np.nan) if start_velocity is None else _row(start_velocity, "start_velocity", k) / rate
    a0 = np.full(k, np.nan) if start_acceleration is None else _row(start_acceleration, "start_acceleration", k) / rate**2
    if not np.isfinite(first).all() or np.isinf(v0).any() or np.isinf(a0).any():
        raise BadInput("the start holds NaN or infinities; give finite numbers")

    scaled = limits / rate ** np.arange(1.0, 4.0)[:, None]
    size = 1.0 + np.abs(np.concatenate([r, first[None]])).max(axis=0, initial=0.0)
    inner = scaled * (1.0 - MARGIN) - 8e-15 * size
    if not (inner > 0.0).all():
        raise BadInput(
            f"a limit of {limits[np.unravel_index(inner.argmin(), inner.shape)]} is lost in rounding at {rate} Hz; lower the rate"
        )
    values = np.empty((n, k))
    iterations = np.zeros(k, dtype=np.int64)
    statuses = [Status.CONVERGED] * k
    work = work_array(n)
    out = np.empty(n)
    hard, soft = np.zeros(4), np.array([SOFTNESS / position_weight, 0.0, 0.0, 0.0])
    weights = (position_weight, velocity_weight * rate**2, tolerance, max_iterations)
    for j in range(k):
        column = np.ascontiguousarray(r[:, j])
        floor, ceiling = low[:, j].copy(), high[:, j].copy()
        if first[j] == column[0] and not rest_at_end and _legal(column, floor, ceiling, scaled[:, j], v0[j], a0[j]):
            values[:, j] = column
            continue
        shrunk, thin = _shrunk(floor, ceiling), ceiling - floor < THIN
        thin[0] = False
        limit, eps = inner[:, j].copy(), hard
        for level in range(3):
            code, count = track(column, *shrunk, first[j], v0[j], a0[j], limit, eps, rest_at_end, *weights, out, work)
            iterations[j] += count
            np.clip(out, floor, ceiling, out=out, where=thin)
            kept = np.isfinite(out).all() and _legal(out, floor, ceiling, scaled[:, j], v0[j], a0[j], range_counts=level == 0)
            if kept:
                break
            eps = soft
            if level == 1:
                limit[:2] = np.maximum(limit[:2], 1.001 * np.array(stop_needs(v0[j], a0[j], limit[1], limit[2], n)))
        values[:, j] = out
        outside = not floor[0] - 1e-12 <= first[j] <= ceiling[0] + 1e-12
        if level > 0 or not kept or outside:
            statuses[j] = Status.INFEASIBLE
        elif code != CONVERGED:
            statuses[j] = Status.MAX_ITERATIONS if code == MAX_ITERATIONS else Status.STALLED
    return _solution(values, r, low, high, scaled, v0, a0, statuses, iterations, weights)


def _solution(
    values: Array,
    r: Array,
    low: Array,
    high: Array,
    scaled: Array,
    v0: Array,
    a0: Array,
    statuses: list[Status],
    iterations: NDArray[np.int64],
    weights: tuple[float, ...],
) -> SmoothChainSolution:
    """Judge the values from the problem itself."""
    over = np.maximum(np.maximum(low - values, values - high), 0.0).max(axis=0, initial=0.0)
    rates = np.zeros(values.shape[1])
    for j in range(values.shape[1]):
        for difference, limit in zip(_differences(values[:, j], v0[j], a0[j]), scaled[:, j], strict=True):
            rates[j] = max(rates[j], float((np.abs(difference) / limit).max(initial=0.0)) - 1.0)
    order = [Status.CONVERGED, Status.STALLED, Status.MAX_ITERATIONS, Status.INFEASIBLE]
    status = max(statuses, key=order.index, default=Status.CONVERGED)
    e = values - r
    objective = weights[0] * (e[1:] ** 2).sum(axis=0) + weights[1] * (np.diff(e, axis=0) ** 2).sum(axis=0)
    return SmoothChainSolution(values, status, over, np.maximum(rates, 0.0), iterations, objective)


def _differences(x: Array, v0: float, a0: float) -> tuple[Array, Array, Array]:
    """First, second and third differences of x that are limited, those across the start included where it is given."""
    d1 = np.diff(x)
    d2 = np.diff(d1) if np.isnan(v0) else np.diff(d1, prepend=v0)
    d3 = np.diff(d2) if np.isnan(v0) or np.isnan(a0) else np.diff(d2, prepend=a0)
    return d1, d2, d3


def _legal(x: Array, low: Array, high: Array, scaled: Array, v0: float, a0: float, range_counts: bool = True) -> bool:
    """Whether x keeps the limits: the range exactly, differences within one part in 1e12 or rounding."""
    if range_counts and ((x[1:] < low[1:]).any() or (x[1:] > high[1:]).any()):
        return False
    noise = 4e-16 * (1.0 + np.abs(x).max(initial=0.0))
    return all(
        float(np.abs(difference).max(initial=0.0)) <= limit * (1.0 + 1e-12) + noise
        for difference, limit in zip(_differences(x, v0, a0), scaled, strict=True)
    )


def _shrunk(low: Array, high: Array) -> tuple[Array, Array]:
    """Range tightened by the margin; where it is a single value, widened by 2e-10 for the interior point."""
    margin = MARGIN * np.minimum(np.where(np.isfinite(high - low), high - low, 1.0), 1.0)
    thin = high - low < THIN
    middle = np.where(thin, 0.5 * (low + high), 0.0) if thin.any() else 0.0
    return np.where(thin, middle - 2e-10, low + margin), np.where(thin, middle + 2e-10, high - margin)


def _named(velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike) -> list[tuple[ArrayLike, str]]:
    return [(velocity, "velocity"), (acceleration, "acceleration"), (jerk, "jerk")]


def _array(value: ArrayLike, name: str) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} is no array of numbers ({error})") from error


def _wide(value: ArrayLike, name: str, n: int, k: int) -> Array:
    array = _array(value, name)
    try:
        return np.broadcast_to(array, (n, k))
    except ValueError as error:
        raise BadInput(f"{name} has shape {array.shape}; give a number, ({k},) or ({n}, {k})") from error


def _row(value: ArrayLike, name: str, k: int) -> Array:
    array = _array(value, name)
    if array.shape not in ((), (k,)):
        raise BadInput(f"{name} has shape {array.shape}; give a number or ({k},) of them")
    return np.ascontiguousarray(np.broadcast_to(array, (k,)))
