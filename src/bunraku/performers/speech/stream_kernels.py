"""The compiled tick of :mod:`bunraku.performers.speech.stream`: arrays in, arrays out, nothing allocated.

Everything is in units of one sample: v = x_k - x_{k-1}, a = v_k - v_{k-1}, u = a_k - a_{k-1}. The window of wishes
(k, n) holds one joint a row: column 0 belongs to the sample emitted last, columns 1 .. count - 1 to those to come. It is kept in
order, not as a ring: moving it is one copy of a few kilobytes, against a tenth of a millisecond of optimization.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import carray, cfunc, njit
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.optimization.chain.chain_kernels import SweepWork, move
from bunraku.optimization.chain.chain_kernels import track as track_chain
from bunraku.optimization.smooth_chain.lane_kernels import WIDTH, address
from bunraku.optimization.smooth_chain.newton_kernels import STAGE
from bunraku.optimization.smooth_chain.smooth_chain_kernels import ChainJoints, ChainOptima, ChainSettings, track_columns, work_size
from bunraku.optimization.smooth_chain.stop_kernels import brake, run_out

FRAME, HOLD, DRAIN, PROBE = 0, 1, 2, 3
OK, PRIMING, CLAMPED, REJECTED, HELD, WAITING = 0, 1, 2, 3, 4, 5
SLACK = 1e-13

Integers = NDArray[np.int64]


@njit(cache=True, error_model="numpy")
def stop_is_legal(x, v, a, low, high, limit):
    """Whether the state (x, v, a) and the whole hardest stop from it stay in [low, high] and within the velocity limit."""
    if not (low - SLACK <= x <= high + SLACK and abs(v) <= limit[0] + SLACK):
        return False
    if limit[2] == np.inf:
        distance = run_out(abs(v), limit[1])
        return x + distance <= high + SLACK if v > 0.0 else x - distance >= low - SLACK
    for _ in range(1_000_000):
        if v == 0.0 and a == 0.0:
            return True
        a = brake(v, a, limit[1], limit[2])
        v += a
        x += v
        if not (low - SLACK <= x <= high + SLACK and abs(v) <= limit[0] + SLACK):
            return False
    return False


@njit(cache=True, error_model="numpy")
def safe_acceleration(x, v, a, wish, low, high, limit):
    """Acceleration of the next sample that brings x nearest to ``wish`` and leaves a legal stop.

    Invariant: from the present state the hardest stop (:func:`brake`, a function of v and a alone) is legal to its end. An
    acceleration is accepted only if the state it leads to has that property; its |a| and its change are within the limits by
    construction. One is always acceptable: the one of the stop itself, for the rest of a legal stop is a legal stop. So the
    invariant holds at rest in the range, and it is inherited from sample to sample whatever the wishes are. Bisection between
    the stop and the wish looks for the boldest acceptable one; where it finds none it stops.
    """
    down, up = max(a - limit[2], -limit[1]), min(a + limit[2], limit[1])
    bold = min(max(wish - x, -limit[0]), limit[0]) - v
    bold = min(max(bold, down), up)
    if stop_is_legal(x + (v + bold), v + bold, bold, low, high, limit):
        return bold
    stop = brake(v, a, limit[1], limit[2])
    good, bad = 0.0, 1.0
    for _ in range(24):
        middle = 0.5 * (good + bad)
        trial = stop + middle * (bold - stop)
        if stop_is_legal(x + (v + trial), v + trial, trial, low, high, limit):
            good = middle
        else:
            bad = middle
    return stop + good * (bold - stop)


@njit(cache=True, error_model="numpy")
def interpolate(x, knots, column, count):
    """Piecewise linear through the knots, constant beyond their ends: np.interp without allocation."""
    if x <= knots[0, 0]:
        return knots[0, column]
    for i in range(1, count):
        if x <= knots[i, 0]:
            t = (x - knots[i - 1, 0]) / (knots[i, 0] - knots[i - 1, 0])
            return knots[i - 1, column] + t * (knots[i, column] - knots[i - 1, column])
    return knots[count - 1, column]


@njit(cache=True, error_model="numpy")
def already_legal(wish, count, x, v, a, low, high, limit):
    """Whether the window can be played as it is from the state (x, v, a)."""
    if wish[0] != x:
        return False
    for i in range(1, count):
        v_new = wish[i] - wish[i - 1]
        a_new = v_new - v
        if not (low <= wish[i] <= high and abs(v_new) <= limit[0] and abs(a_new) <= limit[1] and abs(a_new - a) <= limit[2]):
            return False
        v, a = v_new, a_new
    return True


class Window(NamedTuple):
    """What comes in, what is planned and what goes out.

    Attributes:
        frame: (k,) wished values.
        wish: (k, n) the window of frames.
        used: (1,) its columns in use.
        state: (k, 3) x, v, a emitted last; x is NaN before the first pose.
        out: (k,) the emitted sample.
        plan: (k, n) planned samples.
    """

    frame: Array
    wish: Array
    used: Integers
    state: Array
    out: Array
    plan: Array


class JointRanges(NamedTuple):
    """What each joint may do.

    Attributes:
        low: (k, n) lower bounds over the window, refilled in each tick for joints whose range depends on another.
        high: (k, n) upper bounds, likewise.
        steps: (k, n) largest |v|.
        lower: (k,) lower end of the range.
        upper: (k,) upper end.
        limit: (k, 3) largest |v|, |a|, |u|.
        order: (k,) joints, drivers before dependents.
        smooth: (k,) 1 where |a| or |u| is limited.
    """

    low: Array
    high: Array
    steps: Array
    lower: Array
    upper: Array
    limit: Array
    order: Integers
    smooth: Integers


class Ties(NamedTuple):
    """Ranges that depend on another joint.

    Attributes:
        dependent: (d,) index of the joint.
        driver: (d,) index of the joint it depends on.
        knots: (d, m, 3) driver value, lower and upper bound.
        sizes: (d,) number of knots.
    """

    dependent: Integers
    driver: Integers
    knots: Array
    sizes: Integers


class TickWork(NamedTuple):
    """Workspaces: of the exact chain; of the smooth chain ``begin`` (3, k), ``which``, ``codes``, ``counts`` (k,), ``memory``."""

    sweep: SweepWork
    begin: Array
    which: Integers
    codes: Integers
    counts: Integers
    memory: Array


@njit(cache=True, error_model="numpy")
def take_in(what, window, ranges):
    """Append the frame, clamped, or the last one again to the window; returns a status code."""
    k, c = window.wish.shape[0], window.used[0]
    status = OK if what == FRAME else HELD
    if what == FRAME:
        for j in range(k):
            if not np.isfinite(window.frame[j]):
                status = REJECTED
    if np.isnan(window.state[0, 0]) and status != OK:
        return WAITING if status == HELD else REJECTED
    if what == DRAIN:
        return status
    for j in range(k):
        value = window.wish[j, c - 1] if c > 0 else 0.0
        if status in (OK, CLAMPED):
            value = min(max(window.frame[j], ranges.lower[j]), ranges.upper[j])
            if value != window.frame[j]:
                status = CLAMPED
        window.wish[j, c] = value
    window.used[0] = c + 1
    return status


@njit(cache=True, error_model="numpy")
def stand(window, ranges, ties):
    """Emit the first frame as the pose to begin with, clamped into its range in the order of dependence."""
    state, k = window.state, window.wish.shape[0]
    for j in range(k):
        state[j, 0], state[j, 1], state[j, 2] = window.wish[j, 0], 0.0, 0.0
    for i in range(k):
        j = ranges.order[i]
        for d in range(ties.dependent.shape[0]):
            if ties.dependent[d] == j:
                y, knots, size = state[ties.driver[d], 0], ties.knots[d], ties.sizes[d]
                state[j, 0] = min(max(state[j, 0], interpolate(y, knots, 1, size)), interpolate(y, knots, 2, size))
    for j in range(k):
        window.out[j] = state[j, 0]


@njit(cache=True, error_model="numpy")
def bound(j, samples, window, ranges, ties):
    """Bounds of the next ``samples`` samples of joint j where its range depends on others, at their planned values."""
    tied = False
    for d in range(ties.dependent.shape[0]):
        if ties.dependent[d] == j:
            knots, size = ties.knots[d], ties.sizes[d]
            for s in range(1, samples + 1):
                y = window.plan[ties.driver[d], s]
                below, above = interpolate(y, knots, 1, size), interpolate(y, knots, 2, size)
                ranges.low[j, s] = max(ranges.low[j, s] if tied else ranges.lower[j], below)
                ranges.high[j, s] = min(ranges.high[j, s] if tied else ranges.upper[j], above)
            tied = True


@njit(cache=True, error_model="numpy")
def plan_smooth(window, ranges, settings, work):
    """Plan the joints with acceleration or jerk limits. They depend on no other: all at once, eight side by side."""
    todo, c, begin, wish = 0, window.used[0], work.begin, window.wish
    for j in range(wish.shape[0]):
        if ranges.smooth[j] == 1:
            x, v, a = window.state[j, 0], window.state[j, 1], window.state[j, 2]
            begin[0, j], begin[1, j], begin[2, j] = x, v, a
            if already_legal(wish[j], c, x, v, a, ranges.lower[j], ranges.upper[j], ranges.limit[j]):
                for s in range(c):
                    window.plan[j, s] = wish[j, s]
            else:
                work.which[todo] = j
                todo += 1
    if todo > 0:
        joints = ChainJoints(c, wish, ranges.low, ranges.high, begin[0], begin[1], begin[2], ranges.limit)
        track_columns(work.which[:todo], joints, settings, ChainOptima(window.plan, work.codes, work.counts), work.memory)


@njit(cache=True, error_model="numpy")
def tick(what, window, ranges, ties, settings, work):
    """Take in one frame (or none, or drain), emit one legal sample for every joint into ``window.out``; returns a status code.

    ``what`` is FRAME, HOLD (repeat the last frame) or DRAIN (no more frames: the window shrinks).
    """
    k, n = window.wish.shape
    state, plan, low, high, steps = window.state, window.plan, ranges.low, ranges.high, ranges.steps
    fresh = np.isnan(state[0, 0])
    status = take_in(what, window, ranges)
    if fresh and status not in (OK, CLAMPED):
        return status
    c = window.used[0]
    if c == 0:
        return HELD
    if fresh:
        stand(window, ranges, ties)
        return PRIMING if status == OK else status
    planned = c > 1 and (c == n or what == DRAIN)
    if planned:
        plan_smooth(window, ranges, settings, work)
    for i in range(k):
        j = ranges.order[i]
        x = state[j, 0]
        if not planned:
            plan[j, 1] = x
            bound(j, 1, window, ranges, ties)
        else:
            bound(j, c - 1, window, ranges, ties)
            if ranges.smooth[j] == 0:
                r, p = window.wish[j, :c], plan[j, :c]
                track_chain(r, x, low[j, :c], high[j, :c], steps[j, :c], settings.q1, settings.q2, p, work.sweep)
            elif not np.isfinite(plan[j, 1]):
                plan[j, 1] = x
        if ranges.smooth[j] == 1:
            v = state[j, 1]
            a = safe_acceleration(x, v, state[j, 2], plan[j, 1], ranges.lower[j], ranges.upper[j], ranges.limit[j])
            state[j, 0], state[j, 1], state[j, 2] = x + (v + a), v + a, a
        else:
            state[j, 0] = move(x, plan[j, 1], low[j, 1], high[j, 1], steps[j, 1])
        plan[j, 1] = state[j, 0]
        window.out[j] = state[j, 0]
    if planned:
        for j in range(k):
            for s in range(c - 1):
                window.wish[j, s] = window.wish[j, s + 1]
        window.used[0] = c - 1
    elif status == OK:
        status = PRIMING
    return status


def layout(
    k: int, n: int, d: int, m: int, pool: int
) -> tuple[list[tuple[str, tuple[int, ...]]], list[tuple[str, tuple[int, ...]]]]:
    """Names and shapes of the arrays in the two blocks of memory of :func:`tick_at`, in order: floats, integers."""
    floats: list[tuple[str, tuple[int, ...]]] = [
        *(("frame", (k,)), ("wish", (k, n)), ("state", (k, 3)), ("out", (k,)), ("plan", (k, n)), ("low", (k, n))),
        *(("high", (k, n)), ("steps", (k, n)), ("lower", (k,)), ("upper", (k,)), ("limit", (k, 3)), ("knots", (d, m, 3))),
        *(("eps", (1,)), ("weights", (2,)), ("box", (4, n)), ("curve", (4, 2 * n + 4)), ("policy", (2, pool))),
        *(("begin", (3, k)), ("work", (work_size(n),))),
    ]
    integers: list[tuple[str, tuple[int, ...]]] = [
        *(("count", (1,)), ("order", (k,)), ("smooth", (k,)), ("dependent", (d,)), ("driver", (d,)), ("sizes", (d,))),
        *(("first", (n + 1,)), ("which", (k,)), ("codes", (k,)), ("counts", (k,))),
    ]
    return floats, integers


@njit(cache=True)
def _take(memory, at, rows, columns):
    """The next (rows, columns) array of a block of memory."""
    return memory[at : at + rows * columns].reshape((rows, columns)), at + rows * columns


@cfunc("int64(int64, CPointer(float64), CPointer(int64), int64, int64, int64, int64, int64)", cache=True)
def tick_at(what, floats, integers, k, n, d, m, pool):
    """:func:`tick` on two blocks of memory in the order of :func:`layout`: a call from Python that makes no array header either.

    With PROBE it only returns the size of the first block that it was compiled for: Numba's cache does not notice when a kernel
    that is called from another file has changed.
    """
    total = 13 * k + 5 * k * n + 3 * d * m + 3 + 4 * n + 4 * (2 * n + 4) + 2 * pool + ((n + 1) * STAGE + 1) * WIDTH
    if what == PROBE:
        return total
    memory = carray(floats, (total,))
    numbers = carray(integers, (1 + 5 * k + 3 * d + n + 1,))
    frame, at = memory[:k], k
    wish, at = _take(memory, at, k, n)
    state, at = _take(memory, at, k, 3)
    out, at = memory[at : at + k], at + k
    plan, at = _take(memory, at, k, n)
    low, at = _take(memory, at, k, n)
    high, at = _take(memory, at, k, n)
    steps, at = _take(memory, at, k, n)
    lower, upper, at = memory[at : at + k], memory[at + k : at + 2 * k], at + 2 * k
    limit, at = _take(memory, at, k, 3)
    knots, at = memory[at : at + 3 * d * m].reshape((d, m, 3)), at + 3 * d * m
    settings, at = ChainSettings(memory[at], np.bool_(False), memory[at + 1], memory[at + 2], 1e-5, np.int64(25)), at + 3
    box, at = _take(memory, at, 4, n)
    curve, at = _take(memory, at, 4, 2 * n + 4)
    policy, at = _take(memory, at, 2, pool)
    begin, at = _take(memory, at, 3, k)
    room = memory[at + -(address(memory) // 8 + at) % WIDTH :]  # from the next cache line on
    count, order, smooth, at = numbers[:1], numbers[1 : 1 + k], numbers[1 + k : 1 + 2 * k], 1 + 2 * k
    dependent, driver, sizes, at = numbers[at : at + d], numbers[at + d : at + 2 * d], numbers[at + 2 * d : at + 3 * d], at + 3 * d
    first, at = numbers[at : at + n + 1], at + n + 1
    which, codes, counts = numbers[at : at + k], numbers[at + k : at + 2 * k], numbers[at + 2 * k : at + 3 * k]
    window = Window(frame, wish, count, state, out, plan)
    ranges = JointRanges(low, high, steps, lower, upper, limit, order, smooth)
    ties = Ties(dependent, driver, knots, sizes)
    return tick(
        what, window, ranges, ties, settings, TickWork(SweepWork(box, curve, policy, first), begin, which, codes, counts, room)
    )
