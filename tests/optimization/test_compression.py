"""Piecewise compression against Clarabel on the same convex program, its own promises, and real recordings."""

import csv
import itertools
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from bunraku.errors import BadInput
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.chain.compression import solve_compression
from bunraku.optimization.chain.segments import cut_segments
from bunraku.optimization.solution import Status

H = 0.04
WEIGHT = 0.1 / H**2


def gesture(seed, n=100):
    """A smooth random joint curve of several strokes."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) * H
    return sum(rng.normal() * np.sin(2 * np.pi * f * t + rng.uniform(0, 6)) / (1 + f) for f in (0.2, 0.5, 0.9, 1.4, 2.1))


def chord_shapes(r, boundaries):
    """R = c + sum of shapes; row q is r - chord on segment q. Written from the definition, one sample at a time."""
    shapes = np.zeros((len(boundaries) - 1, r.size))
    for q, (i, j) in enumerate(itertools.pairwise(boundaries)):
        for k in range(i + 1, j):
            shapes[q, k] = r[k] - (r[i] + (r[j] - r[i]) * (k - i) / (j - i))
    return shapes


def oracle(r, shapes, start, lower, upper, step, q3, polish):
    """(x, a, objective) by Clarabel in e = x - r^a and b = a - 1; polished on the active limits that it found on request."""
    import clarabel

    q1, w, scale_range = 5.0, WEIGHT, (0.5, 1.0)
    n, count = r.size, shapes.shape[0]
    D = sp.csr_matrix(np.diff(np.eye(n), axis=0))
    position = np.full(n, q1)
    position[0] = 0.0 if start is not None else q1
    P = sp.block_diag([2 * (sp.diags(position) + w * (D.T @ D)), 2 * q3 * sp.eye(count)]).tocsc()
    X = sp.hstack([sp.eye(n), sp.csr_matrix(shapes.T)]).tocsr()  # x - r = X (e, b)
    scale = sp.eye(n + count, format="csr")[n:]
    d = np.diff(r)
    A = sp.vstack([X[:1], X[1:], -X[1:], D @ X, -D @ X, scale, -scale]).tocsc()
    b = np.concatenate([upper - r[1:], r[1:] - lower, step - d, step + d])
    b = np.concatenate([b, np.full(count, scale_range[1] - 1), np.full(count, 1 - scale_range[0])])
    if start is None:
        A, cones = sp.vstack([X[:1], -X[:1], A[1:]]).tocsc(), []
        b = np.concatenate([[upper - r[0], r[0] - lower], b])
    else:
        b, cones = np.concatenate([[start - r[0]], b]), [clarabel.ZeroConeT(1)]
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    cones.append(clarabel.NonnegativeConeT(b.size - len(cones)))
    solution = clarabel.DefaultSolver(sp.triu(P).tocsc(), np.zeros(n + count), A, b, cones, options).solve()
    assert "Solved" in str(solution.status)
    z = np.array(solution.x)
    if not polish:
        return r + X @ z, 1 + z[n:], solution.obj_val
    active = np.array(solution.z) > np.array(solution.s)
    if start is not None:
        active[0] = True
    for _ in range(20):
        C = A[active].toarray()
        m = C.shape[0]
        K = np.block([[P.toarray(), C.T], [C, np.zeros((m, m))]])
        both = np.linalg.lstsq(K, np.concatenate([np.zeros(n + count), b[active]]), rcond=None)[0]
        z, multipliers = both[: n + count], np.zeros(b.size)
        multipliers[active] = both[n + count :]
        wrong = (multipliers < -1e-10) | (A @ z - b > 1e-12)
        wrong[0] &= start is None
        if not wrong.any():
            break
        active ^= wrong
    assert not wrong.any()
    assert np.abs(z - np.array(solution.x)).max() < 2e-3
    assert solution.obj_val == pytest.approx(0.5 * z @ (P @ z), rel=1e-8, abs=1e-8)
    return r + X @ z, 1 + z[n:], 0.5 * z @ (P @ z)


@pytest.mark.parametrize("seed", range(24))
def test_equals_clarabel_on_the_same_program(seed):
    rng = np.random.default_rng(1000 + seed)
    r = gesture(seed, n=int(rng.integers(60, 126)))
    step = np.abs(np.diff(r)).max() * rng.uniform(0.4, 0.9)
    lower, upper = np.quantile(r, [0.02, 0.98]) if seed % 3 == 0 else (r.min() - 0.1, r.max() + 0.1)
    start = None if seed % 4 == 0 else float(np.clip(r[0], lower, upper))
    q3 = (10.0, 1.0, 0.05)[seed % 3]
    boundaries = cut_segments(r, 25.0, shortest=(0.2, 1.0)[seed % 2])
    options = {"start": start, "lower": lower, "upper": upper, "step": step, "difference_weight": WEIGHT}
    solution = solve_compression(r, **options, scale_weight=q3, boundaries=boundaries)
    assert solution.status is Status.CONVERGED
    x, a, objective = oracle(r, chord_shapes(r, boundaries), start, lower, upper, step, q3, polish=True)
    np.testing.assert_allclose(solution.scales, a, rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.values, x, rtol=0, atol=1e-8)
    assert solution.objective == pytest.approx(objective, rel=1e-8, abs=1e-10)
    # promises: boundaries kept by the target, scales in range, limits kept by the executed motion
    np.testing.assert_allclose(solution.target[boundaries], r[boundaries], rtol=0, atol=1e-9)
    np.testing.assert_allclose(solution.target, r + (solution.scales - 1) @ chord_shapes(r, boundaries), rtol=0, atol=1e-12)
    assert ((solution.scales >= 0.5) & (solution.scales <= 1.0)).all()
    assert (solution.scales < 0.999).any()
    assert (np.abs(np.diff(solution.values)) <= step * (1 + 1e-15)).all()
    assert ((solution.values >= lower) & (solution.values <= upper)).all()


@pytest.mark.parametrize("seed", range(4))
def test_no_other_scales_do_better(seed):
    """The optimum over x for given scales is a chain; perturbed scales never cost less, and a small move costs second order."""
    r = gesture(seed)
    step = np.abs(np.diff(r)).max() * 0.6
    boundaries = cut_segments(r, 25.0, shortest=0.5)
    limits = {"lower": -9.0, "upper": 9.0, "difference_weight": WEIGHT}
    solution = solve_compression(r, start=r[0], step=step, scale_weight=0.5, boundaries=boundaries, **limits)
    shapes = chord_shapes(r, boundaries)

    def cost(a):
        chain = solve_chain((r + (a - 1) @ shapes)[:, None], start=[r[0]], step=[step], **limits)
        return chain.objective[0] + 0.5 * np.sum((a - 1) ** 2)

    assert cost(solution.scales) == pytest.approx(solution.objective, rel=1e-12)
    rng = np.random.default_rng(seed)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            other = np.clip(solution.scales + size * rng.normal(size=solution.scales.size), 0.5, 1.0)
            gain = cost(other) - solution.objective
            assert gain >= 0.5 * np.sum((other - solution.scales) ** 2) - 1e-12  # strong convexity of the scale term


@pytest.mark.parametrize("every", [2, 3, 7])
@pytest.mark.parametrize("start", [None, 0.0])
def test_runs_at_full_speed_and_on_a_bound_may_reach_over_many_segments(every, start):
    """A ramp steeper than the motor with a ripple, then a plateau beyond the range: groups that hold several boundaries at once."""
    k = np.arange(60)
    r = np.interp(k, [0, 5, 35, 45, 59], [0.0, 0.0, 3.0, 3.2, 1.0]) + 0.05 * np.sin(1.9 * k)
    boundaries = np.append(np.arange(0, 59, every), 59)
    boundaries = np.delete(boundaries, -2) if boundaries[-2] == 59 else boundaries
    step, lower, upper = 0.08, -0.2, 2.0
    options = {"start": start, "lower": lower, "upper": upper, "step": step, "difference_weight": WEIGHT, "scale_weight": 0.05}
    solution = solve_compression(r, boundaries=boundaries, **options)
    assert solution.status is Status.CONVERGED
    saturated = np.abs(np.diff(solution.values)) >= step * (1 - 1e-9)
    run = max(len(list(part)) for full, part in itertools.groupby(saturated) if full)
    assert run > 2 * every, "one group spans whole segments"
    x, a, objective = oracle(r, chord_shapes(r, boundaries), start, lower, upper, step, 0.05, polish=True)
    assert solution.objective == pytest.approx(objective, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(solution.values, x, rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.scales, a, rtol=0, atol=1e-8)


LONG = """
import resource, sys
import numpy as np
from bunraku.optimization.chain.compression import solve_compression
from bunraku.optimization.chain.segments import cut_segments
def grown(n):
    t = np.arange(n) / 100.0
    r = np.sin(2.0 * t) + 0.5 * np.sin(5.1 * t + 1.0)
    cuts = cut_segments(r, 100.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    solve_compression(r, start=r[0], lower=-9, upper=9, step=0.02, difference_weight=1000.0, boundaries=cuts)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
grown(300)
print(grown(48_000) * (1 if sys.platform == "darwin" else 1024))
"""


def test_eight_minutes_at_100_hz_take_memory_in_proportion_to_the_samples():
    """Measured 14 MB; arrays of segments times samples would take 290 MB."""
    output = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=True).stdout
    assert int(output) < 30e6


def test_limits_of_the_scale_weight_and_range():
    r = gesture(7)
    step = np.abs(np.diff(r)).max() * 0.6
    limits = {"lower": -9.0, "upper": 9.0, "difference_weight": WEIGHT}
    options = {"start": r[0], "step": step, "boundaries": cut_segments(r, 25.0), **limits}
    chain = solve_chain(r[:, None], start=r[:1], step=[step], **limits)
    stiff = solve_compression(r, scale_weight=1e9, **options)
    np.testing.assert_allclose(stiff.values, chain.values[:, 0], rtol=0, atol=1e-8)
    assert stiff.objective == pytest.approx(chain.objective[0], rel=1e-6)
    fixed = solve_compression(r, scale_range=(0.7, 0.7), **options)
    assert (fixed.scales == 0.7).all()
    np.testing.assert_array_equal(fixed.values, solve_chain(fixed.target[:, None], start=r[:1], step=[step], **limits).values[:, 0])
    mirrored = solve_compression(-r, **{**options, "start": -r[0]})
    plain = solve_compression(r, **options)
    np.testing.assert_allclose(mirrored.scales, plain.scales, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mirrored.values, -plain.values, rtol=0, atol=1e-12)


def test_a_legal_reference_is_not_compressed():
    r = gesture(3)
    step = np.abs(np.diff(r)).max()
    solution = solve_compression(
        r, start=r[0], lower=-9, upper=9, step=step, difference_weight=WEIGHT, boundaries=cut_segments(r, 25.0, shortest=0.3)
    )
    np.testing.assert_array_equal(solution.scales, 1.0)
    np.testing.assert_allclose(solution.values, r, rtol=0, atol=1e-15)


def test_impossible_limits_are_a_status_and_bad_input_is_named():
    r = gesture(1)
    options = {"lower": -9.0, "upper": 9.0, "step": 0.01, "difference_weight": WEIGHT, "boundaries": [0, 50, 99]}
    lost = solve_compression(r, start=20.0, **options)
    assert lost.status is Status.INFEASIBLE
    assert np.isfinite(lost.values).all()
    assert (np.abs(np.diff(lost.values)) <= 0.01 + 1e-14).all()
    for change, words in (
        ({"boundaries": [0, 50]}, "from 0 to 99"),
        ({"boundaries": [0.0, 99.0]}, "whole sample"),
        ({"scale_weight": 0.0}, "weights"),
        ({"scale_range": (1.0, 0.5)}, "scale range"),
        ({"step": -1.0}, "step"),
        ({"lower": np.zeros(3)}, "lower"),
    ):
        with pytest.raises(BadInput, match=words):
            solve_compression(r, start=None, **{**options, **change})


def lag(reference, motion):
    """Delay tau [s] that best explains the motion: the least sum of |motion(t + tau) - reference(t)|^2, over +-0.2 s by 1 ms."""
    t = np.arange(len(reference)) * H
    inner = slice(5, -5)
    delays = np.arange(-200, 201) * 1e-3
    misfit = [
        sum(np.sum((np.interp(t[inner] + tau, t, motion[:, j]) - reference[inner, j]) ** 2) for j in range(motion.shape[1]))
        for tau in delays
    ]
    return delays[int(np.argmin(misfit))]


@pytest.mark.parametrize("clip", ["18_11", "18_15", "79_06"])
def test_strong_recordings_saturate_less_and_move_more_smoothly_than_plain_tracking(golden, data, clip):
    """Paper weights (5, 0.1, 10), scales in [0.5, 1], cuts at turning points at least 1 s apart, joints that violate.

    Measured, plain tracking to compression: time at the limit 18_11 1.28 to 1.08 s, 18_15 0.40 to 0.32 s, 79_06 0.36 to 0.16 s;
    RMS jerk 1011 to 981, 880 to 864, 4274 to 3921 rad/s^3; lag below 1 ms.
    """
    with open(data / "nao_joints.csv") as file:
        rows = {row[0]: row for row in csv.reader(file) if not row[0].startswith("#")}
    path = golden / "speech" / f"cmu_{clip}_nao_25hz_ref.csv"
    with open(path) as file:
        names = file.readline().strip().split(",")[1:]
    reference = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:]
    lower, upper, velocity = np.array([[float(v) for v in rows[name][1:4]] for name in names]).T
    fast = np.flatnonzero((np.abs(np.diff(reference, axis=0)) > velocity * H).any(axis=0))
    reference, lower, upper, step = reference[:, fast], lower[fast], upper[fast], velocity[fast] * H
    plain = solve_chain(reference, start=reference[0], lower=lower, upper=upper, step=step, difference_weight=WEIGHT).values
    pressed = np.empty_like(plain)
    for j, r in enumerate(reference.T):
        boundaries = cut_segments(r, 25.0)
        solution = solve_compression(
            r, start=r[0], lower=lower[j], upper=upper[j], step=step[j], difference_weight=WEIGHT, boundaries=boundaries
        )
        assert solution.status is Status.CONVERGED
        assert ((solution.scales >= 0.5) & (solution.scales <= 1.0)).all()
        np.testing.assert_allclose(solution.target[boundaries], r[boundaries], rtol=0, atol=1e-9)
        x, a, objective = oracle(r, chord_shapes(r, boundaries), r[0], lower[j], upper[j], step[j], 10.0, polish=False)
        assert solution.objective == pytest.approx(objective, rel=1e-8, abs=1e-8)
        np.testing.assert_allclose(solution.values, x, rtol=0, atol=1e-6)
        np.testing.assert_allclose(solution.scales, a, rtol=0, atol=1e-6)
        pressed[:, j] = solution.values

    def time_at_limit(x):
        return H * np.sum(np.abs(np.diff(x, axis=0)) >= step * (1 - 1e-9))

    def jerk(x):
        return np.sqrt(np.mean(np.diff(x, 3, axis=0) ** 2)) / H**3

    assert time_at_limit(pressed) < time_at_limit(plain)
    assert jerk(pressed) < jerk(plain)
    assert abs(lag(reference, pressed)) <= 0.010
    assert (np.abs(np.diff(pressed, axis=0)) <= step).all()
