"""How fast is the exact chain solver, next to general quadratic programming solvers?

    python benchmarks/how_fast_is_the_chain_solver.py [--json] [--repeats N]

One process, thread CPU time, minima over repeats, compilation and set-up of the other solvers not counted. OSQP runs at 1e-5,
warm started from the solution of a slightly different reference, both as one sparse program for all joints and joint by joint;
the faster counts. Ours is timed twice: prepared (arrays ready, as the others are) and through its public function with
validation and copies; ratios are given for both. Four problems of 26 joints x 5 s at 25 Hz: the golden 18_11 reference (a third
of the joints too fast) when it lies beside the repository or under BUNRAKU_SHARED; a synthetic one in which every joint is too
fast in 3 % of its samples; a hard one in which it is in 19 % of them; one in which every joint peaks at 1.5 times its limit.
Joints that are legal as they come cost us next to nothing, so the ratio falls as more joints saturate. The bars are those of
the real clip. The whole clip is 18_11, else synthetic.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.chain.chain_kernels import track_columns, work_arrays
from bunraku.optimization.chain.compression import solve_compression
from bunraku.optimization.chain.segments import cut_segments

SHARED = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared"))
Q1, Q2 = 5.0, 0.1
JOINTS = 26
BARS = {"golden_osqp_over_public": 30.0, "clip_25hz_times_real_time": 2000.0}


def best(call, repeats):
    """Least thread CPU seconds of a call; the first, uncounted call compiles and warms caches."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return min(times)


def synthetic(seconds, rate, too_fast=0.03, seed=0):
    """Reference (n, 26), bounds (26,), steps (26,): smooth gestures, each joint too fast in a share of its samples."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * rate) + 1) / rate
    reference = np.zeros((t.size, JOINTS))
    for f in rng.uniform(0.2, 1.6, (6, JOINTS)):
        reference += rng.normal(size=JOINTS) / (1 + 2 * f) * np.sin(2 * np.pi * f * t[:, None] + rng.uniform(0, 6, JOINTS))
    lower, upper = np.quantile(reference, [0.005, 0.995], axis=0)
    reference = np.clip(reference, lower, upper)
    return reference, lower, upper, np.quantile(np.abs(np.diff(reference, axis=0)), 1 - too_fast, axis=0)


def half_too_fast(seconds, rate):
    """The same gestures, every joint peaking at 1.5 times its limit: saturated for long stretches."""
    reference, lower, upper, _ = synthetic(seconds, rate)
    return reference, lower, upper, np.abs(np.diff(reference, axis=0)).max(axis=0) / 1.5


def golden_clip():
    """The golden reference of clip 18_11 with NAO's limits at 25 Hz, or None."""
    path = SHARED / "golden" / "speech" / "cmu_18_11_nao_25hz_ref.csv"
    limits = SHARED / "data" / "nao_joints.csv"
    if not path.is_file() or not limits.is_file():
        return None
    rows = {row[0]: row for row in csv.reader(limits.read_text().splitlines()) if not row[0].startswith("#")}
    names = path.read_text().splitlines()[0].split(",")[1:]
    lower, upper, velocity = np.array([[float(v) for v in rows[name][1:4]] for name in names]).T
    return np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:], lower, upper, velocity / 25.0


def program(r, lower, upper, step, w):
    """Matrices of one joint in e = x - r: min e'Pe / 2, l <= A e <= u; sample 0 is held at the reference."""
    n = r.size
    D = sp.diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n))
    P = 2 * (Q1 * sp.eye(n) + w * (D.T @ D))
    low, high = lower - r, upper - r
    low[0] = high[0] = 0.0
    d = np.diff(r)
    return P.tocsc(), sp.vstack([sp.eye(n), D]).tocsc(), np.concatenate([low, -step - d]), np.concatenate([high, step - d])


def osqp_times(columns, shifted, w, repeats):
    """(joint by joint, one program) thread CPU seconds of warm-started OSQP at 1e-5, and its worst excess over a step."""
    import osqp

    options = {"eps_abs": 1e-5, "eps_rel": 1e-5, "verbose": False, "polishing": False, "max_iter": 100000}
    parts, before = [program(*c, w) for c in columns], [program(*c, w) for c in shifted]
    blocks = [(sp.block_diag([p[0] for p in parts]).tocsc(), sp.block_diag([p[1] for p in parts]).tocsc())]
    groups = {"joints": ([(p[0], p[1]) for p in parts], [p[2:] for p in parts], [p[2:] for p in before])}
    groups["one"] = (blocks, [tuple(np.concatenate(v) for v in zip(*groups["joints"][1], strict=True))], [])
    groups["one"][2].append(tuple(np.concatenate(v) for v in zip(*groups["joints"][2], strict=True)))
    result = {}
    for name, (matrices, limits, earlier) in groups.items():
        solvers = []
        for (P, A), (low, high) in zip(matrices, earlier, strict=True):
            solver = osqp.OSQP()
            solver.setup(P, np.zeros(P.shape[0]), A, low, high, **options)
            solvers.append(solver)
        times = []
        for _ in range(repeats):
            starts = []
            for solver, (low, high) in zip(solvers, earlier, strict=True):
                solver.update(l=low, u=high)
                starts.append(solver.solve())
            begin = time.thread_time()
            for solver, start, (low, high) in zip(solvers, starts, limits, strict=True):
                solver.update(l=low, u=high)
                solver.warm_start(x=start.x, y=start.y)
                solution = solver.solve()
            times.append(time.thread_time() - begin)
        result[name] = min(times)
        excess = np.maximum(matrices[-1][1] @ solution.x - limits[-1][1], limits[-1][0] - matrices[-1][1] @ solution.x).max()
        result[name + "_excess"] = float(excess)
    return result


def piqp_time(columns, w, repeats):
    """Thread CPU seconds of PIQP, joint by joint, matrices set up beforehand."""
    import piqp

    solvers = []
    for c in columns:
        P, A, low, high = program(*c, w)
        n = P.shape[0]
        solver = piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = 1e-8
        D, none = A[n:].tocsc(), sp.csc_matrix((0, n))
        solver.setup(P, np.zeros(n), none, np.zeros(0), D, low[n:], high[n:], low[:n], high[:n])
        solvers.append((solver, low, high, n))

    def call():
        for solver, low, high, n in solvers:
            solver.update(h_l=low[n:], h_u=high[n:], x_l=low[:n], x_u=high[:n])
            solver.solve()

    return best(call, repeats)


def clarabel_time(columns, w, repeats):
    """Thread CPU seconds of Clarabel, joint by joint, matrices made beforehand."""
    import clarabel

    options = clarabel.DefaultSettings()
    options.verbose = False
    prepared = []
    for c in columns:
        P, A, low, high = program(*c, w)
        both = sp.vstack([A, -A]).tocsc()
        prepared.append((sp.triu(P).tocsc(), np.zeros(P.shape[0]), both, np.concatenate([high, -low])))

    def call():
        for P, q, A, b in prepared:
            clarabel.DefaultSolver(P, q, A, b, [clarabel.NonnegativeConeT(b.size)], options).solve()

    return best(call, repeats)


def chain_seconds(problem, rate, repeats):
    """Thread CPU seconds of the public function on (reference, lower, upper, step)."""
    reference, lower, upper, step = problem
    options = {"lower": lower, "upper": upper, "step": step, "difference_weight": Q2 * rate**2}
    return best(lambda: solve_chain(reference, start=reference[0], **options), repeats)


def prepared_seconds(problem, rate, repeats):
    """Thread CPU seconds of the kernel on arrays that are ready, as a streaming caller has them."""
    reference, *limits = problem
    n, k = reference.shape
    columns, *wide = (np.ascontiguousarray(np.broadcast_to(v, (n, k)).T) for v in (reference, *limits))
    out, codes, work = np.empty((k, n)), np.empty(k, dtype=np.int64), work_arrays(n)
    q1, w, start = np.full(k, Q1), np.full(k, Q2 * rate**2), reference[0].copy()
    return best(lambda: track_columns(columns, start, *wide, q1, w, out, codes, work), repeats)


def compare(problem, repeats):
    """26 joints, 5 s at 25 Hz, all solvers."""
    reference, lower, upper, step = problem
    w = Q2 * 25.0**2
    public, ours = chain_seconds(problem, 25.0, 5 * repeats), prepared_seconds(problem, 25.0, 5 * repeats)
    columns = [(reference[:, j].copy(), lower[j], upper[j], step[j]) for j in range(JOINTS)]
    rng = np.random.default_rng(1)
    shifted = [(r + 0.01 * np.sin(np.arange(r.size) / 9 + rng.uniform(0, 6)), *rest) for r, *rest in columns]
    figures = {"chain_prepared_ms": 1e3 * ours, "chain_public_ms": 1e3 * public}
    try:
        times = osqp_times(columns, shifted, w, repeats)
        fastest = min(times["joints"], times["one"])
        figures |= {"osqp_joints_ms": 1e3 * times["joints"], "osqp_one_ms": 1e3 * times["one"]}
        figures |= {"osqp_excess_rad": max(times["joints_excess"], times["one_excess"])}
        figures |= {"osqp_over_prepared": fastest / ours, "osqp_over_public": fastest / public}
    except ImportError:
        print("osqp is not installed", file=sys.stderr)
    for name, function in (("piqp", piqp_time), ("clarabel", clarabel_time)):
        try:
            seconds = function(columns, w, max(2, repeats // 3))
            figures |= {f"{name}_ms": 1e3 * seconds, f"{name}_over_prepared": seconds / ours}
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    return figures


def whole_clip(repeats):
    """A whole clip at 25 Hz, the same resampled to 100 Hz, and its compression."""
    found = golden_clip()
    reference, lower, upper, step = found or synthetic(16.0, 25.0)
    duration = (len(reference) - 1) / 25.0
    figures = {"clip_is_golden": found is not None, "clip_s": duration}
    seconds = chain_seconds((reference, lower, upper, step), 25.0, repeats)
    figures["clip_25hz_times_real_time"] = duration / seconds
    fine = np.arange((len(reference) - 1) * 4 + 1) / 4
    dense = np.column_stack([np.interp(fine, np.arange(len(reference)), r) for r in reference.T])
    figures["clip_100hz_times_real_time"] = duration / chain_seconds((dense, lower, upper, step / 4), 100.0, repeats)
    fast = np.flatnonzero((np.abs(np.diff(reference, axis=0)) > step).any(axis=0))
    columns = [(np.ascontiguousarray(reference[:, j]), cut_segments(reference[:, j], 25.0), j) for j in fast]

    def compress():
        for r, cuts, j in columns:
            limits = {"lower": lower[j], "upper": upper[j], "step": step[j]}
            solve_compression(r, start=r[0], **limits, difference_weight=Q2 * 25.0**2, boundaries=cuts)

    figures["compression_ms_a_joint"] = 1e3 * best(compress, repeats) / len(columns)
    return figures


def growth(repeats):
    """Time and peak memory against length, and one tick of a streaming window."""
    rows = []
    for n in (125, 500, 2000, 8000):
        reference, lower, upper, step = problem = synthetic(n / 25.0, 25.0)
        seconds = chain_seconds(problem, 25.0, max(2, repeats // 2))
        tracemalloc.start()
        solve_chain(reference, start=reference[0], lower=lower, upper=upper, step=step, difference_weight=Q2 * 625.0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append({"samples": n, "ms": 1e3 * seconds, "ns_a_sample_and_joint": 1e9 * seconds / n / JOINTS, "peak_mb": peak / 1e6})
    return rows, 1e6 * prepared_seconds(synthetic(0.79, 100.0), 100.0, 5 * repeats)


def main(arguments=None):
    """Measure, print a table (or one JSON object), return 1 when a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--repeats", type=int, default=20, help="repeats of each measurement; the minimum counts")
    options = parser.parse_args(arguments)
    problems = {"synthetic": synthetic(5.0, 25.0), "hard": synthetic(5.0, 25.0, too_fast=0.19), "peaks": half_too_fast(5.0, 25.0)}
    found = golden_clip()
    if found:
        problems["golden"] = (found[0][:126].copy(), *found[1:])
    figures = {}
    for name, problem in problems.items():
        figures |= {f"{name}_{key}": value for key, value in compare(problem, options.repeats).items()}
    figures |= whole_clip(options.repeats)
    rows, tick = growth(options.repeats)
    figures |= {"tick_100hz_80_samples_us": tick, "growth": rows}
    below = [key for key, bar in BARS.items() if figures.get(key, bar) < bar]
    if options.json:
        print(json.dumps(figures))
        return 1 if below else 0
    for key, value in figures.items():
        if key != "growth":
            print(f"{key:32} {value:12.4g}" if not isinstance(value, bool) else f"{key:32} {value!s:>12}")
    print(f"\n{'samples':>8} {'ms':>9} {'ns/sample/joint':>16} {'peak MB':>8}")
    for row in rows:
        print(f"{row['samples']:8d} {row['ms']:9.3f} {row['ns_a_sample_and_joint']:16.1f} {row['peak_mb']:8.2f}")
    for key, bar in BARS.items():
        if key in figures:
            print(f"{key} >= {bar}: {'NO' if key in below else 'yes'}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
