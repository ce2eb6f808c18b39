"""Compiled dynamic programming over a chain of samples; see :mod:`bunraku.optimization.chain.chain` for the words.

For one joint, with e = x - r, minimise

    sum_k q1 e_k^2 + sum_{k >= 1} w (e_k - e_{k-1})^2   subject to   lo_k <= x_k <= hi_k,   |x_k - x_{k-1}| <= step_k.

The cost V_k(y) of arriving at x_k = y is convex with a piecewise linear derivative, kept as a polyline of knots (s, y),
s = V_k'(y), continued vertically at both ends (the ends of the domain). With d = r_k - r_{k-1} one sample later each knot is at

    y + clip(d + s / (2 w), -step, step)       then truncated to [lo_k, hi_k]       then   s + 2 q1 (y - r_k).

Two knots are born a sample, where the clip begins and ends. The best predecessor of y is y + step left of the first, y - step
right of the second and linear between the knots in the middle, which are stored, so going back is a contraction: no
multiplier is integrated backward, which would amplify rounding by exp(0.28) a sample at the weights of the paper.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.arrays import Array

SLACK = 1e-12
"""Bounds that contradict one another by no more than this (relative beyond 1) count as compatible: rounding, not a conflict."""

FEASIBLE = 0
INFEASIBLE = 1
POOL_TOO_SMALL = -1


def largest_pool(n: int) -> int:
    """Knots that can ever be stored for n samples: two more each sample, at most 2 k + 3 into sample k."""
    return n * (n + 4) + 4


class SweepWork(NamedTuple):
    """What :func:`track` works in.

    Attributes:
        box: (4, >= n), whose rows 0 and 1 return the bounds in force, see :func:`envelope`.
        curve: (4, >= 2 n + 4).
        policy: (2, pool).
        first: (>= n + 1,).
    """

    box: Array
    curve: Array
    policy: Array
    first: NDArray[np.int64]


def work_arrays(n: int, pool: int | None = None) -> SweepWork:
    """Work arrays of :func:`track` for up to n samples.

    ``pool`` is the number of stored knots; the default, :func:`largest_pool`, always suffices (right for a streaming window),
    a smaller one can make :func:`track` return ``POOL_TOO_SMALL``; 16 n + 64 is nearly always enough.
    """
    size = largest_pool(n) if pool is None else pool
    return SweepWork(np.empty((4, n)), np.empty((4, 2 * n + 4)), np.empty((2, size)), np.empty(n + 1, dtype=np.int64))


@njit(cache=True)
def put(values, out):
    """The values into ``out``; compiles sooner than an assignment to a slice, which can also say what shapes do not agree."""
    for i in range(values.shape[0]):
        out[i] = values[i]


@njit(cache=True)
def envelope(lower, upper, step, start, low, high):
    """Tightest bounds low, high (n,) implied by bounds and steps; returns whether lower <= upper can be kept at all.

    low is the smallest function above ``lower`` that changes by at most ``step`` a sample, high likewise from above. Where they
    cross, both become their mean: the least worst violation, and only where it is needed. A start (NaN when free) outside opens
    the bounds just as far as leaving it at full speed requires.
    """
    n = lower.shape[0]
    feasible = True
    tight = lower[0] <= upper[0]
    for k in range(1, n):  # nothing to do in the usual case of constant or slowly changing bounds
        tight &= lower[k] <= upper[k] and lower[k - 1] - step[k] <= lower[k] and lower[k] - step[k] <= lower[k - 1]
        tight &= upper[k - 1] + step[k] >= upper[k] and upper[k] + step[k] >= upper[k - 1]
    for k in range(n):
        low[k] = lower[k]
        high[k] = upper[k]
    if not tight:
        for k in range(1, n):
            low[k] = max(low[k], low[k - 1] - step[k])
            high[k] = min(high[k], high[k - 1] + step[k])
        for k in range(n - 2, -1, -1):
            low[k] = max(low[k], low[k + 1] - step[k + 1])
            high[k] = min(high[k], high[k + 1] + step[k + 1])
        for k in range(n):
            if low[k] > high[k]:
                if low[k] - high[k] > SLACK * max(1.0, abs(low[k])):
                    feasible = False
                middle = 0.5 * (low[k] + high[k])
                low[k] = middle
                high[k] = middle
    if not np.isnan(start):
        slack = SLACK * max(1.0, abs(start))
        if start < low[0] - slack or start > high[0] + slack:
            feasible = False
        if start < low[0]:
            reach = start
            for k in range(n):
                if k > 0:
                    reach += step[k]
                if low[k] <= reach:
                    break
                low[k] = reach
                high[k] = max(high[k], reach)
        if start > high[0]:
            reach = start
            for k in range(n):
                if k > 0:
                    reach -= step[k]
                if high[k] >= reach:
                    break
                high[k] = reach
                low[k] = min(low[k], reach)
    return feasible


@njit(cache=True)
def legal(reference, start, lower, upper, step):
    """Whether the reference starts at ``start`` (NaN when free) and keeps all limits as it is."""
    n = reference.shape[0]
    bad = not np.isnan(start) and start != reference[0]
    bad |= reference[0] < lower[0] or reference[0] > upper[0]
    for k in range(1, n):
        bad |= reference[k] < lower[k] or reference[k] > upper[k] or abs(reference[k] - reference[k - 1]) > step[k]
    return not bad


@njit(cache=True)
def move(previous, wish, low, high, step):
    """The value nearest to ``wish`` in [low, high] whose computed difference from ``previous`` does not exceed ``step``."""
    x = wish
    if x - previous > step:
        x = previous + step
        if x - previous > step:
            x = np.nextafter(x, previous)
    elif previous - x > step:
        x = previous - step
        if previous - x > step:
            x = np.nextafter(x, previous)
    return min(max(x, low), high)


@njit(cache=True)
def deviation_cost(reference, x, fixed, q1, w):
    """Objective of x: sum q1 e^2 + w (difference of e)^2; the position term of sample 0 is left out when it is fixed."""
    before = x[0] - reference[0]
    cost = 0.0 if fixed else q1 * before * before
    for k in range(1, x.shape[0]):
        e = x[k] - reference[k]
        cost += q1 * e * e + w * (e - before) * (e - before)
        before = e
    return cost


@njit(cache=True)
def track(reference, start, lower, upper, step, q1, w, out, work):
    """Exact optimum of one column written to ``out``; allocates nothing.

    Args:
        reference: wished values r, (n,) float64, finite.
        start: value of sample 0 when it is fixed; NaN when sample 0 is free.
        lower: least value of each sample, (n,), may be -inf; that of sample 0 does not move a fixed start.
        upper: largest value of each sample, (n,), may be +inf.
        step: largest |x_k - x_{k-1}| into each sample, (n,), >= 0, may be infinite; step[0] is not used.
        q1: weight of the position error, > 0.
        w: weight of the difference of errors, q2 / h^2, >= 0.
        out: result x, (n,).
        work: from :func:`work_arrays`.

    Returns:
        FEASIBLE (0), INFEASIBLE (1: ``out`` is the least violating motion; steps are still kept) or POOL_TOO_SMALL (-1).
    """
    n = reference.shape[0]
    low, high, a, b = work.box[0], work.box[1], work.box[2], work.box[3]
    fixed = not np.isnan(start)
    if legal(reference, start, lower, upper, step):
        for k in range(n):
            out[k] = reference[k]
        return FEASIBLE
    code = FEASIBLE if envelope(lower, upper, step, start, low[:n], high[:n]) else INFEASIBLE

    # A legal motion (causal clamp) bounds the optimum: q1 e_k^2 <= its cost. A legal reference is returned as it came.
    out[0] = start if fixed else min(max(reference[0], low[0]), high[0])
    for k in range(1, n):
        out[k] = move(out[k - 1], reference[k], low[k], high[k], step[k])
    cost = deviation_cost(reference, out, fixed, q1, w)
    if cost == 0.0:
        return code
    radius = np.sqrt(cost / q1) * (1.0 + 1e-9)

    # The optimum is nearly always within a step of the hull of reference, causal and anticausal clamp. If it touches that box
    # nowhere it is the optimum, by convexity; otherwise the box grows.
    reach = max(1.0, 0.25 * np.sqrt(w / q1))
    margin = 1e-3 * radius
    for k in range(1, n):
        margin = max(margin, min(step[k] * reach, radius))
    anticausal = min(max(reference[n - 1], low[n - 1]), high[n - 1])
    for k in range(n - 1, -1, -1):
        if k < n - 1:
            anticausal = move(anticausal, reference[k], low[k], high[k], step[k + 1])
        a[k] = min(out[k], reference[k], anticausal)
        b[k] = max(out[k], reference[k], anticausal)
    while True:
        for k in range(n):
            a[k] = max(low[k], a[k] - margin, reference[k] - radius)
            b[k] = min(high[k], b[k] + margin, reference[k] + radius)
            if a[k] > b[k]:
                a[k] = out[k]
                b[k] = out[k]
        if not _sweep(reference, start, step, q1, w, out, a, b, work):
            return POOL_TOO_SMALL
        near = 1e-6 * margin
        touched = False
        for k in range(1 if fixed else 0, n):
            below = a[k] > low[k] and a[k] > reference[k] - radius and out[k] <= a[k] + near
            above = b[k] < high[k] and b[k] < reference[k] + radius and out[k] >= b[k] - near
            if below or above:
                touched = True
                break
        if not touched or margin > 2.0 * radius:
            break
        margin *= 4.0

    # rounding: the last word belongs to the limits
    out[0] = start if fixed else min(max(out[0], low[0]), high[0])
    for k in range(1, n):
        out[k] = move(out[k - 1], out[k], low[k], high[k], step[k])
    return code


@njit(cache=True)
def _sweep(reference, start, step, q1, w, out, a, b, work):
    """Dynamic programming with bounds a, b: forward, then back; false when the pool of ``policy`` is too small."""
    n = reference.shape[0]
    s, y, s_new, y_new = work.curve[0], work.curve[1], work.curve[2], work.curve[3]
    if not np.isnan(start):
        a[0] = start
        b[0] = start
        y[0] = start
        m = 0  # one value whatever the slope
    else:
        s[0] = 2.0 * q1 * (a[0] - reference[0])
        y[0] = a[0]
        s[1] = 2.0 * q1 * (b[0] - reference[0])
        y[1] = b[0]
        m = 2
    inverse = 0.5 / w if w > 0.0 else 0.0
    top = 0
    y_at, x_at, first, capacity = work.policy[0], work.policy[1], work.first, work.policy.shape[1]
    for k in range(1, n):
        d = reference[k] - reference[k - 1]
        h = min(step[k], max(b[k] - a[k - 1], b[k - 1] - a[k]))
        h = max(h, 0.0)
        left = -2.0 * w * (h + d)
        right = 2.0 * w * (h - d)
        first[k] = top
        if top + m + 3 > capacity:
            return False
        if m == 2 and s[0] >= left and s[1] <= right:  # no step limit acts: one piece, two ends; the usual case, worth 2x
            v = y[0] + (d + s[0] * inverse)
            x = y[1] + (d + s[1] * inverse)
            if v <= a[k] and x >= b[k] and v < x and a[k] < b[k]:
                scale = 1.0 / (x - v)
                slope = (s[1] - s[0]) * scale
                y_at[top] = v
                x_at[top] = y[0]
                x_at[top + 1] = (y[1] - y[0]) * scale
                top += 2
                s[0] = s[0] + (a[k] - v) * slope + 2.0 * q1 * (a[k] - reference[k])
                s[1] = s[1] - (x - b[k]) * slope + 2.0 * q1 * (b[k] - reference[k])
                y[0] = a[k]
                y[1] = b[k]
                continue
        # the step, in the slope domain
        i = 0
        while i < m and s[i] < left:
            s_new[i] = s[i]
            y_new[i] = y[i] - h
            i += 1
        x = _at(s, y, m, i, left)
        count = i
        s_new[count] = left
        y_new[count] = x - h
        count += 1
        y_at[top] = x - h
        x_at[top] = x
        top += 1
        while i < m and s[i] < right:
            v = y[i] + (d + s[i] * inverse)
            s_new[count] = s[i]
            y_new[count] = v
            count += 1
            y_at[top] = v
            x_at[top] = y[i]
            top += 1
            i += 1
        x = _at(s, y, m, i, right)
        s_new[count] = right
        y_new[count] = x + h
        count += 1
        y_at[top] = x + h
        x_at[top] = x
        top += 1
        if top == first[k] + 2:  # two entries mean one piece, see above
            y_at[top] = x + h
            x_at[top] = x
            top += 1
        while i < m:
            s_new[count] = s[i]
            y_new[count] = y[i] + h
            count += 1
            i += 1
        # truncation to [a, b], then the position term
        begin = 0
        while begin < count and y_new[begin] <= a[k]:
            begin += 1
        end = count
        while end > begin and y_new[end - 1] >= b[k]:
            end -= 1
        m = 0
        if begin > 0:
            s[0] = _at(y_new, s_new, count, begin, a[k]) + 2.0 * q1 * (a[k] - reference[k])
            y[0] = a[k]
            m = 1
        for j in range(begin, end):
            s[m] = s_new[j] + 2.0 * q1 * (y_new[j] - reference[k])
            y[m] = y_new[j]
            m += 1
        if end < count and (m == 0 or y[m - 1] < b[k]):
            s[m] = _at(y_new, s_new, count, end, b[k]) + 2.0 * q1 * (b[k] - reference[k])
            y[m] = b[k]
            m += 1
    first[n] = top

    i = 0
    while i < m and s[i] < 0.0:
        i += 1
    out[n - 1] = _at(s, y, m, i, 0.0)
    for k in range(n - 1, 0, -1):
        v = out[k]
        i = first[k]
        last = first[k + 1] - 1
        h = max(min(step[k], max(b[k] - a[k - 1], b[k - 1] - a[k])), 0.0)
        if last == i + 1:
            x = x_at[i] + (v - y_at[i]) * x_at[last]
        elif v <= y_at[i]:
            x = v + h
        elif v >= y_at[last]:
            x = v - h
        else:
            while y_at[i + 1] < v:
                i += 1
            gap = y_at[i + 1] - y_at[i]
            x = x_at[i]
            if gap > 0.0:
                x += (x_at[i + 1] - x_at[i]) * ((v - y_at[i]) / gap)
        out[k - 1] = min(max(x, a[k - 1]), b[k - 1])
    return True


@njit(cache=True)
def _at(s, y, m, i, value):
    """The y of the polyline at s = ``value``, where i is the first of m knots with s[i] >= value; the end's y outside."""
    if i == 0:
        return y[0]
    if i == m:
        return y[m - 1]
    gap = s[i] - s[i - 1]
    if gap <= 0.0:
        return y[i]
    return y[i - 1] + (y[i] - y[i - 1]) * ((value - s[i - 1]) / gap)


@njit(cache=True)
def track_columns(reference, start, lower, upper, step, q1, w, out, codes, work):
    """:func:`track` for each row of (k, n) arrays, one joint a row; allocates nothing.

    start, q1, w have shape (k,), codes (k,) of int64 takes the return values, the rest is as for :func:`track`.
    """
    for j in range(reference.shape[0]):
        codes[j] = track(reference[j], start[j], lower[j], upper[j], step[j], q1[j], w[j], out[j], work)


@njit(cache=True)
def column_costs(reference, out, fixed, q1, w, costs):
    """:func:`deviation_cost` of each row of (k, n) arrays into costs (k,)."""
    for j in range(reference.shape[0]):
        costs[j] = deviation_cost(reference[j], out[j], fixed, q1[j], w[j])
