"""How fast is the smooth chain? Tracking under acceleration and jerk limits, against PIQP on the same state-space program.

Two problems of 26 joints x 5 s at 25 and 100 Hz: the golden 18_11 reference with NAO's limits, plus 60 rad/s^2 and 3000 rad/s^3
(a cubic spline through it at 100 Hz), which is the bar; and strong gestures in which every joint breaks its limits. Thread CPU
time of one process, best of five. PIQP solves all 26 joints, one program a joint, to the same tolerance of 1e-8, set up
beforehand (its set-up is given apart). It gets the better of two scalings (units of one sample; every variable divided by its
limit) and the best of its five factorizations; the ratio to that best is the figure. Beside it, for judgement: the ratio when PIQP
is given only the joints whose reference is not already legal, which ours finds out by itself, and PIQP on the condensed program,
in which x is the only variable and the differences are rows.
Run: python benchmarks/how_fast_is_the_smooth_chain.py
"""

from __future__ import annotations

import csv
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import CubicSpline

from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain

SHARED = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared"))
JOINTS, SECONDS, ACCELERATION, JERK = 26, 5.0, 60.0, 3000.0
Q1, Q2, TOLERANCE, BAR, TIMES = 5.0, 0.1, 1e-8, 20.0, 5
FACTORIZATIONS = ("sparse_ldlt", "sparse_ldlt_cond", "sparse_ldlt_eq_cond", "sparse_ldlt_ineq_cond", "sparse_multistage")


@dataclass(frozen=True)
class Problem:
    """Reference (n, 26) at a rate, and range and velocity limits (26,); the first sample is inside the range."""

    name: str
    rate: float
    reference: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray

    def options(self, jerk: float = JERK) -> dict:
        """Arguments of the solver."""
        limits = {"lower": self.lower, "upper": self.upper, "velocity": self.velocity, "acceleration": ACCELERATION, "jerk": jerk}
        return {"rate": self.rate, "start": self.reference[0], "tolerance": TOLERANCE, **limits}


def gestures(rate: float) -> Problem:
    """Reference that exceeds velocity, acceleration and jerk limits in every joint."""
    rng = np.random.default_rng(7)
    t = np.arange(int(SECONDS * rate))[:, None] / rate
    f = rng.uniform(0.8, 2.5, JOINTS)
    r = np.sin(2 * np.pi * f * t + rng.uniform(0, 6, JOINTS)) + 0.3 * np.sin(2 * np.pi * 2.3 * f * t)
    r[0] = np.clip(r[0], -1.1, 1.1)
    return Problem("gestures", rate, r, np.full(JOINTS, -1.2), np.full(JOINTS, 1.2), np.full(JOINTS, 8.0))


def clip(rate: float) -> Problem | None:
    """The golden reference of clip 18_11 with NAO's limits, or None where the data are absent."""
    path, joints = SHARED / "golden" / "speech" / "cmu_18_11_nao_25hz_ref.csv", SHARED / "data" / "nao_joints.csv"
    if not (path.is_file() and joints.is_file()):
        return None
    names = path.read_text().splitlines()[0].split(",")[1:]
    rows = list(csv.DictReader(line for line in joints.read_text().splitlines() if not line.startswith("#")))
    table = {row["name"]: [float(row[key]) for key in ("lower", "upper", "max_velocity")] for row in rows}
    lower, upper, velocity = np.array([table[name] for name in names]).T
    samples = np.loadtxt(path, delimiter=",", skiprows=1)
    times = np.arange(int(SECONDS * rate)) / rate
    r = samples[: len(times), 1:] if rate == 25.0 else CubicSpline(samples[:, 0], samples[:, 1:])(times)
    r = r.copy()
    r[0] = np.clip(r[0], lower, upper)
    return Problem("clip 18_11", rate, r, lower, upper, velocity)


def best(run, times: int) -> float:
    """Least thread CPU time [s]."""
    spent = []
    for _ in range(times):
        begin = time.thread_time()
        run()
        spent.append(time.thread_time() - begin)
    return min(spent)


def state_space(problem: Problem, j: int, scaled: bool) -> dict:
    """State-space program of one joint; variables (x, v, a, u) stage by stage; ``unit`` of x."""
    r, h = problem.reference[:, j], 1.0 / problem.rate
    n = len(r) - 1
    one, shift, zero = sp.identity(n), sp.diags([np.ones(n - 1)], [-1], shape=(n, n)), sp.csc_matrix((n, n))
    dynamics = sp.bmat([[one - shift, -one, zero, zero], [zero, one - shift, -one, zero], [zero, zero, one - shift, -one]]).tocsr()
    limits = np.array([problem.velocity[j] * h, ACCELERATION * h**2, JERK * h**3])
    scale = np.array([max(abs(problem.lower[j]), abs(problem.upper[j])), *limits]) if scaled else np.ones(4)
    columns, rows = np.repeat(scale, n), np.repeat(1.0 / scale[:3], n)
    order, stages = np.arange(4 * n).reshape(4, n).T.ravel(), np.arange(3 * n).reshape(3, n).T.ravel()
    hessian = np.repeat([2 * Q1, 2 * Q2 / h**2, 0.0, 0.0], n) * columns**2
    linear = np.concatenate([-2 * Q1 * r[1:], -2 * Q2 / h**2 * np.diff(r), np.zeros(2 * n)]) * columns
    upper = np.concatenate([np.full(n, problem.upper[j]), np.repeat(limits, n)]) / columns
    lower = np.concatenate([np.full(n, problem.lower[j]), -np.repeat(limits, n)]) / columns
    for free in (2 * n, 3 * n, 3 * n + 1):
        lower[free], upper[free] = -1e30, 1e30
    right = np.zeros(3 * n)
    right[0] = r[0] * rows[0]
    matrix = (sp.diags(rows) @ dynamics @ sp.diags(columns)).tocsr()[stages][:, order].tocsc()
    arrays = {"P": sp.diags(hessian[order]).tocsc(), "c": linear[order], "A": matrix, "b": right[stages]}
    return {**arrays, "x_l": lower[order], "x_u": upper[order], "unit": scale[0], "every": 4}


def condensed(problem: Problem, j: int, scaled: bool) -> dict:
    """Program of one joint in x alone; first, second and third differences are rows, divided by their limits if ``scaled``."""
    r, h = problem.reference[:, j], 1.0 / problem.rate
    n = len(r) - 1
    limits = [problem.velocity[j] * h, ACCELERATION * h**2, JERK * h**3]
    whole = [sp.csr_matrix(np.diff(np.eye(n + 1), n=order, axis=0)) for order in (1, 2, 3)]
    units = limits if scaled else [1.0, 1.0, 1.0]
    rows = sp.vstack([block[:, 1:] / unit for block, unit in zip(whole, units, strict=True)]).tocsc()
    offset = np.concatenate([block[:, 0].toarray()[:, 0] * r[0] / unit for block, unit in zip(whole, units, strict=True)])
    most = np.concatenate([np.full(n + 1 - order, limits[order - 1] / units[order - 1]) for order in (1, 2, 3)])
    first, rest = whole[0][:, :1].toarray()[:, 0], whole[0][:, 1:]
    hessian = (2 * Q1 * sp.identity(n) + 2 * Q2 / h**2 * rest.T @ rest).tocsc()
    linear = -2 * Q1 * r[1:] + 2 * Q2 / h**2 * rest.T @ (first * r[0] - np.diff(r))
    box = {"x_l": np.full(n, problem.lower[j]), "x_u": np.full(n, problem.upper[j])}
    return {"P": hessian, "c": linear, "G": rows, "h_l": -most - offset, "h_u": most - offset, **box, "unit": 1.0, "every": 1}


def piqp(problem: Problem, form, scaled: bool, which: list[int], values: np.ndarray):
    """Least solve time over the factorizations [s], its set-up, and how well it did."""
    import piqp

    programs = [form(problem, j, scaled) for j in which]
    results = []
    for name in FACTORIZATIONS:
        solvers, set_up = [], 0.0
        for program in programs:
            solver = piqp.SparseSolver()
            options = solver.settings
            options.kkt_solver = getattr(piqp.KKTSolver, name)
            options.eps_abs = options.eps_rel = options.eps_duality_gap_abs = options.eps_duality_gap_rel = TOLERANCE
            begin = time.thread_time()
            solver.setup(**{key: value for key, value in program.items() if key not in ("unit", "every")})
            set_up += time.thread_time() - begin
            solvers.append(solver)
        spent = best(lambda solvers=solvers: [solver.solve() for solver in solvers], TIMES)
        solved = all(solver.result.info.status == piqp.PIQP_SOLVED for solver in solvers)
        found = [s.result.x[:: p["every"]] * p["unit"] for s, p in zip(solvers, programs, strict=True)]
        off = max(float(np.abs(x - values[1:, j]).max()) for x, j in zip(found, which, strict=True))
        how = f"{name}, {np.mean([s.result.info.iter for s in solvers]):.1f} iterations, differs by {off:.0e} rad"
        if solved:
            results.append((spent, set_up, how))
    return min(results) if results else (np.nan, np.nan, "not solved by any factorization")


def main() -> None:
    problems = [make(rate) for rate in (25.0, 100.0) for make in (clip, gestures)]
    for problem in [*problems, gestures(500.0)]:
        if problem is None:
            print("clip 18_11 is absent: no bar")
            continue
        for jerk in (np.inf, JERK):
            solution = solve_smooth_chain(problem.reference, **problem.options(jerk))
            ours = best(lambda p=problem, jerk=jerk: solve_smooth_chain(p.reference, **p.options(jerk)), TIMES)
            moved = np.flatnonzero(solution.iterations > 0).tolist()
            print(
                f"{problem.name}, {problem.rate:.0f} Hz, {'acceleration' if jerk == np.inf else 'and jerk'}: {1e3 * ours:.2f} ms ="
                f" {SECONDS / ours:.0f} x real time; {solution.status.value}, {len(moved)} joints not legal,"
                f" {solution.iterations[moved].mean():.1f} iterations"
            )
        if problem.rate > 100.0:
            continue
        every = list(range(JOINTS))
        rows = []
        for scaled in (False, True):
            theirs, set_up, how = piqp(problem, state_space, scaled, every, solution.values)
            rows.append((theirs, scaled))
            units = "divided by limits" if scaled else "units of a sample"
            ratios = f"{1e3 * theirs:.2f} ms = {theirs / ours:.1f} x ours; with its set-up {(theirs + set_up) / ours:.1f} x"
            print(f"  PIQP, states, {units}: {ratios} ({how})")
        theirs, scaled = min(rows)
        if len(moved) < JOINTS:
            part, _, _ = piqp(problem, state_space, scaled, moved, solution.values)
            print(f"  PIQP, states, only the {len(moved)} joints: {1e3 * part:.2f} ms = {part / ours:.1f} x ours")
        short, _, how = min(piqp(problem, condensed, scaled, every, solution.values) for scaled in (False, True))
        print(f"  PIQP, condensed: {1e3 * short:.2f} ms = {short / ours:.1f} x ours ({how})")
        bar = f", bar {BAR:.0f}: {'met' if theirs / ours >= BAR else 'MISSED'}" if problem.name.startswith("clip") else ""
        print(f"  ratio to PIQP's best state-space form, {problem.name}, {problem.rate:.0f} Hz: {theirs / ours:.1f} x{bar}")


if __name__ == "__main__":
    main()
