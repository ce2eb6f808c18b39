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

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.chain.arrays import as_array, one_row_each
from bunraku.optimization.smooth_chain.smooth_chain_kernels import (
    CONVERGED,
    MAX_ITERATIONS,
    ChainJoints,
    ChainOptima,
    ChainSettings,
    examine,
    tighten,
    track_columns,
    work_array,
)
from bunraku.optimization.smooth_chain.stop_kernels import stop_needs
from bunraku.optimization.solution import Status

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
        reference: wished samples r, shape (n, k), finite, [rad] or [m].
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
        max_iterations: most iterations a column; four times as many where the range had to become soft.

    Returns:
        The optimum; see :class:`SmoothChainSolution`.
    """
    r = as_array(reference, "reference")
    if r.ndim != 2 or len(r) < 1 or not np.isfinite(r).all():
        raise BadInput(f"reference has shape {r.shape}{'' if r.ndim != 2 else ' or holds NaN'}; give finite (samples, columns)")
    if not (0.0 < rate <= 100_000.0 and position_weight > 0.0 and velocity_weight >= 0.0 and 0.0 < tolerance < 1.0):
        raise BadInput(f"rate {rate}, weights {position_weight}, {velocity_weight}, tolerance {tolerance}: give positive numbers")
    n, k = r.shape
    low, high = one_row_each(lower, "lower", n, k), one_row_each(upper, "upper", n, k)
    if not (low <= high).all():
        raise BadInput("range holds NaN or a lower end above its upper end; give lower <= upper, infinite for none")
    limits = np.stack([_row(velocity, "velocity", k), _row(acceleration, "acceleration", k), _row(jerk, "jerk", k)])
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
    wish, limit = np.array(r.T, order="C"), np.array(scaled.T, order="C")
    joints = ChainJoints(n, wish, low, high, first, v0, a0, limit)
    weights = float(position_weight), float(velocity_weight * rate**2)
    settings = ChainSettings(0.0, bool(rest_at_end), *weights, float(tolerance), int(max_iterations))
    return _solved(joints, settings, np.ascontiguousarray(inner.T))


def _solved(joints: ChainJoints, settings: ChainSettings, limit: Array) -> SmoothChainSolution:
    """Solve hard; what cannot be kept, with a soft range; what still cannot, with limits raised to what a stop needs.

    ``limit`` (k, 3) are the tightened limits.
    """
    k, n = joints.wish.shape
    x = joints.wish.copy()
    codes, iterations, level = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    inner = joints._replace(lower=np.empty((k, n)), upper=np.empty((k, n)), limit=limit)
    thin = tighten(joints.lower, joints.upper, MARGIN, THIN, inner.lower, inner.upper)
    kept, report = np.empty((k, 2), dtype=np.bool_), np.empty((k, 3))
    examine(x, joints, settings, kept, report)
    todo = np.flatnonzero((joints.start != x[:, 0]) | ~kept.all(axis=1) | settings.rest)
    todo = todo[np.argsort(-report[todo, 1])]  # the hardest first, so that all lanes are busy to the end
    work = work_array(n if len(todo) else 0)
    for attempt in range(3):
        if not len(todo):
            break
        level[todo] = attempt
        if attempt == 1:
            settings = settings._replace(eps=SOFTNESS / settings.q1, most=4 * settings.most)
        track_columns(todo, inner, settings, ChainOptima(x, codes, iterations), work)
        if thin:
            single = (joints.upper - joints.lower < THIN)[:, 1:]
            x[:, 1:] = np.where(single, np.clip(x, joints.lower, joints.upper)[:, 1:], x[:, 1:])
        examine(x, joints, settings, kept, report)
        todo = todo[~(kept[todo, 0] & (kept[todo, 1] | (attempt > 0)))]
        if attempt == 1:
            for j in todo:
                needs = stop_needs(joints.v0[j], joints.a0[j], limit[j, 1], limit[j, 2], n)
                limit[j, :2] = np.maximum(limit[j, :2], 1.001 * np.array(needs))
    over, beyond, objective = np.ascontiguousarray(report.T)
    if (level > 0).any() or (over > 1e-9).any():
        status = Status.INFEASIBLE
    elif (codes != CONVERGED).any():
        status = Status.MAX_ITERATIONS if (codes == MAX_ITERATIONS).any() else Status.STALLED
    else:
        status = Status.CONVERGED
    return SmoothChainSolution(np.ascontiguousarray(x.T), status, over, beyond, iterations, objective)


def _row(value: ArrayLike, name: str, k: int) -> Array:
    array = as_array(value, name)
    if array.shape not in ((), (k,)):
        raise BadInput(f"{name} has shape {array.shape}; give a number or ({k},) of them")
    return np.array(np.broadcast_to(array, (k,)))
