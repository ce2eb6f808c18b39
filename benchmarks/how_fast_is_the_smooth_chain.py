"""How fast is the smooth chain? Tracking under acceleration and jerk limits, against PIQP on the same state-space program.

26 joints x 5 s of strong gestures, every joint beyond its limits, thread CPU time of one process, best of three. PIQP gets one
sparse program a joint, stages interleaved, structure set up once, each of its factorizations tried; first in the units of one
sample, then with every variable divided by its limit by hand. Run: python benchmarks/how_fast_is_the_smooth_chain.py
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from bunraku.optimization.smooth_chain import solve_smooth_chain

JOINTS, SECONDS, RANGE, VELOCITY, ACCELERATION, JERK = 26, 5.0, 1.2, 8.0, 60.0, 3000.0
Q1, Q2 = 5.0, 0.1


def gestures(rate: float) -> np.ndarray:
    """Reference that exceeds velocity, acceleration and jerk limits in every joint, (n, 26)."""
    rng = np.random.default_rng(7)
    t = np.arange(int(SECONDS * rate))[:, None] / rate
    f = rng.uniform(0.8, 2.5, JOINTS)
    return np.sin(2 * np.pi * f * t + rng.uniform(0, 6, JOINTS)) + 0.3 * np.sin(2 * np.pi * 2.3 * f * t)


def best(run, times: int = 3) -> float:
    """Least thread CPU time [s]."""
    spent = []
    for _ in range(times):
        begin = time.thread_time()
        run()
        spent.append(time.thread_time() - begin)
    return min(spent)


def program(r: np.ndarray, rate: float, scaled: bool):
    """State-space QP of one joint: P, c, A, b, lower, upper; variables (x, v, a, u) stage by stage."""
    n, h = len(r) - 1, 1.0 / rate
    one, shift, zero = sp.identity(n), sp.diags([np.ones(n - 1)], [-1], shape=(n, n)), sp.csc_matrix((n, n))
    dynamics = sp.bmat([[one - shift, -one, zero, zero], [zero, one - shift, -one, zero], [zero, zero, one - shift, -one]]).tocsr()
    limits = np.array([RANGE, VELOCITY * h, ACCELERATION * h**2, JERK * h**3])
    scale = limits if scaled else np.ones(4)
    columns, rows = np.repeat(scale, n), np.repeat(1.0 / scale[:3], n)
    order, stages = np.arange(4 * n).reshape(4, n).T.ravel(), np.arange(3 * n).reshape(3, n).T.ravel()
    hessian = np.repeat([2 * Q1, 2 * Q2 / h**2, 0.0, 0.0], n) * columns**2
    linear = np.concatenate([-2 * Q1 * r[1:], -2 * Q2 / h**2 * np.diff(r), np.zeros(2 * n)]) * columns
    upper = np.repeat(limits, n) / columns
    lower = -upper
    for free in (2 * n, 3 * n, 3 * n + 1):
        lower[free], upper[free] = -1e30, 1e30
    matrix = (sp.diags(rows) @ dynamics @ sp.diags(columns)).tocsr()[stages][:, order].tocsc()
    right = np.zeros(3 * n)
    right[0] = r[0] * rows[0]
    return sp.diags(hessian[order]).tocsc(), linear[order], matrix, right[stages], lower[order], upper[order], columns[order]


def piqp_seconds(r: np.ndarray, rate: float, scaled: bool, values: np.ndarray) -> tuple[float, float, str]:
    """Least solve and set-up time over the factorizations [s], sum over the joints, and which it was."""
    import piqp

    programs = [program(r[:, j], rate, scaled) for j in range(JOINTS)]
    results = []
    for name in ("sparse_ldlt", "sparse_ldlt_cond", "sparse_ldlt_eq_cond", "sparse_ldlt_ineq_cond", "sparse_multistage"):
        solvers, set_up = [], 0.0
        for P, c, A, b, low, high, _ in programs:
            solver = piqp.SparseSolver()
            solver.settings.kkt_solver = getattr(piqp.KKTSolver, name)
            begin = time.thread_time()
            solver.setup(P, c, A, b, x_l=low, x_u=high)
            set_up += time.thread_time() - begin
            solvers.append(solver)
        spent = best(lambda solvers=solvers: [solver.solve() for solver in solvers])
        off = max(
            float(np.abs(solver.result.x[0::4] * one[6][0] - values[1:, j]).max())
            for j, (solver, one) in enumerate(zip(solvers, programs, strict=True))
        )
        results.append((spent, set_up, f"{name}, {max(s.result.info.iter for s in solvers)} iterations, differs by {off:.1e} rad"))
    return min(results)


def main() -> None:
    for rate in (25.0, 100.0, 500.0):
        r = gestures(rate)
        options = {"rate": rate, "start": np.clip(r[0], -1.1, 1.1), "lower": -RANGE, "upper": RANGE, "velocity": VELOCITY}
        for jerk in (np.inf, JERK):
            options |= {"acceleration": ACCELERATION, "jerk": jerk}
            solution = solve_smooth_chain(r, **options)
            spent = best(lambda options=options, r=r: solve_smooth_chain(r, **options))
            print(
                f"{rate:5.0f} Hz {'acceleration' if jerk == np.inf else '+ jerk      '}: {1e3 * spent:8.2f} ms ="
                f" {SECONDS / spent:6.0f} x real time; {solution.status.value}, {solution.iterations.mean():.1f} iterations"
            )
        if rate <= 100.0:
            r[0] = options["start"]
            solution = solve_smooth_chain(r, **options)
            spent = best(lambda options=options, r=r: solve_smooth_chain(r, **options))
            for scaled in (False, True):
                theirs, set_up, how = piqp_seconds(r, rate, scaled, solution.values)
                units = "each variable divided by its limit" if scaled else "units of one sample"
                print(
                    f"        PIQP, {units}: {1e3 * theirs:8.2f} ms = {theirs / spent:5.1f} x ours;"
                    f" with its set-up {(theirs + set_up) / spent:5.1f} x ({how})"
                )


if __name__ == "__main__":
    main()
