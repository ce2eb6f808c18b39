"""Compiled Newton method for the scales of a compressed motion; see :mod:`bunraku.optimization.chain.compression`.

With r^a = c + B a the target, the dynamic program gives x(a), the exact optimum for fixed scales, so that

    phi(a) = min_x q1 |x - r^a|^2 + w |D (x - r^a)|^2 + sum_r q3_r (a_r - 1)^2

is convex, once differentiable and piecewise quadratic. Its gradient needs no multipliers (envelope theorem); its second
derivative on a piece is a tridiagonal solve per scale over the samples that are free to move. Newton's method with a
box-constrained quadratic model and a line search ends after finitely many pieces, typically fewer than ten.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.optimization.chain._kernels import POOL_TOO_SMALL, deviation_cost, track

ACTIVE = 1e-11
"""A limit closer than this (relative to max(1, |limit|)) counts as active."""

NEWTON_END = 1e-9
"""A proposed change of every scale below this is the last one."""


@njit(cache=True)
def _target(c, B, begin, end, a, target):
    target[:] = c
    for q in range(a.shape[0]):
        for i in range(begin[q], end[q]):
            target[i] += a[q] * B[q, i]


@njit(cache=True)
def _merit(target, x, fixed, q1, w, q3, a):
    cost = deviation_cost(target, x, fixed, q1, w)
    for q in range(a.shape[0]):
        cost += q3[q] * (a[q] - 1.0) ** 2
    return cost


@njit(cache=True)
def _stiffness(e, fixed, q1, w, out):
    """Stiffness times e: out = (q1 I + w D'D) e, without the position term of a fixed first sample."""
    n = e.shape[0]
    for i in range(n):
        v = 0.0 if fixed and i == 0 else q1 * e[i]
        if i > 0:
            v += w * (e[i] - e[i - 1])
        if i < n - 1:
            v += w * (e[i] - e[i + 1])
        out[i] = v


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
    return g + 1


@njit(cache=True)
def _hessian(B, KB, begin, end, fixed, q1, w, q3, group, held, groups, H):
    """Second derivative of phi on the present piece: 2 B'K(B - x') + 2 q3, where x' = dx/da keeps the active limits active."""
    Q, n = B.shape
    diagonal = np.zeros(groups)
    off = np.zeros(groups)  # coupling between g - 1 and g
    for i in range(n):
        g = group[i]
        if not (fixed and i == 0):
            diagonal[g] += q1
        if i > 0 and group[i - 1] != g:
            diagonal[g] += w
            diagonal[g - 1] += w
            off[g] = -w
    for g in range(groups):
        if held[g]:
            diagonal[g] = 1.0
    for g in range(1, groups):  # factorization L D L' of the free part; held groups are decoupled
        if held[g] or held[g - 1]:
            off[g] = 0.0
        else:
            off[g] /= diagonal[g - 1]
            diagonal[g] -= off[g] * off[g] * diagonal[g - 1]
    z = np.empty(groups)
    for p in range(Q):
        z[:] = 0.0
        for i in range(max(begin[p] - 1, 0), min(end[p] + 1, n)):
            z[group[i]] += KB[p, i]
        for g in range(groups):
            if held[g]:
                z[g] = 0.0
        for g in range(1, groups):
            z[g] -= off[g] * z[g - 1]
        for g in range(groups):
            z[g] /= diagonal[g]
        for g in range(groups - 2, -1, -1):
            z[g] -= off[g + 1] * z[g + 1]
        for q in range(p + 1):
            v = 0.0
            for i in range(max(begin[q] - 1, 0), min(end[q] + 1, n)):
                v += KB[q, i] * (B[p, i] - z[group[i]])
            H[q, p] = 2.0 * v
            H[p, q] = H[q, p]
        H[p, p] += 2.0 * q3[p]


@njit(cache=True)
def _solve_free(H, rhs, free, d):
    """Cholesky solution of the free rows of H d = rhs; the other entries of d become 0."""
    Q = H.shape[0]
    index = np.empty(Q, dtype=np.int64)
    m = 0
    for q in range(Q):
        d[q] = 0.0
        if free[q]:
            index[m] = q
            m += 1
    L = np.empty((m, m))
    z = np.empty(m)
    for i in range(m):
        for j in range(i + 1):
            v = H[index[i], index[j]]
            for k in range(j):
                v -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(max(v, 1e-300))
            else:
                L[i, j] = v / L[j, j]
        v = rhs[index[i]]
        for k in range(i):
            v -= L[i, k] * z[k]
        z[i] = v / L[i, i]
    for i in range(m - 1, -1, -1):
        v = z[i]
        for k in range(i + 1, m):
            v -= L[k, i] * z[k]
        z[i] = v / L[i, i]
        d[index[i]] = z[i]


@njit(cache=True)
def box_model(H, gradient, a, least, most, best):
    """Minimise gradient'(b - a) + (b - a)'H(b - a)/2 over the box by an active-set method; the minimiser goes to ``best``."""
    Q = a.shape[0]
    best[:] = a
    free = np.empty(Q, dtype=np.bool_)
    slope = np.empty(Q)
    d = np.empty(Q)
    working = np.zeros(Q, dtype=np.bool_)  # bounds held
    for q in range(Q):
        working[q] = (a[q] <= least and gradient[q] > 0.0) or (a[q] >= most and gradient[q] < 0.0)
    scale = 0.0
    for q in range(Q):
        scale = max(scale, H[q, q])
    for _ in range(10 * Q + 20):
        for q in range(Q):
            v = gradient[q]
            for p in range(Q):
                v += H[q, p] * (best[p] - a[p])
            slope[q] = -v
            free[q] = not working[q]
        _solve_free(H, slope, free, d)
        t = 1.0
        blocking = -1
        for q in range(Q):
            if free[q] and d[q] != 0.0:
                room = (most - best[q]) / d[q] if d[q] > 0.0 else (least - best[q]) / d[q]
                if room < t:
                    t = room
                    blocking = q
        for q in range(Q):
            if free[q]:
                best[q] = min(max(best[q] + t * d[q], least), most)
        if blocking >= 0:
            best[blocking] = most if d[blocking] > 0.0 else least
            working[blocking] = True
            continue
        worst = 1e-14 * scale
        leaving = -1
        for q in range(Q):
            if working[q]:
                v = gradient[q]
                for p in range(Q):
                    v += H[q, p] * (best[p] - a[p])
                push = -v if best[q] <= least else v
                if push > worst:
                    worst = push
                    leaving = q
        if leaving < 0:
            return
        working[leaving] = False


@njit(cache=True)
def scale_segments(segments, limits, weights, iterations, a, x, target, work):
    """Optimal scales a (Q,), motion x (n,) and target (n,); a holds the first guess.

    Args:
        segments: chord c (n,), shapes B (Q, n), first sample and end of each shape, both (Q,) int64.
        limits: start (NaN when free), lower (n,), upper (n,), step (n,) as for ``track``.
        weights: q1, w, q3 (Q,), least and largest scale.
        iterations: limit of Newton steps.
        a: scales, in and out.
        x: optimal motion.
        target: c + B a.
        work: the four work arrays of ``track``.

    Returns:
        (code of the dynamic program, Newton steps used, whether converged, objective).
    """
    c, B, begin, end = segments
    start, lower, upper, step = limits
    q1, w, q3, least, most = weights
    box, curve, policy, first = work
    Q, n = B.shape
    fixed = not np.isnan(start)
    KB = np.zeros((Q, n))
    for q in range(Q):
        _stiffness(B[q], fixed, q1, w, KB[q])
    e = np.empty(n)
    Ke = np.empty(n)
    group = np.empty(n, dtype=np.int64)
    held = np.empty(n, dtype=np.bool_)
    H = np.empty((Q, Q))
    gradient = np.empty(Q)
    best = np.empty(Q)
    trial = np.empty(Q)
    x_trial = np.empty(n)
    target_trial = np.empty(n)
    _target(c, B, begin, end, a, target)
    code = track(target, start, lower, upper, step, q1, w, x, box, curve, policy, first)
    if code == POOL_TOO_SMALL:
        return code, 0, False, 0.0
    cost = _merit(target, x, fixed, q1, w, q3, a)
    polished = 0
    for iteration in range(iterations):
        e[:] = x - target
        _stiffness(e, fixed, q1, w, Ke)
        for q in range(Q):
            v = 0.0
            for i in range(begin[q], end[q]):
                v += B[q, i] * Ke[i]
            gradient[q] = -2.0 * v + 2.0 * q3[q] * (a[q] - 1.0)
        groups = _groups(x, fixed, box[0], box[1], step, group, held)
        _hessian(B, KB, begin, end, fixed, q1, w, q3, group, held, groups, H)
        box_model(H, gradient, a, least, most, best)
        slope = 0.0
        size = 0.0
        for q in range(Q):
            slope += gradient[q] * (best[q] - a[q])
            size = max(size, abs(best[q] - a[q]))
        if size == 0.0:
            return code, iteration, True, cost
        # Below the resolution of the cost only full steps are taken, and few: on one piece the first is exact but for rounding.
        unresolved = -slope <= 1e-12 * cost
        if unresolved:
            polished += 1
        t = 1.0
        accepted = False
        for _ in range(40):
            for q in range(Q):
                trial[q] = min(max(a[q] + t * (best[q] - a[q]), least), most)
            _target(c, B, begin, end, trial, target_trial)
            code = track(target_trial, start, lower, upper, step, q1, w, x_trial, box, curve, policy, first)
            if code == POOL_TOO_SMALL:
                return code, iteration, False, cost
            cost_trial = _merit(target_trial, x_trial, fixed, q1, w, q3, trial)
            if cost_trial <= cost + 1e-4 * t * slope:
                accepted = True
                break
            if unresolved:
                accepted = cost_trial <= cost * (1.0 + 1e-13)
                break
            t *= 0.5
        if not accepted:
            return code, iteration + 1, unresolved, cost
        a[:] = trial
        x[:] = x_trial
        target[:] = target_trial
        cost = cost_trial
        if size <= NEWTON_END or polished == 4:
            return code, iteration + 1, True, cost
    return code, iterations, False, cost
