"""Newton steps of a primal-dual interior point over scaled integrator chains, eight joints in lock step.

One joint is the chain a_k = a_{k-1} + u_k, v_k = v_{k-1} + a_k, x_k = x_{k-1} + v_k, in units of one sample: v is the
velocity times h, a the acceleration times h^2, u the jerk times h^3. Every limited quantity y of (x, v, a, u) has a slack s
and a multiplier l for its lower and its upper bound. A Newton step is a linear-quadratic problem over the chain, solved by a
Riccati recursion in O(n). The recursion eliminates u by the parallel sum M w / (M + w), which subtracts nothing: that is why
weights of 1e12 beside weights of 1 do no harm, and why 500 Hz is as good as 25 Hz.

Eight joints run in lock step, one a lane (``lane_kernels``): a recursion is bound by the latency of
its divisions, which is the same for eight as for one. An iteration is four sweeps over time, each doing all the work of a
sample while it is at hand: backward :func:`factorize` (which first takes the step of the iteration before), forward
:func:`predict`, backward :func:`correct`, forward :func:`advance`. The workspace holds STAGE groups of eight numbers a sample,
sample 0 the fixed start. What bounds the speed is how many groups a sweep touches, so steps take the places of what is no longer
needed, and bounds that are the same at all samples are read at one.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from numba import njit

from bunraku.optimization.smooth_chain.lane_kernels import choose, larger, load, smaller, spread, store

Y = 0  # x, v, a, u
TARGET = 4  # reference
LOW, HIGH = 5, 6  # range of x
CAP = 6  # + 1, 2, 3: largest |v|, |a|, |u|
S = 10  # slacks: lower and upper bound of x, of v, of a, of u
L = 18  # multipliers
INVERSE = 26  # 1 / (s + eps l)
SECOND = 34  # second-order terms of the affine step
DL = 34  # steps of the multipliers: where the second-order terms were
GAIN = 42  # feedback on x, v, a; w / (M + w); 1 / (M + w); feed-forward
DY = 42  # steps of x, v, a, u: where the gains were
STAGE = 49


@njit(error_model="numpy", forceinline=True)
def bounds(memory, b, q):
    """Lower and upper bound of quantity q in the stage at b."""
    if q == 0:
        return load(memory, b + LOW), load(memory, b + HIGH)
    cap = load(memory, b + CAP + q)
    return 0.0 - cap, cap


@njit(error_model="numpy", forceinline=True)
def place(k, n, moving):
    """Stage that holds the bounds of sample k: its own, or for all of the same bounds that of sample 3, which stays at hand."""
    return (k if moving or k < 3 or k == n - 1 else 3) * STAGE


@njit(error_model="numpy", forceinline=True)
def replace(memory, i, fresh, value):
    """Write the lanes that are fresh."""
    store(memory, i, choose(fresh, value, load(memory, i)))


@njit(error_model="numpy", forceinline=True)
def begin_pair(memory, i, b, q, fresh, guess, worst):
    """Slacks and multipliers to begin with: at least a twentieth of the width from both bounds, all products equal."""
    low, high = bounds(memory, b, q)
    y = load(memory, i + Y + q)
    width = smaller(high - low, spread(10.0))
    least, below, above = 0.05 * width, y - low, high - y
    s1, s2 = larger(below, least), larger(above, least)
    both = guess / (s1 * s2)
    replace(memory, i + S + 2 * q, fresh, s1)
    replace(memory, i + S + 2 * q + 1, fresh, s2)
    replace(memory, i + L + 2 * q, fresh, both * s2)
    replace(memory, i + L + 2 * q + 1, fresh, both * s1)
    return larger(worst, larger(s1 - below, s2 - above) / width)


@njit(error_model="numpy")
def begin(memory, n, active, moving, q1, q2, fresh):
    """Slacks, multipliers and a step of zero in the lanes where ``fresh`` > 0; returns the largest primal residuals."""
    objective, zero = spread(1e-12), spread(0.0)
    for k in range(1, n):
        i = k * STAGE
        e = load(memory, i + Y) - load(memory, i + TARGET)
        d = load(memory, i + Y + 1) - (load(memory, i + TARGET) - load(memory, i - STAGE + TARGET))
        objective = objective + q1 * e * e + q2 * d * d
    guess, worst = 3.0 * objective / float(max(count_of(active, n), 1)), zero
    for k in range(1, n):
        i, b = k * STAGE, place(k, n, moving)
        for q in range(4):
            replace(memory, i + DY + q, fresh, zero)
            replace(memory, i + DL + 2 * q, fresh, zero)
            replace(memory, i + DL + 2 * q + 1, fresh, zero)
            if active[q]:
                worst = begin_pair(memory, i, b, q, fresh, guess, worst)
    return worst


@njit(error_model="numpy")
def count_of(active, n):
    """Number of inequalities."""
    return 2 * (n - 1) * (int(active[0]) + int(active[1]) + int(active[2]) + int(active[3]))


@njit(error_model="numpy", forceinline=True)
def factorize_pair(memory, i, b, q, y0, dy, y, e, t, gap, penalty):
    """Take the last step of the two bounds of a quantity; their weight and their gradient for the affine step.

    The gradient is the multiplier times the relative primal residual. Both inverses come from one division.
    """
    low, high = bounds(memory, b, q)
    p, to = i + 2 * q, y0 + dy
    s1, s2, l1, l2 = load(memory, p + S), load(memory, p + S + 1), load(memory, p + L), load(memory, p + L + 1)
    d1, d2 = load(memory, p + DL), load(memory, p + DL + 1)
    s1 = s1 + t * ((to - low) + e * (l1 + d1) - s1)
    s2 = s2 + t * ((high - to) + e * (l2 + d2) - s2)
    l1 = l1 + t * d1
    l2 = l2 + t * d2
    store(memory, p + S, s1)
    store(memory, p + S + 1, s2)
    store(memory, p + L, l1)
    store(memory, p + L + 1, l2)
    c1, c2 = s1 + e * l1, s2 + e * l2
    both = 1.0 / (c1 * c2)
    w1, w2 = both * c2, both * c1
    store(memory, p + INVERSE, w1)
    store(memory, p + INVERSE + 1, w2)
    gap = gap + (s1 * l1 + s2 * l2)
    penalty = penalty + (0.5 * e) * (l1 * l1 + l2 * l2)
    w1, w2 = w1 * l1, w2 * l2
    return w1 + w2, w1 * ((y - low) - s1) - w2 * ((high - y) - s2), gap, penalty


@njit(error_model="numpy")
def factorize(memory, n, active, moving, e, q1, q2, t):
    """Backward sweep: step by t; weights and affine gradients; gains and feed-forward of the affine step; gap and objective.

    At each stage add the weights, go through x' = x + v', v' = v + a', a' = a + u, and eliminate u.
    """
    on0, on1, on2, on3 = active
    zero = spread(0.0)
    xx, xv, xa, vv, va, aa, px, pv, pa, gap, objective = zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero
    for back in range(1, n):
        i, b = (n - back) * STAGE, place(n - back, n, moving)
        x0, v0, a0, u0 = load(memory, i + Y), load(memory, i + Y + 1), load(memory, i + Y + 2), load(memory, i + Y + 3)
        dx, dv, da, du = load(memory, i + DY), load(memory, i + DY + 1), load(memory, i + DY + 2), load(memory, i + DY + 3)
        x, v, a, u = x0 + t * dx, v0 + t * dv, a0 + t * da, u0 + t * du
        store(memory, i + Y, x)
        store(memory, i + Y + 1, v)
        store(memory, i + Y + 2, a)
        store(memory, i + Y + 3, u)
        r = load(memory, i + TARGET)
        ex, ev = x - r, v - (r - load(memory, i - STAGE + TARGET))
        objective = objective + q1 * ex * ex + q2 * ev * ev
        xx = xx + 2.0 * q1
        vv = vv + (2.0 * q2 + 2.0 * xv)
        px = px + 2.0 * q1 * ex
        pv = pv + 2.0 * q2 * ev
        w, g = zero, zero
        if on0:
            w, g, gap, objective = factorize_pair(memory, i, b, 0, x0, dx, x, e, t, gap, objective)
            xx = xx + w
            px = px + g
        if on1:
            w, g, gap, objective = factorize_pair(memory, i, b, 1, v0, dv, v, 0.0, t, gap, objective)
            vv = vv + w
            pv = pv + g
        if on2:
            w, g, gap, objective = factorize_pair(memory, i, b, 2, a0, da, a, 0.0, t, gap, objective)
            aa = aa + w
            pa = pa + g
        w, g = zero, zero
        if on3:
            w, g, gap, objective = factorize_pair(memory, i, b, 3, u0, du, u, 0.0, t, gap, objective)
        vv = vv + xx
        va = va + xa
        aa = aa + (2.0 * va + vv)
        xv = xv + xx
        xa = xa + xv
        va = va + vv
        pv = pv + px
        pa = pa + pv
        inverse = 1.0 / (aa + w)
        fx, fv, fa, share, both = xa * inverse, va * inverse, aa * inverse, w * inverse, pa + g
        pa = share * pa - fa * g
        px = px - fx * both
        pv = pv - fv * both
        store(memory, i + GAIN, fx)
        store(memory, i + GAIN + 1, fv)
        store(memory, i + GAIN + 2, fa)
        store(memory, i + GAIN + 3, share)
        store(memory, i + GAIN + 4, inverse)
        store(memory, i + GAIN + 5, 0.0 - both * inverse)
        xx = xx - xa * fx
        xv = xv - xa * fv
        vv = vv - va * fv
        xa = xa * share
        va = va * share
        aa = aa * share
    return gap, objective


@njit(error_model="numpy", forceinline=True)
def predict_pair(memory, i, b, q, dy, e, cross, peak):
    """Share p of its slack that the affine step leaves to a bound: ds = -(1 - p) s, dl = -p l and ds dl = s l p (1 - p)."""
    low, high = bounds(memory, b, q)
    p, y = i + 2 * q, load(memory, i + Y + q) + dy
    l1, l2, z1, z2 = load(memory, p + L), load(memory, p + L + 1), y - low, high - y
    p1, p2 = (z1 + e * l1) * load(memory, p + INVERSE), (z2 + e * l2) * load(memory, p + INVERSE + 1)
    o1, o2 = 1.0 - p1, 1.0 - p2
    r1, r2 = l1 * o1, l2 * o2
    d1, d2 = r1 * (z1 + e * r1), r2 * (z2 + e * r2)  # since s p = z + e l (1 - p)
    store(memory, p + SECOND, d1)
    store(memory, p + SECOND + 1, d2)
    cross = cross + (d1 + d2)
    return cross, larger(larger(larger(p1, o1), larger(p2, o2)), peak)


@njit(error_model="numpy")
def predict(memory, n, active, moving, e):
    """Forward sweep: the affine step; returns the sum of its second-order terms and the inverse of its largest length."""
    on0, on1, on2, on3 = active
    x, v, a, cross, peak = spread(0.0), spread(0.0), spread(0.0), spread(0.0), spread(1.0)
    for k in range(1, n):
        i, b = k * STAGE, place(k, n, moving)
        drive = load(memory, i + GAIN + 5) - load(memory, i + GAIN) * x - load(memory, i + GAIN + 1) * v
        u = drive - load(memory, i + GAIN + 2) * a
        a = drive + load(memory, i + GAIN + 3) * a
        v = v + a
        x = x + v
        if on0:
            cross, peak = predict_pair(memory, i, b, 0, x, e, cross, peak)
        if on1:
            cross, peak = predict_pair(memory, i, b, 1, v, 0.0, cross, peak)
        if on2:
            cross, peak = predict_pair(memory, i, b, 2, a, 0.0, cross, peak)
        if on3:
            cross, peak = predict_pair(memory, i, b, 3, u, 0.0, cross, peak)
    return cross, peak


@njit(error_model="numpy", forceinline=True)
def correct_pair(memory, i, b, q, y, e, centre):
    """Gradient of the two bounds of a quantity for the centred and corrected step."""
    low, high = bounds(memory, b, q)
    p = i + 2 * q
    l1, l2, w1, w2 = load(memory, p + L), load(memory, p + L + 1), load(memory, p + INVERSE), load(memory, p + INVERSE + 1)
    c1, c2 = centre - load(memory, p + SECOND), centre - load(memory, p + SECOND + 1)
    return ((l1 * ((y - low) + e * l1) - c1) * w1 - l1) - ((l2 * ((high - y) + e * l2) - c2) * w2 - l2)


@njit(error_model="numpy")
def correct(memory, n, active, moving, e, q1, q2, centre):
    """Backward sweep with the gains kept: feed-forward of the centred and corrected step."""
    on0, on1, on2, on3 = active
    zero = spread(0.0)
    px, pv, pa = zero, zero, zero
    for back in range(1, n):
        i, b = (n - back) * STAGE, place(n - back, n, moving)
        x, v, r = load(memory, i + Y), load(memory, i + Y + 1), load(memory, i + TARGET)
        px = px + 2.0 * q1 * (x - r)
        pv = pv + 2.0 * q2 * (v - (r - load(memory, i - STAGE + TARGET)))
        g = zero
        if on0:
            px = px + correct_pair(memory, i, b, 0, x, e, centre)
        if on1:
            pv = pv + correct_pair(memory, i, b, 1, v, 0.0, centre)
        if on2:
            pa = pa + correct_pair(memory, i, b, 2, load(memory, i + Y + 2), 0.0, centre)
        if on3:
            g = correct_pair(memory, i, b, 3, load(memory, i + Y + 3), 0.0, centre)
        pv = pv + px
        pa = pa + pv
        both = pa + g
        store(memory, i + GAIN + 5, 0.0 - both * load(memory, i + GAIN + 4))
        px = px - load(memory, i + GAIN) * both
        pv = pv - load(memory, i + GAIN + 1) * both
        pa = load(memory, i + GAIN + 3) * pa - load(memory, i + GAIN + 2) * g


@njit(error_model="numpy", forceinline=True)
def advance_pair(memory, i, b, q, dy, e, centre, peak, top, bottom):
    """Step of the multipliers; raises the ratios that bound its length: ``peak`` to -ds / s, top / bottom to -dl / l."""
    low, high = bounds(memory, b, q)
    p, y = i + 2 * q, load(memory, i + Y + q) + dy
    l1, l2, w1, w2 = load(memory, p + L), load(memory, p + L + 1), load(memory, p + INVERSE), load(memory, p + INVERSE + 1)
    z1, z2 = y - low, high - y
    d1 = (centre - load(memory, p + SECOND) - l1 * (z1 + e * l1)) * w1
    d2 = (centre - load(memory, p + SECOND + 1) - l2 * (z2 + e * l2)) * w2
    store(memory, p + DL, d1)
    store(memory, p + DL + 1, d2)
    both = l1 * l2
    top = larger(larger(0.0 - d1 * l2, 0.0 - d2 * l1) * bottom, top * both)
    if e > 0.0:
        w1 = 1.0 / load(memory, p + S)
        w2 = 1.0 / load(memory, p + S + 1)
        z1 = z1 + e * (l1 + d1)
        z2 = z2 + e * (l2 + d2)
    return larger(larger(1.0 - z1 * w1, 1.0 - z2 * w2), peak), top, bottom * both


@njit(error_model="numpy")
def advance(memory, n, active, moving, e, centre):
    """Forward sweep: the centred and corrected step; returns the inverse of its largest length, 0 if nothing bounds it."""
    on0, on1, on2, on3 = active
    zero, one = spread(0.0), spread(1.0)
    x, v, a, peak = zero, zero, zero, zero
    for k in range(1, n):
        i, b = k * STAGE, place(k, n, moving)
        drive = load(memory, i + GAIN + 5) - load(memory, i + GAIN) * x - load(memory, i + GAIN + 1) * v
        u = drive - load(memory, i + GAIN + 2) * a
        a = drive + load(memory, i + GAIN + 3) * a
        v = v + a
        x = x + v
        store(memory, i + DY, x)
        store(memory, i + DY + 1, v)
        store(memory, i + DY + 2, a)
        store(memory, i + DY + 3, u)
        top, bottom = zero, one
        if on0:
            peak, top, bottom = advance_pair(memory, i, b, 0, x, e, centre, peak, top, bottom)
        if on1:
            peak, top, bottom = advance_pair(memory, i, b, 1, v, 0.0, centre, peak, top, bottom)
        if on2:
            peak, top, bottom = advance_pair(memory, i, b, 2, a, 0.0, centre, peak, top, bottom)
        if on3:
            peak, top, bottom = advance_pair(memory, i, b, 3, u, 0.0, centre, peak, top, bottom)
        peak = larger(top / bottom, peak)
    return peak
