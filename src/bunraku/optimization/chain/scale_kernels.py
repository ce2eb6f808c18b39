"""Compiled Newton method for the scales of a compressed motion; see :mod:`bunraku.optimization.chain.compression`.

With r^a = c + a_q B on segment q the target (the segments do not overlap: B is one vector, zero at the boundaries), the dynamic
program gives x(a), the exact optimum for fixed scales, so that

    phi(a) = min_x q1 |x - r^a|^2 + w |D (x - r^a)|^2 + sum_q q3_q (a_q - 1)^2

is convex, once differentiable and piecewise quadratic. Its gradient needs no multipliers (envelope theorem). On a piece the
samples move in groups (runs joined by saturated steps; none when one of them sits on a bound), and a segment touches its
neighbours only through the samples at its boundaries. So the samples inside are eliminated once (:func:`condense`), and what
is left is a chain of scalars: boundary, scale, boundary, scale, ... which a recursion minimises in O(Q) (:func:`chain_step`).
Newton's method with this model in the box and a line search ends after finitely many pieces, typically fewer than ten.
Memory is O(n).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.optimization.chain.chain_kernels import POOL_TOO_SMALL, deviation_cost, put, track

ACTIVE = 1e-11
"""A limit closer than this (relative to max(1, |limit|)) counts as active."""

NEWTON_END = 1e-9
"""A proposed change of every scale below this is the last one."""

LL, LR, LA, RR, RA, AA = 0, 1, 2, 3, 4, 5
"""Places in a condensed segment: its quadratic form in the left boundary L, the right boundary R and the scale A."""


@njit(cache=True)
def _target(c, B, cuts, a, target):
    put(c, target)
    for q in range(a.shape[0]):
        for i in range(cuts[q] + 1, cuts[q + 1]):
            target[i] += a[q] * B[i]


@njit(cache=True)
def _merit(target, x, fixed, q1, w, q3, a):
    cost = deviation_cost(target, x, fixed, q1, w)
    for q in range(a.shape[0]):
        cost += q3[q] * (a[q] - 1.0) ** 2
    return cost


@njit(cache=True)
def _gradient(x, target, B, cuts, q1, w, q3, a, out):
    """Slope of phi (Q,): -2 B'K e + 2 q3 (a - 1), e = x - r^a, K = q1 I + w D'D (B is zero where a fixed start would count)."""
    n = x.shape[0]
    for q in range(a.shape[0]):
        v = 0.0
        for i in range(cuts[q] + 1, cuts[q + 1]):
            e = x[i] - target[i]
            force = q1 * e + w * (e - (x[i - 1] - target[i - 1]))
            if i < n - 1:
                force += w * (e - (x[i + 1] - target[i + 1]))
            v += B[i] * force
        out[q] = -2.0 * v + 2.0 * q3[q] * (a[q] - 1.0)


@njit(cache=True)
def _groups(x, fixed, lower, upper, step, group, held):
    """Number the runs of samples that move together (joined by saturated steps); held[g] when one of them sits on a bound."""
    g = 0
    for i in range(x.shape[0]):
        if i > 0:
            joined = abs(x[i] - x[i - 1]) >= step[i] - ACTIVE * max(1.0, step[i])
            if not joined:
                g += 1
                held[g] = False
        else:
            held[0] = fixed
        group[i] = g
        if not (fixed and i == 0):
            near = ACTIVE * max(1.0, abs(x[i]))
            if x[i] <= lower[i] + near or x[i] >= upper[i] - near:
                held[g] = True


@njit(cache=True)
def condense(B, cuts, q1, w, group, held, form, merged):
    """Eliminate the samples inside each segment: ``form`` (Q, 6) is what is left of q1 |x' - B a|^2 + w |D (x' - B a)|^2.

    x' is the change of the motion, one number a group. The first boundary's own term is not included, the last one's is.
    ``merged[q]`` tells that one group reaches over the whole segment; then L is R and only LL, LA and AA count.
    """
    for q in range(cuts.shape[0] - 1):
        M = form[q]
        M[:] = 0.0
        one = True
        for i in range(cuts[q] + 1, cuts[q + 1] + 1):
            b = 0.0 if i == cuts[q + 1] else B[i]
            d = b if i == cuts[q] + 1 else b - B[i - 1]
            if group[i] != group[i - 1]:  # a new number N, with the term w (N - R - d a)^2
                if one:
                    M[LL] += w
                    M[LR] = -w
                    M[LA] += w * d
                    M[RR] = w
                    M[RA] = -w * d
                    M[AA] += w * d * d
                    one = False
                elif held[group[i - 1]]:
                    M[LR] = 0.0
                    M[RR] = w
                    M[RA] = -w * d
                    M[AA] += w * d * d
                else:
                    pivot = M[RR] + w
                    across = M[RA] + w * d
                    M[LL] -= M[LR] * M[LR] / pivot
                    M[LA] -= M[LR] * across / pivot
                    M[AA] += w * d * d - across * across / pivot
                    M[LR] *= w / pivot
                    M[RA] = (w * M[RA] - w * d * M[RR]) / pivot
                    M[RR] = w * M[RR] / pivot
            elif d != 0.0:
                M[AA] += w * d * d
            M[AA] += q1 * b * b
            M[LL if one else RR] += q1
            M[LA if one else RA] -= q1 * b
        merged[q] = one


@njit(cache=True)
def chain_step(form, merged, still, first, gradient, q3, free, change, work):
    """Minimise gradient'd + segments(z, d) + q3 d^2 over the boundaries z and the free d; ``change`` holds the others, in and out.

    Forward, V(L) = P L^2 + 2 r L is the least cost of what lies left of a boundary; backward, the minimisers. ``still`` (Q + 1,)
    marks boundaries that cannot move, ``first`` is the weight of the first boundary's own term, ``work`` is (Q, 6). The slope
    along every d at the minimum goes to the first column of ``work``.
    """
    Q = form.shape[0]
    P, r = first, 0.0
    for q in range(Q):
        M = form[q]
        rr, ra, aa = M[RR], M[RA], M[AA] + q3[q]
        r_right, r_scale = 0.0, 0.5 * gradient[q]
        pivot = 1.0
        if merged[q]:
            rr, ra, r_right = P + M[LL], M[LA], r
        elif not still[q]:
            pivot = P + M[LL]
            rr -= M[LR] * M[LR] / pivot
            ra -= M[LR] * M[LA] / pivot
            aa -= M[LA] * M[LA] / pivot
            r_right = -M[LR] * r / pivot
            r_scale -= M[LA] * r / pivot
        work[q, 1], work[q, 2], work[q, 3], work[q, 4], work[q, 5] = pivot, r, ra, aa, r_scale
        if free[q]:
            P, r = rr - ra * ra / aa, r_right - ra * r_scale / aa
        else:
            P, r = rr, r_right + ra * change[q]
    z = 0.0 if still[Q] else -r / P
    for q in range(Q - 1, -1, -1):
        M = form[q]
        if free[q]:
            change[q] = -(work[q, 3] * z + work[q, 5]) / work[q, 4]
        slope = 0.5 * gradient[q] + (M[AA] + q3[q]) * change[q]
        if merged[q]:
            slope += M[LA] * z
        else:
            left = 0.0 if still[q] else -(work[q, 2] + M[LR] * z + M[LA] * change[q]) / work[q, 1]
            slope += M[LA] * left + M[RA] * z
            z = left
        work[q, 0] = 2.0 * slope


@njit(cache=True)
def box_model(form, merged, still, first, gradient, q3, a, least, most, best, work):
    """Minimise the model over scales in the box by an active-set method, from a; the minimiser goes to ``best``."""
    Q = a.shape[0]
    free = np.empty(Q, dtype=np.bool_)
    change = np.empty(Q)
    scale = 0.0
    for q in range(Q):
        best[q] = a[q]
        free[q] = not ((a[q] <= least and gradient[q] > 0.0) or (a[q] >= most and gradient[q] < 0.0))
        scale = max(scale, 2.0 * (form[q, AA] + q3[q]))
    for _ in range(10 * Q + 20):
        for q in range(Q):
            change[q] = best[q] - a[q]
        chain_step(form, merged, still, first, gradient, q3, free, change, work)
        t = 1.0
        blocking = -1
        for q in range(Q):
            d = a[q] + change[q] - best[q]
            if free[q] and d != 0.0:
                room = (most - best[q]) / d if d > 0.0 else (least - best[q]) / d
                if room < t:
                    t = room
                    blocking = q
        up = blocking >= 0 and a[blocking] + change[blocking] > best[blocking]
        for q in range(Q):
            if free[q]:
                best[q] = min(max(best[q] + t * (a[q] + change[q] - best[q]), least), most)
        if blocking >= 0:
            best[blocking] = most if up else least
            free[blocking] = False
            continue
        worst = 1e-14 * scale
        leaving = -1
        for q in range(Q):
            if not free[q]:
                push = -work[q, 0] if best[q] <= least else work[q, 0]
                if push > worst:
                    worst = push
                    leaving = q
        if leaving < 0:
            return
        free[leaving] = True


@njit(cache=True)
def _proposal(segments, limits, weights, a, x, target, box, piece, gradient, best):
    """The scales that minimise the quadratic model of the present piece; returns the slope towards them and the largest change."""
    _, B, cuts = segments
    start, _, _, step = limits
    q1, w, q3, least, most = weights
    group, held, form, merged, still, work = piece
    fixed = not np.isnan(start)
    _gradient(x, target, B, cuts, q1, w, q3, a, gradient)
    _groups(x, fixed, box[0], box[1], step, group, held)
    condense(B, cuts, q1, w, group, held, form, merged)
    for q in range(cuts.shape[0]):
        still[q] = held[group[cuts[q]]]
    box_model(form, merged, still, 0.0 if fixed else q1, gradient, q3, a, least, most, best, work)
    slope = 0.0
    size = 0.0
    for q in range(a.shape[0]):
        slope += gradient[q] * (best[q] - a[q])
        size = max(size, abs(best[q] - a[q]))
    return slope, size


@njit(cache=True)
def scale_segments(segments, limits, weights, iterations, a, x, target, work):
    """Optimal scales a (Q,), motion x (n,) and target (n,); a holds the first guess.

    Args:
        segments: chord c (n,), shape B (n,), boundaries (Q + 1,) int64.
        limits: start (NaN when free), lower (n,), upper (n,), step (n,) as for ``track``.
        weights: q1, w, q3 (Q,), least and largest scale.
        iterations: limit of Newton steps.
        a: scales, in and out.
        x: optimal motion.
        target: c + a B.
        work: the work arrays of ``track``.

    Returns:
        (code of the dynamic program, Newton steps used, whether converged, objective).
    """
    c, B, cuts = segments
    start, lower, upper, step = limits
    q1, w, q3, least, most = weights
    Q, n = a.shape[0], c.shape[0]
    fixed = not np.isnan(start)
    piece = (
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.bool_),
        np.empty((Q, 6)),
        np.empty(Q, dtype=np.bool_),
        np.empty(Q + 1, dtype=np.bool_),
        np.empty((Q, 6)),
    )
    gradient, best, trial = np.empty(Q), np.empty(Q), np.empty(Q)
    x_trial, target_trial = np.empty(n), np.empty(n)
    put(lower, work.box[0])
    put(upper, work.box[1])  # a legal target leaves them as they are
    _target(c, B, cuts, a, target)
    code = track(target, start, lower, upper, step, q1, w, x, work)
    if code == POOL_TOO_SMALL:
        return code, 0, False, 0.0
    cost = _merit(target, x, fixed, q1, w, q3, a)
    polished = 0
    for iteration in range(iterations):
        slope, size = _proposal(segments, limits, weights, a, x, target, work.box, piece, gradient, best)
        if size == 0.0:
            return code, iteration, True, cost
        # Below the resolution of the cost only full steps are taken, and few: on one piece the first is exact but for rounding.
        unresolved = -slope <= 1e-12 * cost
        polished += unresolved
        t = 1.0
        accepted = False
        for _ in range(40):
            for q in range(Q):
                trial[q] = min(max(a[q] + t * (best[q] - a[q]), least), most)
            _target(c, B, cuts, trial, target_trial)
            code = track(target_trial, start, lower, upper, step, q1, w, x_trial, work)
            if code == POOL_TOO_SMALL:
                return code, iteration, False, cost
            cost_trial = _merit(target_trial, x_trial, fixed, q1, w, q3, trial)
            accepted = cost_trial <= cost + 1e-4 * t * slope or (unresolved and cost_trial <= cost * (1.0 + 1e-13))
            if accepted or unresolved:
                break
            t *= 0.5
        if not accepted:
            return code, iteration + 1, unresolved, cost
        put(trial, a)
        put(x_trial, x)
        put(target_trial, target)
        cost = cost_trial
        if size <= NEWTON_END or polished == 4:
            return code, iteration + 1, True, cost
    return code, iterations, False, cost
