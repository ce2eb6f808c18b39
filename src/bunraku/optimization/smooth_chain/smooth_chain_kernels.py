"""Numba kernels of :mod:`bunraku.optimization.smooth_chain`: many joints through the eight lanes of the interior point.

Joints with the same kinds of limits share the lanes; a joint that has converged makes room for the next. The Newton steps are in
:mod:`bunraku.optimization.smooth_chain.newton_kernels`, the hardest stop, with which the iteration begins, in ``stop_kernels``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.optimization.smooth_chain.lane_kernels import WIDTH, address, choose, larger, load, smaller, spread, store
from bunraku.optimization.smooth_chain.newton_kernels import (
    CAP,
    HIGH,
    LOW,
    STAGE,
    TARGET,
    advance,
    begin,
    correct,
    count_of,
    factorize,
    place,
    predict,
)
from bunraku.optimization.smooth_chain.stop_kernels import brake

GAP, OBJECTIVE, WORST, ALIVE, STEP, FRESH, JOINT, SINCE = 0, 1, 2, 3, 4, 5, 6, 7  # groups in the stage behind the last sample

CONVERGED, MAX_ITERATIONS, STALLED = 0, 1, 2


class ChainJoints(NamedTuple):
    """What each of k joints is to do, all in units of one sample.

    Attributes:
        n: number of columns of the arrays that are used.
        wish: (k, n) wished samples.
        lower: (k, n) smallest values; may be infinite.
        upper: (k, n) largest values; may be infinite.
        start: (k,) sample 0.
        v0: (k,) velocity it arrives with; NaN: none is demanded.
        a0: (k,) acceleration it arrives with; NaN: none is demanded; counts only with v0.
        limit: (k, 3) largest |v|, |a|, |u|; may be infinite.
    """

    n: int
    wish: Array
    lower: Array
    upper: Array
    start: Array
    v0: Array
    a0: Array
    limit: Array


class ChainSettings(NamedTuple):
    """How all joints are moved: minimise the sum of q1 (x - r)^2 + q2 (v - dr)^2.

    Attributes:
        eps: softness of the range: a bound is passed by eps times its multiplier; 0 is hard.
        rest: whether the motion must end so that holding its last sample is legal.
        q1: weight of (x - r)^2.
        q2: weight of (v - dr)^2.
        tolerance: complementarity gap relative to the objective at which a joint ends.
        most: iterations after which it ends.
    """

    eps: float
    rest: bool
    q1: float
    q2: float
    tolerance: float
    most: int


class ChainOptima(NamedTuple):
    """The result, one joint a row.

    Attributes:
        values: (k, n) the optima.
        codes: (k,) CONVERGED, MAX_ITERATIONS or STALLED.
        counts: (k,) to which the iterations are added.
    """

    values: Array
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]


def work_size(n: int) -> int:
    """Length of the workspace for n samples [float64]; one group more than needed, so that it can begin at a cache line."""
    return ((n + 1) * STAGE + 1) * WIDTH


def work_array(n: int):
    """Workspace of :func:`track_columns` for n samples, beginning at a cache line."""
    whole = np.empty(work_size(n))
    return whole[-(whole.ctypes.data // 8) % WIDTH :]


@njit(error_model="numpy")
def fill(work, lane, moving, joints, j, settings):
    """Joint j into one lane: the hardest stop as the first trajectory, the wish, and all bounds finite."""
    n, wish, lower, upper, limit = joints.n, joints.wish[j], joints.lower[j], joints.upper[j], joints.limit[j]
    v0, a0, q1, q2, group = joints.v0[j], joints.a0[j], settings.q1, settings.q2, STAGE * WIDTH
    x_at, v_at, a_at, u_at = lane, WIDTH + lane, 2 * WIDTH + lane, 3 * WIDTH + lane
    r_at, low_at, high_at, cap_at = TARGET * WIDTH + lane, LOW * WIDTH + lane, HIGH * WIDTH + lane, CAP * WIDTH + lane
    free, loose = np.isnan(v0), np.isnan(v0) or np.isnan(a0)
    x, v, a = joints.start[j], 0.0 if free else v0, 0.0 if loose else a0
    work[x_at], work[v_at], work[a_at], work[u_at], work[r_at] = x, v, a, 0.0, wish[0]
    inside, radius = True, 0.0
    for k in range(1, n):
        before, i = a, k * group
        if v != 0.0 or a != 0.0:
            a = brake(v, a, limit[1], limit[2])
            v += a
            x += v
        work[i + x_at], work[i + v_at], work[i + a_at], work[i + u_at], work[i + r_at] = x, v, a, a - before, wish[k]
        e, d = x - wish[k], v - (wish[k] - wish[k - 1])
        radius += e * e + d * d * q2 / q1
        inside = inside and lower[k] <= x <= upper[k] and abs(v) <= limit[0]
    radius = (1.0 + 1.01 * np.sqrt(radius)) * (1.0 if inside else 100.0)
    speed = limit[0] if limit[0] < np.inf else 10.0 * radius
    hard = limit[1] if limit[1] < np.inf else 20.0 * radius
    for k in range(1, n):
        if place(k, n, moving) != k * STAGE:
            continue
        i = k * group
        work[i + low_at] = lower[k] if lower[k] > -np.inf else min(wish[k], upper[k]) - radius
        work[i + high_at] = upper[k] if upper[k] < np.inf else max(wish[k], lower[k]) + radius
        work[i + cap_at + WIDTH], work[i + cap_at + 2 * WIDTH], work[i + cap_at + 3 * WIDTH] = speed, hard, limit[2]
    # differences that reach back before the start are not limited: bounds that cannot act
    widest = 4.0 * (min(limit[0], 10.0 * radius) + min(limit[1], 10.0 * radius))
    if n > 1 and loose:
        work[group + cap_at + 3 * WIDTH] = widest
    if n > 1 and free:
        work[group + cap_at + 2 * WIDTH] = widest
        if n > 2:
            work[2 * group + cap_at + 3 * WIDTH] = widest
    if settings.rest:
        last, calm = (n - 1) * group + cap_at, min(limit[1], limit[2])
        work[last + WIDTH] = 1e-7 * min(limit[0], 1.0)
        if calm < np.inf:
            work[last + 2 * WIDTH] = 0.999 * calm


@njit(error_model="numpy")
def finish(work, n, lane, code, iteration, result):
    """Take the result out of a lane and let it rest."""
    at = n * STAGE * WIDTH + lane
    j = int(work[at + JOINT * WIDTH])
    for k in range(n):
        result.values[j, k] = work[k * STAGE * WIDTH + lane]
    work[at + ALIVE * WIDTH] = 0.0
    result.codes[j] = code
    result.counts[j] += iteration - int(work[at + SINCE * WIDTH])


@njit(error_model="numpy")
def solve(which, active, moving, joints, settings, result, work):
    """Mehrotra's predictor-corrector on the joints ``which``, all with bounds on the ``active`` ones of x, v, a, u.

    ``moving`` says whether the range depends on time. Each lane ends for itself, when its complementarity gap is below the
    tolerance times its objective and its bounds are kept, or after the most iterations, and takes the next joint.
    """
    n, e, q1, q2, tolerance = joints.n, settings.eps, settings.q1, settings.q2, settings.tolerance
    count, end = float(max(count_of(active, n), 1)), n * STAGE
    at, memory = end * WIDTH, address(work)
    one, zero = spread(1.0), spread(0.0)
    t, worst = zero, zero
    store(memory, end + ALIVE, zero)
    if which.shape[0] < WIDTH:
        work[:] = 0.0  # whatever idle lanes compute, they do not compute it slowly
    taken, left, iteration = 0, which.shape[0], 0
    while left > 0:
        fresh = False
        for lane in range(WIDTH):
            work[at + FRESH * WIDTH + lane] = 0.0
            if taken < which.shape[0] and work[at + ALIVE * WIDTH + lane] == 0.0:
                j = which[taken]
                fill(work, lane, moving, joints, j, settings)
                work[at + ALIVE * WIDTH + lane], work[at + FRESH * WIDTH + lane] = 1.0, 1.0
                work[at + JOINT * WIDTH + lane], work[at + SINCE * WIDTH + lane] = float(j), float(iteration)
                taken += 1
                fresh = True
        if fresh:
            mask = load(memory, end + FRESH)
            worst = choose(mask, begin(memory, n, active, moving, q1, q2, mask), worst)
            t = choose(mask, zero, t)
        gap, objective = factorize(memory, n, active, moving, e, q1, q2, t)
        store(memory, end + GAP, gap)
        store(memory, end + OBJECTIVE, objective)
        store(memory, end + WORST, worst)
        for lane in range(WIDTH):
            if work[at + ALIVE * WIDTH + lane] == 1.0:
                small = work[at + GAP * WIDTH + lane] <= tolerance * work[at + OBJECTIVE * WIDTH + lane] + 1e-15
                done = small and work[at + WORST * WIDTH + lane] <= 1e-10
                if done or iteration - int(work[at + SINCE * WIDTH + lane]) >= settings.most:
                    finish(work, n, lane, np.int64(CONVERGED if done else MAX_ITERATIONS), iteration, result)
                    left -= 1
        if left == 0:
            return
        cross, peak = predict(memory, n, active, moving, e)
        t = 1.0 / peak
        remains = (one - t) + t * t * cross / larger(gap, spread(1e-300))
        centre = remains * remains * remains * gap / count
        correct(memory, n, active, moving, e, q1, q2, centre)
        peak = advance(memory, n, active, moving, e, centre)
        t = smaller(0.9995 / larger(peak, spread(1e-300)), one) * load(memory, end + ALIVE)
        worst = worst * (one - t)
        store(memory, end + STEP, t)
        for lane in range(WIDTH):
            if work[at + ALIVE * WIDTH + lane] == 1.0 and not work[at + STEP * WIDTH + lane] > 1e-9:
                finish(work, n, lane, np.int64(STALLED), iteration, result)
                left -= 1
        iteration += 1


@njit(error_model="numpy")
def pattern(lower, upper, limit, rest, n):
    """Which of x, v, a, u have bounds, as bits 1, 2, 4, 8, and whether the range moves or is open at an end, 16."""
    bounded, moving = 0, 0
    for k in range(1, n):
        if lower[k] > -np.inf or upper[k] < np.inf:
            bounded = 1
        if lower[k] != lower[n - 1] or upper[k] != upper[n - 1] or lower[k] == -np.inf or upper[k] == np.inf:
            moving = 16
    fast, hard, sudden = limit[0] < np.inf, limit[1] < np.inf, limit[2] < np.inf
    return bounded + moving + 2 * int(fast or rest) + 4 * int(hard or (rest and sudden)) + 8 * int(sudden)


@njit(cache=True, error_model="numpy")
def track_columns(which, joints, settings, result, work):
    """Optima of the joints ``which`` (m,), which is put into another order, into ``result``; allocates nothing."""
    first, n = 0, joints.n
    while first < which.shape[0]:
        j = which[first]
        bits, last = pattern(joints.lower[j], joints.upper[j], joints.limit[j], settings.rest, n), first
        for at in range(first, which.shape[0]):
            j = which[at]
            if pattern(joints.lower[j], joints.upper[j], joints.limit[j], settings.rest, n) == bits:
                which[at], which[last] = which[last], j
                last += 1
        active = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0, bits & 8 > 0)
        solve(which[first:last], active, bits & 16 > 0, joints, settings, result, work)
        first = last


@njit(cache=True, error_model="numpy")
def tighten(low, high, margin, thin, inner_low, inner_high):
    """Ranges (k, n) tightened by a part of themselves; one narrower than ``thin`` is a single value and becomes 4e-10 wide.

    Returns whether there is one beyond sample 0.
    """
    thinned = False
    for j in range(low.shape[0]):
        for k in range(low.shape[1]):
            width = high[j, k] - low[j, k]
            if width < thin:
                thinned = thinned or k > 0
                middle = 0.5 * (low[j, k] + high[j, k])
                inner_low[j, k], inner_high[j, k] = middle - 2e-10, middle + 2e-10
            else:
                inner_low[j, k], inner_high[j, k] = low[j, k] + margin * min(width, 1.0), high[j, k] - margin * min(width, 1.0)
    return thinned


@njit(cache=True, error_model="numpy")
def examine(x, joints, settings, kept, report):
    """What became of the joints x (k, n).

    ``kept`` (k, 2): whether the velocity, acceleration and jerk limits (k, 3) are kept, within one part in 1e12 or rounding, and
    whether the range is, exactly; not so where x is not finite. ``report`` (k, 3): excess over the range, sample 0 included;
    largest excess over the other limits relative to them; objective.
    """
    wish, low, high, limits = joints.wish, joints.lower, joints.upper, joints.limit
    for j in range(x.shape[0]):
        size, over, cost, finite = 0.0, max(low[j, 0] - x[j, 0], x[j, 0] - high[j, 0], 0.0), 0.0, np.isfinite(x[j, 0])
        v, a, inside, most_v, most_a, most_u = joints.v0[j], joints.a0[j], True, 0.0, 0.0, 0.0
        for k in range(1, x.shape[1]):
            y = x[j, k]
            v_new = y - x[j, k - 1]
            a_new = v_new - v
            u = a_new - a
            v, a = v_new, a_new
            size, finite = max(size, abs(y)), finite and np.isfinite(y)
            inside = inside and low[j, k] <= y <= high[j, k]
            over = max(over, low[j, k] - y, y - high[j, k])
            most_v = max(most_v, abs(v))
            most_a = abs(a) if abs(a) > most_a else most_a
            most_u = abs(u) if abs(u) > most_u else most_u
            e, d = y - wish[j, k], v - (wish[j, k] - wish[j, k - 1])
            cost += settings.q1 * e * e + settings.q2 * d * d
        noise, within, beyond = 4e-16 * (1.0 + max(size, abs(x[j, 0]))), finite, 0.0
        for q, most in enumerate((most_v, most_a, most_u)):
            within = within and most <= limits[j, q] * (1.0 + 1e-12) + noise
            beyond = max(beyond, most / limits[j, q] - 1.0)
        kept[j, 0], kept[j, 1] = within, inside and finite
        report[j, 0], report[j, 1], report[j, 2] = over, beyond, cost
