"""The compiled tick of :mod:`bunraku.performers.speech.stream`: arrays in, arrays out, nothing allocated.

Everything is in units of one sample: v = x_k - x_{k-1}, a = v_k - v_{k-1}, u = a_k - a_{k-1}. ``reference`` (k, n) holds one joint
a row: column 0 belongs to the sample emitted last, columns 1 .. count - 1 to those to come. The window is kept in order, not as
a ring: moving it is one copy of a few kilobytes, against a tenth of a millisecond of optimization.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import carray, cfunc, njit

from bunraku.optimization.chain.chain_kernels import move
from bunraku.optimization.chain.chain_kernels import track as track_chain
from bunraku.optimization.smooth_chain.lane_kernels import WIDTH, address
from bunraku.optimization.smooth_chain.newton_kernels import STAGE
from bunraku.optimization.smooth_chain.smooth_chain_kernels import track_columns, work_size
from bunraku.optimization.smooth_chain.stop_kernels import brake, run_out

FRAME, HOLD, DRAIN, PROBE = 0, 1, 2, 3
OK, PRIMING, CLAMPED, REJECTED, HELD, WAITING = 0, 1, 2, 3, 4, 5
SLACK = 1e-13


@njit(cache=True, error_model="numpy")
def stop_is_legal(x, v, a, low, high, limit):
    """Whether the state (x, v, a) and the whole hardest stop from it stay in [low, high] and within the velocity limit."""
    if not (low - SLACK <= x <= high + SLACK and abs(v) <= limit[0] + SLACK):
        return False
    if limit[2] == np.inf:
        way = run_out(abs(v), limit[1])
        return x + way <= high + SLACK if v > 0.0 else x - way >= low - SLACK
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
def safe_acceleration(x, v, a, target, low, high, limit):
    """Acceleration of the next sample that brings x nearest to ``target`` and leaves a legal stop.

    Invariant: from the present state the hardest stop (:func:`brake`, a function of v and a alone) is legal to its end. An
    acceleration is accepted only if the state it leads to has that property; its |a| and its change are within the limits by
    construction. One is always acceptable: the one of the stop itself, for the rest of a legal stop is a legal stop. So the
    invariant holds at rest in the range, and it is inherited from sample to sample whatever the targets are. Bisection between
    the stop and the wish looks for the boldest acceptable one; where it finds none it stops.
    """
    down, up = max(a - limit[2], -limit[1]), min(a + limit[2], limit[1])
    wish = min(max(target - x, -limit[0]), limit[0]) - v
    wish = min(max(wish, down), up)
    if stop_is_legal(x + (v + wish), v + wish, wish, low, high, limit):
        return wish
    stop = brake(v, a, limit[1], limit[2])
    good, bad = 0.0, 1.0
    for _ in range(24):
        middle = 0.5 * (good + bad)
        trial = stop + middle * (wish - stop)
        if stop_is_legal(x + (v + trial), v + trial, trial, low, high, limit):
            good = middle
        else:
            bad = middle
    return stop + good * (wish - stop)


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
def already_legal(reference, count, x, v, a, low, high, limit):
    """Whether the window can be played as it is from the state (x, v, a)."""
    if reference[0] != x:
        return False
    for i in range(1, count):
        v_new = reference[i] - reference[i - 1]
        a_new = v_new - v
        if not (low <= reference[i] <= high and abs(v_new) <= limit[0] and abs(a_new) <= limit[1] and abs(a_new - a) <= limit[2]):
            return False
        v, a = v_new, a_new
    return True


@njit(cache=True, error_model="numpy")
def tick(
    what, frame, reference, count, state, out, plan, low, high, steps, lower, upper, limit, order, smooth,
    dependent, driver, knots, sizes, eps, q1, q2, box, curve, policy, first, begin, which, codes, counts, work,
):  # fmt: skip
    """Take in one frame (or none, or drain), emit one legal sample for every joint into ``out``; returns a status code.

    The arguments: ``what`` is FRAME, HOLD (repeat the last frame) or DRAIN (no more frames: the window shrinks); ``frame`` (k,)
    wanted values, used with FRAME only; ``reference`` (k, n) window and ``count`` (1,) its columns in use; ``state`` (k, 3) x, v, a
    emitted last, x NaN before the first pose; ``out`` (k,) the emitted sample; ``plan`` (k, n) planned samples; ``low``, ``high``
    (k, n) bounds over the window, refilled here for joints whose range depends on another; ``steps`` (k, n) largest |v|; ``lower``,
    ``upper`` (k,) range; ``limit`` (k, 3) largest |v|, |a|, |u|; ``order`` (k,) joints, drivers before dependents; ``smooth`` (k,)
    1 where |a| or |u| is limited; ``dependent``, ``driver`` (d,) indices, ``knots`` (d, m, 3) driver value, lower and upper bound,
    ``sizes`` (d,) number of knots; ``eps`` softness of the range in the smooth window; ``q1``, ``q2`` weights; then workspaces.
    """
    k, n = reference.shape
    status = OK if what == FRAME else HELD
    if what == FRAME:
        for j in range(k):
            if not np.isfinite(frame[j]):
                status = REJECTED
    fresh = np.isnan(state[0, 0])
    if fresh and status != OK:
        return WAITING if status == HELD else REJECTED
    if what != DRAIN:
        c = count[0]
        for j in range(k):
            value = reference[j, c - 1] if c > 0 else 0.0
            if status in (OK, CLAMPED):
                value = min(max(frame[j], lower[j]), upper[j])
                if value != frame[j]:
                    status = CLAMPED
            reference[j, c] = value
        count[0] = c + 1
    elif count[0] == 0:
        return HELD
    if fresh:
        # the first frame is the pose to begin with, clamped into its range in the order of dependence
        for j in range(k):
            state[j, 0], state[j, 1], state[j, 2] = reference[j, 0], 0.0, 0.0
        for i in range(k):
            j = order[i]
            for d in range(dependent.shape[0]):
                if dependent[d] == j:
                    y = state[driver[d], 0]
                    below, above = interpolate(y, knots[d], 1, sizes[d]), interpolate(y, knots[d], 2, sizes[d])
                    state[j, 0] = min(max(state[j, 0], below), above)
        for j in range(k):
            out[j] = state[j, 0]
        return PRIMING if status == OK else status
    full = count[0] == n or what == DRAIN
    c = count[0]
    if full and c > 1:
        # joints with acceleration or jerk limits depend on no other: all at once, eight side by side
        todo = 0
        for j in range(k):
            if smooth[j] == 1:
                x, v, a = state[j, 0], state[j, 1], state[j, 2]
                begin[0, j], begin[1, j], begin[2, j] = x, v, a
                if already_legal(reference[j], c, x, v, a, lower[j], upper[j], limit[j]):
                    for s in range(c):
                        plan[j, s] = reference[j, s]
                else:
                    which[todo] = j
                    todo += 1
        if todo > 0:
            track_columns(
                which[:todo], c, reference, low, high, begin[0], begin[1], begin[2], limit, eps, np.bool_(False), q1, q2, 1e-5,
                np.int64(25), plan, codes, counts, work,
            )  # fmt: skip
    for i in range(k):
        j = order[i]
        x, v, a = state[j, 0], state[j, 1], state[j, 2]
        if full and c > 1:
            tied = False
            for d in range(dependent.shape[0]):
                if dependent[d] == j:
                    for s in range(1, c):
                        y = plan[driver[d], s]
                        below, above = interpolate(y, knots[d], 1, sizes[d]), interpolate(y, knots[d], 2, sizes[d])
                        low[j, s] = max(low[j, s] if tied else lower[j], below)
                        high[j, s] = min(high[j, s] if tied else upper[j], above)
                    tied = True
            if smooth[j] == 1:
                if not np.isfinite(plan[j, 1]):
                    plan[j, 1] = x
            else:
                r, p = reference[j, :c], plan[j, :c]
                track_chain(r, x, low[j, :c], high[j, :c], steps[j, :c], q1, q2, p, box, curve, policy, first)
        else:
            plan[j, 1] = x
            for d in range(dependent.shape[0]):
                if dependent[d] == j:
                    y = plan[driver[d], 1]
                    low[j, 1] = max(lower[j], interpolate(y, knots[d], 1, sizes[d]))
                    high[j, 1] = min(upper[j], interpolate(y, knots[d], 2, sizes[d]))
        if smooth[j] == 1:
            a_new = safe_acceleration(x, v, a, plan[j, 1], lower[j], upper[j], limit[j])
            state[j, 1] = v + a_new
            state[j, 2] = a_new
            state[j, 0] = x + (v + a_new)
        else:
            state[j, 0] = move(x, plan[j, 1], low[j, 1], high[j, 1], steps[j, 1])
        plan[j, 1] = state[j, 0]
        out[j] = state[j, 0]
    if full and c > 1:
        for j in range(k):
            for s in range(c - 1):
                reference[j, s] = reference[j, s + 1]
        count[0] = c - 1
    elif status == OK:
        status = PRIMING
    return status


def layout(
    k: int, n: int, d: int, m: int, pool: int
) -> tuple[list[tuple[str, tuple[int, ...]]], list[tuple[str, tuple[int, ...]]]]:
    """Names and shapes of the arrays in the two blocks of memory of :func:`tick_at`, in order: floats, integers."""
    floats: list[tuple[str, tuple[int, ...]]] = [
        *(("frame", (k,)), ("reference", (k, n)), ("state", (k, 3)), ("out", (k,)), ("plan", (k, n)), ("low", (k, n))),
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
    room = ((n + 1) * STAGE + 1) * WIDTH
    total = 13 * k + 5 * k * n + 3 * d * m + 3 + 4 * n + 4 * (2 * n + 4) + 2 * pool + room
    if what == PROBE:
        return total
    memory = carray(floats, (total,))
    numbers = carray(integers, (1 + 5 * k + 3 * d + n + 1,))
    frame, at = memory[:k], k
    reference, at = _take(memory, at, k, n)
    state, at = _take(memory, at, k, 3)
    out, at = memory[at : at + k], at + k
    plan, at = _take(memory, at, k, n)
    low, at = _take(memory, at, k, n)
    high, at = _take(memory, at, k, n)
    steps, at = _take(memory, at, k, n)
    lower, upper, at = memory[at : at + k], memory[at + k : at + 2 * k], at + 2 * k
    limit, at = _take(memory, at, k, 3)
    knots, at = memory[at : at + 3 * d * m].reshape((d, m, 3)), at + 3 * d * m
    eps, q1, q2, at = memory[at], memory[at + 1], memory[at + 2], at + 3
    box, at = _take(memory, at, 4, n)
    curve, at = _take(memory, at, 4, 2 * n + 4)
    policy, at = _take(memory, at, 2, pool)
    begin, at = _take(memory, at, 3, k)
    work = memory[at + -(address(memory) // 8 + at) % WIDTH :]  # from the next cache line on
    count, order, smooth, at = numbers[:1], numbers[1 : 1 + k], numbers[1 + k : 1 + 2 * k], 1 + 2 * k
    dependent, driver, sizes, at = numbers[at : at + d], numbers[at + d : at + 2 * d], numbers[at + 2 * d : at + 3 * d], at + 3 * d
    first, at = numbers[at : at + n + 1], at + n + 1
    which, codes, counts = numbers[at : at + k], numbers[at + k : at + 2 * k], numbers[at + 2 * k : at + 3 * k]
    return tick(
        what, frame, reference, count, state, out, plan, low, high, steps, lower, upper, limit, order, smooth,
        dependent, driver, knots, sizes, eps, q1, q2, box, curve, policy, first, begin, which, codes, counts, work,
    )  # fmt: skip
