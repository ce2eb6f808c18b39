"""Numba kernels of :mod:`bunraku.optimization.smooth_chain`: a primal-dual interior point over a scaled integrator chain.

One joint is the chain a_k = a_{k-1} + u_k, v_k = v_{k-1} + a_k, x_k = x_{k-1} + v_k, in units of one sample: v is the
velocity times h, a the acceleration times h^2, u the jerk times h^3. Every limited quantity y of (x, v, a, u) has a slack s
and a multiplier lam for its lower bound (sign +1) and its upper bound (sign -1). A Newton step is a linear-quadratic problem over
the chain, solved by a Riccati recursion in O(n). The recursion eliminates u by the parallel sum M w / (M + w), which subtracts
nothing: that is why weights of 1e12 beside weights of 1 do no harm, and why 500 Hz is as good as 25 Hz.

The workspace has shape (SLOTS, N), one row a quantity over time, N the number of samples rounded up to whole vectors; column 0 is
the fixed start, columns beyond the last sample hold inequalities on nothing. What is not recursive is written as loops over time
with one result each, which the compiler turns into vector code (230 -> 100 ns a sample and iteration).
"""

from __future__ import annotations

import numpy as np
from numba import njit

Y = 0  # x, v, a, u
TARGET = 4  # reference, and its difference
BOUND = 6  # rows 2 q and 2 q + 1: lower and upper bound of quantity q
S = 14  # slacks
L = 22  # multipliers
INVERSE = 30  # 1 / (s + eps lam)
DS = 38  # step of the slacks; before that, the second-order term
DL = 46  # step of the multipliers; before that, the share of the affine step
DY = 54  # step of x, v, a, u
W = 58  # weights of x, v, a, u
G = 62  # gradients
GAIN = 66  # feedback on x, v, a; w / (M + w); 1 / (M + w); feed-forward
RATIO = 72  # what bounds the step length
SLOTS = 73

CONVERGED, MAX_ITERATIONS, STALLED = 0, 1, 2


def work_array(n: int):
    """Workspace of :func:`track` for n samples: an odd number of vectors of 16, so that rows fall on different cache lines."""
    return np.zeros((SLOTS, 16 * (-(-n // 16) | 1)))


@njit(cache=True, error_model="numpy")
def invert(s, lam, eps, out):
    """1 / (s + eps lam)."""
    for k in range(s.shape[0]):
        out[k] = 1.0 / (s[k] + eps * lam[k])


@njit(cache=True, error_model="numpy")
def add_weight(lam, inverse, out):
    """Weight of one bound: lam / (s + eps lam)."""
    for k in range(lam.shape[0]):
        out[k] += lam[k] * inverse[k]


@njit(cache=True, error_model="numpy")
def add_affine(y, bound, s, lam, inverse, sign, out):
    """Gradient of one bound for the affine step: the multiplier times the relative primal residual."""
    for k in range(lam.shape[0]):
        out[k] += sign * lam[k] * (sign * (y[k] - bound[k]) - s[k]) * inverse[k]


@njit(cache=True, error_model="numpy")
def affine_share(y, dy, bound, lam, inverse, sign, eps, out):
    """Share p of its slack that the affine step leaves to a bound: ds = -(1 - p) s and d lam = -p lam."""
    for k in range(y.shape[0]):
        out[k] = (sign * (y[k] + dy[k] - bound[k]) + eps * lam[k]) * inverse[k]


@njit(cache=True, error_model="numpy")
def second_order(s, lam, share, out):
    """Second-order term of complementarity: ds d lam = s lam p (1 - p)."""
    for k in range(s.shape[0]):
        out[k] = s[k] * lam[k] * share[k] * (1.0 - share[k])


@njit(cache=True, error_model="numpy")
def raise_share(share, out):
    """Raise: out = max(out, p, 1 - p), the ratios of the affine step."""
    for k in range(share.shape[0]):
        other = 1.0 - share[k]
        most = share[k] if share[k] > other else other
        out[k] = most if most > out[k] else out[k]


@njit(cache=True, error_model="numpy")
def add_centred(lam, y, bound, second, inverse, sign, eps, centre, out):
    """Gradient of one bound for the centred and corrected step."""
    for k in range(lam.shape[0]):
        push = lam[k] * (sign * (y[k] - bound[k]) + eps * lam[k]) - centre + second[k]
        out[k] += sign * (push * inverse[k] - lam[k])


@njit(cache=True, error_model="numpy")
def multiplier_step(second, lam, y, dy, bound, inverse, sign, eps, centre, out):
    """Step of the multipliers: (centre - second - lam (sign (y + dy - bound) + eps lam)) / (s + eps lam)."""
    for k in range(lam.shape[0]):
        out[k] = (centre - second[k] - lam[k] * (sign * (y[k] + dy[k] - bound[k]) + eps * lam[k])) * inverse[k]


@njit(cache=True, error_model="numpy")
def slack_step(y, dy, bound, lam, dl, s, sign, eps, out):
    """Step of the slacks: sign (y + dy - bound) + eps (lam + d lam) - s."""
    for k in range(s.shape[0]):
        out[k] = sign * (y[k] + dy[k] - bound[k]) + eps * (lam[k] + dl[k]) - s[k]


@njit(cache=True, error_model="numpy")
def raise_ratio(step, value, out):
    """Raise: out = max(out, -step / value), sample by sample."""
    for k in range(step.shape[0]):
        ratio = -step[k] / value[k]
        out[k] = ratio if ratio > out[k] else out[k]


@njit(cache=True, error_model="numpy")
def raise_product(step, inverse, out):
    """Raise: out = max(out, -step * inverse), sample by sample: the ratio where the inverse is known."""
    for k in range(step.shape[0]):
        ratio = -step[k] * inverse[k]
        out[k] = ratio if ratio > out[k] else out[k]


@njit(cache=True, error_model="numpy")
def largest(a):
    """Largest element, at least 0."""
    most = 0.0
    for k in range(a.shape[0]):
        most = a[k] if a[k] > most else most
    return most


@njit(cache=True, error_model="numpy", fastmath=True)
def dot(a, b):
    """Sum of products."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(cache=True, error_model="numpy", fastmath=True)
def squares(a, b):
    """Sum of squared differences."""
    total = 0.0
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) * (a[k] - b[k])
    return total


@njit(cache=True, error_model="numpy", fastmath=True)
def total(a):
    """Sum."""
    found = 0.0
    for k in range(a.shape[0]):
        found += a[k]
    return found


@njit(cache=True, error_model="numpy")
def step_in_place(a, t, d):
    """Step: a += t d."""
    for k in range(a.shape[0]):
        a[k] += t * d[k]


@njit(cache=True, error_model="numpy")
def cost_gradient(work, q1, q2):
    """Gradient of the objective into the rows G."""
    gx, gv, x, v, rx, rv = work[G], work[G + 1], work[Y], work[Y + 1], work[TARGET], work[TARGET + 1]
    for k in range(gx.shape[0]):
        gx[k] = 2.0 * q1 * (x[k] - rx[k])
    for k in range(gv.shape[0]):
        gv[k] = 2.0 * q2 * (v[k] - rv[k])
    work[G + 2 : G + 4] = 0.0


@njit(cache=True, error_model="numpy")
def riccati(work, n):
    """Backward pass: gains and feed-forward of the step that minimises the quadratic model in W and G over the chain.

    At each stage add the weights, go through x' = x + v', v' = v + a', a' = a + u, and eliminate u.
    """
    wx, wv, wa, wu = work[W], work[W + 1], work[W + 2], work[W + 3]
    gx, gv, ga, gu = work[G], work[G + 1], work[G + 2], work[G + 3]
    kx, kv, ka, rest, inv, ff = work[GAIN], work[GAIN + 1], work[GAIN + 2], work[GAIN + 3], work[GAIN + 4], work[GAIN + 5]
    xx = xv = xa = vv = va = aa = px = pv = pa = 0.0
    for i in range(n - 1):
        k = n - 1 - i
        xx += wx[k]
        vv += wv[k] + 2.0 * xv + xx
        va += xa
        aa += wa[k] + 2.0 * va + vv
        xv += xx
        xa += xv
        va += vv
        px += gx[k]
        pv += gv[k] + px
        pa += ga[k] + pv
        w = wu[k]
        inverse = 1.0 / (aa + w)
        fx, fv, share, total = xa * inverse, va * inverse, w * inverse, pa + gu[k]
        pa = share * pa - aa * inverse * gu[k]
        px -= fx * total
        pv -= fv * total
        kx[k], kv[k], ka[k], rest[k], inv[k], ff[k] = fx, fv, aa * inverse, share, inverse, -total * inverse
        xx -= xa * fx
        xv -= xa * fv
        vv -= va * fv
        xa *= share
        va *= share
        aa *= share


@njit(cache=True, error_model="numpy")
def feed(work, n):
    """Backward pass with the gains kept: feed-forward for the gradients now in G."""
    gx, gv, ga, gu = work[G], work[G + 1], work[G + 2], work[G + 3]
    kx, kv, ka, rest, inv, ff = work[GAIN], work[GAIN + 1], work[GAIN + 2], work[GAIN + 3], work[GAIN + 4], work[GAIN + 5]
    px = pv = pa = 0.0
    for i in range(n - 1):
        k = n - 1 - i
        px += gx[k]
        pv += gv[k] + px
        pa += ga[k] + pv
        total = pa + gu[k]
        ff[k] = -total * inv[k]
        px -= kx[k] * total
        pv -= kv[k] * total
        pa = rest[k] * pa - ka[k] * gu[k]


@njit(cache=True, error_model="numpy")
def roll(work, n):
    """Forward pass: the steps of x, v, a, u into the rows DY."""
    kx, kv, ka, rest, ff = work[GAIN], work[GAIN + 1], work[GAIN + 2], work[GAIN + 3], work[GAIN + 5]
    dx, dv, da, du = work[DY], work[DY + 1], work[DY + 2], work[DY + 3]
    x = v = a = 0.0
    for k in range(1, n):
        drive = ff[k] - kx[k] * x - kv[k] * v
        du[k] = drive - ka[k] * a
        a = drive + rest[k] * a
        v += a
        x += v
        dx[k], dv[k], da[k] = x, v, a


@njit(cache=True, error_model="numpy")
def solve(work, n, active, eps, q1, q2, tolerance, most):
    """Mehrotra's predictor-corrector from the trajectory in the rows Y of one joint.

    Args:
        work: (SLOTS, N); the rows Y, TARGET and BOUND are filled, the bounds of active quantities finite.
        n: number of samples, the fixed start included.
        active: (4,) bool; whether x, v, a, u have bounds.
        eps: (4,) softness of the bounds of x, v, a, u: a bound may be passed by eps times its multiplier; 0 is hard.
        q1: weight of (x - r)^2.
        q2: weight of (v - dr)^2.
        tolerance: complementarity gap relative to the objective at which the iteration ends.
        most: most iterations.

    Returns:
        (code, iterations).
    """
    count = 0
    for q in range(4):
        count += 2 * work.shape[1] * active[q]
    guess = (q1 * squares(work[Y], work[TARGET]) + q2 * squares(work[Y + 1], work[TARGET + 1]) + 1e-12) / max(count, 1)
    peak, worst = work[RATIO], 0.0
    for p in range(8):
        if active[p >> 1]:
            sign = 1.0 - 2.0 * (p & 1)
            y, bound, s, lam = work[Y + (p >> 1)], work[BOUND + p], work[S + p], work[L + p]
            low, high = work[BOUND + (p & 6)], work[BOUND + (p | 1)]
            for k in range(s.shape[0]):
                width = min(high[k] - low[k], 10.0)
                slack = sign * (y[k] - bound[k])
                s[k] = max(slack, 0.05 * width)
                lam[k] = guess / s[k]
                worst = max(worst, abs(slack - s[k]) / width)
    for iteration in range(most):
        gap = 0.0
        objective = q1 * squares(work[Y], work[TARGET]) + q2 * squares(work[Y + 1], work[TARGET + 1])
        work[W], work[W + 1], work[W + 2], work[W + 3] = 2.0 * q1, 2.0 * q2, 0.0, 0.0
        cost_gradient(work, q1, q2)
        for p in range(8):
            q = p >> 1
            if active[q]:
                sign, e, y, bound = 1.0 - 2.0 * (p & 1), eps[q], work[Y + q], work[BOUND + p]
                s, lam, inverse = work[S + p], work[L + p], work[INVERSE + p]
                invert(s, lam, e, inverse)
                gap += dot(s, lam)
                objective += 0.5 * e * dot(lam, lam) if e > 0.0 else 0.0
                add_weight(lam, inverse, work[W + q])
                add_affine(y, bound, s, lam, inverse, sign, work[G + q])
        if gap <= tolerance * objective + 1e-15 and worst <= 1e-10:
            return CONVERGED, iteration
        riccati(work, n)
        roll(work, n)
        cross = 0.0
        peak[:] = 1.0
        for p in range(8):
            q = p >> 1
            if active[q]:
                sign, e, y, bound = 1.0 - 2.0 * (p & 1), eps[q], work[Y + q], work[BOUND + p]
                second, share = work[DS + p], work[DL + p]
                affine_share(y, work[DY + q], bound, work[L + p], work[INVERSE + p], sign, e, share)
                second_order(work[S + p], work[L + p], share, second)
                raise_share(share, peak)
                cross += total(second)
        t = 1.0 / largest(peak)
        left = (1.0 - t) + t * t * cross / gap if gap > 0.0 else 0.0
        centre = left * left * left * gap / max(count, 1)
        cost_gradient(work, q1, q2)
        for p in range(8):
            q = p >> 1
            if active[q]:
                sign, e, y, bound = 1.0 - 2.0 * (p & 1), eps[q], work[Y + q], work[BOUND + p]
                add_centred(work[L + p], y, bound, work[DS + p], work[INVERSE + p], sign, e, centre, work[G + q])
        feed(work, n)
        roll(work, n)
        peak[:] = 0.0
        for p in range(8):
            q = p >> 1
            if active[q]:
                sign, e, y, bound = 1.0 - 2.0 * (p & 1), eps[q], work[Y + q], work[BOUND + p]
                s, lam, inverse = work[S + p], work[L + p], work[INVERSE + p]
                ds, dl, dy = work[DS + p], work[DL + p], work[DY + q]
                multiplier_step(ds, lam, y, dy, bound, inverse, sign, e, centre, dl)
                slack_step(y, dy, bound, lam, dl, s, sign, e, ds)
                raise_product(ds, inverse, peak) if e == 0.0 else raise_ratio(ds, s, peak)
                raise_ratio(dl, lam, peak)
        ratio = largest(peak)
        t = min(1.0, 0.995 / ratio) if ratio > 0.0 else 1.0
        if not t > 1e-9:
            return STALLED, iteration
        worst *= 1.0 - t
        for q in range(4):
            step_in_place(work[Y + q], t, work[DY + q])
        for p in range(8):
            if active[p >> 1]:
                step_in_place(work[S + p], t, work[DS + p])
                step_in_place(work[L + p], t, work[DL + p])
    return MAX_ITERATIONS, most


@njit(cache=True, error_model="numpy")
def run_out(speed, step):
    """Way still made when a speed >= 0 is lowered by ``step`` a sample until it is 0: sum of max(speed - i step, 0), i >= 1."""
    if not speed > step:
        return 0.0
    m = np.floor(speed / step)
    return m * speed - step * m * (m + 1.0) / 2.0


@njit(cache=True, error_model="numpy")
def fastest(gap, step):
    """Largest speed b with b + run_out(b) <= gap: the inverse of the way to stop."""
    if not 8.0 * gap > 8.0 * step:
        return max(gap, 0.0)
    m = np.floor((np.sqrt(1.0 + 8.0 * gap / step) - 1.0) / 2.0)
    return (gap + step * m * (m + 1.0) / 2.0) / (m + 1.0)


@njit(cache=True, error_model="numpy")
def brake(v, a, most, jerk):
    """Next acceleration of the hardest legal stop from velocity v and acceleration a, all in units of one sample.

    The stop brings v and a to exactly 0 in finitely many samples, keeps |a| <= ``most`` and changes a by at most ``jerk`` a sample
    (either may be infinite). Let e = v + sign(a) run_out(|a|, jerk) be the velocity left if a were released at once. For
    e >= 0 the next acceleration is max(a - jerk, -min(most, fastest(v, jerk))): as negative as allowed while v still suffices
    to let it fade out again. With b = |a|, v >= run_out(b) gives fastest(v) >= b - jerk, since (b - jerk) + run_out(b - jerk)
    = run_out(b); so the change never exceeds jerk and v >= run_out(b) holds again: v falls monotonically to 0 and is not
    reversed. e < 0: mirrored.
    """
    left = v + run_out(a, jerk) if a > 0.0 else v - run_out(-a, jerk)
    if left > 0.0 or (left == 0.0 and v >= 0.0):
        return max(a - jerk, -min(most, fastest(max(v, 0.0), jerk)))
    return min(a + jerk, min(most, fastest(max(-v, 0.0), jerk)))


@njit(cache=True, error_model="numpy")
def stop_needs(v, a, most, jerk, samples):
    """Largest |v| and |a| on the hardest stop from v and a, from the next sample on; NaN counts as 0."""
    v, a = 0.0 if np.isnan(v) else v, 0.0 if np.isnan(a) else a
    fast, hard = 0.0, 0.0
    for _ in range(samples):
        a = brake(v, a, most, jerk)
        v += a
        fast, hard = max(fast, abs(v)), max(hard, abs(a))
        if v == 0.0 and a == 0.0:
            break
    return fast, hard


@njit(cache=True, error_model="numpy")
def track(reference, lower, upper, start, v0, a0, limit, eps, rest, q1, q2, tolerance, most, out, work):
    """Optimum of one joint into ``out`` (n,); allocates nothing. All in units of one sample.

    Args:
        reference: (n,) wanted samples.
        lower: (n,) smallest values; may be infinite.
        upper: (n,) largest values; may be infinite.
        start: sample 0.
        v0: velocity it arrives with; NaN: none is demanded.
        a0: acceleration it arrives with; NaN: none is demanded; counts only with v0.
        limit: (3,) largest |v|, |a|, |u|; may be infinite.
        eps: (4,) softness, see :func:`solve`.
        rest: whether the motion must end so that holding its last sample is legal.
        q1: weight of (x - r)^2.
        q2: weight of (v - dr)^2.
        tolerance: see :func:`solve`.
        most: see :func:`solve`.
        out: (n,) the optimum.
        work: from :func:`work_array`.

    Returns:
        (code, iterations).
    """
    n = reference.shape[0]
    work[Y:S] = 0.0
    work[DY:W] = 0.0
    for q in range(4):
        work[BOUND + 2 * q] = -1.0
        work[BOUND + 2 * q + 1] = 1.0
    free, loose = np.isnan(v0), np.isnan(v0) or np.isnan(a0)
    x, v, a = start, 0.0 if free else v0, 0.0 if loose else a0
    work[Y, 0], work[Y + 1, 0], work[Y + 2, 0], work[TARGET, 0], work[TARGET + 1, 0] = x, v, a, x, v
    inside = True
    for k in range(1, n):
        before = a
        a = brake(v, a, limit[1], limit[2])
        v += a
        x += v
        work[Y, k], work[Y + 1, k], work[Y + 2, k], work[Y + 3, k] = x, v, a, a - before
        work[TARGET, k], work[TARGET + 1, k] = reference[k], reference[k] - reference[k - 1]
        inside = inside and lower[k] <= x <= upper[k] and abs(v) <= limit[0]
    radius = np.sqrt((squares(work[Y], work[TARGET]) * q1 + squares(work[Y + 1], work[TARGET + 1]) * q2) / q1)
    radius = (1.0 + 1.01 * radius) * (1.0 if inside else 100.0)
    bounded = False
    for k in range(1, n):
        bounded = bounded or lower[k] > -np.inf or upper[k] < np.inf
        work[BOUND, k] = lower[k] if lower[k] > -np.inf else min(reference[k], upper[k]) - radius
        work[BOUND + 1, k] = upper[k] if upper[k] < np.inf else max(reference[k], lower[k]) + radius
    work[BOUND, 0], work[BOUND + 1, 0] = start - 1.0, start + 1.0
    active = (bounded, limit[0] < np.inf, limit[1] < np.inf, limit[2] < np.inf)
    for q in range(1, 4):
        if active[q]:
            work[BOUND + 2 * q, 1:n] = -limit[q - 1]
            work[BOUND + 2 * q + 1, 1:n] = limit[q - 1]
        reach = 1.0 + abs(work[Y + q, 0])
        work[BOUND + 2 * q, 0], work[BOUND + 2 * q + 1, 0] = -reach, reach
    # differences that reach back before the start are not limited: bounds that cannot act
    widest = 4.0 * (min(limit[0], 10.0 * radius) + min(limit[1], 10.0 * radius))
    if n > 1 and loose:
        work[BOUND + 6, 1], work[BOUND + 7, 1] = -widest, widest
    if n > 1 and free:
        work[BOUND + 4, 1], work[BOUND + 5, 1] = -widest, widest
        if n > 2:
            work[BOUND + 6, 2], work[BOUND + 7, 2] = -widest, widest
    if rest:
        still = 1e-7 * min(limit[0], 1.0)
        work[BOUND + 2, n - 1], work[BOUND + 3, n - 1] = -still, still
        calm = min(limit[1], limit[2])
        if calm < np.inf:
            work[BOUND + 4, n - 1], work[BOUND + 5, n - 1] = -0.999 * calm, 0.999 * calm
        active = (active[0], True, active[2] or calm < np.inf, active[3])
        if limit[0] == np.inf:
            work[BOUND + 2, 1 : n - 1], work[BOUND + 3, 1 : n - 1] = -10.0 * radius, 10.0 * radius
        if limit[1] == np.inf:
            work[BOUND + 4, 1 : n - 1], work[BOUND + 5, 1 : n - 1] = -20.0 * radius, 20.0 * radius
    code, iterations = solve(work, n, active, eps, q1, q2, tolerance, most)
    out[0] = start
    for k in range(1, n):
        out[k] = work[Y, k]
    return code, iterations


@njit(cache=True, error_model="numpy")
def track_columns(
    which, reference, lower, upper, start, v0, a0, limit, eps, rest, q1, q2, tolerance, most, out, codes, counts, work
):
    """:func:`track` for the rows ``which`` of (k, n) arrays, one joint a row; limit (k, 3); counts adds up the iterations."""
    for i in range(which.shape[0]):
        j = which[i]
        codes[j], count = track(
            reference[j], lower[j], upper[j], start[j], v0[j], a0[j], limit[j], eps, rest, q1, q2, tolerance, most, out[j], work
        )  # fmt: skip
        counts[j] += count
